"""Writes the generated parts of docs/: the JSON Schemas of the policy document and of the mount manifest."""

from __future__ import annotations

import json
from pathlib import Path

from memory.domain.mount import mount_schema
from memory.domain.policy import policy_schema

DOCS = Path(__file__).resolve().parent.parent / "docs"


def main() -> None:
    """Write them anew."""
    for name, schema in (("policy", policy_schema()), ("mount", mount_schema())):
        text = json.dumps(schema, indent=1, ensure_ascii=False)
        (DOCS / f"{name}.schema.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
