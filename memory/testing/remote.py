"""A case against a running server, over HTTP with the key of one agent: what can be tested without being inside.

No tenant is thrown away here, so nothing that needs a fresh one, a clock, a reviewer or a second agent can be run; such
cases are skipped and say why.  Sessions and tasks get names of their own, and memories that a case made are deleted.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
from django.urls import NoReverseMatch, reverse

from memory.api.direct import Answer, Call, parameters
from memory.domain.policy import Policy
from memory.domain.scopes import parse_grant
from memory.testing.document import AgentDocument, StoredDocument
from memory.testing.reading import Case
from memory.testing.world import World

TIMEOUT_SECONDS: Final = 60.0
_INSIDE: Final = ("advance", "sweep", "mount", "pause", "decide")
_OWNED: Final = ("session:", "task:")


class Unreachable(Exception):
    """The server did not answer as memgov does."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server and the key to call it with; `whoami` is what it says of the key."""

    url: str
    key: str
    whoami: dict[str, Any]

    @classmethod
    def met(cls, url: str, key: str) -> Server:
        """The server, asked who the key is.  Raises `Unreachable`."""
        base = url.rstrip("/").removesuffix("/api/v1")
        if urlsplit(base).scheme not in ("http", "https"):
            raise Unreachable(f"{url} is no address of a server; write it as https://memgov.example")
        try:
            answer = httpx.get(f"{base}/api/v1/whoami", headers=_headers(key), timeout=TIMEOUT_SECONDS)
            said = answer.json()
        except (httpx.HTTPError, ValueError) as error:
            raise Unreachable(f"{url} does not answer as memgov: {error}") from None
        if answer.status_code != httpx.codes.OK:
            raise Unreachable(f"{url}: {said.get('code')}: {said.get('detail')}")
        return cls(base, key, said)

    def why_not(self, case: Case) -> str | None:
        """Why a case cannot be run here; None when it can."""
        said = case.document
        steps = [*said.given, *said.steps]
        if inside := sorted({step.action for step in steps if step.action in _INSIDE}):
            return f"{', '.join(inside)} needs a throw-away tenant"
        if case.policy != Policy():
            return "its policy needs a throw-away tenant"
        if len(case.agents) > 1:
            return "it has more than one agent"
        ends = said.expect
        if ends.metrics or ends.audit or ends.alerts or any(one.where is not None for one in ends.stored):
            return "what it expects at the end is counted over a whole tenant"
        return self._lacks(next(iter(case.agents.values())))

    def _lacks(self, agent: AgentDocument) -> str | None:
        wanted = {(rule.pattern, tuple(sorted(rule.verbs))) for rule in map(parse_grant, agent.grants)}
        held = {
            (one["pattern"], tuple(sorted(one["verbs"])))
            for one in self.whoami["grants"]
            if one["source"] == "grant"
        }
        if self.whoami["role"] != agent.role or held != wanted:
            grants = "".join(f" --grant '{grant}'" for grant in agent.grants)
            return f"the key is not that of an agent made with --role {agent.role}{grants}"
        if self.whoami["key"]["trust_ceiling"] != agent.trust_ceiling:
            return f"the key's trust ceiling is not {agent.trust_ceiling}"
        return None


def _headers(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}


@dataclass(slots=True)
class RemoteWorld(World):
    """One case on a server.  Only `call` leads anywhere."""

    server: Server | None = None
    _suffix: str = field(default_factory=lambda: f"-{secrets.token_hex(4)}")
    _made: list[str] = field(default_factory=list)

    def __enter__(self) -> RemoteWorld:
        return self

    def __exit__(self, *_: object) -> None:
        for shown in [] if self.keep else reversed(self._made):
            self._sent(Call("DELETE", "memory", {"memory_id": shown}, query={"reason": "memory test"}))

    def call(self, agent: str | None, call: Call) -> Answer:
        """The call over HTTP, in sessions and tasks of this run."""
        own = Call(
            call.method, call.name, self._own(call.path), self._own(call.query),
            None if call.body is None else self._own(call.body), call.headers,
        )  # fmt: skip
        answer = self._sent(own)
        memory = answer.body.get("memory") if isinstance(answer.body, dict) else None
        if call.name == "memories" and answer.status in (201, 202) and isinstance(memory, dict):
            self._made.append(memory["id"])
        return answer

    def _own(self, given: Any) -> dict[str, Any]:
        """Names of sessions and tasks with this run's ending."""
        renamed = dict(given)
        for name in ("session", "task"):
            if isinstance(renamed.get(name), str):
                renamed[name] += self._suffix
        scope = renamed.get("scope")
        if isinstance(scope, str) and scope.startswith(_OWNED):
            renamed["scope"] = scope + self._suffix
        return renamed

    def _sent(self, call: Call) -> Answer:
        assert self.server is not None
        try:
            path = reverse(f"api:{call.name}", kwargs=dict(call.path))
        except NoReverseMatch:
            return Answer(404, {"code": "not_found", "detail": "there is nothing with this id"})
        response = httpx.request(
            call.method,
            self.server.url + path,
            params=parameters(call),
            content=None if call.body is None else json.dumps(call.body),
            headers={**_headers(self.server.key), **call.headers},
            timeout=TIMEOUT_SECONDS,
        )
        text = response.text.replace(self._suffix, "")
        return Answer(response.status_code, json.loads(text) if text else None, dict(response.headers))

    def stored_differences(self, stored: StoredDocument) -> Iterator[str]:
        """What the server shows of a memory at the end."""
        answer = self.call(None, Call("GET", "memory", {"memory_id": self.id_of(stored.memory or "")}))
        if not answer.ok:
            yield f"{stored.memory} is not there: {answer.body['code']}"
            return
        wanted = {"status": str(stored.status) if stored.status else None, **stored.has}
        for name in ("superseded_by", "merged_into"):
            if (label := getattr(stored, name)) is not None:
                wanted[name] = self.id_of(label)
        for name, value in wanted.items():
            if value is not None and answer.body.get(name) != value:
                yield f"{name} of {stored.memory} is {answer.body.get(name)}, expected {value}"
