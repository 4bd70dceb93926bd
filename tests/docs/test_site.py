"""The site of docs/: it builds, its links lead somewhere, it asks no other server, what is generated is current."""

from __future__ import annotations

import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from scripts.generate_docs import DOCS, GENERATED

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)\s#]+)")


class Page(HTMLParser):
    """What a page of the site links to, loads, and can be linked at."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") not in ("canonical", "prev", "next"):
            self.loaded.append(given.get("href", ""))
        elif "src" in given:
            self.loaded.append(given["src"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as `make docs-site` does; a warning of MkDocs is an error."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    built = subprocess.run(
        ["sh", "scripts/docs_site.sh", str(folder)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in site.rglob("*.html") if path.name != "404.html"}


def test_site__every_document__is_a_page(pages: dict[Path, Page], site: Path) -> None:
    made = {path.relative_to(site).with_suffix(".md").as_posix() for path in pages}
    written = {
        path.relative_to(DOCS).as_posix().replace("README.md", "index.md") for path in DOCS.rglob("*.md")
    }
    assert written | {"client.md", "skill.md", "changelog.md"} == made


def test_site__every_link_of_ours__leads_to_a_page_and_a_place_on_it(pages: dict[Path, Page]) -> None:
    lost = []
    for path, page in pages.items():
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme or not link:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            anchored = pages[target].anchors if target in pages else {parts.fragment}
            if not target.exists() or (parts.fragment and unquote(parts.fragment) not in anchored):
                lost.append((path.name, link))
    assert lost == [] and sum(len(page.links) for page in pages.values()) > 1000


def test_site__a_page_opened__asks_no_other_server(pages: dict[Path, Page], site: Path) -> None:
    assert [each for page in pages.values() for each in page.loaded if urlsplit(each).netloc] == []
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//[^)]*", styles) == []


@pytest.mark.parametrize("name", GENERATED)
def test_generated__is_current(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == GENERATED[name](), "write it anew with `make docs`"


@pytest.mark.parametrize("name", ["README.md", "client/README.md", "skills/memgov/SKILL.md"])
def test_links_of_the_repository__name_files_that_are_there(name: str) -> None:
    path = ROOT / name
    links = LINK.findall(path.read_text(encoding="utf-8"))
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_settings__every_variable_that_is_read__is_told_and_no_other() -> None:
    paths = [path for part in ("memgov", "tenants", "memory") for path in (ROOT / part).rglob("*.py")]
    code = "".join(path.read_text(encoding="utf-8") for path in paths)
    read = set(re.findall(r"\benv\.\w+\(\s*\"([A-Z][A-Z_]+)\"", code))
    told = set(re.findall(r"`([A-Z][A-Z_]+)`", (DOCS / "settings.md").read_text(encoding="utf-8")))
    assert len(read) > 20 and read <= told, read - told
    assert [name for name in told if name.startswith("MEMGOV_") and f'"{name}"' not in code] == []
