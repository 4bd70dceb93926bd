"""axe on every page, light and dark, wide and narrow: no violation of WCAG 2.0 to 2.2 A and AA or best practice."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from memory.services.retention import memory_delete
from tests.browser import OpenAs
from tests.pages.staging import Full, write
from tests.pages.test_every_page import FOR_ADMINS, FOR_REVIEWERS, READABLE, names
from tests.pages.test_page_admin import snapshots

# What depends on the colours is checked in both themes, all else once.
COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
RULES = {
    "runOnly": {
        "type": "tag",
        "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    }
}


@pytest.mark.parametrize("width", [1440, 390])
def test_pages__checked_by_axe__have_no_violation(full: Full, open_as: OpenAs, width: int) -> None:
    snapshots(full.stage)
    gone = write(full.stage.coder, content="Rack 7 of hall 3 holds the spare router number 310.")
    memory_delete(full.stage.owner.principal, gone.id, "no longer needed")
    filled, found = names(full), []
    tab = open_as(full.stage.owner, width=width, height=900 if width > 500 else 844)
    paths = [full.at(path.format(**filled)) for path in (*READABLE, *FOR_REVIEWERS, *FOR_ADMINS)]
    for path in ["/", "/help/", "/tenants/", *paths]:
        if path.endswith((".csv", ".json")):
            continue
        page = tab.go(path)
        for scheme, rules in (("light", RULES), ("dark", COLOURS)):
            page.emulate_media(color_scheme=scheme)
            result = Axe().run(page, options=rules)
            found += [
                f"{path} {scheme}: {one['id']} {node['target']} {node.get('failureSummary', '')}"
                for one in result.response["violations"]
                for node in one["nodes"]
            ]
    assert found == []
