"""Texts to vectors for the services: the configured embedder behind its caches.

A missing vector is never an error here: the memory is kept, search by text finds it, and the health metric
`unindexed_rows` counts it until `memgov reindex` has been there.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import lru_cache

from django.conf import settings
from django.core.cache import cache

from memory.clients.embeddings import CachedEmbedder, EmbedderError, NoEmbedder, embed_each, get_embedder
from memory.store.memories import Vector
from tenants.context import confirm_assumed

log = logging.getLogger(__name__)


@lru_cache(maxsize=1)
def _embedder() -> CachedEmbedder:
    # Hashing words takes less time than to ask another process for the result.
    shared = None if settings.MEMGOV_EMBEDDER.startswith("hash") else cache
    return CachedEmbedder(get_embedder(settings.MEMGOV_EMBEDDER), shared=shared)


def vector_of(text: str) -> Vector | None:
    """The vector of one text, or None when there is no embedder or it does not answer."""
    return vectors_of([text])[0]


def vectors_of(texts: Sequence[str]) -> list[Vector | None]:
    """Vectors in the order of the texts; None for each that could not be had."""
    if settings.MEMGOV_EMBEDDER == "none":
        return [None] * len(texts)
    if settings.MEMGOV_EMBEDDER.startswith("openai:"):
        confirm_assumed()  # what has left cannot be taken back
    embedder = _embedder()
    found: list[Vector | None] = []
    for result in embed_each(embedder, texts):
        if isinstance(result, EmbedderError):
            if not isinstance(result, NoEmbedder):
                log.warning("embedder: %s", result)
            found.append(None)
        else:
            found.append(Vector(result.tolist(), embedder.model_id))
    return found


def present_model() -> str | None:
    """The model that vectors should be of; None when there is no embedder."""
    return None if settings.MEMGOV_EMBEDDER == "none" else _embedder().model_id
