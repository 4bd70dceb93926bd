"""One call of a graph tool: the REST calls that it takes, and what became of each fact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from memory.api.direct import Answer, Call, call_rest
from memory.api.problems import stop
from memory.api.requests import MAX_BATCH, MAX_PAGE
from memory.domain.types import OutcomeKind
from memory.mcp.advice import about_outcome, about_problem
from memory.mcp.graph import Graph, graph_of
from memory.mcp.tools import next_cursor
from tenants.principals import Principal

MOST_ROWS: Final = 2000
_KNOWN: Final = frozenset(
    {OutcomeKind.STORED, OutcomeKind.SUPERSEDED, OutcomeKind.DUPLICATE, OutcomeKind.NEAR_DUPLICATE}
)


@dataclass(slots=True)
class Session:
    """One call of a tool: who, where, and the REST calls it takes."""

    principal: Principal
    request_id: str
    scope: str
    origin: str
    outcomes: list[dict[str, Any]] = field(default_factory=list)

    def rest(self, call: Call) -> Any:
        """The body of a good answer.  Raises the problem of another."""
        answer = call_rest(self.principal, call, self.request_id)
        if not answer.ok:
            raise Refused(answer)
        return answer.body

    def graph(self) -> Graph:
        """What the scope holds now, the newest `MOST_ROWS` memories at most."""
        rows: list[Any] = []
        query: dict[str, Any] = {"scope": [self.scope], "page_size": MAX_PAGE}
        while True:
            page = self.rest(Call("GET", "memories", query=query))
            rows += page["results"]
            cursor = next_cursor(page["next"])
            if cursor is None or len(rows) >= MOST_ROWS:
                return graph_of(reversed(rows), truncated=cursor is not None)  # lists are newest first
            query["cursor"] = cursor

    def write(self, items: Sequence[tuple[Any, Mapping[str, Any]]]) -> list[Any]:
        """Offer each memory; the labels of those that are known now.  `outcomes` says what became of each."""
        known: list[Any] = []
        if (
            len(items) > MAX_BATCH
        ):  # one batch, or what came before a refusal would be in and look as if it were not
            most = f"{len(items)} facts in one call, at most {MAX_BATCH}; nothing was stored"
            raise stop(413, "too_many_items", most)
        for start in range(0, len(items), MAX_BATCH):
            part = items[start : start + MAX_BATCH]
            bodies = [{"scope": self.scope, "origin": self.origin, **body} for _, body in part]
            results = self.rest(Call("POST", "memories-batch", body={"items": bodies}))["results"]
            for (label, _), result in zip(part, results, strict=True):
                self.outcomes.append(_outcome(label, result))
                if result.get("outcome") in _KNOWN:
                    known.append(label)
        return known

    def delete(self, ids: Sequence[str]) -> list[str]:
        """Tombstones for these memories; those that are gone already are passed over."""
        gone: list[str] = []
        for one in ids:
            call = Call("DELETE", "memory", {"memory_id": one}, query={"reason": "deleted from the graph"})
            answer = call_rest(self.principal, call, self.request_id)
            if answer.ok:
                gone += answer.body["deleted"]
            elif answer.status != 404:
                raise Refused(answer)
        return gone


class Refused(Exception):
    """A REST call inside a tool was answered with a problem."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(str(answer.status))
        self.answer = answer


def _outcome(label: Any, result: Mapping[str, Any]) -> dict[str, Any]:
    if "outcome" in result:
        memory = result["memory"]
        return {
            "item": label, "outcome": result["outcome"], "reason": result["reason"],
            "memory": memory["id"] if memory else None,
            "advice": about_outcome(result["outcome"], result["reason"]),
        }  # fmt: skip
    return {
        "item": label, "outcome": "error", "reason": result["code"], "memory": None,
        "advice": f"{result['detail']} {about_problem(result['code'], result['status'])}".strip(),
    }  # fmt: skip
