"""The provider for OpenAI's interface, against a real local HTTP server that behaves and misbehaves."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from memory.clients.embeddings import (
    EmbedderError,
    EmbedderSpecInvalid,
    EmbedderUnavailable,
    TextRefused,
    embed_each,
)
from memory.clients.embeddings.openai_http import OpenAIEmbedder, parse_endpoint
from memory.clients.embeddings.registry import get_embedder

Reply = Callable[[dict[str, Any]], tuple[int, bytes]]


class Server:
    """Answers POST with `reply(body)` and remembers what it was asked."""

    def __init__(self) -> None:
        self.reply: Reply = lambda body: (200, vectors(body["input"], 3))
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.release = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.bodies.append({"path": self.path, **body})
                outer.keys.append(self.headers.get("Authorization"))
                status, payload = outer.reply(body)
                self.send_response(status)
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                with suppress(ConnectionError):  # the client may have given up waiting
                    self.wfile.write(payload)

            def log_message(self, *args: object) -> None:
                return None

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"


def vectors(texts: list[str], dim: int) -> bytes:
    """Answer out of order, as a server may: only `index` tells which text a vector belongs to."""
    items = [
        {"index": at, "embedding": [float(len(text))] + [1.0] * (dim - 1)} for at, text in enumerate(texts)
    ]
    return json.dumps({"data": items[::-1]}).encode()


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    thread = threading.Thread(target=running.http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield running
    running.release.set()
    running.http.shutdown()
    running.http.server_close()
    thread.join()


def embedder(server: Server, options: str = "", api_key: str = "") -> OpenAIEmbedder:
    return OpenAIEmbedder(parse_endpoint(f"{server.url}?model=small&dim=3{options}", api_key=api_key))


def test_openai__many_texts__are_sent_in_batches_and_come_back_in_order(server: Server) -> None:
    texts = ["x" * (n + 1) for n in range(130)]
    rows = embedder(server, api_key="k-1").embed(texts)
    assert [len(body["input"]) for body in server.bodies] == [64, 64, 2]
    assert np.allclose(rows[:, 0] / rows[:, 1], range(1, 131), rtol=1e-4)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert server.bodies[0]["path"] == "/v1/embeddings" and server.bodies[0]["model"] == "small"
    assert "dimensions" not in server.bodies[0]
    assert server.keys[0] == "Bearer k-1"


def test_openai__dimensions_given__asks_the_model_for_them(server: Server) -> None:
    OpenAIEmbedder(parse_endpoint(f"{server.url}/?model=m&dimensions=3")).embed(["a"])
    assert server.bodies[0]["dimensions"] == 3


def test_openai__wrong_dimensions__says_both_numbers(server: Server) -> None:
    server.reply = lambda body: (200, vectors(body["input"], 5))
    with pytest.raises(EmbedderUnavailable, match="returned 5 dimensions, the index has 3"):
        embedder(server).embed(["a"])


@pytest.mark.parametrize("status", [400, 413, 422])
def test_openai__request_refused__repeats_what_the_server_said(server: Server, status: int) -> None:
    server.reply = lambda body: (status, b'{"error": "maximum context length is 8192 tokens"}')
    with pytest.raises(TextRefused, match=f"{status}.*8192 tokens"):
        embedder(server).embed(["a"])


@pytest.mark.parametrize("status", [301, 401, 429, 500, 503])
def test_openai__other_failure__is_unavailable_and_not_the_texts_fault(server: Server, status: int) -> None:
    server.reply = lambda body: (status, b"")
    with pytest.raises(EmbedderUnavailable, match=str(status)) as failure:
        embedder(server, api_key="k-secret").embed(["a"])
    assert not isinstance(failure.value, TextRefused)
    assert "k-secret" not in str(failure.value)


@pytest.mark.parametrize(
    "payload",
    [
        b"<html>",
        b"[]",
        b'{"data": 3}',
        b'{"data": []}',
        b'{"data": [{"index": 0, "embedding": "AAAA"}]}',
        b'{"data": [{"index": 0, "embedding": [0, 0, 0]}]}',
        b'{"data": [{"index": 0, "embedding": [1, NaN, 0]}]}',
        b'{"data": [{"index": 0, "embedding": null}]}',
    ],
)
def test_openai__answer_without_usable_vectors__is_unavailable(server: Server, payload: bytes) -> None:
    server.reply = lambda body: (200, payload)
    with pytest.raises(EmbedderUnavailable):
        embedder(server).embed(["a"])


def test_openai__server_too_slow__times_out_with_the_limit_named(server: Server) -> None:
    def hang(body: dict[str, Any]) -> tuple[int, bytes]:
        server.release.wait(10)
        return 200, b"{}"

    server.reply = hang
    with pytest.raises(EmbedderUnavailable, match=r"within 0\.2 s"):
        embedder(server, "&timeout=0.2").embed(["a"])


def test_openai__nobody_listens__is_unavailable(server: Server) -> None:
    asked = embedder(server)
    server.http.server_close()
    server.http.shutdown()
    with pytest.raises(EmbedderUnavailable, match="cannot be reached"):
        asked.embed(["a"])


def test_openai__one_text_too_long__leaves_the_other_63_embedded(server: Server) -> None:
    def picky(body: dict[str, Any]) -> tuple[int, bytes]:
        too_long = any(len(text) > 100 for text in body["input"])
        return (400, b"too long") if too_long else (200, vectors(body["input"], 3))

    server.reply = picky
    results = embed_each(embedder(server), ["short"] * 40 + ["x" * 101] + ["short"] * 23)
    assert [at for at, result in enumerate(results) if isinstance(result, EmbedderError)] == [40]


def test_get_embedder__openai_spec__takes_model_and_key_from_the_environment(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    (tmp_path / "key").write_text("k-file\n")
    monkeypatch.setenv("MEMGOV_EMBEDDER_MODEL", "from-env")
    monkeypatch.setenv("MEMGOV_EMBEDDER_API_KEY_FILE", str(tmp_path / "key"))
    found = get_embedder(f"openai:{server.url}?dim=3")
    found.embed(["a"])
    assert server.bodies[0]["model"] == "from-env" and server.keys == ["Bearer k-file"]
    assert found.model_id == "openai:from-env/3"
    assert isinstance(found, OpenAIEmbedder) and "k-file" not in repr(found.endpoint)


@pytest.mark.parametrize(
    "query", ["", "?model=m&dim=x", "?model=m&dim=0", "?model=m&timeout=0", "?model=m&modle=n"]
)
def test_parse_endpoint__bad_options__are_refused(query: str) -> None:
    with pytest.raises(EmbedderSpecInvalid):
        parse_endpoint(f"http://127.0.0.1:1/v1{query}")
