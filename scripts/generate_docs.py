"""Writes the generated parts of docs/: the JSON Schema of the policy document."""

from __future__ import annotations

import json
from pathlib import Path

from memory.domain.policy import policy_schema

DOCS = Path(__file__).resolve().parent.parent / "docs"


def main() -> None:
    """Write them anew."""
    schema = json.dumps(policy_schema(), indent=1, ensure_ascii=False)
    (DOCS / "policy.schema.json").write_text(schema + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
