"""Vectors remembered by the hash of their text: in the process, and in a shared cache if one is given."""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Protocol

import numpy as np

from memory.clients.embeddings.contract import Embedder, Vector, Vectors


class SharedCache(Protocol):
    """The two calls of Django's cache that are needed; values are float32 bytes."""

    def get_many(self, keys: Iterable[str]) -> Mapping[str, bytes]: ...

    def set_many(self, values: dict[str, bytes]) -> object: ...


class CachedEmbedder:
    """An embedder that asks another one only for texts it has not seen; keys carry the model's id."""

    def __init__(self, inner: Embedder, size: int = 4096, shared: SharedCache | None = None) -> None:
        self.inner = inner
        self.model_id = inner.model_id
        self.dim = inner.dim
        self._size = size
        self._shared = shared
        self._kept: OrderedDict[str, Vector] = OrderedDict()
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> Vectors:
        keys = [self._key(text) for text in texts]
        known = self._recall(set(keys))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            made = dict(zip(missing, self.inner.embed(list(missing.values())), strict=True))
            self._keep(made)
            if self._shared is not None:
                self._shared.set_many({key: vector.tobytes() for key, vector in made.items()})
            known |= made
        return np.array([known[key] for key in keys], np.float32).reshape(len(keys), self.dim)

    def _key(self, text: str) -> str:
        digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:40]
        return f"embedding:{sha256(self.model_id.encode()).hexdigest()[:12]}:{digest}"

    def _recall(self, keys: set[str]) -> dict[str, Vector]:
        known: dict[str, Vector] = {}
        with self._lock:
            for key in keys & self._kept.keys():
                self._kept.move_to_end(key)
                known[key] = self._kept[key]
        absent = keys - known.keys()
        if absent and self._shared is not None:
            shared = {
                key: np.frombuffer(raw, np.float32) for key, raw in self._shared.get_many(absent).items()
            }
            usable = {key: vector for key, vector in shared.items() if vector.shape == (self.dim,)}
            self._keep(usable)
            known |= usable
        return known

    def _keep(self, vectors: dict[str, Vector]) -> None:
        with self._lock:
            self._kept.update(vectors)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
