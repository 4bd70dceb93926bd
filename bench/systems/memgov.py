"""memgov over its public REST API, as an agent calls it.  Filling is `bench.fill`, in the coordinator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bench.systems.base import Places
from bench.systems.http import Caller
from bench.workload import Fact

SESSION = "bench"


class Store:
    """Writes pass every gate of the pipeline; each search leaves its manifest."""

    def __init__(self, places: Places) -> None:
        self._base, self._key = places["memgov"], places["key"]

    def prepare(self) -> None:
        """The stage has made tenant, agent and key already."""

    def attach(self) -> None:
        self._caller = Caller(self._base, self._key)

    def write(self, fact: Fact) -> str:
        status, answer = self._caller.call("POST", "memories", body_of(fact))
        outcome = str(answer.get("outcome", status))
        reason = answer.get("reason") or outcome
        return outcome if reason == outcome else f"{outcome} {reason}"

    def search(self, user: str, query: str, limit: int) -> list[str]:
        asked = {
            "query": query,
            "session": SESSION,
            "scopes": [f"user:{user}"],
            "limit": limit,
            "max_tokens": 8000,
        }
        return [entry["content"] for entry in self._caller.call("POST", "retrieve", asked)[1]["entries"]]

    def digest(self, user: str) -> str:
        return str(self._caller.call("GET", f"digest?scope=user:{user}&session={SESSION}")[1]["text"])

    def fill(self, facts: Sequence[Fact]) -> None:
        raise NotImplementedError("memgov is filled by bench.fill")

    def settle(self) -> None:
        """Done after filling."""

    def live(self, user: str) -> int:
        count, path = 0, f"memories?scope=user:{user}&status=live&page_size=200&fields=id"
        while path:
            page = self._caller.call("GET", path)[1]
            count += len(page["results"])
            path = page["next"].split("/api/v1/", 1)[1] if page["next"] else ""
        return count


def body_of(fact: Fact) -> dict[str, Any]:
    """The request that offers a memory: what a person said, sure and important enough for a user's scope."""
    body: dict[str, Any] = {
        "content": fact.text, "scope": f"user:{fact.user}", "origin": fact.origin, "confidence": 0.9,
        "importance": 0.9, "session": f"{SESSION}-{fact.user}",
    }  # fmt: skip
    if fact.predicate:
        body |= {"subject": fact.subject, "predicate": fact.predicate, "value": fact.value}
    if fact.lifetime is not None:
        body["ttl"] = int(fact.lifetime)
    return body
