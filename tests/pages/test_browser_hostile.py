"""Hostile text in every field that an agent or a person can fill, looked at in Chromium on every page."""

from __future__ import annotations

from uuid import UUID

from memory.models import (
    Contradiction,
    Manifest,
    ManifestEntry,
    Memory,
    Mount,
    MountEntry,
    PromotionRequest,
    Revision,
    WriteDecision,
)
from tests.browser import OpenAs
from tests.pages.hostile import EVERYTHING, MARK, PAYLOADS
from tests.pages.staging import Full
from tests.pages.test_every_page import FOR_REVIEWERS, READABLE, names

_COLUMNS = {
    Memory: ("content", "value", "subject", "predicate", "agent_name", "session", "task", "tool", "input_hash",
             "status_reason", "pin_reason", "pinned_by"),
    PromotionRequest: ("reason", "proposer_name"),
    Contradiction: ("subject", "predicate", "resolved_by"),
    Revision: ("actor", "reason"),
    WriteDecision: ("agent_name", "session"),
    Mount: ("name", "commit", "applied_by"),
    Manifest: ("agent_name", "agent_role", "session", "task", "query_text"),
    ManifestEntry: ("source", "scope"),
}  # fmt: skip
LONGEST = {"predicate": 256}  # the domain's own limit


def poison(full: Full) -> None:
    """Every text column of every row that the pages show, past all gates: as if a gate had failed."""
    with full.stage.context():
        for model, columns in _COLUMNS.items():
            for name in columns:
                longest = min(model._meta.get_field(name).max_length or 4000, LONGEST.get(name, 4000))
                text = "".join(PAYLOADS) if longest > 1500 else EVERYTHING[:longest]
                model.objects.update(**{name: text})
        evil = {"kind": EVERYTHING, "field": EVERYTHING, "rule": EVERYTHING, "span": [3, 40]}
        Memory.objects.update(
            findings=[evil, {**evil, "field": "content"}],
            tags=list(PAYLOADS),
            metadata={payload: payload for payload in PAYLOADS if "\x00" not in payload},
            also_learned_in=list(PAYLOADS),
        )
        PromotionRequest.objects.update(risk_reasons=list(PAYLOADS))
        Mount.objects.update(scopes=list(PAYLOADS))
        MountEntry.objects.update(paths=list(PAYLOADS), tags=list(PAYLOADS))
        Manifest.objects.update(request={"tags": list(PAYLOADS), "scope": EVERYTHING, EVERYTHING: EVERYTHING},
                                excluded={EVERYTHING: 3})  # fmt: skip
        for row in Revision.objects.all():
            Revision.objects.filter(id=UUID(str(row.id))).update(state={**row.state, "content": EVERYTHING})


def test_hostile_text__in_every_field__stays_text(full: Full, open_as: OpenAs) -> None:
    filled = names(full)
    poison(full)
    tab = open_as(full.stage.owner)
    for path in (*READABLE, *FOR_REVIEWERS):
        if path.endswith((".csv", ".json")):
            continue
        page = tab.go(full.at(path.format(**filled)))
        assert MARK not in page.title() or "document.title" in page.title(), path
        assert page.url.startswith(tab.base + full.base), path
        assert page.locator("main iframe, main script, main style, main link").count() == 0, path
        assert page.locator("main img, main [onerror], main [onload], main [onfocus]").count() == 0, path
        assert page.locator("main a[href^='javascript']").count() == 0, path
    page = tab.go(full.at("memories/"))
    assert "<script>document.title" in page.locator("main").inner_text(), "the text is shown, as text"
    page = tab.go(full.at("memories/{mem}/".format(**filled)))
    assert page.locator(".esc").count() > 0, "hidden characters are drawn"
