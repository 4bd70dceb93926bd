"""A small mail server of our own: it takes every message (or refuses every recipient) and keeps what came."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage

from django.test import override_settings


@dataclass(slots=True)
class Mailbox:
    """What arrived."""

    messages: list[EmailMessage] = field(default_factory=list)
    refuse: bool = False

    def last_text(self) -> str:
        """The body of the newest message."""
        return str(self.messages[-1].get_content())


class _Conversation(socketserver.StreamRequestHandler):
    """SMTP as far as a client needs it (RFC 5321)."""

    box: Mailbox

    def handle(self) -> None:
        self._say("220 mailbox ready")
        while line := self.rfile.readline():
            verb = line.split(b" ")[0].strip().upper()
            if verb == b"DATA":
                self._say("354 go on")
                self._keep()
                self._say("250 kept")
            elif verb == b"QUIT":
                self._say("221 bye")
                return
            elif verb == b"RCPT" and self.box.refuse:
                self._say("550 nobody here")
            else:
                self._say("250 fine")

    def _keep(self) -> None:
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        self.box.messages.append(message_from_bytes(b"".join(lines), policy=policy.default))  # type: ignore[arg-type]

    def _say(self, text: str) -> None:
        self.wfile.write(text.encode() + b"\r\n")


@contextmanager
def mail_server(*, refuse: bool = False) -> Iterator[Mailbox]:
    """A running server that this process's Django sends to."""
    box = Mailbox(refuse=refuse)
    handler = type("Conversation", (_Conversation,), {"box": box})
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            with override_settings(
                EMAIL_BACKEND="django.core.mail.backends.smtp.EmailBackend",
                EMAIL_HOST="127.0.0.1", EMAIL_PORT=server.server_address[1],
            ):  # fmt: skip
                yield box
        finally:
            server.shutdown()
            thread.join()
