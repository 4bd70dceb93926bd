"""Exports and imports as the command line does them, for tests."""

from __future__ import annotations

import json
import secrets
from collections import defaultdict
from io import StringIO
from pathlib import Path
from typing import Any

from django.core.management import call_command

from tenants.models import Tenant
from tests.factories import Stage


def exported(stage: Stage, path: Path, *options: str) -> dict[str, Any]:
    """Export; what the command says."""
    out = StringIO()
    call_command("export", str(path), "--tenant", stage.tenant.slug, "--json", *options, stdout=out)
    answer: dict[str, Any] = json.loads(out.getvalue())
    return answer


def imported(path: Path, *options: str, slug: str = "") -> dict[str, Any]:
    """Import under a fresh slug (or this one); what the command says."""
    out = StringIO()
    slug = slug or fresh_slug()
    call_command("import", str(path), "--slug", slug, "--json", *options, stdout=out)
    answer: dict[str, Any] = json.loads(out.getvalue())
    return answer


def fresh_slug() -> str:
    return f"i-{secrets.token_hex(6)}"


def tenant_of(answer: dict[str, Any]) -> Tenant:
    return Tenant.objects.get(slug=answer["tenant"])


def rows_by_table(path: Path) -> dict[str, list[dict[str, Any]]]:
    """The rows of an export."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in path.read_bytes().splitlines()[1:-1]:
        document = json.loads(line)
        found[document["table"]].append(document["row"])
    return found
