"""The floor: bare psycopg and pgvector, one INSERT, one exact search inside one user.  No governance, no HTTP."""

from __future__ import annotations

from collections.abc import Sequence

import psycopg
from pgvector.psycopg import register_vector
from psycopg import sql

from bench.systems.base import Places
from bench.vectors import DIMENSIONS, vector, vectors
from bench.workload import Fact

TABLE = f"""
CREATE TABLE mem (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner text NOT NULL, subject text, predicate text, value text, text text,
    created_at timestamptz DEFAULT now(), embedding vector({DIMENSIONS})
);
CREATE INDEX ON mem (owner);
"""
INSERT = "INSERT INTO mem (owner, subject, predicate, value, text, embedding) VALUES (%s, %s, %s, %s, %s, %s)"
SEARCH = "SELECT id, text, embedding <=> %s AS distance FROM mem WHERE owner = %s ORDER BY distance LIMIT %s"

LINES = 100
"""As many of these sentences as a digest's 1,500 tokens hold."""
NEWEST = "SELECT text FROM mem WHERE owner = %s ORDER BY id DESC LIMIT %s"


class Store:
    """A table of its own in a database of its own."""

    name = "bench_floor"

    def __init__(self, places: Places) -> None:
        self._url = places["database"]

    def prepare(self) -> None:
        with psycopg.connect(self._url.replace("{db}", "postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(self.name)))
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector")
            connection.execute(TABLE.encode())

    @property
    def url(self) -> str:
        """The URL of the system's own database."""
        return self._url.replace("{db}", self.name)

    def attach(self) -> None:
        self._connection = psycopg.connect(self.url, autocommit=True, prepare_threshold=1)
        register_vector(self._connection)

    def write(self, fact: Fact) -> str:
        self._connection.execute(INSERT.encode(), (*_columns(fact), vector(fact.text)))
        return "stored"

    def search(self, user: str, query: str, limit: int) -> list[str]:
        rows = self._connection.execute(SEARCH.encode(), (vector(query), user, limit)).fetchall()
        return [row[1] for row in rows]

    def digest(self, user: str) -> str:
        rows = self._connection.execute(NEWEST.encode(), (user, LINES)).fetchall()
        return "\n".join(row[0] for row in rows)

    def fill(self, facts: Sequence[Fact]) -> None:
        columns = "COPY mem (owner, subject, predicate, value, text, embedding) FROM STDIN (FORMAT binary)"
        with self._connection.cursor() as cursor, cursor.copy(columns.encode()) as copy:
            copy.set_types(["text"] * 5 + ["vector"])
            for fact, row in zip(facts, vectors([fact.text for fact in facts]), strict=True):
                copy.write_row((*_columns(fact), row))

    def settle(self) -> None:
        self._connection.execute("VACUUM ANALYZE mem")

    def live(self, user: str) -> int:
        row = self._connection.execute("SELECT count(*) FROM mem WHERE owner = %s", (user,)).fetchone()
        return int(row[0]) if row else 0


def _columns(fact: Fact) -> tuple[str, str, str, str, str]:
    return fact.user, fact.subject, fact.predicate, fact.value, fact.text
