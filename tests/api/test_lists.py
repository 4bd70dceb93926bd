"""Lists: filters, pages, cursors, refused parameters."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memgov import clock
from memory.domain.policy import Policy
from memory.domain.registry import PredicateRule
from memory.models import Memory
from memory.selectors.pages_memories import Wanted, found
from memory.selectors.policies import active_policy
from memory.services.retention import memory_pin
from memory.services.vocabulary import alias_set, predicate_set
from tests.api.caller import Caller, as_uuid, assert_problem
from tests.factories import Stage, make_tenant

NAMES = ("billing", "search", "gateway", "mailer", "ledger", "catalogue", "cockpit")


def ids(response: Any) -> list[str]:
    assert response.status_code == 200, response.content
    return [row["id"] for row in response.json()["results"]]


def fill(caller: Caller, names: tuple[str, ...] = NAMES, **fields: Any) -> list[str]:
    """One memory per name, oldest first."""
    return [
        caller.remember(f"The {name} service of alpha is owned by team number {n + 10}.", **fields)["id"]
        for n, name in enumerate(names)
    ]


def follow(caller: Caller, address: str | None) -> Any:
    assert address is not None
    return caller.get(address.replace("http://testserver", ""))


def test_list__walked_while_rows_are_written__meets_each_original_once(coder: Caller) -> None:
    rows = fill(coder)
    page, seen = coder.get("memories?page_size=2"), []
    for n in range(10):
        seen += ids(page)
        coder.remember(f"The archive number {n} of alpha is kept in vault {n + 50}.")
        if page.json()["next"] is None:
            break
        page = follow(coder, page.json()["next"])
    assert seen == list(reversed(rows))


def test_list__walked_back__gives_the_pages_before(coder: Caller) -> None:
    rows = list(reversed(fill(coder)))
    first = coder.get("memories?page_size=3")
    second = follow(coder, first.json()["next"])
    third = follow(coder, second.json()["next"])
    assert (ids(first), ids(second), ids(third)) == (rows[:3], rows[3:6], rows[6:])
    assert first.json()["previous"] is None and third.json()["next"] is None
    assert ids(follow(coder, third.json()["previous"])) == rows[3:6]
    assert ids(follow(coder, second.json()["previous"])) == rows[:3]
    assert follow(coder, second.json()["previous"]).json()["previous"] is None


@pytest.mark.parametrize("size", ["0", "-1", "201", "1000000000", "ten", "1.5", ""])
def test_page_size__out_of_bounds__is_400(coder: Caller, size: str) -> None:
    for path in ("memories", "promotions", "audit"):
        problem = assert_problem(coder.get(f"{path}?page_size={size}"), 400, "invalid")
        assert problem["errors"][0]["field"] == "page_size"


def test_head__takes_the_parameters_of_get(coder: Caller) -> None:
    response = coder.call("HEAD", "memories?page_size=3")
    assert response.status_code == 200 and response.content == b""


def test_page_size__200__is_allowed(coder: Caller) -> None:
    assert coder.get("memories?page_size=200").status_code == 200


@pytest.mark.parametrize("query", ["offest=1", "page=2", "limit=5000", "cursor=x&Scope=shared", "q=a&q[]=b"])
def test_unknown_parameter__is_refused_by_name(coder: Caller, query: str) -> None:
    problem = assert_problem(coder.get(f"memories?{query}"), 400, "unknown_parameter")
    assert problem["errors"][0]["field"] in query


def test_cursor__of_another_list_or_made_up__is_400(coder: Caller) -> None:
    fill(coder, NAMES[:3])
    cursor = coder.get("memories?page_size=1").json()["next"].partition("cursor=")[2].partition("&")[0]
    assert coder.get(f"memories?cursor={cursor}").status_code == 200
    for path in (f"audit?cursor={cursor}", "memories?cursor=abc", "memories?cursor=" + cursor[:-2] + "AA"):
        assert_problem(coder.get(path), 400, "bad_cursor")


def test_filters__each__narrow_to_what_they_name(stage: Stage, coder: Caller) -> None:
    [plain] = fill(coder, NAMES[:1])
    tagged = coder.remember("Deploys of alpha wait for two approvals.", kind="preference", session="s-7")[
        "id"
    ]
    fact = coder.know("user:9", "timezone", "Europe/Riga", scope="user:9", origin="tool_verified")["id"]
    memory_pin(stage.owner.principal, as_uuid(tagged), "important")
    me = stage.coder.agent
    expected = {
        "scope=user:9": {fact}, "scope=user:9,project:alpha": {plain, tagged, fact},
        "scope=user:9&scope=project:alpha": {plain, tagged, fact}, "kind=preference": {tagged},
        "layer=semantic": {plain, tagged, fact}, "layer=episodic": set(), "subject=user:9": {fact},
        "predicate=timezone": {fact}, "origin=tool_verified": {fact}, "session=s-7": {tagged},
        f"agent={me.name}": {plain, tagged, fact}, f"agent=agt_{me.id.hex}": {plain, tagged, fact},
        "agent=nobody": set(), "pinned=true": {tagged}, "pinned=false": {plain, fact},
        "band=fresh": {plain, tagged, fact},
        "band=outdated": set(), "q=approvals": {tagged}, "q=APPROVALS": {tagged}, "q=100%25": set(),
        "updated_after=2020-01-01T00:00:00Z": {plain, tagged, fact}, "updated_after=2099-01-01T00:00:00Z": set(),
        "status=live": {plain, tagged, fact}, "status=deleted": set(), "scope=project:beta": set(),
    }  # fmt: skip
    found = {query: set(ids(coder.get(f"memories?{query}"))) for query in expected}
    assert found == expected


def test_names__in_any_spelling_that_a_writer_may_use__find_what_is_stored(
    stage: Stage, coder: Caller
) -> None:
    alias_set(stage.owner.principal, "nadia", "user:7")
    one = coder.know("nadia", "lives_in", "Riga")["id"]
    other = coder.know("user:8", "lives_in", "Tartu")["id"]
    for query in (
        "subject=nadia",
        "subject=user:7",
        "subject=NADIA&predicate=lives%20in",
        "subject=user:7&predicate=city",
    ):
        assert ids(coder.get(f"memories?{query}")) == [one], query
    assert set(ids(coder.get("memories?predicate=Lives%20In"))) == {one, other}
    assert ids(coder.get("memories?subject=nadi")) == ids(coder.get("memories?predicate=---")) == []


@pytest.mark.parametrize(
    "query",
    ["scope=nowhere", "status=alive", "kind=rumour", "band=stale", "pinned=maybe", "agent=agt_1", "fields=secret",
     "updated_after=2026-08-13T10:00:00", "updated_after=yesterday", "updated_after=0001-01-01T00:00:00%2B14:00",
     "session=" + "x" * 301],
)  # fmt: skip
def test_filters__bad_values__are_400(coder: Caller, query: str) -> None:
    problem = coder.get(f"memories?{query}").json()
    assert problem["status"] == 400 and problem["code"] in ("invalid", "invalid_id")


def test_fields__named__are_the_only_ones(coder: Caller) -> None:
    fill(coder, NAMES[:1])
    [row] = coder.get("memories?fields=id,content").json()["results"]
    assert set(row) == {"id", "content"}


def test_band__of_a_list__agrees_with_each_memory(coder: Caller) -> None:
    for days, value in ((5, "1.1"), (20, "1.2"), (75, "1.3"), (200, "1.4")):
        with clock.moved_to(clock.now() - timedelta(days=days)):
            coder.remember(f"Alpha release {value} was built by the robot of team {days}.")
            coder.know(f"app:{days}", "version", value)
            coder.know(f"user:{days}", "birthday", f"1980-01-{days % 28 + 1:02}")
    rows = coder.get("memories?page_size=200").json()["results"]
    assert len(rows) == 12
    by_band = {band: set(ids(coder.get(f"memories?band={band}"))) for band in ("fresh", "aging", "outdated")}
    assert by_band == {
        band: {row["id"] for row in rows if row["band"] == band} for band in ("fresh", "aging", "outdated")
    }
    assert {band: len(found) for band, found in by_band.items()} == {"fresh": 7, "aging": 2, "outdated": 3}


def test_expired__row_that_no_sweep_has_met__counts_as_expired(coder: Caller) -> None:
    now = clock.now()
    later = (now + timedelta(hours=1)).isoformat()
    memory = coder.remember("The archive of alpha is kept in vault 12.", expires_at=later)
    assert ids(coder.get("memories")) == [memory["id"]]
    with clock.moved_to(now + timedelta(hours=2)):
        assert ids(coder.get("memories")) == ids(coder.get("memories?status=live")) == []
        assert ids(coder.get("memories?status=expired")) == [memory["id"]]
        assert coder.get(f"memories/{memory['id']}").json()["status"] == "expired"


def test_list__shows_own_sessions_and_nobody_elses(stage: Stage, coder: Caller, orchestrator: Caller) -> None:
    mine = coder.remember("The trial of alpha runs in region north.", scope="session:one")["id"]
    theirs = orchestrator.remember("The trial of beta runs in region south.", scope="session:two")["id"]
    assert ids(coder.get("memories")) == [mine]
    assert set(ids(orchestrator.get("memories"))) == {
        mine,
        theirs,
    }  # a grant on everything is one on sessions
    with stage.context():
        assert Memory.objects.count() == 2


def test_audit__shows_own_acts_and_readable_scopes_only(
    stage: Stage, coder: Caller, orchestrator: Caller
) -> None:
    coder.remember("The trial of alpha runs in region north.")
    orchestrator.remember("The trial of beta runs in region south.", scope="project:beta")
    coder.post("memories", {"content": "The trial of beta failed in region west.", "scope": "project:beta"})
    mine = coder.get("audit").json()["results"]
    assert {event["action"] for event in mine} == {"memory.stored", "access.denied"}
    assert [event["seq"] for event in mine] == sorted((event["seq"] for event in mine), reverse=True)
    assert all(event["actor"]["name"] == stage.coder.agent.name for event in mine)
    text = str(coder.get("audit").content)
    assert "region" not in text
    everything = orchestrator.get("audit?action=memory.stored").json()["results"]
    assert {event["scope"] for event in everything} == {"project:alpha", "project:beta"}
    target = everything[0]["target"]["id"]
    assert {e["target"]["id"] for e in orchestrator.get(f"audit?target={target}").json()["results"]} == {
        target
    }
    assert orchestrator.get("audit?actor=nobody").json()["results"] == []
    assert orchestrator.get("audit?until=2020-01-01T00:00:00Z").json()["results"] == []


def test_band__of_own_predicates_and_scopes_with_bands_of_their_own__agrees_with_each_memory() -> None:
    days = {"fresh_days": 3, "aging_days": 10}
    bands = dict.fromkeys(("fact", "preference", "procedure", "feedback", "event"), days)
    overrides = {"user:*": {"freshness": {"bands": bands}}, "user:8": {"freshness": {"volatile": days}}}
    stage = make_tenant(policy=Policy.model_validate({"scopes": overrides}))
    owner, coder = stage.owner.principal, Caller(stage.coder)
    predicate_set(owner, PredicateRule("firmware", single_valued=True, volatile=True))
    predicate_set(owner, PredicateRule("motto", ages=False))
    predicate_set(owner, PredicateRule("version", single_valued=True))
    for ago in (1, 5, 20, 200):
        with clock.moved_to(clock.now() - timedelta(days=ago)):
            for scope in ("project:alpha", "user:7", "user:8"):
                coder.know(f"box:{ago}", "firmware", f"9.{ago}", scope=scope)
                coder.know(f"box:{ago}", "motto", f"always number {ago}", scope=scope)
                coder.know(f"box:{ago}", "version", f"1.{ago}", scope=scope)
                coder.remember(f"The box number {ago} stands in hall {ago + 10}.", scope=scope)
    rows = coder.get("memories?page_size=200").json()["results"]
    said = {
        band: {row["id"] for row in rows if row["band"] == band} for band in ("fresh", "aging", "outdated")
    }
    assert {band: len(found) for band, found in said.items()} == {"fresh": 27, "aging": 7, "outdated": 14}
    assert {band: set(ids(coder.get(f"memories?page_size=200&band={band}"))) for band in said} == said
    with stage.context():
        policy = active_policy().policy
        shown = {
            band: {f"mem_{row.id.hex}" for row in found(Wanted(band=band), policy, clock.now())}
            for band in said
        }
    assert shown == said
