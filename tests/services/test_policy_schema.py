"""The published schema of the policy document is the one that the code validates by."""

from __future__ import annotations

import json
from pathlib import Path

from memory.domain.policy import policy_schema

PUBLISHED = Path(__file__).resolve().parents[2] / "docs" / "policy.schema.json"


def test_schema__as_published__is_current() -> None:
    assert json.loads(PUBLISHED.read_text()) == policy_schema(), "run `make docs`"
