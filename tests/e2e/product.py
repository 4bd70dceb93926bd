"""What the end-to-end tests do with a running product: its commands, and its API as an agent."""

from __future__ import annotations

import json
from typing import Any

import httpx

from tests.launcher.launched import Launched


def command(product: Launched, *arguments: str) -> dict[str, Any]:
    """A command with --json, and its answer."""
    done = product.run(*arguments, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def agent(product: Launched, tenant: str, name: str, role: str, *grants: str) -> httpx.Client:
    """A new agent's HTTP client."""
    given = [part for grant in grants for part in ("--grant", grant)]
    made = command(product, "agent", "create", "--tenant", tenant, "--name", name, "--role", role, *given)
    assert made["key"].startswith("mgk_") and made["tenant"] == tenant
    return httpx.Client(
        base_url=f"http://127.0.0.1:{product.port}/api/v1/",
        headers={"Authorization": f"Bearer {made['key']}"},
        timeout=30,
    )


def write(client: httpx.Client, content: str, **fields: Any) -> dict[str, Any]:
    """One memory offered; the answer with its HTTP status as `http`."""
    answer = client.post("memories", json={"content": content, "origin": "tool_verified", **fields})
    return {"http": answer.status_code, **answer.json()}
