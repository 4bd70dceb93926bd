"""The outside world of alerts, small and local: a receiver of webhooks and a mail server."""

from __future__ import annotations

import email
import email.policy
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Got:
    """One request that came in."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """What arrived; answers are taken from `answers`, the last one stays."""

    url: str = ""
    got: list[Got] = field(default_factory=list)
    answers: list[tuple[int, dict[str, str]]] = field(default_factory=lambda: [(204, {})])
    hold: threading.Event = field(default_factory=threading.Event)
    arrived: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))


@contextmanager
def receiver() -> Iterator[Receiver]:
    """An HTTP server on this machine that keeps what is posted to it."""
    found = Receiver()
    found.hold.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            found.got.append(Got(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            found.arrived.release()
            found.hold.wait(30)
            status, headers = found.answers.pop(0) if len(found.answers) > 1 else found.answers[0]
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_POST

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    found.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield found
    finally:
        found.hold.set()
        server.shutdown()
        server.server_close()


@contextmanager
def trickling(first: bytes) -> Iterator[str]:
    """A server that answers with these bytes and then one more every tenth of a second, without an end."""
    ended = threading.Event()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            try:
                self.request.sendall(first or b"H")
                while not ended.wait(0.1):
                    self.request.sendall(b"x" if first else b" ")
            except OSError:
                return  # the other side hung up, as it should

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/hook"
        finally:
            ended.set()
            server.shutdown()


@dataclass
class Mailbox:
    """Mails that were accepted; with `refusing` none is."""

    port: int = 0
    mails: list[EmailMessage] = field(default_factory=list)
    to: list[str] = field(default_factory=list)
    refusing: bool = False


@contextmanager
def mail_server() -> Iterator[Mailbox]:
    """An SMTP server on this machine, as much of one as a sender needs."""
    box = Mailbox()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.say("220 here")
            while line := self.rfile.readline():
                verb = line.strip().upper()
                if verb.startswith((b"EHLO", b"HELO")):
                    self.say("250 here")
                elif verb.startswith(b"RCPT"):
                    box.to.append(line.decode().split("<")[1].split(">")[0])
                    self.say("451 not now" if box.refusing else "250 fine")
                elif verb == b"DATA":
                    self.say("354 go on")
                    self.take()
                elif verb == b"QUIT":
                    self.say("221 bye")
                    return
                else:
                    self.say("250 fine")

        def take(self) -> None:
            lines = []
            while (line := self.rfile.readline()) not in (b".\r\n", b""):
                lines.append(line.removeprefix(b"."))
            box.mails.append(email.message_from_bytes(b"".join(lines), policy=email.policy.default))  # type: ignore[arg-type]
            self.say("250 taken")

        def say(self, text: str) -> None:
            self.wfile.write(f"{text}\r\n".encode())

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        box.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield box
        finally:
            server.shutdown()
