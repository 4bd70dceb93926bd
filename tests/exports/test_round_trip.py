"""A tenant out and in again: every row the same, and a tenant that works as before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.apps import apps

from memory.domain.lifecycle import READABLE
from memory.domain.policy import Policy
from memory.domain.scopes import parse_scope
from memory.models import Memory, MemoryIndex
from memory.models.columns import columns_of
from memory.selectors import policies, vocabulary
from memory.selectors.export import EXPORTED, LEFT_OUT
from memory.selectors.policies import ActivePolicy, active_policy, policy_numbered
from memory.services import tenancy
from memory.services.audit_verify import audit_verify
from memory.services.manifest_read import manifest_read
from memory.services.memory_write import memory_write
from memory.services.policies import policy_activate
from memory.services.promotion import promotion_request
from memory.services.promotion_decide import promotion_decide
from memory.services.recall import RetrieveRequest, memory_retrieve
from memory.services.retention import memory_pin
from memory.services.tenant_export import tenant_export
from memory.services.tenant_purge import tenant_purge
from memory.services.vocabulary import alias_set
from memory.services.write_types import WriteRequest
from tenants.authentication import authenticate_key
from tenants.context import tenant_context
from tenants.models import Agent, Membership, Tenant
from tenants.principals import Principal, system
from tests.exports.files import exported, imported, rows_by_table, tenant_of
from tests.factories import Stage

NEW_HERE = {"memory_auditevent", "memory_audithead"}


def test_tables__each_is_exported_or_left_out_with_a_reason() -> None:
    tables = {
        model._meta.db_table
        for model in apps.get_models()
        if any(field.column == "tenant_id" for field in model._meta.concrete_fields)
    }
    assert tables == set(EXPORTED) | set(LEFT_OUT) and not set(EXPORTED) & set(LEFT_OUT)
    assert all(LEFT_OUT.values()) and len(EXPORTED) == len(set(EXPORTED))


def test_secrets__no_exported_column_is_one() -> None:
    """A new column whose name sounds like a credential has to be looked at."""
    suspicious = {
        f"{table}.{column}"
        for table in EXPORTED
        for column in columns_of(table)
        if any(word in column for word in ("secret", "password", "token", "key", "prefix"))
    }
    assert suspicious <= {
        "memory_memory.key_id",  # which key wrote it: an id, no credential
        "memory_workingvalue.key",  # the name of a value
        "memory_manifest.tokens",  # how long the block was
    }


def test_round_trip__into_a_new_tenant__every_row_is_the_same(house: Stage, tmp_path: Path) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    said = exported(house, first)
    answer = imported(first)
    assert answer["chain_holds"] is True and answer["skipped"] == []
    assert answer["rows"] == said["rows"] and set(said["rows"]) == set(EXPORTED)
    there = tenant_of(answer)
    assert there.id != house.tenant.id, "its id is taken here by the tenant that it comes from"
    tenant_export(system(there.id, "test"), there, second)
    before, after = rows_by_table(first), rows_by_table(second)
    for table in EXPORTED:
        if table not in NEW_HERE:
            assert after[table] == before[table], table
    events = before["memory_auditevent"]
    assert after["memory_auditevent"][: len(events)] == events
    assert [event["action"] for event in after["memory_auditevent"][len(events) :]] == [
        "tenant.imported",
        "tenant.exported",
    ]
    assert events[-1]["action"] == "tenant.exported", "an export is audited, and has its own event"
    for tenant in (house.tenant, there):
        assert audit_verify(tenant.id).report.ok


def test_round_trip__where_the_tenant_is_gone__it_comes_back_under_its_id(
    house: Stage, tmp_path: Path
) -> None:
    path = tmp_path / "whole.jsonl"
    exported(house, path)
    tenant_purge(house.tenant)
    answer = imported(path, slug=house.tenant.slug)
    back = Tenant.objects.get(id=house.tenant.id)
    assert (back.slug, back.name, back.created_at) == (
        house.tenant.slug, house.tenant.name, house.tenant.created_at,
    )  # fmt: skip
    assert answer["chain_holds"] and back.status == Tenant.Status.ACTIVE
    with tenant_context(back.id):
        members = {member.email: (member.user_id, member.role) for member in Membership.objects.all()}
    assert members[house.owner.user.email] == (house.owner.user.id, "owner")


def test_round_trip__under_the_old_id__no_process_answers_from_the_former_life(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Version 2 of the policy and of the words is another one in either life."""
    owner = stage.owner.principal
    policy_activate(owner, limited_to(3), "the first")
    alias_set(owner, "u1", "user:1")
    path = tmp_path / "whole.jsonl"
    exported(stage, path)
    policy_activate(owner, limited_to(4), "the second, which the file does not have")
    alias_set(owner, "u2", "user:2")
    former = active_policy_of(stage.tenant)
    assert (former.policy.retrieval.limit, set(former.words.aliases)) == (4, {"u1", "u2"})

    elsewhere = dict(policies._parsed), dict(policies._lives), dict(vocabulary._latest)

    tenant_purge(stage.tenant)
    imported(path, slug=stage.tenant.slug)
    policy_activate(owner, limited_to(5), "the second of the new life")
    alias_set(owner, "u3", "user:3")
    for name, kept in zip(("_parsed", "_lives"), elsewhere[:2], strict=True):
        monkeypatch.setattr(policies, name, kept)
    monkeypatch.setattr(vocabulary, "_latest", elsewhere[2])
    present = active_policy_of(stage.tenant)
    assert (present.number, present.words.version) == (former.number, former.words.version), (
        "positive control"
    )
    assert (present.policy.retrieval.limit, set(present.words.aliases)) == (5, {"u1", "u3"})
    assert policy_numbered(stage.tenant.id, present.number).retrieval.limit == 5


def limited_to(limit: int) -> Policy:
    return Policy.model_validate({"retrieval": {"limit": limit}})


def active_policy_of(tenant: Tenant) -> ActivePolicy:
    with tenant_context(tenant.id):
        return active_policy()


def new_key(tenant: Tenant, name: str) -> Principal:
    """A principal of an agent that came with the import."""
    actor = system(tenant.id, "test")
    with tenant_context(tenant.id):
        agent = Agent.objects.get(name=name)
    return authenticate_key(tenancy.key_create(actor, agent, name="new").text)


def test_imported_tenant__works_as_before(stage: Stage, tmp_path: Path) -> None:
    """Retrieval, manifests byte for byte, pins, links, pending requests, new writes."""
    coder = stage.coder.principal
    plan = {"subject": "user:42", "predicate": "plan", "scope": "project:alpha", "origin": "tool_verified"}
    old = memory_write(coder, WriteRequest(**plan, value="team")).memory
    new = memory_write(coder, WriteRequest(**plan, value="enterprise")).memory
    assert old is not None and new is not None
    memory_pin(stage.reviewer.principal, new.id, "the contract says so", version=new.version)
    found = memory_retrieve(coder, RetrieveRequest(query="Which plan has user 42?"))
    asked = promotion_request(coder, new.id, parse_scope("shared"), "all desks ask")
    path = tmp_path / "a.jsonl"
    exported(stage, path)
    there = tenant_of(imported(path))

    agent = new_key(there, stage.coder.agent.name)
    again = memory_retrieve(agent, RetrieveRequest(query="Which plan has user 42?"))
    assert [(one.found.id, one.score) for one in again.entries] == [
        (one.found.id, one.score) for one in found.entries
    ]
    kept = manifest_read(agent, found.manifest.id, None)
    assert kept.as_returned and kept.text == found.block
    with tenant_context(there.id):
        memories = {memory.id: memory for memory in Memory.objects.all()}
        assert memories[old.id].superseded_by == new.id and memories[new.id].pinned_by
        live = [one.id for one in memories.values() if one.status in READABLE]
        assert set(MemoryIndex.objects.values_list("memory_id", flat=True)) == set(live)
    repeated = memory_write(agent, WriteRequest(**plan, value="enterprise"))
    assert (
        repeated.outcome.value == "duplicate" and repeated.memory is not None and repeated.memory.id == new.id
    )
    with tenant_context(there.id):
        reviewer = Membership.objects.get(role="reviewer")
    person = Principal(tenant_id=there.id, kind="member", id=f"usr_{reviewer.user_id.hex}", name="Reviewer",
                       role="reviewer")  # fmt: skip
    decided = promotion_decide(person, asked.id, "approve", reason="checked", version=asked.version)
    assert decided.request.status == "approved"
    assert audit_verify(there.id).report.ok


def test_old_keys__open_nothing_in_the_imported_tenant(house: Stage, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    exported(house, path)
    text = path.read_text(encoding="utf-8")
    assert house.coder.key_text not in text and bytes(house.coder.key.secret_hash).hex() not in text
    there = tenant_of(imported(path))
    assert authenticate_key(house.coder.key_text).tenant_id == house.tenant.id != there.id


def test_isolation__an_export_has_rows_of_its_own_tenant_only(house: Stage, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    from tests.full_house import full_house

    neighbour = full_house()
    exported(neighbour, other)
    mine = tmp_path / "mine.jsonl"
    exported(house, mine)
    ids = {row["id"] for row in rows_by_table(other)["memory_memory"]}
    assert ids and not ids & {row["id"] for row in rows_by_table(mine)["memory_memory"]}
    assert neighbour.tenant.slug not in mine.read_text(encoding="utf-8")


@pytest.mark.parametrize("slug", ["Not A Slug", "a/b", "…"])
def test_slug__that_is_none__is_refused(house: Stage, tmp_path: Path, slug: str) -> None:
    from django.core.management.base import CommandError

    path = tmp_path / "a.jsonl"
    exported(house, path)
    with pytest.raises(CommandError, match="address"):
        imported(path, slug=slug)
    assert json.loads(path.read_bytes().splitlines()[0])["tenant"]["slug"] == house.tenant.slug
