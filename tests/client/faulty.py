"""A proxy before the product that fails as networks and load balancers do: the outside world, on purpose."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


@dataclass
class Proxy:
    """``faults``: the next one for each request: `lose_request`, `lose_answer`, `busy`, `page`, or none.

    `busy` is a 503 with `Retry-After: 1`, `page` an HTML page with 502.
    """

    url: str
    faults: list[str] = field(default_factory=list)
    seen: list[tuple[str, str]] = field(default_factory=list)


@contextmanager
def faulty(upstream: str) -> Iterator[Proxy]:
    """A proxy before the server at this address."""
    proxy = Proxy("")
    target = urlsplit(upstream)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            fault = proxy.faults.pop(0) if proxy.faults else ""
            proxy.seen.append((self.command, self.headers.get("Idempotency-Key", "")))
            self.close_connection = True
            if fault == "lose_request":
                return
            if fault == "busy":
                return self.say(503, b"", {"Retry-After": "1"})
            if fault == "page":
                return self.say(502, b"<h1>Bad gateway</h1>", {"Content-Type": "text/html"})
            upstream_call = http.client.HTTPConnection(target.hostname or "", target.port or 80, timeout=30)
            upstream_call.request(self.command, self.path, body, dict(self.headers))
            answer = upstream_call.getresponse()
            content = answer.read()
            if fault != "lose_answer":
                self.say(answer.status, content, dict(answer.getheaders()))
            return None

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = pass_on

        def say(self, status: int, content: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in headers.items():
                if name.lower() not in (
                    "content-length",
                    "transfer-encoding",
                    "connection",
                    "date",
                    "server",
                ):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing on the terminal."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    proxy.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
