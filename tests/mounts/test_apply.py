"""Applying a mount manifest: all or nothing, once however often, audited, and taken back by the file before."""

from __future__ import annotations

import hashlib
import threading
from datetime import timedelta

import pytest
from django.db import connection

from memgov import clock
from memory.models import Memory, Mount, MountHead
from memory.services.errors import Denied, Invalid
from memory.services.mounts import mount_apply
from memory.services.retention import memory_delete
from tests.factories import Stage, make_person
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
    rows,
    say,
    write,
)
from tests.mounts.looking import events, picture, problems

pytestmark = pytest.mark.usefixtures("database")


def test_apply__ids_and_sentences__are_given_first_in_their_order(stage: Stage) -> None:
    known = write(stage.coder.principal, TABS)
    result = apply(
        stage, manifest([say(STAGING, order=20), ref(known, order=10), say(SIGNED)]), commit="abc1234"
    )
    assert (result.entries, result.count("add"), result.stored) == (3, 3, True)
    assert given(read(stage.coder.principal)) == [SIGNED, TABS, STAGING]
    made = memory_of(stage, STAGING)
    assert (made.origin, made.trust, made.agent_name) == ("system_defined", 1.0, "mount:alpha")


def test_apply__again__changes_nothing_at_all(stage: Stage) -> None:
    file = manifest([say(STAGING), ref(write(stage.coder.principal, TABS))])
    apply(stage, file, commit="abc1234")
    before = picture(stage)
    again = apply(stage, file, commit="abc1234")
    assert (again.changes, again.stored) == ((), False)
    assert picture(stage) == before


def test_apply__audit__names_hash_commit_and_what_changed_but_no_text(stage: Stage) -> None:
    file = manifest([say(STAGING)])
    apply(stage, file, commit="ABC1234F", by="pipeline 7")
    apply(stage, manifest([say(SIGNED)]), commit="def5678")
    first, second = events(stage, "mount.applied")
    assert first.after == {
        "sha256": hashlib.sha256(file).hexdigest(), "commit": "abc1234f", "scopes": [], "entries": 1, "name": "alpha",
        "by": "pipeline 7", "add": [f"mem_{memory_of(stage, STAGING).id.hex}"],
    }  # fmt: skip
    assert (first.before, first.actor_name) == (None, "cli.mount")
    assert second.before["sha256"] == first.after["sha256"] and second.after["remove"] == first.after["add"]
    assert STAGING not in str([(event.before, event.after) for event in (first, second)])


def test_apply__removed_from_the_file__is_unmounted_and_what_it_made_is_deleted(stage: Stage) -> None:
    known = write(stage.coder.principal, TABS)
    apply(stage, manifest([say(STAGING), ref(known)]))
    result = apply(stage, manifest([]))
    assert (result.count("remove"), result.entries) == (2, 0)
    assert given(read(stage.coder.principal)) == []
    assert memory_of(stage, STAGING).status == "deleted"
    assert memory_of(stage, TABS).status == "live", "what was there before the mount stays"
    with stage.context():
        assert MountHead.objects.get().entries == 0


def test_apply__the_file_before__is_the_way_back(stage: Stage) -> None:
    first, second = manifest([say(STAGING), say(TABS)]), manifest([say(SIGNED)])
    apply(stage, first)
    apply(stage, second)
    assert given(read(stage.coder.principal)) == [SIGNED]
    apply(stage, first)
    assert given(read(stage.coder.principal)) == [STAGING, TABS]
    assert memory_of(stage, SIGNED).status == "deleted"


def test_apply__new_wording__takes_the_place_of_the_old_one(stage: Stage) -> None:
    apply(stage, manifest([say("Deployments of alpha go through the staging cluster.")]))
    apply(stage, manifest([say(STAGING)]))
    assert given(read(stage.coder.principal)) == [STAGING]


def test_apply__order_and_applies_to__change_the_entry(stage: Stage) -> None:
    known, other = write(stage.coder.principal, TABS), write(stage.coder.principal, SIGNED)
    apply(stage, manifest([ref(known), ref(other)]))
    moved = apply(stage, manifest([ref(known, order=5, applies_to={"tags": ["style"]}), ref(other)]))
    assert [(one.what, one.note) for one in moved.changes] == [("change", "order 0 → 5, applies to")]
    swapped = apply(stage, manifest([ref(other), ref(known)]))
    assert swapped.count("change") == 1
    assert given(read(stage.coder.principal)) == [SIGNED, TABS]


def test_apply__two_mounts__each_replaces_its_own_only(stage: Stage) -> None:
    apply(stage, manifest([say(STAGING), say(TABS)], name="one"))
    apply(stage, manifest([say(TABS), say(SIGNED)], name="two"))
    assert given(read(stage.coder.principal)) == [STAGING, TABS, SIGNED], (
        "each once, ties by the mount's name"
    )
    apply(stage, manifest([], name="one"))
    assert given(read(stage.coder.principal)) == [TABS, SIGNED]
    assert memory_of(stage, TABS).status == "live", "the other file says it still"
    apply(stage, manifest([], name="two"))
    assert memory_of(stage, TABS).status == "deleted", "the last one that said it takes it away"


def test_apply__within__bounds_the_file_whatever_it_says(stage: Stage) -> None:
    file = manifest([say(STAGING), say("Nobody deploys on a Friday afternoon here.", scope="shared")])
    assert problems(stage, file, within=["project:*"]) == [(5, "out_of_scope")]
    apply(stage, file, within=["project:*", "shared"])
    assert len(rows(stage)) == 2


def test_apply__dry_run__says_the_same_and_stores_nothing(stage: Stage) -> None:
    apply(stage, manifest([say(STAGING)]))
    before = picture(stage)
    result = apply(stage, manifest([say(SIGNED)]), dry_run=True)
    assert {(one.what, one.content) for one in result.changes} == {("add", SIGNED), ("remove", STAGING)}
    assert picture(stage) == before
    assert problems(stage, manifest([say("ok")]), dry_run=True) == [(3, "too_vague")]
    assert picture(stage) == before, "a dry run leaves no audit event either"


def test_apply__known_in_the_same_words__is_mounted_and_not_doubled(stage: Stage) -> None:
    known = write(stage.coder.principal, STAGING)
    result = apply(stage, manifest([say(STAGING)]))
    assert [(one.memory_id, one.note) for one in result.changes] == [(known.id, "duplicate")]
    apply(stage, manifest([]))
    assert memory_of(stage, STAGING).status == "live", "it is not the mount's to take away"


def test_apply__by_content_then_by_id__stays_mounted(stage: Stage) -> None:
    apply(stage, manifest([say(STAGING)]))
    memory = memory_of(stage, STAGING)
    result = apply(stage, manifest([ref(memory)]))
    assert [(one.what, one.note) for one in result.changes] == [("change", "now by id")]
    assert given(read(stage.coder.principal)) == [STAGING]


def test_apply__memory_that_went__is_written_again(stage: Stage) -> None:
    file = manifest([say(STAGING)])
    apply(stage, file)
    memory_delete(stage.owner.principal, memory_of(stage, STAGING).id, "by mistake")
    assert given(read(stage.coder.principal)) == []
    again = apply(stage, file)
    assert (again.count("add"), again.count("remove")) == (1, 1)
    assert given(read(stage.coder.principal)) == [STAGING]


def test_apply__memory_that_aged__is_confirmed(stage: Stage) -> None:
    file = manifest([say(STAGING)])
    apply(stage, file)
    with clock.moved_to(clock.now() + timedelta(days=45)):
        assert given(read(stage.coder.principal, high_stakes=True)) == []
        again = apply(stage, file)
        assert (again.confirmed, again.changes) == (1, ())
        assert given(read(stage.coder.principal, high_stakes=True)) == [STAGING]


def test_apply__contested__waits_for_a_person(stage: Stage) -> None:
    file = manifest([say(STAGING)])
    apply(stage, file)
    with stage.context():
        Memory.objects.filter(content=STAGING).update(status="contested")
    assert given(read(stage.coder.principal)) == []
    assert [code for _, code in problems(stage, file)] == ["duplicate"]
    assert memory_of(stage, STAGING).status == "contested"


def test_apply__commit_or_pattern_that_is_none__is_refused(stage: Stage) -> None:
    for call in ({"commit": "no commit"}, {"commit": "abc"}, {"within": ["nowhere:x"]}):
        with pytest.raises(Invalid):
            apply(stage, manifest([]), **call)


def test_apply__only_admins__denial_is_audited(stage: Stage) -> None:
    for principal in (stage.coder.principal, stage.reviewer.principal):
        with pytest.raises(Denied):
            mount_apply(principal, manifest([say(STAGING)]))
    assert len(events(stage, "access.denied")) == 2
    with stage.context():
        assert not Mount.objects.exists()
    mount_apply(make_person(stage.tenant, "admin").principal, manifest([say(STAGING)]))  # positive control
    assert given(read(stage.coder.principal)) == [STAGING]


def test_apply__at_once_by_several__one_after_the_other_and_whole(stage: Stage) -> None:
    files = [manifest([say(f"Hall {n} of alpha is closed at night."), say(TABS)]) for n in range(4)]
    errors: list[BaseException] = []

    def run(file: bytes) -> None:
        try:
            apply(stage, file)
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(file,)) for file in files for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    contents = given(read(stage.coder.principal))
    assert len(contents) == 2 and contents[1] == TABS
    with stage.context():
        live = Memory.objects.filter(status="live", agent_name="mount:alpha").count()
        assert (live, Mount.objects.count(), MountHead.objects.get().entries) == (2, 1, 2)
