"""Any server with OpenAI's `POST embeddings`: hosted models and local ones alike.

Nothing is retried here: a write must not wait for an embedder, it is stored and embedded later.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import httpx
import numpy as np

from memory.clients.embeddings.contract import (
    EmbedderSpecInvalid,
    EmbedderUnavailable,
    TextRefused,
    Vectors,
    unit_rows,
)
from memory.clients.embeddings.per_process import PerProcess

_MAX_CHARACTERS = 20_000  # below the 8,192 tokens that hosted models take, for ordinary text
_BATCH = 64
_REFUSALS = {400, 413, 422}


@dataclass(frozen=True)
class Endpoint:
    """Where and what to ask. `shorten` asks the model for `dim` dimensions (models that can do that)."""

    url: str
    model: str
    dim: int = 384
    timeout: float = 10.0
    shorten: bool = False
    api_key: str = ""

    def __repr__(self) -> str:
        return f"Endpoint(url={self.url!r}, model={self.model!r}, dim={self.dim})"  # never the key


def parse_endpoint(address: str, model: str = "", api_key: str = "") -> Endpoint:
    """Read `https://host/v1?model=NAME&dim=384&dimensions=384&timeout=10`; `model` is the default name.

    `dim` says how long the model's vectors are; `dimensions` also asks the model for that length.
    """
    parts = urlsplit(address)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise EmbedderSpecInvalid(f"openai: needs an http(s) address, got {address!r}.")
    options = dict(parse_qsl(parts.query))
    unknown = options.keys() - {"model", "dim", "dimensions", "timeout"}
    if unknown:
        raise EmbedderSpecInvalid(f"openai: does not know the option {min(unknown)!r}.")
    try:
        dim = int(options.get("dimensions") or options.get("dim") or 384)
        timeout = float(options.get("timeout") or 10.0)
    except ValueError as error:
        raise EmbedderSpecInvalid(f"openai: dim, dimensions and timeout are numbers: {error}.") from error
    name = options.get("model") or model
    if not name or dim < 1 or not 0 < timeout <= 600:
        raise EmbedderSpecInvalid("openai: needs a model name, dim of 1 or more and a timeout up to 600 s.")
    url = urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))
    return Endpoint(url, name, dim, timeout, "dimensions" in options, api_key)


class OpenAIEmbedder:
    """Asks in batches of 64 texts; every answer is checked before it is believed."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.dim = endpoint.dim
        self.model_id = f"openai:{endpoint.model}/{endpoint.dim}"
        self._http = PerProcess(self._open_client)

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.empty((len(texts), self.dim), np.float32)
        for start in range(0, len(texts), _BATCH):
            batch = [text[:_MAX_CHARACTERS] for text in texts[start : start + _BATCH]]
            rows[start : start + len(batch)] = self._checked(self._ask(batch), len(batch))
        return rows

    def _open_client(self) -> httpx.Client:
        key = self.endpoint.api_key
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return httpx.Client(timeout=self.endpoint.timeout, headers=headers, follow_redirects=False)

    def _ask(self, batch: list[str]) -> Any:
        url = f"{self.endpoint.url}/embeddings"
        body: dict[str, Any] = {"model": self.endpoint.model, "input": batch, "encoding_format": "float"}
        if self.endpoint.shorten:
            body["dimensions"] = self.dim
        try:
            answer = self._http.get().post(url, json=body)
        except httpx.TimeoutException as error:
            raise EmbedderUnavailable(
                f"The embedder at {url} did not answer within {self.endpoint.timeout:g} s."
            ) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise EmbedderUnavailable(f"The embedder at {url} cannot be reached: {error}.") from error
        if answer.status_code != 200:
            raise _refusal(url, answer)
        try:
            return answer.json()
        except ValueError as error:
            raise EmbedderUnavailable(
                f"The embedder at {url} answered with something other than JSON."
            ) from error

    def _checked(self, answer: Any, count: int) -> Vectors:
        try:
            items = sorted(answer["data"], key=lambda item: int(item["index"]))
            rows = [np.asarray(item["embedding"], np.float64) for item in items]
        except (TypeError, KeyError, ValueError) as error:
            raise EmbedderUnavailable("The embedder's answer holds no list of embeddings.") from error
        if len(rows) != count:
            raise EmbedderUnavailable(f"The embedder returned {len(rows)} vectors for {count} texts.")
        for row in rows:
            if row.shape != (self.dim,):
                raise EmbedderUnavailable(
                    f"The embedder returned {row.size} dimensions, the index has {self.dim}. Set dim= in "
                    "MEMGOV_EMBEDDER to the model's length and reindex, or go back to the former model."
                )
        stacked = np.stack(rows)
        if not np.isfinite(stacked).all() or not stacked.any(axis=1).all():
            raise EmbedderUnavailable("The embedder returned a vector that is empty or not finite.")
        return unit_rows(stacked)


def _refusal(url: str, answer: httpx.Response) -> EmbedderUnavailable:
    said = " ".join(answer.text[:200].split())
    message = f"The embedder at {url} answered {answer.status_code}: {said or answer.reason_phrase}"
    return TextRefused(message) if answer.status_code in _REFUSALS else EmbedderUnavailable(message)
