"""The client knows every call, parameter, field and member that the API describes, and no others."""

from __future__ import annotations

import re
from typing import Any, get_type_hints

import pytest
from memgov_client import AsyncClient, Client, models
from memgov_client.binding import Listed, Method
from memgov_client.call import Answer, Call
from memgov_client.calls import blast, deleting, memories, reading, watching, working, writing
from memgov_client.clients import Operations

from memory.api.schema import describe
from memory.api.urls import urlpatterns

DOCUMENT = describe()
SCHEMAS = DOCUMENT["components"]["schemas"]
MODELS = {
    "Memory": "Memory", "Outcome": "Outcome", "Revision": "Revision", "Entry": "Entry", "Retrieval": "Retrieval",
    "Digest": "Digest", "Manifest": "Manifest", "Injected": "Injected", "Usage": "Usage", "Working": "WorkingValue",
    "TaskEnd": "TaskEnd", "Rollback": "Rollback", "SessionEnd": "SessionEnd", "Promotion": "Promotion",
    "Reach": "Reach", "Deletion": "Deletion", "Derived": "Derived", "RestoreLook": "RestoreLook", "Point": "Point",
    "WhoAmI": "WhoAmI", "Key": "Key", "Grant": "Grant", "Metric": "Metric", "Health": "Health", "Event": "Event",
    "Job": "Job", "Finding": "Finding", "Pin": "Pin", "PromotedStep": "Step",
}  # fmt: skip
OWN = {
    "Deletion": {"job"},
    "Outcome": {"http_status"},
    "Digest": {"etag"},
}  # what the client adds from status and headers
MADE: list[Call[Any]] = [
    watching.whoami(), writing.write("x"), writing.write_many([]), writing.check("x"), memories.memories_page(),
    memories.memory("m"), memories.revisions_page("m"), memories.edit("m", version=1), memories.verify("m"),
    memories.delete("m", "r"), deleting.delete_many("r", ids=["m"]), deleting.undo_deletion("j"),
    memories.derived("m"), memories.restore_look("m"), memories.restore("m"),
    reading.retrieve("q"), reading.digest("shared"), reading.manifest("m"),
    reading.report_usage("m", []), working.put_working("t", "k", 1), working.get_working("t", "k"),
    working.list_working("t"), working.delete_working("t", "k"), working.complete_task("t"),
    working.roll_back_task("t"), working.undo_rollback("t"), working.end_session("s"),
    watching.promote("m", "shared", "r"), watching.promotions_page(), watching.promotion("p"),
    blast.blast(), blast.quarantine_blast("r"), blast.undo_quarantine("j"),
    watching.withdraw_promotion("p"), watching.answer_promotion("p", "t"),
    watching.health(), watching.audit_page(), watching.job("j"),
]  # fmt: skip


class Paged(blast.Seed, total=False):
    """The blast radius pages by the last memory, not by a cursor."""

    before: str


def shape(method: str, path: str) -> tuple[str, str]:
    """An operation with its variable parts blanked."""
    return method.upper(), re.sub(r"\{[^}]+\}", "*", path.removeprefix("/api/v1/").rstrip("/"))


def test_calls__are_those_of_the_api() -> None:
    described = {
        shape(method, path) for path, operations in DOCUMENT["paths"].items() for method in operations
    }
    blank = dict.fromkeys(("m", "p", "t", "k", "s", "j"), "*")
    made = {(one.method, "/".join(blank.get(part, part) for part in one.path.split("/"))) for one in MADE}
    assert made == described
    assert watching.schema().path in {str(pattern.pattern) for pattern in urlpatterns}


def test_methods__offer_every_function_that_makes_a_call() -> None:
    bound = {one.make for one in vars(Operations).values() if isinstance(one, Method | Listed)}
    functions = {
        function
        for module in (blast, deleting, memories, reading, watching, working, writing)
        for name, function in vars(module).items()
        if callable(function) and getattr(function, "__module__", "") == module.__name__
        and not name.startswith("_") and not isinstance(function, type)
    }  # fmt: skip
    assert functions == bound and all(one.__doc__ for one in functions)
    assert all(hasattr(Client, name) and hasattr(AsyncClient, name) for name in vars(Operations))


def parameters(path: str, method: str) -> set[str]:
    found = DOCUMENT["paths"][f"/api/v1/{path}"][method].get("parameters", [])
    return {one["name"] for one in found if one["in"] == "query"}


def members(name: str) -> set[str]:
    return set(SCHEMAS[name]["properties"])


def body_of(path: str, method: str) -> set[str]:
    """The fields of the body that a call takes."""
    content = DOCUMENT["paths"][f"/api/v1/{path}"][method]["requestBody"]["content"]["application/json"]
    return members(content["schema"]["$ref"].rpartition("/")[2])


@pytest.mark.parametrize(
    ("fields", "path", "method", "apart"),
    [
        (writing.CandidateFields, "memories", "post", {"content"}),
        (memories.Changes, "memories/{memory_id}", "patch", set()),
        (reading.RetrieveFields, "retrieve", "post", {"query"}),
        (deleting.DeletionFields, "memories/delete", "post", {"ids", "filter", "reason"}),
        (blast.Seed, "blast/quarantine", "post", {"reason"}),
        (working.StepFields, "tasks/{task}/working/{key}", "put", {"value"}),
    ],
)
def test_bodies__have_the_fields_that_the_api_takes(
    fields: Any, path: str, method: str, apart: set[str]
) -> None:
    assert set(get_type_hints(fields)) | apart == body_of(path, method)


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        (memories.MemoryFilters, "memories"),
        (watching.PromotionFilters, "promotions"),
        (watching.AuditFilters, "audit"),
        (Paged, "blast"),
    ],
)
def test_filters__are_those_that_the_api_takes(fields: Any, path: str) -> None:
    paging = {"page_size"} if path == "blast" else {"cursor", "page_size"}
    assert set(get_type_hints(fields)) | paging == parameters(path, "get")


@pytest.mark.parametrize("name", MODELS)
def test_models__have_every_member_that_the_api_answers(name: str) -> None:
    model = getattr(models, MODELS[name])
    described = f"{name}Answer" if f"{name}Answer" in SCHEMAS else name
    assert set(model.model_fields) - OWN.get(name, set()) == members(described)


def test_models__of_a_newer_server__keep_what_they_do_not_know() -> None:
    entry = models.Usage.model_validate({"injected": 1, "used": 1, "news": "from later"})
    assert entry.model_extra == {"news": "from later"}
    assert isinstance(
        watching.job("j").read(Answer(200, {}, {"id": "j", "kind": "k", "status": "x"})), models.Job
    )
