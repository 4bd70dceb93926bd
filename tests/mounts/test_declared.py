"""What a mount declares, as readers get it: after working values, before what is found, within every limit."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memgov import clock
from memory.models import ManifestEntry, Memory
from memory.selectors.declared import declared_found
from memory.selectors.recall import Filters
from memory.selectors.visibility import reach_of
from memory.services.errors import Conflict
from memory.services.manifest_read import manifest_read
from memory.services.memory_edit import memory_edit
from memory.services.memory_write import memory_write
from memory.services.retention import memory_delete
from memory.services.usage import usage_report
from memory.services.working import WorkingWrite, working_put
from memory.services.write_types import WriteRequest
from tests.api.caller import Caller
from tests.factories import Stage, make_agent, make_tenant
from tests.mounts.files import (
    SIGNED,
    STAGING,
    TABS,
    apply,
    given,
    manifest,
    memory_of,
    read,
    ref,
    say,
    write,
)
from tests.statements import statements

pytestmark = pytest.mark.usefixtures("database")

KILN = "The kiln in hall two needs nine hours to cool down."


def test_read__layers__working_first_then_declared_then_found(stage: Stage) -> None:
    coder = stage.coder.principal
    write(coder, KILN)
    working_put(coder, "t1", "step_1", WorkingWrite({"halls": 3}))
    apply(stage, manifest([say(STAGING), say(TABS)]))
    found = read(coder, "how long does the kiln cool", task="t1", keys=["step_1"])
    assert [entry.channel for entry in found.entries] == ["working", "declared", "declared", "retrieved"]
    assert given(found) == [STAGING, TABS] and given(found, "retrieved") == [KILN]
    with stage.context():
        kept = ManifestEntry.objects.filter(manifest_id=found.manifest.id).order_by("rank")
        assert [entry.channel for entry in kept] == ["working", "declared", "declared", "retrieved"]
    assert STAGING in found.block and found.block.index(STAGING) < found.block.index(KILN)


def test_read__declared_and_found__is_given_once_as_declared(stage: Stage) -> None:
    apply(stage, manifest([say(STAGING)]))
    found = read(stage.coder.principal, "which cluster do deployments of alpha go through")
    assert [(entry.found.content, entry.channel) for entry in found.entries] == [(STAGING, "declared")]
    assert found.excluded == {}


def test_read__another_scope_says_the_same__counted_and_not_given_twice(stage: Stage) -> None:
    apply(stage, manifest([say(STAGING)]))
    write(stage.coder.principal, STAGING, scope="user:42")
    found = read(stage.coder.principal, "which cluster do deployments of alpha go through")
    assert given(found, "retrieved") == [] and found.excluded == {"same_value": 1}


def test_read__without_the_grant__not_there_and_not_counted(stage: Stage) -> None:
    apply(stage, manifest([say(STAGING), say("Nobody deploys on a Friday afternoon here.", scope="shared")]))
    outsider = make_agent(stage.tenant, "coder").principal
    found = read(outsider)
    assert given(found) == ["Nobody deploys on a Friday afternoon here."]
    assert STAGING not in str((found.excluded, found.block))
    assert STAGING in given(read(stage.coder.principal)), "positive control"


def test_read__another_tenant__never(stage: Stage) -> None:
    apply(stage, manifest([say(STAGING, scope="shared")]))
    assert given(read(make_tenant().orchestrator.principal)) == []
    assert given(read(stage.orchestrator.principal)) == [STAGING], "positive control"


def test_read__applies_to__only_where_it_matches(stage: Stage) -> None:
    coder = stage.coder.principal
    known = write(coder, SIGNED)
    apply(
        stage,
        manifest(
            [
                say(STAGING, applies_to={"paths": ["deploy/*.y?ml", "100%_/*"]}),
                say(TABS, applies_to={"tags": ["style"]}),
                ref(known, applies_to={"tags": ["release"]}),
            ]
        ),
    )
    assert given(read(coder)) == []
    assert given(read(coder, paths=["deploy/eu/app.yaml"])) == [STAGING]
    assert given(read(coder, paths=["100%_/x"])) == [STAGING]
    assert given(read(coder, paths=["100a_/x", "deploy/app.json"])) == []
    assert given(read(coder, tags=["style", "other"])) == [TABS]
    assert given(read(coder, tags=["release"])) == [SIGNED]
    found = read(coder, "how many people sign a release of alpha")
    assert given(found, "retrieved") == [SIGNED], (
        "what is listed by id is found as ever where it is not declared"
    )
    assert TABS not in given(read(coder, "tabs or spaces in source files of alpha"), "retrieved")


def test_read__limit_and_tokens__bound_what_is_declared(stage: Stage) -> None:
    coder = stage.coder.principal
    write(coder, KILN)
    apply(stage, manifest([say(STAGING), say(TABS), say(SIGNED)]))
    two = read(coder, "how long does the kiln cool", limit=2)
    assert [entry.found.content for entry in two.entries] == [STAGING, TABS]
    assert two.excluded == {"limit": 2}, "one declared, one found; nothing is counted twice"
    few = read(coder, max_tokens=two.manifest.tokens - 1)
    assert given(few) == [STAGING] and few.excluded["token_budget"] == 2


@pytest.mark.parametrize(
    "status", ["contested", "quarantined", "superseded", "evicted", "archived", "deleted"]
)
def test_read__not_live__not_given(stage: Stage, status: str) -> None:
    apply(stage, manifest([say(STAGING), say(TABS)]))
    with stage.context():
        Memory.objects.filter(content=STAGING).update(status=status)
    assert given(read(stage.coder.principal)) == [TABS]


def test_read__expired__not_given(stage: Stage) -> None:
    known = write(stage.coder.principal, STAGING, ttl="1d")
    apply(stage, manifest([ref(known)]))
    with clock.moved_to(clock.now() + timedelta(days=2)):
        assert given(read(stage.coder.principal)) == []


def test_read__filters_of_the_call__hold_for_what_is_declared(stage: Stage) -> None:
    coder = stage.coder.principal
    low = write(coder, TABS, origin="tool_output")
    apply(stage, manifest([say(STAGING, kind="procedure"), ref(low)]))
    assert given(read(coder)) == [STAGING, TABS]
    assert given(read(coder, min_trust=0.6)) == [STAGING]
    assert given(read(coder, high_stakes=True)) == [STAGING]
    assert given(read(coder, kinds=["fact"])) == [TABS]
    assert given(read(coder, layers=["procedural"])) == [STAGING]
    assert given(read(coder, scopes=["user:42"])) == []
    assert given(read(coder, scopes=["project:alpha"])) == [STAGING, TABS]
    with clock.moved_to(clock.now() + timedelta(days=3)):
        assert given(read(coder, window_days=1)) == []


def test_read__high_stakes__drops_and_counts_what_has_aged(stage: Stage) -> None:
    apply(stage, manifest([say(STAGING)]))
    with clock.moved_to(clock.now() + timedelta(days=45)):
        found = read(stage.coder.principal, high_stakes=True)
        assert given(found) == [] and found.excluded["aging"] == 1
        assert given(read(stage.coder.principal)) == [STAGING]


def test_read__high_stakes__what_has_aged_takes_no_place_of_what_is_fresh(stage: Stage) -> None:
    apply(stage, manifest([say(STAGING), say(TABS)]))
    with clock.moved_to(clock.now() + timedelta(days=45)):
        apply(stage, manifest([say(SIGNED)], name="later"))
        found = read(stage.coder.principal, high_stakes=True, limit=1)
        assert given(found) == [SIGNED] and found.excluded == {"aging": 2}


def test_read__manifest__is_read_again_byte_for_byte_after_the_unmount(stage: Stage) -> None:
    apply(stage, manifest([say(STAGING)]))
    found = read(stage.coder.principal, session="s1")
    apply(stage, manifest([]))
    again = manifest_read(stage.coder.principal, found.manifest.id)
    assert (again.text, again.as_returned) == (found.block, True)
    assert [one.entry.channel for one in again.injected] == ["declared"]
    usage_report(stage.coder.principal, found.manifest.id, [found.entries[0].found.id])
    assert memory_of(stage, STAGING).use_count == 1


def test_read__same_state__same_bytes(stage: Stage) -> None:
    apply(stage, manifest([say(f"Hall {n} of alpha is closed at night.", order=n % 3) for n in range(9)]))
    blocks = {read(stage.coder.principal).block for _ in range(5)}
    assert len(blocks) == 1


def test_declared__agents_cannot_change_it__people_can(stage: Stage) -> None:
    apply(stage, manifest([say(STAGING)]))
    memory, coder = memory_of(stage, STAGING), stage.coder.principal
    for act in (
        lambda: memory_edit(coder, memory.id, {"content": "Deploy at once."}, version=memory.version),
        lambda: memory_delete(coder, memory.id, "not wanted"),
    ):
        with pytest.raises(Conflict) as refused:
            act()
        assert refused.value.code == "mounted"
    assert given(read(coder)) == [STAGING]
    memory_delete(stage.reviewer.principal, memory.id, "it is wrong")
    assert given(read(coder)) == []


def test_declared__weaker_claim_of_an_agent__does_not_replace_it(stage: Stage) -> None:
    apply(stage, manifest([say(STAGING)]))
    memory_write(
        stage.coder.principal,
        WriteRequest(
            content=STAGING.replace("first", "always"), scope="project:alpha", origin="tool_verified"
        ),
    )
    assert given(read(stage.coder.principal)) == [STAGING]


def test_retrieve__over_http__at_most_8_statements_with_mounts_and_one_fewer_without(stage: Stage) -> None:
    coder, counts = Caller(stage.coder), []
    for document in (None, manifest([say(STAGING), say(TABS)]), manifest([])):
        if document:
            apply(stage, document)
        coder.post("retrieve", {"query": "warm the caches"})
        with CaptureQueriesContext(connection) as captured:
            body = coder.post(
                "retrieve", {"query": "which cluster do deployments of alpha go through"}
            ).json()
        counts.append(len(statements(captured)))
    assert body["entries"] == []
    assert counts[1] <= 8 and counts[0] == counts[2] == counts[1] - 1, counts


def test_retrieve__over_http__declared_is_a_channel_of_its_own(stage: Stage) -> None:
    apply(stage, manifest([say(STAGING)]))
    asked = {"query": "nothing of the kind", "explain": True, "format": "markdown"}
    [entry] = Caller(stage.coder).post("retrieve", asked).json()["entries"]
    assert (entry["channel"], entry["source"], entry["trust"], entry["score"]) == (
        "declared", "mount:alpha", 1.0, 1.0,
    )  # fmt: skip
    assert entry["explanation"]["readable_by"] == "grant on project:alpha"


def test_declared__in_a_tenant_that_the_planner_does_not_know__memories_are_walked_once(
    stage: Stage,
) -> None:
    apply(stage, manifest([say(f"Room {n} of the north wing is cleaned at {n % 24}.") for n in range(60)]))
    with stage.context(), CaptureQueriesContext(connection) as captured:
        filters = Filters(terms=[], vector=None, now=clock.now(), min_trust=0.0, limit=10)
        found = declared_found(reach_of(stage.coder.principal), filters)
        [sql] = statements(captured)
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}")
            [[plan]] = cursor.fetchall()
    assert (len(found.rows), len(found.beyond)) == (10, 50)
    scans = [node for node in _nodes(plan[0]["Plan"]) if node.get("Relation Name") == "memory_memory"]
    # What has waited for its beginning is looked for once, and what it overtakes never, as there is none.
    assert sorted(node["Actual Loops"] for node in scans) == [0, 1, 1]
    entries = [node for node in _nodes(plan[0]["Plan"]) if node.get("Relation Name") == "memory_mountentry"]
    assert [node["Actual Loops"] for node in entries] == [1]


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", []):
        yield from _nodes(part)
