"""Writes the generated parts of docs/: schemas, and the reference of REST calls, policy and command line.

python scripts/generate_docs.py            write them anew
python scripts/generate_docs.py --check    say which are out of date, and end with 1
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
DOCS: Final = ROOT / "docs"
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memgov.settings")

import django

django.setup()

from memory.api.schema import describe
from memory.domain.mount import mount_schema
from memory.domain.policy import policy_schema
from scripts.reference import command_line, policy, rest


def _schema(made: Callable[[], dict[str, Any]]) -> Callable[[], str]:
    return lambda: json.dumps(made(), indent=1, ensure_ascii=False) + "\n"


GENERATED: Final[dict[str, Callable[[], str]]] = {
    "policy.schema.json": _schema(policy_schema),
    "mount.schema.json": _schema(mount_schema),
    "reference/rest.md": lambda: rest.page(describe()),
    "reference/policy.md": lambda: policy.page(policy_schema()),
    "reference/cli.md": command_line.page,
}


def main() -> int:
    """Write or compare; the exit code."""
    stale = []
    for name, make in GENERATED.items():
        text, path = make(), DOCS / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if "--check" not in sys.argv:
                path.write_text(text, encoding="utf-8")
    if "--check" in sys.argv and stale:
        print(f"out of date, write them anew with `make docs`: {', '.join(stale)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
