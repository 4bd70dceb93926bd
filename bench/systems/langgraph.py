"""LangGraph's PostgresStore with vectors (HNSW, its default), one connection per caller."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import psycopg
from langgraph.store.base import PutOp
from langgraph.store.postgres import PostgresStore

from bench.systems.base import Places
from bench.vectors import DIMENSIONS, vectors
from bench.workload import Fact

_CHUNK = 250


class Store:
    """A namespace per user."""

    name = "bench_langgraph"

    def __init__(self, places: Places) -> None:
        self._url = places["database"]

    @property
    def url(self) -> str:
        """The URL of the system's own database."""
        return self._url.replace("{db}", self.name)

    def prepare(self) -> None:
        with psycopg.connect(self._url.replace("{db}", "postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {self.name}".encode())
        with self._open() as store:
            store.setup()

    def attach(self) -> None:
        self._kept = self._open()
        self._store = self._kept.__enter__()

    def _open(self) -> Any:
        def embed(texts: Sequence[str]) -> list[list[float]]:
            return [row.tolist() for row in vectors(list(texts))]

        index: Any = {"dims": DIMENSIONS, "embed": embed, "fields": ["text"]}
        return PostgresStore.from_conn_string(self.url, index=index, ttl={"omit_expired": True})

    def write(self, fact: Fact) -> str:
        ttl = {} if fact.lifetime is None else {"ttl": fact.lifetime / 60}
        self._store.put(_namespace(fact.user), uuid.uuid4().hex, _value(fact), **ttl)
        return "stored"

    def search(self, user: str, query: str, limit: int) -> list[str]:
        return [item.value["text"] for item in self._store.search(_namespace(user), query=query, limit=limit)]

    def fill(self, facts: Sequence[Fact]) -> None:
        for at in range(0, len(facts), _CHUNK):
            puts = [
                PutOp(_namespace(fact.user), uuid.uuid4().hex, _value(fact))
                for fact in facts[at : at + _CHUNK]
            ]
            self._store.batch(puts)

    def settle(self) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE store")
            connection.execute("VACUUM ANALYZE store_vectors")

    def live(self, user: str) -> int:
        return len(self._store.search(_namespace(user), limit=100_000))


def _namespace(user: str) -> tuple[str, str]:
    return "mem", user


def _value(fact: Fact) -> dict[str, str]:
    return {"text": fact.text, "subject": fact.subject, "predicate": fact.predicate, "value": fact.value}
