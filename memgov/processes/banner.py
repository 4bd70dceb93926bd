"""What a person is told when everything runs: the sign-ins, a key and a line to try."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from memgov.processes.plan import Plan, program


def banner(plan: Plan) -> str:
    """The lines shown once, when everything runs."""
    demo = _demo(plan.demo_file)
    lines = _demo_lines(plan, demo) if demo else _without_demo(program(plan.data_dir))
    lines += [
        "",
        f"  REST      {plan.web_url}/api/v1/docs/      MCP  {plan.mcp_url}",
        f"  data      {plan.data_dir}      logs  {plan.logs}",
        "",
    ]
    return "\n".join(lines)


def _demo(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _demo_lines(plan: Plan, demo: dict[str, Any]) -> list[str]:
    people = demo.get("sign_ins", [])
    width = max((len(person["email"]) for person in people), default=0)
    lines = [
        f"  sign in   {person['email']:<{width}}  {person['password']}  ({person['role']} of {person['tenant']})"
        for person in people
    ]
    key = demo.get("agent_key", "")
    lines.append(f"  agent key {key}   (tenant {demo.get('tenant', '')})")
    lines.append(f"  try       curl -s -H 'Authorization: Bearer {key}' {plan.web_url}/api/v1/whoami")
    return lines


def _without_demo(memgov: str) -> list[str]:
    return [
        "  No demo here.  Make a tenant, and a key for its first agent:",
        f"    {memgov} tenant create SLUG --owner EMAIL",
        f"    {memgov} agent create --tenant SLUG --name N --role R",
    ]
