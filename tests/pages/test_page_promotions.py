"""The promotion queue: what it shows of a request, what is found in it, and how it is walked."""

from __future__ import annotations

import html
import re

import pytest
from django.test import Client

from memory.models import PromotionRequest
from memory.selectors import pages_paging, pages_promotions
from tests.factories import make_agent
from tests.pages.staging import Full, ask, prm, write

HX = {"HX-Request": "true", "HX-Target": "detail"}


def test_queue__as_reviewer__shows_the_request_and_who_will_read_it(full: Full, reviewer: Client) -> None:
    newcomer = make_agent(full.stage.tenant, "writer", name="newcomer-of-the-reach")
    answer = reviewer.get(full.at("promotions/"))
    text = answer.content.decode()
    assert answer.status_code == 200
    assert full.memory.content in text
    assert newcomer.agent.name in text
    assert full.stage.orchestrator.agent.name not in text, "it reads the source scope already"
    assert answer["Cache-Control"] == "no-store"
    assert {"HX-Request", "HX-Target"} <= {name.strip() for name in answer["Vary"].split(",")}


def test_detail__with_a_rival_in_the_target__shows_both_wordings_and_the_conflict(
    full: Full, reviewer: Client
) -> None:
    keyed = {"subject": "service:billing", "predicate": "owner", "content": None}
    write(full.stage.orchestrator, **keyed, value="Team Harbour", scope="shared", origin="user_explicit")
    mine = write(
        full.stage.coder, **keyed, value="Team Lighthouse", scope="project:alpha", origin="user_explicit"
    )
    request = ask(full.stage.coder, mine)
    text = reviewer.get(full.at(f"promotions/{prm(request)}/?view=conflicts"), headers=HX).content.decode()
    assert "Harbour" in text and "Lighthouse" in text
    assert "Conflict" in text and "High risk" in text
    listed = reviewer.get(full.at("promotions/?view=conflicts")).content.decode()
    assert f"row-{prm(request)}" in listed and f"row-{prm(full.request)}" not in listed


def test_search__by_text_subject_or_agent__finds_the_request(full: Full, reviewer: Client) -> None:
    row = f"row-{prm(full.request)}"
    for q in ("blue gateway", full.stage.coder.agent.name):
        assert row in reviewer.get(full.at("promotions/"), {"q": q}).content.decode(), q
    nothing = reviewer.get(full.at("promotions/"), {"q": "no such thing"}).content.decode()
    assert row not in nothing and "Nothing matches" in nothing


def _far_back(full: Full, monkeypatch: pytest.MonkeyPatch) -> list[PromotionRequest]:
    """Two requests that clash, behind more plain ones than are looked at for one page."""
    for module in (pages_paging, pages_promotions):
        monkeypatch.setattr(module, "SEARCHED", 4)
    clashing = []
    for at in range(2):
        keyed = {"subject": f"service:{at}", "predicate": "owner", "content": None, "origin": "user_explicit"}
        write(full.stage.orchestrator, **keyed, value="Team Harbour", scope="shared")
        clashing.append(ask(full.stage.coder, write(full.stage.coder, **keyed, value="Team Lighthouse")))
    for at in range(9):
        text = f"Rack {at} of hall {at % 7} holds the spare router number {at * 31}."
        ask(full.stage.coder, write(full.stage.coder, content=text))
    return clashing


def _walked(reviewer: Client, full: Full, query: str) -> list[str]:
    """The requests of all pages of a view, by its links."""
    where, seen, pages = full.at(f"promotions/?{query}"), [], 0
    while where and pages < 20:
        page = reviewer.get(where).content.decode()
        seen += re.findall(r'id="row-(prm_[0-9a-f]+)"', page)
        link = re.search(r'href="([^"]*after=[^"]*)"', page)
        where, pages = html.unescape(link[1]) if link else "", pages + 1
    return seen


def test_conflicts__further_back_than_one_look__are_all_found(
    full: Full, reviewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = _far_back(full, monkeypatch)
    page = reviewer.get(full.at("promotions/?view=conflicts")).content.decode()
    assert "Look further back" in page and "The queue is clear" not in page
    assert re.search(r'view=conflicts[^>]*>[^<]*<span class="n">0\+</span>', page), "it is said to be cut"
    assert _walked(reviewer, full, "view=conflicts") == [prm(second), prm(first)]
    assert _walked(reviewer, full, "view=conflicts&sort=old") == [prm(first), prm(second)]
    assert _walked(reviewer, full, "view=conflicts&q=Lighthouse") == [prm(second), prm(first)]
    assert len(_walked(reviewer, full, "view=all")) == 12, "the control: all that wait"
    after = pages_promotions.next_in
    with full.stage.context():
        assert after("conflicts", "", full.stage.reviewer.principal.id, second) == first.id


def test_conflicts__by_risk__says_that_it_does_not_look_at_all(
    full: Full, reviewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    _far_back(full, monkeypatch)
    cut = "only the newest 3,000 requests are looked through"
    for query in ("view=conflicts&sort=risk", "view=all&sort=reach&q=rack"):
        assert cut in reviewer.get(full.at(f"promotions/?{query}")).content.decode()
    for query in ("view=conflicts", "view=all&sort=risk", "view=all&q=rack"):
        assert cut not in reviewer.get(full.at(f"promotions/?{query}")).content.decode()


def test_queue__longer_than_a_page__is_walked_by_links(full: Full, reviewer: Client) -> None:
    import re

    from memory.selectors.pages_paging import PAGE

    made = [prm(full.request)]
    for at in range(PAGE + 3):
        place = write(
            full.stage.coder, content=f"Rack {at} of hall {at % 7} holds the spare router number {at * 31}."
        )
        made.append(prm(ask(full.stage.coder, place)))
    seen, page = [], reviewer.get(full.at("promotions/"), {"view": "all"}).content.decode()
    while True:
        seen += re.findall(r'id="row-(prm_[0-9a-f]{32})"', page)
        older = re.search(r'more-rows"><a class="btn sm" href="([^"]+)"', page)
        if not older:
            break
        page = reviewer.get(older[1].replace("&amp;", "&")).content.decode()
    assert seen == made[::-1]
