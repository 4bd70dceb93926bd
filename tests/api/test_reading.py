"""Retrieve, digest, manifests and usage over the API."""

from __future__ import annotations

import hashlib

import pytest

from memory.domain.injection import BLOCK_FORMATS
from memory.models import Manifest, ManifestEntry, Memory
from memory.services.retention import memory_delete, memory_verify
from tests.api.caller import Caller, as_uuid, assert_problem
from tests.factories import Stage, make_agent

PORT = "The staging gateway of alpha listens on port 8443."


def test_retrieve__a_question__gives_entries_block_and_manifest(coder: Caller) -> None:
    memory = coder.remember(PORT, tool="netscan", session="s1")
    body = coder.post("retrieve", {"query": "which port has the staging gateway", "session": "s1"}).json()
    [entry] = body["entries"]
    assert entry["id"] == memory["id"] and entry["version"] == 1 and entry["content"] == PORT
    assert entry["scope"] == "project:alpha" and entry["band"] == "fresh" and entry["channel"] == "retrieved"
    assert entry["source"].endswith("/netscan") and 0 < entry["score"] <= 1.5 and entry["trust"] == 0.9
    assert memory["id"] in body["block"] and "reference data" in body["block"]
    assert body["manifest"].startswith("man_") and body["search"] == "hybrid"
    assert "explanation" not in entry


def test_retrieve__explain__says_why_found_and_why_readable(coder: Caller) -> None:
    coder.remember(PORT)
    entry = coder.post("retrieve", {"query": "gateway port", "explain": True}).json()["entries"][0]
    assert entry["explanation"]["readable_by"] == "grant on project:alpha"
    assert entry["explanation"]["score"]


def test_retrieve__scope_that_the_key_may_not_read__looks_empty(stage: Stage, coder: Caller) -> None:
    hidden = Caller(stage.orchestrator).remember(PORT, scope="project:beta")
    for scopes in ([], ["project:beta"], None):
        found = coder.post("retrieve", {"query": "gateway port", "scopes": scopes}).json()
        assert found["entries"] == [] and hidden["id"] not in found["block"]
    seen = Caller(stage.orchestrator).post("retrieve", {"query": "gateway port", "scopes": ["project:beta"]})
    assert [entry["id"] for entry in seen.json()["entries"]] == [hidden["id"]]


def test_retrieve__bad_bodies__are_400_naming_the_field(coder: Caller) -> None:
    bad = [
        ({}, "query"), ({"query": 3}, "query"), ({"query": "x", "limit": 0}, "limit"),
        ({"query": "x", "limit": True}, "limit"), ({"query": "x", "min_trust": 1.5}, "min_trust"),
        ({"query": "x", "scopes": ["nowhere:1"]}, "scopes.0"), ({"query": "x", "session": "a b"}, "session"),
        ({"query": "x", "kinds": ["rumour"]}, "kinds.0"), ({"query": "x", "window_days": -1}, "window_days"),
        ({"query": "x", "high_stakes": "yes"}, "high_stakes"),
    ]  # fmt: skip
    for body, field in bad:
        problem = assert_problem(coder.post("retrieve", body), 400, "invalid")
        assert [error["field"] for error in problem["errors"]] == [field], body
    assert_problem(coder.post("retrieve", {"query": "x", "qeury": "y"}), 400, "unknown_field")


def test_manifest__after_edit_and_delete__still_shows_the_same_bytes(stage: Stage, coder: Caller) -> None:
    memory = coder.remember(PORT)
    read = coder.post("retrieve", {"query": "gateway port", "session": "s1"}).json()
    edited = coder.patch(
        f"memories/{memory['id']}",
        {"content": "The staging gateway of alpha listens on port 9443."},
        If_Match='"1"',
    )
    assert edited.status_code == 200, edited.content
    memory_delete(stage.owner.principal, as_uuid(memory["id"]), "no longer so")
    shown = coder.get(f"manifests/{read['manifest']}").json()
    assert shown["block"] == read["block"] and shown["as_returned"] is True
    assert shown["block_digest"] == hashlib.sha256(read["block"].encode()).hexdigest()
    assert shown["entries"][0]["content"] == PORT and shown["entries"][0]["version"] == 1
    assert shown["query"] == "gateway port" and shown["session"] == "s1"


@pytest.mark.parametrize("format", BLOCK_FORMATS)
def test_retrieve__format__block_is_in_it_and_read_again_in_it(coder: Caller, format: str) -> None:
    coder.remember(PORT)
    read = coder.post("retrieve", {"query": "gateway port", "format": format}).json()
    start = {"xml": "<memories note=", "markdown": "## Memories", "json": "<memories note="}[format]
    assert read["block"].startswith(start) and PORT in read["block"]
    assert ("| " + PORT in read["block"], f'"{PORT}"' in read["block"]) == (
        format == "markdown",
        format == "json",
    )
    shown = coder.get(f"manifests/{read['manifest']}").json()
    assert (shown["block"], shown["as_returned"]) == (read["block"], True)


def test_retrieve__unknown_format__refused_by_name(coder: Caller) -> None:
    answer = coder.post("retrieve", {"query": "gateway port", "format": "yaml"})
    assert answer.status_code == 400 and "format" in answer.content.decode()


def test_manifest__erased_text__is_gone_and_said_to_be(stage: Stage, coder: Caller) -> None:
    memory = coder.remember(PORT)
    read = coder.post("retrieve", {"query": "gateway port"}).json()
    with stage.context():
        Memory.objects.filter(id=as_uuid(memory["id"])).update(status="erased", content="")
    response = coder.get(f"manifests/{read['manifest']}")
    assert b"8443" not in response.content
    shown = response.json()
    assert shown["as_returned"] is False
    assert shown["entries"][0]["erased"] is True and shown["entries"][0]["content"] is None


def test_manifest__of_another_agent__is_not_there(stage: Stage, coder: Caller) -> None:
    read = coder.post("retrieve", {"query": "anything"}).json()["manifest"]
    colleague = Caller(make_agent(stage.tenant, "coder", ["*=rwp"]))
    for who in (colleague, Caller(stage.orchestrator)):
        assert_problem(who.get(f"manifests/{read}"), 404, "not_found")
        assert_problem(who.post(f"manifests/{read}/usage", {"used": []}), 404, "not_found")
    assert coder.get(f"manifests/{read}").status_code == 200


def test_usage__reported_twice__counts_once(stage: Stage, coder: Caller) -> None:
    memory = coder.remember(PORT)
    read = coder.post("retrieve", {"query": "gateway port"}).json()["manifest"]
    first = coder.post(f"manifests/{read}/usage", {"used": [memory["id"]]})
    again = coder.post(f"manifests/{read}/usage", {"used": [memory["id"], memory["id"]]})
    said = {"injected": 1, "used": 1, "ignored": 0, "harmful": 0}
    assert first.json() == said | {"newly_used": 1}
    assert again.json() == said | {"newly_used": 0}
    assert coder.get(f"memories/{memory['id']}").json()["use_count"] == 1


def test_usage__of_what_was_not_given__is_refused(stage: Stage, coder: Caller) -> None:
    coder.remember(PORT)
    unseen = coder.remember("The release of alpha is signed by two people.")
    read = coder.post("retrieve", {"query": "gateway port", "limit": 1}).json()["manifest"]
    problem = coder.post(f"manifests/{read}/usage", {"used": [unseen["id"]]})
    assert_problem(problem, 400, "not_in_manifest")
    assert_problem(coder.post(f"manifests/{read}/usage", {"used": ["mem_1"]}), 400, "invalid")
    with stage.context():
        assert not ManifestEntry.objects.filter(used_at__isnull=False).exists()


def test_digest__etag__lets_an_unchanged_one_be_kept(stage: Stage, coder: Caller) -> None:
    coder.remember(PORT)
    first = coder.get("digest?scope=project:alpha")
    body = first.json()
    assert PORT in body["text"] and [line["content"] for line in body["bands"]["fresh"]] == [PORT]
    assert coder.get("digest?scope=project:alpha", If_None_Match=first["ETag"]).status_code == 304
    weak = coder.get("digest?scope=project:alpha", If_None_Match="W/" + first["ETag"])
    assert weak.status_code == 304 and weak["ETag"] == first["ETag"] and weak.content == b""
    for several in (f'"older", {first["ETag"]}', f'W/"older" , W/{first["ETag"]}', "*"):
        assert coder.get("digest?scope=project:alpha", If_None_Match=several).status_code == 304
    with stage.context():
        assert Manifest.objects.filter(kind="digest").count() == 1
    for other in ("", "older", '"older"', first["ETag"].strip('"')):
        assert coder.get("digest?scope=project:alpha", If_None_Match=other).status_code == 200
    coder.remember("The release of alpha is signed by two people.")
    assert coder.get("digest?scope=project:alpha", If_None_Match=first["ETag"]).status_code == 200


def test_digest_manifest__after_a_confirmation__still_shows_the_same_bytes(
    stage: Stage, coder: Caller
) -> None:
    memory = coder.remember(PORT)
    read = coder.get("digest?scope=project:alpha").json()
    memory_verify(stage.reviewer.principal, as_uuid(memory["id"]))
    shown = coder.get(f"manifests/{read['manifest']}").json()
    assert shown["block"] == read["text"] and shown["as_returned"] is True and shown["kind"] == "digest"


def test_digest__bad_parameters__are_named(coder: Caller) -> None:
    assert_problem(coder.get("digest"), 400, "invalid")
    assert_problem(coder.get("digest?scope=nowhere"), 400, "invalid")
    assert_problem(coder.get("digest?scope=project:alpha&max_tokens=0"), 400, "invalid")
    assert_problem(coder.get("digest?scope=project:alpha&scope=shared"), 400, "repeated_parameter")
    assert_problem(coder.get("digest?scope=project:alpha&max=3"), 400, "unknown_parameter")
    assert_problem(coder.get("digest?scope=project:beta"), 404, "not_found")


def test_manifest__in_another_format__is_rendered_in_it(coder: Caller) -> None:
    coder.remember(PORT)
    read = coder.post("retrieve", {"query": "gateway port"}).json()
    other = coder.post("retrieve", {"query": "gateway port", "format": "json"}).json()
    shown = coder.get(f"manifests/{read['manifest']}?block_format=json").json()
    assert shown["block"] == other["block"] != read["block"]
    assert shown["block_format"] == "xml" and shown["as_returned"] is True
    assert_problem(coder.get(f"manifests/{read['manifest']}?block_format=yaml"), 400, "invalid")


def test_manifest__entry__says_its_score_source_and_verdict(coder: Caller) -> None:
    memory = coder.remember(PORT, tool="netscan")
    read = coder.post("retrieve", {"query": "gateway port"}).json()["manifest"]
    [entry] = coder.get(f"manifests/{read}").json()["entries"]
    assert entry["verdict"] is None and entry["source"].endswith("/netscan") and entry["trust"] == 0.9
    assert abs(sum(entry["scores"].values()) - entry["score"]) < 1e-5
    said = coder.post(f"manifests/{read}/usage", {"used": [], "harmful": [memory["id"]]})
    assert said.json()["harmful"] == 1
    [entry] = coder.get(f"manifests/{read}").json()["entries"]
    assert entry["verdict"] == "harmful" and entry["used_at"] is None


def test_usage__one_id_in_two_lists__is_refused(coder: Caller) -> None:
    memory = coder.remember(PORT)
    read = coder.post("retrieve", {"query": "gateway port"}).json()["manifest"]
    both = {"used": [memory["id"]], "ignored": [memory["id"]]}
    assert_problem(coder.post(f"manifests/{read}/usage", both), 400, "verdicts_clash")
    assert_problem(coder.post(f"manifests/{read}/usage", {"ignored": [memory["id"]]}), 400, "invalid")
