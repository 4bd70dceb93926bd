"""The HTTP floor: the same SQL as `floor` behind one bare Django REST framework view (`bench.drf_app`)."""

from __future__ import annotations

from bench.systems import floor
from bench.systems.base import Places
from bench.systems.http import Caller
from bench.workload import Fact


class Store(floor.Store):
    """Filled and counted like the floor, written and searched over HTTP."""

    name = "bench_drf"

    def __init__(self, places: Places) -> None:
        super().__init__(places)
        self._base = places["drf"]

    def attach(self) -> None:
        super().attach()
        self._caller = Caller(self._base)

    def write(self, fact: Fact) -> str:
        fields = {"owner": fact.user, "subject": fact.subject, "predicate": fact.predicate}
        status, _ = self._caller.call("POST", "memories", {**fields, "value": fact.value, "text": fact.text})
        return "stored" if status == 201 else str(status)

    def search(self, user: str, query: str, limit: int) -> list[str]:
        asked = {"owner": user, "query": query, "limit": limit}
        return [row["text"] for row in self._caller.call("POST", "retrieve", asked)[1]["results"]]

    def digest(self, user: str) -> str:
        return str(self._caller.call("GET", f"digest?owner={user}")[1]["text"])
