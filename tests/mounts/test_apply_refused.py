"""Mount files that are refused: all that is wrong at once, and nothing done."""

from __future__ import annotations

import pytest

from memory.models import Mount
from memory.services.retention import memory_delete
from tests.factories import Stage
from tests.mounts.files import (
    SIGNED,
    STAGING,
    TABS,
    apply,
    given,
    manifest,
    read,
    say,
    write,
)
from tests.mounts.looking import events, picture, problems

pytestmark = pytest.mark.usefixtures("database")


def test_apply__all_that_is_wrong__is_told_at_once_by_line_and_nothing_is_done(stage: Stage) -> None:
    known = write(stage.coder.principal, TABS)
    elsewhere = write(stage.orchestrator.principal, "Beta is built at night.", scope="project:beta")
    own = write(stage.coder.principal, "The key of this session is blue.", scope="session:s1", session="s1")
    gone = write(stage.coder.principal, SIGNED)
    memory_delete(stage.owner.principal, gone.id, "no longer so")
    lines = [
        "name: alpha",
        "scopes: [project:alpha]",
        "entries:",
        f"- id: mem_{known.id.hex}",
        f"- id: mem_{'0' * 32}",
        f"- id: mem_{elsewhere.id.hex}",
        f"- id: mem_{own.id.hex}",
        f"- id: mem_{gone.id.hex}",
        f"- id: mem_{known.id.hex}",
        "- content: Yup",
        f"- content: {STAGING}",
        f"- content: {TABS}",
        "- content: CI run 8842 is currently red",
        "- content: The vault opens with sk-ant-api03-" + "Qm7xT2vLp9Rw4Kz8" * 4 + " at night.",
        "- content: The cellar of beta is locked at night.",
        "  scope: project:beta",
        "- content: A line with a field that is not known.",
        "  weight: 3",
        "colour: blue",
    ]
    before = picture(stage)
    found = problems(stage, "\n".join(lines).encode())
    assert found == [
        (5, "unknown_id"), (6, "out_of_scope"), (7, "out_of_scope"), (8, "not_live"), (9, "duplicate"),
        (10, "too_vague"), (12, "duplicate"), (13, "transient"), (14, "contains_secret"), (15, "out_of_scope"),
        (18, "unknown_field"), (19, "unknown_field"),
    ]  # fmt: skip
    after = picture(stage)
    assert after[:-1] == before[:-1]
    [refused] = events(stage, "mount.refused")
    assert refused.after["problems"] == 12 and "too_vague" in refused.after["codes"]
    assert given(read(stage.coder.principal)) == []


def test_apply__refused__leaves_the_mount_before_in_force(stage: Stage) -> None:
    apply(stage, manifest([say(STAGING)]))
    assert problems(stage, manifest([say(SIGNED), say("ok")])) == [(5, "too_vague")]
    assert given(read(stage.coder.principal)) == [STAGING]


@pytest.mark.parametrize(
    ("file", "line", "code"),
    [
        (b"", 1, "unreadable"),
        (b"name: x\nentries: [", 2, "unreadable"),
        (b"name: x\nentries: []\n\xff", 3, "unreadable"),
        (b"name: x\nentries:\n- &a {content: b}\n- *a", 4, "unreadable"),
        (b"name: x\nname: y\nentries: []", 2, "duplicate_key"),
        (b"name: x\n", 1, "missing_field"),
        (b"entries: []\n", 1, "missing_field"),
        (b"name: ../x y\nentries: []", 1, "invalid"),
        (b"name: x\nentries:\n- content: !!python/object:os.system hello", 3, "unreadable"),
        (b"name: x\nscopes: [session:s1]\nentries: []", 2, "out_of_scope"),
    ],
)
def test_apply__file_that_cannot_be_read__is_refused_by_line(
    stage: Stage, file: bytes, line: int, code: str
) -> None:
    assert (line, code) in problems(stage, file)
    with stage.context():
        assert not Mount.objects.exists()
