"""mem0 with its pgvector store (HNSW, its default), without a language model: `infer=False`."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

os.environ["MEM0_TELEMETRY"] = "False"

import psycopg
from mem0 import Memory
from mem0.embeddings.base import EmbeddingBase

from bench.systems.base import Places
from bench.vectors import DIMENSIONS, vector, vectors
from bench.workload import Fact


class GivenVectors(EmbeddingBase):
    """The run's vectors in place of a hosted model."""

    def __init__(self) -> None:
        """Without the base's configuration of a model."""

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return list(vector(text).tolist())


class Store:
    """A user id per user."""

    name = "bench_mem0"

    def __init__(self, places: Places) -> None:
        self._url, self._folder = places["database"], places["folder"]

    @property
    def url(self) -> str:
        """The URL of the system's own database."""
        return self._url.replace("{db}", self.name)

    def prepare(self) -> None:
        with psycopg.connect(self._url.replace("{db}", "postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {self.name}".encode())

    def attach(self) -> None:
        os.environ["MEM0_DIR"] = f"{self._folder}/mem0"
        store = {"connection_string": self.url, "collection_name": "mem", "embedding_model_dims": DIMENSIONS}
        unused = {"provider": "openai", "config": {"api_key": "none"}}
        self._memory: Any = Memory.from_config(
            {
                "vector_store": {"provider": "pgvector", "config": store},
                "llm": unused,
                "embedder": unused,
                "history_db_path": f"{self._folder}/mem0-history-{os.getpid()}.db",
            }
        )
        self._memory.embedding_model = GivenVectors()

    def write(self, fact: Fact) -> str:
        more: dict[str, Any] = {}
        if fact.lifetime is not None:  # it knows days only: what lives for less has ended yesterday
            more["expiration_date"] = (datetime.now(UTC) - timedelta(days=1)).date().isoformat()
        about = {"subject": fact.subject, "predicate": fact.predicate}
        self._memory.add(fact.text, user_id=fact.user, infer=False, metadata=about, **more)
        return "stored"

    def search(self, user: str, query: str, limit: int) -> list[str]:
        found = self._memory.search(query, filters={"user_id": user}, top_k=limit)
        return [row["memory"] for row in found["results"]]

    def fill(self, facts: Sequence[Fact]) -> None:
        rows = [row.tolist() for row in vectors([fact.text for fact in facts])]
        self._memory.vector_store.insert(
            rows, [_payload(fact) for fact in facts], [str(uuid.uuid4()) for _ in facts]
        )

    def settle(self) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE mem")

    def live(self, user: str) -> int:
        return len(self._memory.get_all(filters={"user_id": user}, top_k=100_000)["results"])


def _payload(fact: Fact) -> dict[str, str]:
    """What its own `add` stores beside the vector."""
    now = datetime.now(UTC).isoformat()
    return {
        "user_id": fact.user, "subject": fact.subject, "predicate": fact.predicate, "role": "user", "data": fact.text,
        "hash": hashlib.md5(fact.text.encode()).hexdigest(), "created_at": now, "updated_at": now,
        "text_lemmatized": fact.text,
    }  # fmt: skip
