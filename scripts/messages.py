"""Brings the translations of the pages up to date with the sources, and compiles them.

python scripts/messages.py            collect, complete the catalogues, compile; says what is still to be translated
python scripts/messages.py --check    say what is out of date or missing, and end with 1

The compiled files are kept beside their sources in `locale/`, so that a clone, an image and a test read German without
a step of their own and without any program of the system; `tests/languages` holds the two together.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memgov.settings")

import django

django.setup()

from scripts.languages.catalogues import compiled, faults, languages, path_of, read, updated
from scripts.languages.collect import collect
from scripts.languages.sentences import LISTED, listing


def main() -> int:
    """Write or compare; the exit code."""
    check, stale = "--check" in sys.argv, []
    sources = collect()
    wanted = {
        LISTED: listing().encode(),
        **{path_of(name, "po"): updated(name, sources) for name in languages()},
    }
    for path, content in wanted.items():
        stale += _kept(path, content, check)
    for name in languages():
        stale += _kept(path_of(name, "mo"), compiled(name), check)
    missing = [f"{name}: {fault}" for name in languages() for fault in faults(read(name))]
    for line in missing:
        print(line)
    if check and stale:
        print(f"out of date, make them anew with `make messages`: {', '.join(stale)}", file=sys.stderr)
    return 1 if missing or (check and stale) else 0


def _kept(path: Path, content: bytes, check: bool) -> list[str]:
    if path.exists() and path.read_bytes() == content:
        return []
    if not check:
        path.write_bytes(content)
    return [str(path.relative_to(ROOT))]


if __name__ == "__main__":
    sys.exit(main())
