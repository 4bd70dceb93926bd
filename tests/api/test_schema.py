"""The API's description, and the API held against it with generated requests."""

from __future__ import annotations

from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode

from memory.api.schema import describe
from memory.api.urls import urlpatterns
from memory.models import Job
from tenants.context import tenant_context
from tests.api.caller import Caller
from tests.factories import Machine, make_tenant

DOCUMENT = describe()
OPERATIONS = [
    (path, method) for path, operations in DOCUMENT["paths"].items() for method in operations
]  # fmt: skip


@lru_cache(maxsize=1)
def machine() -> Machine:
    """One tenant for all generated requests: they only ever add to it."""
    return make_tenant().orchestrator


@lru_cache(maxsize=1)
def rows() -> dict[str, str]:
    """A row for each kind of id in an address, so that generated bodies reach further than a 404."""
    caller = Caller(machine())
    memory = caller.remember("The staging gateway of alpha listens on port 8443.")["id"]
    asked = {"memory": memory, "to_scope": "shared", "reason": "used by three teams"}
    with tenant_context(machine().principal.tenant_id):
        job = Job(kind="import", agent_id=machine().agent.id, actor_name="x")
        job.save()
        step = Job(kind="blast.quarantine", status="done", agent_id=machine().agent.id, actor_name="x")
        step.save()
    return {
        "memory_id": memory,
        "manifest_id": caller.post("retrieve", {"query": "gateway"}).json()["manifest"],
        "promotion_id": caller.post("promotions", asked).json()["id"],
        "job_id": f"job_{job.id.hex}",
        "step_id": f"job_{step.id.hex}",
    }


def test_document__is_openapi_31_with_every_call_described() -> None:
    assert DOCUMENT["openapi"].startswith("3.1")
    assert DOCUMENT["components"]["securitySchemes"]["agentKey"]["scheme"] == "bearer"
    described = {
        path.removeprefix("/api/v1/").replace("{", "<str:").replace("}", ">") for path in DOCUMENT["paths"]
    }
    assert described == {str(p.pattern) for p in urlpatterns} - {"schema/", "docs/"}


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_operation__says_what_it_is_for_and_how_it_fails(path: str, method: str) -> None:
    operation = DOCUMENT["paths"][path][method]
    assert operation["summary"] and operation["operationId"]
    assert {"400", "401", "429", "503"} <= operation["responses"].keys()
    if body := operation.get("requestBody"):
        [media] = body["content"]
        assert media == "application/json"
        assert body["content"][media].get("examples") or operation["operationId"] == "promotion_withdraw"
    for status, answer in operation["responses"].items():
        if int(status) >= 400:
            assert list(answer["content"]) == ["application/problem+json"], (status, answer)


def _check(path: str, method: str, response: Any) -> None:
    """A documented status, its content type, and a body of the described shape.  Never an unforeseen error."""
    assert response.status_code < 500, response.content
    answers = DOCUMENT["paths"][path][method]["responses"]
    assert str(response.status_code) in answers, (response.status_code, response.content)
    content = answers[str(response.status_code)].get("content", {})
    kind = response.headers.get("Content-Type", "").partition(";")[0]
    if content:
        assert kind in content, (kind, response.content)
        shape = {**content[kind]["schema"], "components": DOCUMENT["components"]}
        jsonschema_rs.validator_for(shape).validate(response.json())


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_operation__generated_requests__get_documented_answers(
    database: None, path: str, method: str, mode: GenerationMode
) -> None:
    operation = schemathesis.openapi.from_dict(DOCUMENT)[path][method]
    real = {name: shown for name, shown in rows().items() if "{" + name + "}" in path}

    @settings(
        max_examples=6, deadline=None, derandomize=True, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=operation.as_strategy(generation_mode=mode, path_parameters=real or None))
    def run(case: schemathesis.Case) -> None:
        sent = case.as_transport_kwargs(base_url="http://testserver")
        address = sent["url"].removeprefix("http://testserver")
        if params := sent.get("params"):
            address += "?" + urlencode(params, doseq=True)
        headers = {
            name.replace("-", "_"): value
            for name, value in sent["headers"].items()
            if name.lower() in ("content-type", "if-match", "if-none-match", "idempotency-key")
        }
        body = sent.get("json", sent.get("data"))
        _check(path, method, Caller(machine()).call(method.upper(), address, body, **headers))

    run()


def test_schema__is_served_to_anyone(nobody: Caller) -> None:
    served = nobody.get("schema/")
    assert served["Content-Type"] == "application/vnd.oai.openapi+json" and served.json() == DOCUMENT
