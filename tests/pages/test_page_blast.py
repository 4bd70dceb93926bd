"""The blast radius in the browser: what it shows, holding all of it, following the step, and taking it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from django.test import Client

    from tests.pages.staging import Full

HOSTILE = "<img src=x onerror=alert(1)> asked of the pump house"


@pytest.fixture
def reached(full: Full) -> dict[str, str]:
    """A chain of two memories of the coder, the first of which the orchestrator was given."""
    from memory.services.recall import RetrieveRequest, memory_retrieve
    from tests.pages.staging import mem, write

    first = write(full.stage.coder, content="The pump house pressure valve is serviced in spring.", tool="cam",
                  session="s-9")  # fmt: skip
    second = write(
        full.stage.coder, content="Valve service needs two technicians on site.", derived_from=[first.id]
    )
    asked = RetrieveRequest("when is the pump house valve serviced", session=HOSTILE)
    memory_retrieve(full.stage.orchestrator.principal, asked)
    return {"first": mem(first), "second": mem(second)}


def held(full: Full, reviewer: Client, **seed: str) -> str:
    """Hold it in the browser and let the worker do it; the address of the step."""
    from memory.models import Job
    from memory.services.blast import blast_run

    answer = reviewer.post(full.at("blast/quarantine/"), {**seed, "reason": "a poisoned tool"})
    assert answer.status_code == 303, answer.content[:500]
    with full.stage.context():
        job = Job.objects.latest("created_at")
    assert blast_run(full.stage.tenant.id, job.id) == "done"
    return str(answer["Location"])


def statuses(full: Full, reached: dict[str, str]) -> list[str]:
    from memory.domain.ids import parse_id
    from memory.models import Memory

    with full.stage.context():
        return [Memory.objects.get(id=parse_id("mem", one)).status for one in reached.values()]


def test_page__from_a_memory__shows_what_came_of_it_and_who_was_given_it(
    full: Full, reviewer: Client, reached: dict[str, str]
) -> None:
    page = reviewer.get(full.at(f"blast/?memory={reached['first']}")).content.decode()
    assert reached["second"] in page and "Valve service needs two technicians" in page
    assert full.stage.orchestrator.agent.name in page
    assert "<img src=x" not in page and "&lt;img src=x" in page
    assert "Hold back 2 memories" in page


@pytest.mark.parametrize(
    "place", ["memories/{first}/", "agents/{agent}/", "manifests/?session=s-9", "audit/"]
)
def test_pages__of_what_can_be_a_seed__link_to_its_reach(
    full: Full, reviewer: Client, reached: dict[str, str], place: str
) -> None:
    from memory.domain.ids import show_id

    agent = show_id("agt", full.stage.coder.agent.id)
    page = reviewer.get(full.at(place.format(**reached, agent=agent))).content.decode()
    assert f"/t/{full.stage.tenant.slug}/blast/?" in page
    if "{agent}" in place:
        assert f"blast/?key={show_id('key', full.stage.coder.key.id)}" in page


def test_pages__of_a_held_memory_and_of_a_read__link_to_its_reach(full: Full, reviewer: Client) -> None:
    from memory.domain.ids import show_id
    from tests.pages.staging import mem

    page = reviewer.get(full.at(f"quarantine/{mem(full.held)}/")).content.decode()
    assert f"blast/?memory={mem(full.held)}" in page and "blast/?source=" in page
    read = reviewer.get(full.at(f"manifests/{show_id('man', full.read.id)}/")).content.decode()
    assert "blast/?session=s-42" in read


def test_quarantine__all_of_it__is_followed_and_taken_back(
    full: Full, reviewer: Client, reached: dict[str, str]
) -> None:
    step = held(full, reviewer, tool="cam")
    assert statuses(full, reached) == ["quarantined", "quarantined"]
    page = reviewer.get(step).content.decode()
    assert "2 memories are held." in page and "Take the step back" in page
    part = reviewer.get(step, headers={"HX-Request": "true", "HX-Target": "step"}).content.decode()
    assert part.lstrip().startswith("<section") and "every 2s" not in part
    back = reviewer.post(f"{step}undo/")
    assert back.status_code == 303
    from memory.models import Job
    from memory.services.blast import blast_run

    assert "every 2s" in reviewer.get(back["Location"]).content.decode()
    with full.stage.context():
        job = Job.objects.latest("created_at")
    blast_run(full.stage.tenant.id, job.id)
    assert statuses(full, reached) == ["live", "live"]
    assert "2 memories came back." in reviewer.get(back["Location"]).content.decode()
    assert "It was taken back" in reviewer.get(step).content.decode()
    again = reviewer.post(f"{step}undo/", follow=True)
    assert "was taken back already" in again.content.decode()
    assert "Taken back" in reviewer.get(full.at("blast/")).content.decode()


def test_quarantine__refused__says_why_and_keeps_what_was_typed(
    full: Full, reviewer: Client, reached: dict[str, str]
) -> None:
    where = full.at("blast/quarantine/")
    no_reason = reviewer.post(where, {"tool": "cam", "reason": " "})
    assert no_reason.status_code == 422 and "Say why it is held" in no_reason.content.decode()
    nothing = reviewer.post(where, {"tool": "none", "reason": "typed before"})
    assert nothing.status_code == 409 and "nothing left to quarantine" in nothing.content.decode()
    bad = reviewer.post(where, {"memory": "mem_x", "reason": "why"})
    assert bad.status_code == 422
    everything = reviewer.post(where, {"reason": "why"})
    assert everything.status_code == 422 and "Say where to begin" in everything.content.decode()
    assert statuses(full, reached) == ["live", "live"]


def test_page__bad_or_empty_seed__is_readable(full: Full, reviewer: Client) -> None:
    assert reviewer.get(full.at("blast/?memory=mem_1")).status_code == 422
    assert reviewer.get(full.at("blast/?since=soon")).status_code == 422
    assert reviewer.get(full.at("blast/?at=nonsense&seen=never&tool=x")).status_code == 200
    nothing = reviewer.get(full.at("blast/?tool=nobody")).content.decode()
    assert "Nothing was written there" in nothing


def test_page__more_than_one_page__is_walked_without_loss(full: Full, reviewer: Client) -> None:
    import re

    from tests.pages.staging import write

    hands = ("north", "south", "east", "west", "upper", "lower", "inner")
    for number, side in enumerate(f"{one} {two}" for one in hands for two in (
        "gate", "pier", "mill", "yard", "dock", "hall", "shed", "kiln")):  # fmt: skip
        write(full.stage.coder, content=f"Inspection {number * 37 + 11} of the {side} is due in week {number}.",
              tool="walker")  # fmt: skip
    from memory.models import Memory

    with full.stage.context():
        stored = Memory.objects.filter(tool="walker").count()
    assert stored > 50
    first = reviewer.get(full.at("blast/?tool=walker")).content.decode()
    following = re.search(r'rel="next" href="([^"]+)"', first)
    assert following is not None
    second = reviewer.get(following[1].replace("&amp;", "&")).content.decode()
    found = [
        re.findall(r'<th scope="row"><a data-item[^>]*href="[^"]*/(mem_\w+)/"', page)
        for page in (first, second)
    ]
    assert len(found[0]) == 50
    assert len({*found[0], *found[1]}) == stored == len(found[0]) + len(found[1])


def test_step__of_another_tenant_or_without_the_role__is_not_there(
    full: Full, reviewer: Client, reached: dict[str, str]
) -> None:
    from tests.factories import make_person, make_tenant
    from tests.pages.staging import signed_in

    step = held(full, reviewer, tool="cam")
    other = make_tenant()
    stranger = signed_in(other.owner)
    elsewhere = step.replace(full.stage.tenant.slug, other.tenant.slug)
    for path in (step, elsewhere):
        assert stranger.get(path).status_code == 404
        assert stranger.post(f"{path}undo/").status_code == 404
    seen = stranger.get(f"/t/{other.tenant.slug}/blast/?memory={reached['first']}").content.decode()
    assert "Nothing was written there" in seen
    auditor = signed_in(make_person(full.stage.tenant, "auditor"))
    page = auditor.get(step)
    assert page.status_code == 200 and "Take the step back" not in page.content.decode()
    assert auditor.post(f"{step}undo/").status_code == 403
    assert "Quarantine all of it" not in auditor.get(full.at("blast/?session=s-42")).content.decode()
    assert statuses(full, reached) == ["quarantined", "quarantined"]


def test_page__costs__do_not_grow_with_the_set(full: Full, reviewer: Client, reached: dict[str, str]) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    counts = []
    for seed in (f"memory={reached['second']}", f"memory={reached['first']}"):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            reviewer.get(full.at(f"blast/?{seed}"))
        counts.append(len(queries))
    assert counts[0] == counts[1]
    assert counts[0] <= 20
