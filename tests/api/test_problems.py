"""Everything that can be wrong with a request before any rule about memories is asked."""

from __future__ import annotations

import gzip
import re
from typing import Any

import pytest

from memory.api.schema import describe
from memory.models import Memory
from tests.api.caller import Caller, assert_problem
from tests.factories import Stage

GOOD = '{"content": "Alpha is deployed by the robot of team 7.", "scope": "project:alpha", "origin": "user_explicit"%s}'
TEXT = "Alpha is deployed by the robot of team 7."


def test_good_body__is_stored(coder: Caller) -> None:
    assert coder.post("memories", GOOD % "").status_code == 201


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ("", 400, "invalid"),
        ("{", 400, "malformed"),
        ("null", 400, "not_an_object"),
        ("[]", 400, "not_an_object"),
        ('"text"', 400, "not_an_object"),
        ("\ufeff{}", 400, "malformed"),
        (b'{"content": "\xff"}', 400, "malformed"),
        (GOOD % ', "confidence": NaN', 400, "malformed"),
        (GOOD % ', "confidence": -Infinity', 400, "malformed"),
        (GOOD % ', "confidence": 1e999', 400, "malformed"),
        (GOOD % (', "confidence": ' + "9" * 5000), 400, "malformed"),
        (GOOD % ', "scope": "shared"', 400, "duplicate_key"),
        (GOOD % ', "metadata": {"a": 1, "a": 2}', 400, "duplicate_key"),
        (GOOD % ', "tool": "\\ud83d"', 400, "lone_surrogate"),
        (GOOD % ', "metadata": {"\\udc00": 1}', 400, "lone_surrogate"),
        (GOOD % (', "metadata": ' + '{"a":' * 30 + "1" + "}" * 30), 400, "malformed"),
        (GOOD % (', "metadata": ' + "[" * 100_000 + "]" * 100_000), 400, "malformed"),
        (GOOD % ', "contnet": "typo"', 400, "unknown_field"),
        (GOOD % ', "applies_to": {"path": []}', 400, "unknown_field"),
    ],
)
def test_body__that_cannot_be_understood__is_refused_and_nothing_stored(
    stage: Stage, coder: Caller, body: Any, status: int, code: str
) -> None:
    response = coder.post("memories", body)
    # An empty body is a candidate without anything in it: the service says so.
    assert_problem(response, status, code)
    with stage.context():
        assert not Memory.objects.exists()


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("content", [1, True, ["x"], {}]),
        ("scope", ["nowhere", "project:", "shared:x", 3, "project:" + "x" * 200]),
        ("layer", ["deep", 1]),
        ("kind", ["rumour"]),
        ("confidence", [1.01, -0.1, "0.5", True, 10**300]),
        ("importance", ["high", [], 2]),
        ("session", [7, "a b"]),
        ("derived_from", ["mem_1", ["mem_1"], [1], ["mem_" + "0" * 32], ["mem_" + "0" * 32] * 101]),
        ("applies_to", [[], {"paths": "a"}, {"tags": [1]}]),
        ("ttl", ["2 fortnights", "-1d", "0", 0, -5, True, 1.5, [], 10**12]),
        (
            "expires_at",
            ["2026-08-13T10:00:00", "tomorrow", 5, "9999-12-31T23:59:59-05:00", "2026-13-01T00:00:00Z"],
        ),
        ("metadata", [[], "x", 1]),
        ("origin", [1, "x" * 101]),
    ],
)
def test_field__of_the_wrong_kind__is_400_naming_it(
    stage: Stage, coder: Caller, field: str, values: list[Any]
) -> None:
    for value in values:
        response = coder.post("memories", {"content": TEXT, "scope": "project:alpha", field: value})
        assert response.status_code == 400, (value, response.content)
        problem = response.json()
        assert problem["errors"][0]["field"].split(".")[0] == field, problem
    with stage.context():
        assert not Memory.objects.exists()


def test_nul__in_any_text__is_removed(coder: Caller) -> None:
    clean = {"content": TEXT, "scope": "project:alpha", "tool": "x", "metadata": {"a": "b"}}
    given = {"content": TEXT.replace("robot", "ro\x00bot"), "scope": "project:\x00alpha", "tool": "\x00x"}
    memory = coder.post("memories", {**given, "metadata": {"a\x00": "\x00b"}}).json()["memory"]
    assert {name: memory[name] for name in clean} == clean


def test_value__number_or_truth__becomes_its_text(coder: Caller) -> None:
    for n, (value, text) in enumerate(((42, "42"), (4.5, "4.5"), (True, "true"))):
        body = {"subject": f"app:{n}", "predicate": "setting_x", "value": value, "scope": "project:alpha"}
        response = coder.post("memories", body)
        shown = response.json()
        assert response.status_code < 500 and (shown["memory"] or {"value": text})["value"] == text


def test_body__too_large__is_413_naming_the_limit(settings: Any, coder: Caller) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    problem = assert_problem(coder.post("memories", {"content": "x" * 2000}), 413, "body_too_large")
    assert "1000 bytes" in problem["detail"]


def test_content__above_the_policys_limit__is_413(coder: Caller) -> None:
    response = coder.post("memories", {"content": "y" * 8001, "scope": "project:alpha"})
    problem = assert_problem(response, 413, "too_large")
    assert "8000" in problem["detail"] and problem["errors"][0]["field"] == "content"


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data",
                                  "application/json; charset=utf-16", ""])  # fmt: skip
def test_content_type__that_is_not_json_in_utf8__is_415(coder: Caller, kind: str) -> None:
    assert_problem(coder.post("memories", GOOD % "", Content_Type=kind), 415, "unsupported_media_type")


def test_content_type__with_utf8_named__is_read(coder: Caller) -> None:
    assert (
        coder.post("memories", GOOD % "", Content_Type="application/json; charset=UTF-8").status_code == 201
    )


@pytest.mark.parametrize("coding", ["gzip", "br", "deflate, identity", "nonsense", "gzip" * 200])
def test_body__that_says_it_is_packed__is_415_and_not_stored(
    stage: Stage, coder: Caller, coding: str
) -> None:
    for body in (GOOD % "", gzip.compress((GOOD % "").encode())):
        answer = coder.post("memories", body, Content_Encoding=coding)
        problem = assert_problem(answer, 415, "unsupported_encoding")
        assert answer["Accept-Encoding"] == "identity"
        assert coding[:40] in problem["detail"] and "send it plain" in problem["detail"]
    with stage.context():
        assert not Memory.objects.exists()


@pytest.mark.parametrize("coding", ["", "identity", "Identity , identity"])
def test_body__that_says_nothing_was_done_to_it__is_read(coder: Caller, coding: str) -> None:
    assert coder.post("memories", GOOD % "", Content_Encoding=coding).status_code == 201


@pytest.mark.parametrize(
    ("path", "method"),
    [
        (path, method)
        for path, methods in describe()["paths"].items()
        for method in methods
        if method in ("post", "put", "patch")
    ],
)
def test_packed_body__is_refused_by_every_call_that_takes_one(coder: Caller, path: str, method: str) -> None:
    answer = coder.call(method.upper(), re.sub("{.*?}", "x", path), "{}", Content_Encoding="gzip")
    assert_problem(answer, 415, "unsupported_encoding")


def test_chunked_body__is_411_and_not_taken_for_an_empty_one(coder: Caller) -> None:
    assert_problem(coder.post("memories", "", Transfer_Encoding="chunked"), 411, "length_required")


def test_accept__html__still_gets_json(coder: Caller) -> None:
    response = coder.get("whoami", Accept="text/html")
    assert response.status_code == 200 and response["Content-Type"] == "application/json"


@pytest.mark.parametrize("path", ["nothing", "memories/", "memories/mem_1", "manifests/x", "jobs/1", "promotions/prm_1",
                                  "/api/v2/whoami", "/api/", "memories/%00", "memories/..%2f..%2fetc"])  # fmt: skip
def test_unknown_address__is_a_404_problem(coder: Caller, path: str) -> None:
    assert_problem(coder.get(path), 404, "not_found")


def test_unknown_method__is_a_405_problem(coder: Caller) -> None:
    for method, path in (("PUT", "memories"), ("DELETE", "whoami"), ("OPTIONS", "memories"), ("TRACE", "memories"),
                         ("POST", "digest"), ("FOO", "health")):  # fmt: skip
        assert_problem(coder.call(method, path), 405, "method_not_allowed")


def test_unforeseen_error__is_a_bare_500_with_the_request_id(
    monkeypatch: pytest.MonkeyPatch, coder: Caller
) -> None:
    def explode(*_: object) -> None:
        raise RuntimeError("the password is hunter2")

    monkeypatch.setattr("memory.api.views.watching.default_grants", explode)
    response = coder.get("whoami")
    problem = assert_problem(response, 500, "internal_error")
    assert "hunter2" not in response.content.decode() and problem["request_id"]


def test_request_id__well_formed__comes_back_and_stands_in_the_audit(stage: Stage, coder: Caller) -> None:
    response = coder.post("memories", GOOD % "", X_Request_ID="my-trace-1")
    assert response["X-Request-ID"] == "my-trace-1"
    events = coder.get("audit?action=memory.stored").json()["results"]
    assert [event["request_id"] for event in events] == ["my-trace-1"]
