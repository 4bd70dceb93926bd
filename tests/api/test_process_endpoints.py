"""What the process tells of itself, health, and jobs."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.cache import cache
from django.db import DatabaseError, connection

from memgov import heartbeat, process_endpoints
from memory.clients.embeddings import EmbedderError
from memory.models import Job
from tests.api.caller import Caller, assert_problem
from tests.factories import Stage


def test_livez__answers_without_asking_anything(nobody: Caller) -> None:
    assert nobody.get("/livez").json() == {"status": "ok"}


def test_readyz__worker_silent__is_503_naming_it_and_ready_once_it_lives(nobody: Caller) -> None:
    cache.delete("heartbeat:worker")
    body = nobody.get("/readyz")
    assert body.status_code == 503 and body["Content-Type"] == "application/problem+json"
    assert body.json()["missing"] == ["worker"] and body["Retry-After"]
    heartbeat.give(heartbeat.WORKER)
    assert nobody.get("/readyz").json()["status"] == "ready"


def test_readyz__each_missing_part__is_named(
    nobody: Caller, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    heartbeat.give(heartbeat.WORKER)
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert nobody.get("/readyz").json()["missing"] == ["broker"]

    def refuse(*_: Any, **__: Any) -> Any:
        raise DatabaseError("gone")

    with monkeypatch.context() as patch:
        patch.setattr(connection, "cursor", refuse)
        assert nobody.get("/readyz").json()["missing"] == ["database", "broker"]

    class Broken:
        def embed(self, texts: Any) -> Any:
            raise EmbedderError("the model is not there")

    monkeypatch.setattr(process_endpoints, "get_embedder", lambda _: Broken())
    process_endpoints._embedder_answered.clear()
    body = nobody.get("/readyz").json()
    assert body["missing"] == ["broker", "embedder"] and "the model is not there" in body["detail"]
    settings.MEMGOV_EMBEDDER = "none"
    assert nobody.get("/readyz").json()["missing"] == ["broker"]


def test_metrics__counts_calls_and_outcomes_without_tenants(
    stage: Stage, coder: Caller, nobody: Caller
) -> None:
    coder.remember("The staging gateway of alpha listens on port 8443.")
    coder.post("memories", {"content": "ok", "scope": "project:alpha"})
    coder.call("FOO", "memories")
    text = nobody.get("/metrics").content.decode()
    assert 'memgov_writes_total{outcome="stored",reason=""}' in text
    assert 'memgov_writes_total{outcome="rejected",reason="too_vague"}' in text
    assert 'memgov_api_calls_total{method="POST",route="api/v1/memories",status="201"}' in text
    assert 'method="other"' in text and "FOO" not in text
    assert stage.tenant.slug not in text and "alpha" not in text


def test_protected_resource__says_how_to_authenticate(nobody: Caller) -> None:
    body = nobody.get("/.well-known/oauth-protected-resource").json()
    assert body["bearer_methods_supported"] == ["header"] and body["resource"].startswith("http")


def test_health__has_every_metric_with_its_state(stage: Stage, coder: Caller) -> None:
    coder.remember("The staging gateway of alpha listens on port 8443.")
    body = coder.get("health").json()
    assert body["scope"] is None and body["metrics"]["live_facts"]["value"] == 1
    assert body["metrics"]["cross_scope_leaks"]["state"] == "ok"
    assert body["metrics"]["hit_rate"] | {"value": None, "state": "no_data"} == body["metrics"]["hit_rate"]
    assert coder.get("health?scope=project:alpha").json()["metrics"]["live_facts"]["value"] == 1
    assert_problem(coder.get("health?scope=project:beta"), 404, "not_found")
    for query in ("days=0", "days=367", "days=x", "scope=nowhere"):
        assert_problem(coder.get(f"health?{query}"), 400, "invalid")
    assert_problem(coder.get("health?metric=x"), 400, "unknown_parameter")


def test_job__of_the_own_agent__is_shown_and_others_are_not(
    stage: Stage, coder: Caller, orchestrator: Caller
) -> None:
    with stage.context():
        job = Job(
            kind="import", agent_id=stage.coder.agent.id, actor_name="x", total=9, done=4, status="running"
        )
        job.save()
    body = coder.get(f"jobs/job_{job.id.hex}").json()
    assert (body["kind"], body["status"], body["done"], body["total"]) == ("import", "running", 4, 9)
    assert_problem(orchestrator.get(f"jobs/job_{job.id.hex}"), 404, "not_found")
