"""From the value of MEMGOV_EMBEDDER to an embedder, one per process."""

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from memory.clients.embeddings.contract import Embedder, EmbedderSpecInvalid, NoEmbedder, Vectors
from memory.clients.embeddings.hashing import DenseHashedWords, HashedWords
from memory.clients.embeddings.minilm import MiniLM
from memory.clients.embeddings.openai_http import OpenAIEmbedder, parse_endpoint


class TextOnly:
    """The embedder of an installation that wants none."""

    model_id = "none"
    dim = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        raise NoEmbedder("No embedder is configured (MEMGOV_EMBEDDER=none): search is by text only.")


@lru_cache(maxsize=8)
def get_embedder(spec: str) -> Embedder:
    """Return the embedder for `minilm`, `hash`, `hash:dense`, `none` or `openai:URL`; cheap, nothing is loaded yet.

    Raises `EmbedderSpecInvalid` for anything else. For `openai:` the model's name may come from
    MEMGOV_EMBEDDER_MODEL; the key comes from MEMGOV_EMBEDDER_API_KEY or the file MEMGOV_EMBEDDER_API_KEY_FILE.
    """
    kind, _, address = spec.strip().partition(":")
    if kind == "openai" and address:
        model = os.environ.get("MEMGOV_EMBEDDER_MODEL", "")
        return OpenAIEmbedder(parse_endpoint(address, model, _secret("MEMGOV_EMBEDDER_API_KEY")))
    if address:
        kind = spec
    if kind == "minilm":
        return MiniLM()
    if kind == "hash":
        return HashedWords()
    if kind == "hash:dense":
        return DenseHashedWords()
    if kind == "none":
        return TextOnly()
    raise EmbedderSpecInvalid(
        f"MEMGOV_EMBEDDER is {spec!r}; it must be minilm, hash, none or openai:URL "
        "(such as openai:https://host/v1?model=NAME)."
    )


def _secret(name: str) -> str:
    path = os.environ.get(f"{name}_FILE")
    return Path(path).read_text(encoding="utf-8").strip() if path else os.environ.get(name, "")
