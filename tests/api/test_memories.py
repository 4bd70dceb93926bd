"""One memory: reading, editing, confirming, deleting it."""

from __future__ import annotations

from datetime import timedelta

from memgov import clock
from memory.models import AuditEvent, Memory, Revision
from memory.services.promotion_decide import promotion_decide
from memory.services.retention import memory_pin
from tests.api.caller import Caller, as_uuid, assert_problem
from tests.factories import Stage, make_agent

TEXT = "The staging gateway of alpha listens on port 8443."
OTHER = "The staging gateway of alpha listens on port 9443."


def test_memory__read__has_its_version_as_etag(coder: Caller) -> None:
    memory = coder.remember(
        TEXT, applies_to={"paths": ["deploy/*"], "tags": ["ops"]}, metadata={"a": [1, None]}
    )
    response = coder.get(f"memories/{memory['id']}")
    assert response["ETag"] == '"1"' and response.json() == memory
    assert memory["applies_to"] == {"paths": ["deploy/*"], "tags": ["ops"]} and memory["metadata"] == {
        "a": [1, None]
    }


def test_edit__content__keeps_pin_kind_ttl_and_trust(stage: Stage, coder: Caller) -> None:
    memory = coder.remember(TEXT, kind="preference", ttl="2w", importance=0.8)
    memory_pin(stage.owner.principal, as_uuid(memory["id"]), "always true")
    before = coder.get(f"memories/{memory['id']}").json()
    response = coder.patch(f"memories/{memory['id']}", {"content": OTHER}, If_Match='W/"2"')
    assert response.status_code == 200, response.content
    after = response.json()
    assert response["ETag"] == '"3"'
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"content", "version"}
    assert after["pin"]["reason"] == "always true"


def test_edit__without_or_with_an_old_version__changes_nothing(stage: Stage, coder: Caller) -> None:
    memory = coder.remember(TEXT)
    path = f"memories/{memory['id']}"
    assert_problem(coder.patch(path, {"content": OTHER}), 428, "version_required")
    for tag in ('"7"', "*", '"x"', '"1", "2"', '"-1"', '"99999999999999"', "²"):
        assert_problem(coder.patch(path, {"content": OTHER}, If_Match=tag), 412, "version_conflict")
    assert coder.get(path).json() == memory
    with stage.context():
        assert Revision.objects.count() == 1


def test_edit__what_cannot_be_edited_or_admitted__is_refused(stage: Stage, coder: Caller) -> None:
    memory = coder.remember(TEXT)
    path = f"memories/{memory['id']}"
    assert_problem(coder.patch(path, {"scope": "shared"}, If_Match='"1"'), 400, "unknown_field")
    assert_problem(coder.patch(path, {}, If_Match='"1"'), 400, "nothing_to_change")
    assert_problem(coder.patch(path, {"content": "ok"}, If_Match='"1"'), 422, "too_vague")
    assert_problem(coder.patch(path, {"content": "x" * 60_000}, If_Match='"1"'), 413, "too_large")
    assert_problem(coder.patch(path, {"content": None}, If_Match='"1"'), 400, "invalid")
    assert_problem(coder.patch(path, {"ttl": "2 fortnights"}, If_Match='"1"'), 400, "invalid")
    assert coder.get(path).json() == memory


def test_edit__null_time__clears_it_and_applies_to_is_partial(coder: Caller) -> None:
    memory = coder.remember(
        TEXT, expires_at="2099-01-01T00:00:00Z", applies_to={"paths": ["a/*"], "tags": ["t"]}
    )
    body = {"expires_at": None, "applies_to": {"tags": ["u"]}}
    after = coder.patch(f"memories/{memory['id']}", body, If_Match='"1"').json()
    assert after["expires_at"] is None and after["applies_to"] == {"paths": ["a/*"], "tags": ["u"]}


def test_verify__makes_it_fresh_and_is_audited(stage: Stage, coder: Caller) -> None:
    with clock.moved_to(clock.now() - timedelta(days=40)):
        memory = coder.remember(TEXT)
    assert coder.get(f"memories/{memory['id']}").json()["band"] == "aging"
    confirmed = coder.post(f"memories/{memory['id']}/verify", {"reason": "seen again"})
    assert confirmed.status_code == 200 and confirmed.json()["band"] == "fresh"
    assert confirmed.json()["version"] == 1
    with stage.context():
        assert AuditEvent.objects.get(action="memory.verified").reason == "seen again"
    assert_problem(coder.post(f"memories/{memory['id']}/verify", {"version": 9}), 412, "version_conflict")
    assert coder.post(f"memories/{memory['id']}/verify").status_code == 200


def test_delete__needs_a_reason_and_takes_what_was_derived_along(stage: Stage, coder: Caller) -> None:
    source = coder.remember(TEXT)
    derived = coder.remember("Port 8443 of alpha is behind the office firewall.", derived_from=[source["id"]])
    path = f"memories/{source['id']}"
    assert_problem(coder.delete(path), 400, "invalid")
    assert_problem(coder.delete(f"{path}?reason="), 400, "invalid")
    assert_problem(coder.delete(f"{path}?reason=x&force=1"), 400, "unknown_parameter")
    assert_problem(coder.delete(f"{path}?reason=x", If_Match='"9"'), 412, "version_conflict")
    assert coder.get(path).json()["status"] == "live"
    gone = coder.delete(f"{path}?reason=wrong&cascade=true", If_Match='"1"')
    assert sorted(gone.json()["deleted"]) == sorted([source["id"], derived["id"]])
    assert coder.get("memories").json()["results"] == []
    assert coder.get(path).json()["status"] == "deleted"
    assert_problem(coder.delete(f"{path}?reason=again"), 409, "illegal_transition")


def test_revisions__each_version__as_it_was(coder: Caller) -> None:
    memory = coder.remember(TEXT)
    coder.patch(f"memories/{memory['id']}", {"content": OTHER}, If_Match='"1"')
    listed = coder.get(f"memories/{memory['id']}/revisions").json()
    assert [(one["version"], one["event"]) for one in listed["results"]] == [
        (2, "memory.edited"), (1, "memory.stored"),
    ]  # fmt: skip
    assert [one["state"]["content"] for one in listed["results"]] == [OTHER, TEXT]
    first = coder.get(f"memories/{memory['id']}/revisions?page_size=1").json()
    assert coder.get(first["next"].replace("http://testserver", "")).json()["results"][0]["version"] == 1


def test_revisions__from_before_a_promotion__go_to_who_reads_the_scope_of_then(
    stage: Stage, coder: Caller
) -> None:
    memory = coder.remember("User 42 was treated for a broken wrist in May.", scope="user:42")
    path = f"memories/{memory['id']}"
    assert (
        coder.patch(path, {"content": "User 42 prefers calls before noon."}, If_Match='"1"').status_code
        == 200
    )
    asked = {"memory": memory["id"], "to_scope": "shared", "reason": "three teams ask for it"}
    request = coder.post("promotions", asked).json()
    promotion_decide(stage.reviewer.principal, as_uuid(request["id"]), "approve", reason="fine", version=1)
    stranger = Caller(make_agent(stage.tenant, "helper", []))
    shown = stranger.get(f"{path}/revisions")
    assert [(one["version"], one["withheld"], bool(one["state"])) for one in shown.json()["results"]] == [
        (3, None, True), (2, "scope", False), (1, "scope", False),
    ]  # fmt: skip
    assert b"wrist" not in shown.content and b"user:42" not in shown.content
    own = coder.get(f"{path}/revisions").json()["results"]
    assert "wrist" in own[2]["state"]["content"] and {one["withheld"] for one in own} == {None}


def test_memory__in_a_scope_that_is_not_readable__is_not_there(stage: Stage, coder: Caller) -> None:
    memory = Caller(stage.orchestrator).remember(TEXT, scope="project:beta")
    path = f"memories/{memory['id']}"
    assert_problem(coder.get(path), 404, "not_found")
    assert_problem(coder.get(f"{path}/revisions"), 404, "not_found")
    assert_problem(coder.patch(path, {"content": OTHER}, If_Match='"1"'), 404, "not_found")
    assert_problem(coder.post(f"{path}/verify", {}), 404, "not_found")
    assert_problem(coder.delete(f"{path}?reason=x"), 404, "not_found")
    assert Caller(stage.orchestrator).get(path).json() == memory


def test_memory__that_may_be_read_but_not_written__is_403_and_stays(stage: Stage) -> None:
    memory = Caller(stage.orchestrator).remember(TEXT)
    reader = Caller(make_agent(stage.tenant, "auditor", ["project:alpha=r"]))
    path = f"memories/{memory['id']}"
    assert reader.get(path).json() == memory
    assert_problem(reader.patch(path, {"content": OTHER}, If_Match='"1"'), 403, "scope_denied")
    assert_problem(reader.post(f"{path}/verify", {}), 403, "scope_denied")
    assert_problem(reader.delete(f"{path}?reason=x"), 403, "scope_denied")
    assert reader.get(path).json() == memory
    with stage.context():
        assert AuditEvent.objects.filter(action="access.denied").count() == 3
        assert Memory.objects.get().version == 1
