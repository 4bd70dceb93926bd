"""No text keeps a zero character: it is taken out, and every writer is told of which text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memory.domain.types import OutcomeKind
from memory.domain.zero_characters import without_zero
from memory.importers import open_store
from memory.mcp.profiles import PROFILES
from memory.models import Job, Memory, WriteDecision
from memory.services.foreign_import import foreign_import
from memory.services.memory_write import memory_check, memory_write
from memory.services.mount_types import MountRefused
from memory.services.mounts import mount_apply
from memory.services.write_jobs import write_job_run
from memory.services.write_types import WriteRequest
from tenants.principals import system
from tests.api.caller import Caller, as_uuid
from tests.factories import Stage, make_tenant

pytestmark = pytest.mark.usefixtures("database")

SAID = "The press halls\x00 open at \x00seven."
KEPT = "The press halls open at seven."
TOLD = {"kind": "removed", "field": "content", "span": [15, 15], "rule": "zero_character"}
BODY = {"content": SAID, "scope": "project:alpha", "origin": "user_explicit"}


@pytest.fixture
def stage() -> Stage:
    return make_tenant()


@pytest.fixture
def coder(stage: Stage) -> Caller:
    return Caller(stage.coder)


def told(answer: Any) -> list[str]:
    """The fields of which the writer is told."""
    return [one["field"] for one in answer["findings"] if one["kind"] == "removed"]


def test_without_zero__every_place_is_named_and_cleared() -> None:
    given = {
        "content": "a\x00b\x00",
        "tool": "plain",
        "tags": ["x", "\x00y"],
        "metadata": {"k\x00": [1, {"in": "\x00"}], "n": None},
    }
    changed, found = without_zero(given)
    assert changed == {
        "content": "ab",
        "tags": ["x", "y"],
        "metadata": {"k": [1, {"in": ""}], "n": None},
    }
    assert [(one.field, one.span) for one in found] == [
        ("content", (1, 1)), ("tags[1]", (0, 0)), ("metadata", (1, 1)), ("metadata.k[1].in", (0, 0)),
    ]  # fmt: skip
    assert without_zero({"content": "ab", "metadata": {}}) == ({}, ())


def test_rest__tells_of_every_field(coder: Caller, stage: Stage) -> None:
    more = {
        "tool": "\x00crm",
        "session": "s\x001",
        "scope": "project:al\x00pha",
        "origin": "user_\x00explicit",
    }
    narrowed = {"applies_to": {"paths": ["a\x00/*"], "tags": ["x", "y\x00"]}, "metadata": {"a": "\x00b"}}
    answer = coder.post("memories", {**BODY, **more, **narrowed})
    assert answer.status_code == 201, answer.content
    body = answer.json()
    assert body["findings"][0] == TOLD and body["memory"]["content"] == KEPT
    assert told(body) == [
        "content", "scope", "origin", "session", "tool", "paths[0]", "tags[1]", "metadata.a"
    ]  # fmt: skip
    assert (body["memory"]["scope"], body["memory"]["session"]) == ("project:alpha", "s1")
    assert body["memory"]["findings"] == [], "it is no suspicion and raises no risk"
    with stage.context():
        assert WriteDecision.objects.get().findings[0] == TOLD


def test_rest__text_without_zero__tells_nothing(coder: Caller) -> None:
    assert coder.post("memories", {**BODY, "content": KEPT}).json()["findings"] == []


def test_rest__nothing_but_zero__is_as_empty_as_nothing(coder: Caller) -> None:
    assert coder.post("memories", {**BODY, "content": "\x00\x00"}).status_code == 400


def test_refusal_and_duplicate__tell_as_well(coder: Caller) -> None:
    refused = coder.post("memories", {**BODY, "content": "Y\x00up"})
    assert (refused.status_code, told(refused.json())) == (422, ["content"])
    assert coder.post("memories", {**BODY, "content": KEPT}).status_code == 201
    known = coder.post("memories", BODY)
    assert (known.status_code, told(known.json())) == (200, ["content"])


def test_triple__tells_of_its_parts(coder: Caller) -> None:
    body = {"subject": "user:\x0042", "predicate": "pl\x00an", "value": "\x00team", "scope": "project:alpha"}
    answer = coder.post("memories", {**body, "origin": "tool_verified"}).json()
    assert told(answer) == ["subject", "predicate", "value"]
    assert (answer["memory"]["subject"], answer["memory"]["value"]) == ("user:42", "team")


def test_batch_check_and_job__tell_as_well(coder: Caller, stage: Stage) -> None:
    assert told(coder.post("memories/check", BODY).json()) == ["content"]
    queued = coder.post("memories", BODY, Prefer="respond-async")
    assert queued.status_code == 202
    write_job_run(stage.tenant.id, as_uuid(queued.json()["id"]))
    with stage.context():
        [result] = Job.objects.get(id=as_uuid(queued.json()["id"])).result["results"]
    assert told(result) == ["content"] and result["status"] == 201
    [again] = coder.post("memories/batch", {"items": [BODY]}).json()["results"]
    assert told(again) == ["content"]


def test_patch__tells_in_its_answer(coder: Caller) -> None:
    memory = coder.remember(KEPT)
    edit = {"content": "The press halls open\x00 at eight.", "metadata": {"a\x00": 1}}
    answer = coder.patch(f"memories/{memory['id']}", edit, If_Match='"1"')
    assert answer.status_code == 200, answer.content
    assert answer.json()["content"] == "The press halls open at eight."
    assert told(answer.json()) == ["content", "metadata"]
    assert told(coder.get(f"memories/{memory['id']}").json()) == []


def test_working_memory__tells_as_well(coder: Caller) -> None:
    body = {"value": {"found": "four\x00 lamps"}, "summary": "Counted\x00 the lamps."}
    answer = coder.call("PUT", "tasks/t1/working/step", body)
    assert answer.status_code == 201, answer.content
    assert told(answer.json()) == ["content", "metadata.step.found"]
    assert answer.json()["value"] == {"found": "four lamps"}


def test_mcp__tells_in_words_and_members(stage: Stage) -> None:
    result = (
        PROFILES[""]
        .tools({"scope": "project:alpha"})["add_memory"]
        .run(stage.coder.principal, {"content": SAID, "origin": "user_explicit"}, "req_test")
    )
    assert told(result.structured_content) == ["content"]
    assert "zero characters were taken out of content" in result.content[0].text


def test_service_and_dry_run__tell_the_same(stage: Stage) -> None:
    request = WriteRequest(content=SAID, scope="project:alpha", origin="user_explicit")
    for write in (memory_check, memory_write):
        outcome = write(stage.coder.principal, request)
        assert outcome.outcome is OutcomeKind.STORED
        assert [one.field for one in outcome.findings] == ["content"]


def test_importer__its_decision_tells(stage: Stage, tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    file.write_text(
        '{"memory": "The press halls\\u0000 open at \\u0000seven.", "id": "1"}\n', encoding="utf-8"
    )
    foreign_import(system(stage.tenant.id, "import"), open_store(file).parts(), scope="project:alpha")
    with stage.context():
        assert Memory.objects.get().content == KEPT
        assert WriteDecision.objects.get().findings[0]["kind"] == "removed"


def test_mount__says_to_take_it_out_of_the_file(stage: Stage) -> None:
    document = b'name: alpha\nentries:\n  - content: "The press halls\\0 open."\n    scope: project:alpha\n'
    with pytest.raises(MountRefused) as refused:
        mount_apply(system(stage.tenant.id, "cli.mount"), document)
    assert "zero character" in str(refused.value.problems[0])
    with stage.context():
        assert not Memory.objects.exists()
