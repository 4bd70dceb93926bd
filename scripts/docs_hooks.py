"""What MkDocs is told beside mkdocs.yml: pages that live outside docs/, and lists that fill themselves.

Runs in the environment of the docs, not in the product's.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"

ELSEWHERE = {
    "client/README.md": "client.md",
    "skills/memgov/SKILL.md": "skill.md",
    "CHANGELOG.md": "changelog.md",
}
"""Pages of the site that stand beside what they are about."""
_HOME = {page: source for source, page in ELSEWHERE.items()}
_LINK = re.compile(r"(\]\()([^)#:\s]+)((?:#[^)\s]*)?\))")
_HEAD = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)


def on_config(config: Any) -> Any:
    """Every decision stands in the navigation, and a page that nobody placed is not lost."""
    decisions = sorted(path.name for path in (DOCS / "decisions").glob("0*.md"))
    (inside,) = (entry["Inside"] for entry in config.nav if "Inside" in entry)
    for entry in inside:
        if "Decisions" in entry:
            entry["Decisions"] = [f"decisions/{name}" for name in ("README.md", *decisions)]
    named = re.findall(r"[\w./-]+\.md", str(config.nav))
    more = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")} - set(named)
    if more:
        config.nav.append({"More": sorted(more)})
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages from elsewhere. A skill's head becomes a code block: it is what an agent's host reads."""
    for source, page in ELSEWHERE.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        text = _HEAD.sub(lambda head: f"# Agent skill\n\n```yaml\n{head[1]}\n```\n", text)
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links are written as they work in the repository; here they lead to the pages of the site."""
    here = page.file.src_uri
    source = _HOME.get(here, f"docs/{here}")

    def moved(link: re.Match[str]) -> str:
        target = os.path.normpath(PurePosixPath(source).parent / link[2])
        if target in ELSEWHERE:
            target = f"docs/{ELSEWHERE[target]}"
        elif here not in _HOME:
            return link[0]
        return link[1] + os.path.relpath(target, PurePosixPath(f"docs/{here}").parent) + link[3]

    return _LINK.sub(moved, markdown)
