"""Embedders: texts to vectors, by a local model or a server. May do I/O; knows no tables."""

from memory.clients.embeddings.cached import CachedEmbedder, SharedCache
from memory.clients.embeddings.contract import (
    Embedder,
    EmbedderError,
    EmbedderSpecInvalid,
    EmbedderUnavailable,
    NoEmbedder,
    TextRefused,
    Vector,
    Vectors,
    embed_each,
)
from memory.clients.embeddings.registry import get_embedder

__all__ = [
    "CachedEmbedder",
    "Embedder",
    "EmbedderError",
    "EmbedderSpecInvalid",
    "EmbedderUnavailable",
    "NoEmbedder",
    "SharedCache",
    "TextRefused",
    "Vector",
    "Vectors",
    "embed_each",
    "get_embedder",
]
