"""Repeated requests with an idempotency key."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from memgov import clock
from memory.models import IdempotencyKey, Memory, PromotionRequest, WriteDecision
from tests.api.caller import Caller, assert_problem
from tests.factories import Stage

BODY = {
    "content": "Alpha is deployed by the robot of team 7.",
    "scope": "project:alpha",
    "origin": "user_explicit",
}


def test_same_request_again__gets_the_first_answer_and_does_nothing(stage: Stage, coder: Caller) -> None:
    first = coder.post("memories", BODY, Idempotency_Key="k1")
    again = coder.post("memories", dict(reversed(BODY.items())), Idempotency_Key="k1")
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.content == first.content and again["Location"] == first["Location"]
    assert again["Idempotent-Replayed"] == "true" and "Idempotent-Replayed" not in first
    with stage.context():
        assert WriteDecision.objects.count() == 1
    assert coder.post("memories", BODY).json()["outcome"] == "duplicate"


def test_refused_write__is_replayed_as_the_problem_it_was(stage: Stage, coder: Caller) -> None:
    junk = {"content": "ok", "scope": "project:alpha"}
    first = coder.post("memories", junk, Idempotency_Key="k1")
    again = coder.post("memories", junk, Idempotency_Key="k1")
    assert again.status_code == 422 and again.content == first.content
    assert again["Content-Type"] == "application/problem+json"
    with stage.context():
        assert WriteDecision.objects.count() == 1


def test_other_request_under_the_key__is_422(stage: Stage, coder: Caller) -> None:
    coder.post("memories", BODY, Idempotency_Key="k1")
    for path, body in (("memories", {**BODY, "kind": "preference"}), ("memories/batch", {"items": [BODY]})):
        assert_problem(coder.post(path, body, Idempotency_Key="k1"), 422, "idempotency_mismatch")
    with stage.context():
        assert Memory.objects.count() == 1
    assert (
        Caller(stage.orchestrator).post("memories", BODY, Idempotency_Key="k1").json()["outcome"]
        == "duplicate"
    )


def test_problem__leaves_the_key_free(stage: Stage, coder: Caller) -> None:
    denied = {**BODY, "scope": "shared"}
    assert_problem(coder.post("memories", denied, Idempotency_Key="k1"), 403, "scope_denied")
    assert_problem(coder.post("memories", {"content": 3}, Idempotency_Key="k1"), 400, "invalid")
    assert coder.post("memories", BODY, Idempotency_Key="k1").status_code == 201


def test_key__running__is_409_and_abandoned__is_taken_over(stage: Stage, coder: Caller) -> None:
    coder.post("memories", BODY, Idempotency_Key="k1")
    with stage.context():
        IdempotencyKey.objects.update(status=None, answer=None)
    response = coder.post("memories", BODY, Idempotency_Key="k1")
    assert_problem(response, 409, "idempotency_in_flight")
    assert response["Retry-After"] == "1"
    with clock.moved_to(clock.now() + timedelta(minutes=6)):
        assert coder.post("memories", BODY, Idempotency_Key="k1").json()["outcome"] == "duplicate"


def test_key__after_a_day__is_forgotten(coder: Caller) -> None:
    coder.post("memories", BODY, Idempotency_Key="k1")
    with clock.moved_to(clock.now() + timedelta(hours=25)):
        again = coder.post("memories", BODY, Idempotency_Key="k1")
    assert again.json()["outcome"] == "duplicate" and "Idempotent-Replayed" not in again


@pytest.mark.parametrize("key", ["", " ", "a b", "x" * 201, "é"])
def test_key__malformed__is_400(coder: Caller, key: str) -> None:
    assert_problem(coder.post("memories", BODY, Idempotency_Key=key), 400, "invalid_idempotency_key")


def test_parallel_repeats__one_works_and_nobody_does_it_twice(stage: Stage, coder: Caller) -> None:
    def send(_: int) -> Any:
        try:
            return coder.post("memories", BODY, Idempotency_Key="race")
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(send, range(16)))
    assert {answer.status_code for answer in answers} <= {201, 409}
    stored = [answer for answer in answers if answer.status_code == 201]
    assert len({answer.content for answer in stored}) == 1
    assert sum("Idempotent-Replayed" not in answer for answer in stored) == 1
    with stage.context():
        assert Memory.objects.count() == WriteDecision.objects.count() == 1


def test_promotion__repeated__opens_one_request(stage: Stage, coder: Caller) -> None:
    memory = coder.remember(BODY["content"])
    body = {"memory": memory["id"], "to_scope": "shared", "reason": "for all"}
    first = coder.post("promotions", body, Idempotency_Key="p1")
    assert coder.post("promotions", body, Idempotency_Key="p1").json() == first.json()
    assert_problem(coder.post("promotions", body), 409, "promotion_open")
    with stage.context():
        assert PromotionRequest.objects.count() == 1
