"""Manifests: the same bytes whatever happened since, what is erased as erased, and what agents report."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest
from django.db import connection
from django.test import override_settings

from memgov import clock
from memory.domain.injection import BLOCK_FORMATS, text_sha256
from memory.domain.policy import Policy
from memory.domain.scopes import parse_scope
from memory.models import Alert, AuditEvent, Manifest, ManifestEntry, Memory, Revision
from memory.services.digest import digest_read
from memory.services.errors import Conflict, Invalid, NotFound
from memory.services.manifest_read import manifest_read
from memory.services.memory_edit import memory_edit
from memory.services.memory_write import memory_write
from memory.services.promotion import promotion_request
from memory.services.promotion_decide import promotion_decide
from memory.services.recall import Retrieval, RetrieveRequest, memory_retrieve
from memory.services.retention import memory_delete, memory_pin, memory_restore, memory_verify
from memory.services.sweeps import sweep_decay
from memory.services.usage import Usage, usage_report
from memory.services.working import WorkingWrite, working_put
from memory.services.write_types import WriteRequest
from tenants.context import before_commit, with_commit
from tests.factories import Stage, make_agent, make_tenant

pytestmark = pytest.mark.usefixtures("database")

DAY = timedelta(days=1)
ROLL = "The paper roll of hall nine <b>is changed</b> at noon & by hand."


@pytest.fixture
def stage(database: None) -> Stage:
    return make_tenant()


def write(stage: Stage, content: str | None = ROLL, **fields: object) -> Memory:
    given: dict[str, object] = {"scope": "project:alpha", "origin": "tool_output", "tool": "scan", **fields}
    outcome = memory_write(stage.coder.principal, WriteRequest(content=content, **given))  # type: ignore[arg-type]
    assert outcome.memory is not None, outcome
    return outcome.memory


def retrieve(stage: Stage, query: str = "paper roll of hall nine", **fields: object) -> Retrieval:
    return memory_retrieve(stage.coder.principal, RetrieveRequest(query=query, **fields))  # type: ignore[arg-type]


def _edit(stage: Stage, memory: Memory) -> None:
    memory_edit(
        stage.coder.principal, memory.id, {"content": "The paper roll of hall nine is never changed."}, version=1
    )  # fmt: skip


def _evict(stage: Stage, memory: Memory) -> None:
    sweep_decay(stage.tenant.id, now=clock.now() + 200 * DAY)
    assert now_is(stage, memory).status == "evicted"


def _delete(stage: Stage, memory: Memory) -> None:
    memory_delete(stage.owner.principal, memory.id, "no longer so")


def _delete_and_restore(stage: Stage, memory: Memory) -> None:
    _delete(stage, memory)
    memory_restore(stage.reviewer.principal, memory.id, "needed")


def _supersede(stage: Stage, memory: Memory) -> None:
    write(stage, None, subject="hall:nine", predicate="region", value="south-cove")
    assert now_is(stage, memory).status == "superseded"


def _contest(stage: Stage, memory: Memory) -> None:
    write(stage, None, subject="hall:nine", predicate="region", value="south-cove", tool="probe")
    assert now_is(stage, memory).status == "contested"


def _merge(stage: Stage, memory: Memory) -> None:
    write(stage, "Moved to Bern", origin="user_explicit", session="s2")
    assert now_is(stage, memory).status == "merged"


def _promote(stage: Stage, memory: Memory) -> None:
    request = promotion_request(stage.coder.principal, memory.id, parse_scope("shared"), "all ask")
    promotion_decide(stage.reviewer.principal, request.id, "approve", reason="checked", version=1)
    assert now_is(stage, memory).scope == "shared"


def _confirm(stage: Stage, memory: Memory) -> None:
    with clock.moved_to(clock.now() + 3 * DAY):
        memory_verify(stage.reviewer.principal, memory.id)
        memory_pin(stage.reviewer.principal, memory.id, "kept")


def now_is(stage: Stage, memory: Memory) -> Memory:
    with stage.context():
        return Memory.objects.get(id=memory.id)


_KEYED = {"content": None, "subject": "hall:nine", "predicate": "region", "value": "north-cove"}
# What happens, and to which memory.
AFTERWARDS: dict[str, tuple[Callable[[Stage, Memory], None], dict[str, object], str]] = {
    "edit": (_edit, {}, "paper roll of hall nine"),
    "eviction": (_evict, {}, "paper roll of hall nine"),
    "deletion": (_delete, {}, "paper roll of hall nine"),
    "restore": (_delete_and_restore, {}, "paper roll of hall nine"),
    "supersede": (_supersede, _KEYED, "region of hall nine"),
    "contest": (_contest, _KEYED, "region of hall nine"),
    "merge": (_merge, {"content": "Lives in Bern"}, "lives in Bern"),
    "promotion": (_promote, {}, "paper roll of hall nine"),
    "confirmation": (_confirm, {}, "paper roll of hall nine"),
}


@pytest.mark.parametrize("name", AFTERWARDS)
def test_manifest__whatever_happened_since__the_same_bytes_in_every_format(stage: Stage, name: str) -> None:
    change, fields, query = AFTERWARDS[name]
    memory = write(stage, **fields)
    reads = [retrieve(stage, query, format=one) for one in BLOCK_FORMATS]
    assert all(len(read.entries) == 1 for read in reads)
    digest = digest_read(stage.coder.principal, parse_scope("project:alpha"))
    change(stage, memory)
    for read, one in zip(reads, BLOCK_FORMATS, strict=True):
        again = manifest_read(stage.coder.principal, read.manifest.id)
        assert again.text == read.block and again.as_returned
        assert again.manifest.block_format == one
        assert text_sha256(again.text) == again.manifest.block_digest
        for asked, first in zip(BLOCK_FORMATS, reads, strict=True):
            other = manifest_read(stage.coder.principal, read.manifest.id, asked)
            assert (other.text, other.as_returned) == (first.block, True)
    assert digest.manifest is not None
    again = manifest_read(stage.coder.principal, digest.manifest.id)
    assert again.text == digest.digest.text and again.as_returned


def test_manifest__working_value__as_it_was_after_it_changed(stage: Stage) -> None:
    working_put(stage.coder.principal, "t1", "step_1", WorkingWrite({"halls": 3}))
    read = retrieve(stage, "", task="t1", keys=["step_1"])
    assert len(read.entries) == 1
    working_put(stage.coder.principal, "t1", "step_1", WorkingWrite({"halls": 4}))
    again = manifest_read(stage.coder.principal, read.manifest.id)
    assert again.text == read.block and again.as_returned and '"halls": 3' not in str(again.manifest.request)


@pytest.mark.parametrize("how", ["erased", "purged", "revision without text"])
def test_manifest__text_that_is_gone__is_said_to_be_and_the_rest_stands(stage: Stage, how: str) -> None:
    gone, kept = write(stage), write(stage, "The paper roll of hall two is kept dry.", tool="probe")
    read = retrieve(stage, "paper roll of hall")
    assert len(read.entries) == 2
    with stage.context():
        if how == "erased":
            Memory.objects.filter(id=gone.id).update(status="erased", content="")
        elif how == "purged":
            with connection.cursor() as cursor:
                cursor.execute(
                    "DELETE FROM memory_memory WHERE tenant_id = %s AND id = %s", [stage.tenant.id, gone.id]
                )
        else:
            Revision.objects.filter(memory_id=gone.id).update(state={"scope": "project:alpha"})
    again = manifest_read(stage.coder.principal, read.manifest.id)
    assert not again.as_returned
    assert "noon" not in again.text and kept.content in again.text
    texts = {one.entry.memory_id: one.content for one in again.injected}
    assert texts == {gone.id: None, kept.id: kept.content}
    lines = again.text.splitlines()
    assert [line for line in lines if "hall two" in line] == [
        line for line in read.block.splitlines() if "hall two" in line
    ]
    erased = next(line for line in lines if f"mem_{gone.id.hex}" in line)
    assert '/scan"' in erased and "[erased]" in erased, "what it was is still there, what it said is not"


def test_manifest__says_who_what_why_and_how(stage: Stage) -> None:
    write(stage)
    write(stage, "The paper roll of hall two is kept dry.", ttl="1d")
    with clock.moved_to(clock.now() + 2 * DAY):
        read = retrieve(stage, session="s1", task="t1", limit=5)
        with stage.context():
            manifest = Manifest.objects.get(id=read.manifest.id)
            (entry,) = ManifestEntry.objects.filter(manifest_id=manifest.id)
    coder = stage.coder.agent
    assert (manifest.agent_id, manifest.agent_name, manifest.agent_role) == (coder.id, coder.name, "coder")
    assert (manifest.session, manifest.task, manifest.policy_version) == ("s1", "t1", 1)
    assert manifest.query_text == "paper roll of hall nine" and len(manifest.query_hash) == 64
    assert manifest.excluded == {"expired": 1} and manifest.request == {"limit": 5}
    assert (entry.rank, entry.channel, entry.band, entry.trust) == (1, "retrieved", "fresh", 0.5)
    assert sum(entry.scores.values()) == pytest.approx(entry.score, abs=1e-5)
    assert set(entry.scores) >= {"text", "trust"}
    assert entry.source == f"{coder.name}/scan"


def given(stage: Stage, count: int = 3) -> tuple[Manifest, list[UUID]]:
    for number in range(count):
        write(
            stage, f"The paper roll of hall {number} weighs {number * 31 + 7} kilos.", tool=f"scale{number}"
        )
    read = retrieve(stage, "paper roll of hall weighs kilos")
    assert len(read.entries) == count
    return read.manifest, [entry.found.id for entry in read.entries]


def test_usage__used_ignored_harmful__noted_once_and_only_use_counts(stage: Stage) -> None:
    manifest, (one, two, three) = given(stage)
    for newly in (1, 0):
        said = usage_report(stage.coder.principal, manifest.id, [one], ignored=[two], harmful=[three])
        assert said == Usage(injected=3, used=1, ignored=1, harmful=1, newly_used=newly)
    with stage.context():
        verdicts = dict(
            ManifestEntry.objects.filter(manifest_id=manifest.id).values_list("memory_id", "verdict")
        )
        assert verdicts == {one: "used", two: "ignored", three: "harmful"}
        uses = dict(Memory.objects.filter(id__in=[one, two, three]).values_list("id", "use_count"))
        assert uses == {one: 1, two: 0, three: 0}
        event = AuditEvent.objects.get(action="manifest.used")
        assert event.after == {"harmful": 1, "ignored": 1, "used": 1}


def test_usage__a_later_report__says_more_never_less(stage: Stage) -> None:
    manifest, (one, two, _) = given(stage)
    report = usage_report
    report(stage.coder.principal, manifest.id, [], ignored=[one, two])
    assert report(stage.coder.principal, manifest.id, [one]).newly_used == 1
    assert report(stage.coder.principal, manifest.id, [], ignored=[one]).used == 1
    last = report(stage.coder.principal, manifest.id, [], harmful=[one])
    assert (last.used, last.harmful, last.ignored) == (1, 1, 1), "it was used, and it did harm"
    assert report(stage.coder.principal, manifest.id, [one]).newly_used == 0


def test_usage__harmful__raises_one_alert_and_takes_nothing_away(stage: Stage) -> None:
    manifest, (one, *_) = given(stage)
    for _ in range(2):
        usage_report(stage.coder.principal, manifest.id, [], harmful=[one])
    with stage.context():
        alert = Alert.objects.get(kind="harmful_memory")
        assert (alert.target, alert.count, alert.scope) == (f"mem_{one.hex}", 1, "project:alpha")
        assert alert.evidence["manifest"] == f"man_{manifest.id.hex}"
        assert AuditEvent.objects.filter(action="alert.opened").count() == 1
        assert Memory.objects.get(id=one).status == "live"


def test_usage__that_may_not_be__is_refused_and_notes_nothing(stage: Stage) -> None:
    manifest, (one, two, _) = given(stage)
    colleague = make_agent(stage.tenant, "coder", ["project:alpha=rw"])
    with pytest.raises(NotFound):
        usage_report(colleague.principal, manifest.id, [one])
    with pytest.raises(NotFound):
        usage_report(make_tenant().coder.principal, manifest.id, [one])
    with pytest.raises(Invalid, match="one of them"):
        usage_report(stage.coder.principal, manifest.id, [one], harmful=[one])
    with pytest.raises(Invalid, match="not in the manifest"):
        usage_report(stage.coder.principal, manifest.id, [], ignored=[UUID(int=7)])
    late = manifest.at + 7 * DAY + timedelta(seconds=1)
    with clock.moved_to(late), pytest.raises(Conflict):
        usage_report(stage.coder.principal, manifest.id, [one])
    with stage.context():
        assert not ManifestEntry.objects.exclude(verdict="").exists()
        assert Manifest.objects.get(id=manifest.id).usage_reported_at is None
    with clock.moved_to(manifest.at + 7 * DAY):
        assert usage_report(stage.coder.principal, manifest.id, [one, two]).newly_used == 2, "in time"


def committed_as(stage: Stage) -> str:
    """How the transaction of a read is committed, noted in it by its very last statement."""
    with stage.context():
        retrieve(stage)
        note = "SELECT set_config('memgov.noted', current_setting('synchronous_commit'), false)"
        before_commit(lambda: with_commit(note, []))
    with connection.cursor() as cursor:
        cursor.execute("SHOW memgov.noted")
        return str(cursor.fetchone()[0])


def test_read__does_not_wait_for_the_disk__unless_told_so_and_only_there(stage: Stage) -> None:
    write(stage)
    assert committed_as(stage) == "off"
    with override_settings(MEMGOV_DURABLE_READS=True):
        assert committed_as(stage) == "on"
        with stage.context(), connection.cursor() as cursor:
            cursor.execute("SHOW synchronous_commit")
            assert cursor.fetchone()[0] != "on", "it was for the read's transaction; test servers never wait"


def naming(how: str, **fields: object) -> Stage:
    return make_tenant(policy=Policy.model_validate({"manifests": {"excluded_ids": how, **fields}}))


def named(stage: Stage, manifest: Manifest) -> tuple[dict[str, int], dict[str, list[str]]]:
    with stage.context():
        row = Manifest.objects.get(id=manifest.id)
    return row.excluded, row.excluded_ids


def test_left_out__with_all__every_reason_names_what_it_counts() -> None:
    stage = naming("all")
    for number in range(6):
        write(
            stage, f"The paper roll of hall {number} weighs {number * 31 + 7} kilos.", tool=f"s{number % 2}"
        )
    write(stage, "The paper roll of hall nine comes from mill four.", ttl="1d")
    write(stage, "The paper roll of hall nine is for the copy desk.", tags=["copy"])
    hidden = WriteRequest(
        content="The paper roll of hall ten is secret.", scope="project:beta", origin="tool_verified"
    )
    unseen = memory_write(stage.orchestrator.principal, hidden).memory
    with clock.moved_to(clock.now() + 2 * DAY):
        read = retrieve(stage, "paper roll of hall weighs kilos", limit=2, min_trust=0.4)
        counts, ids = named(stage, read.manifest)
        shown = manifest_read(stage.coder.principal, read.manifest.id)
    assert {"expired", "not_applicable", "limit"} <= counts.keys()
    assert {reason: len(names) for reason, names in ids.items()} == counts
    assert unseen is not None and f"mem_{unseen.id.hex}" not in str(ids)
    given = {one.shown_id for one in shown.injected}
    assert given.isdisjoint(name for names in ids.values() for name in names)
    assert sum(counts.values()) + len(given) == 8, "each readable memory is given or named, once"


def test_left_out__of_a_digest_and_of_stakes__is_named() -> None:
    stage = naming("all")
    first, second = write(stage), write(stage, "The paper roll of hall two is kept dry.", tool="probe")
    with clock.moved_to(clock.now() + 100 * DAY):
        digest = digest_read(stage.coder.principal, parse_scope("project:alpha")).manifest
        assert digest is not None
        ((reason, ids),) = named(stage, digest)[1].items()
        assert reason == "outdated" and set(ids) == {f"mem_{one.id.hex}" for one in (first, second)}
    with clock.moved_to(clock.now() + 40 * DAY):
        read = retrieve(stage, high_stakes=True, min_trust=0.0)
        counts, by_reason = named(stage, read.manifest)
    assert {reason: len(names) for reason, names in by_reason.items()} == counts and counts


def test_left_out__by_default_and_by_share__is_counted_only_and_no_more_than_asked_for() -> None:
    for how, share, wanted in (("none", 1.0, 0), ("sampled", 0.0, 0), ("sampled", 1.0, 3)):
        stage = naming(how, excluded_ids_share=share, excluded_ids_most=3)
        given(stage, 6)
        counts, ids = named(stage, retrieve(stage, "paper roll of hall weighs kilos", limit=1).manifest)
        assert counts["limit"] == 5
        assert len(ids.get("limit", [])) == wanted, (how, share)
