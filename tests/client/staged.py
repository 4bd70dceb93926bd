"""A small server for tests that cannot import the product: makes tenants, shows rows, acts as a reviewer."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.db import connections

from memory.domain.ids import parse_id, show_id
from memory.models import Memory
from memory.services.memory_edit import memory_edit
from memory.services.quarantine import quarantine_release
from tests.factories import Stage, make_tenant


class Staged:
    """The tenants that were made, by slug."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.stages: dict[str, Stage] = {}

    def tenant(self, query: dict[str, str]) -> Any:
        """A fresh tenant with the keys of its agents."""
        stage = make_tenant()
        self.stages[stage.tenant.slug] = stage
        keys = {"coder": stage.coder.key_text, "orchestrator": stage.orchestrator.key_text}
        return {"url": self.url, "slug": stage.tenant.slug, "keys": keys}

    def rows(self, query: dict[str, str]) -> Any:
        """Every memory of a tenant as it is stored, oldest first."""
        with self.stages[query["slug"]].context():
            return [
                {
                    "id": show_id("mem", row.id), "status": row.status, "scope": row.scope, "content": row.content,
                    "subject": row.subject, "predicate": row.predicate, "origin": row.origin, "layer": row.layer,
                    "session": row.session, "metadata": row.metadata, "version": row.version, "trust": row.trust,
                    "expires_at": row.expires_at and row.expires_at.isoformat(), "reason": row.status_reason,
                }
                for row in Memory.objects.order_by("recorded_at", "id")
            ]  # fmt: skip

    def release(self, query: dict[str, str]) -> Any:
        """A reviewer lets a held memory in."""
        stage, memory = self._memory(query)
        quarantine_release(stage.reviewer.principal, memory.id, "it is right", version=memory.version)

    def edit(self, query: dict[str, str]) -> Any:
        """A reviewer changes the text of a memory."""
        stage, memory = self._memory(query)
        memory_edit(
            stage.reviewer.principal, memory.id, {"content": query["content"]}, version=memory.version
        )

    def _memory(self, query: dict[str, str]) -> tuple[Stage, Memory]:
        stage = self.stages[query["slug"]]
        with stage.context():
            return stage, Memory.objects.get(id=parse_id("mem", query["memory"]))


@contextmanager
def staged(url: str) -> Iterator[str]:
    """Serve stages for the product at this address; the address of the stage server."""
    staged = Staged(url)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            target = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(target.query).items()}
            try:
                status, body = 200, getattr(staged, target.path.strip("/"))(query)
            except Exception as error:
                status, body = 500, repr(error)
            finally:
                connections.close_all()
            content = json.dumps(body, default=str).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST

        def log_message(self, format: str, *args: object) -> None:
            """Nothing on the terminal."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
