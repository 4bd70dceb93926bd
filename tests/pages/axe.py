"""axe-core on a page: WCAG 2.0 to 2.2 A and AA and best practice, in light and dark."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

# Only violations are written out: axe lists what passed node by node, which takes longer than looking.
_LOOK = {"resultTypes": ["violations"]}
RULES = _LOOK | {
    "runOnly": {
        "type": "tag",
        "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    }
}
# What depends on the colours is checked in both themes, all else once.
COLOURS = _LOOK | {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
_SCRIPT: str = Axe().axe_script


def faults(page: Page, what: str) -> list[str]:
    """What axe finds on the page, named after `what`: all rules in light and those of colour in dark."""
    page.evaluate(f"if (!window.axe) {{ {_SCRIPT} }}")
    found = []
    for scheme, rules in (("light", RULES), ("dark", COLOURS)):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        violations: list[dict[str, Any]] = page.evaluate(
            "rules => axe.run(document, rules).then(found => found.violations)", rules
        )
        found += [
            f"{what} {scheme}: {one['id']} {node['target']} {node.get('failureSummary', '')}"
            for one in violations
            for node in one["nodes"]
        ]
    return found
