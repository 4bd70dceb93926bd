"""Every page and every change of a tenant, once in a list: who adds one is told here.

Who may open and make them is held by `test_every_page_roles`."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver

from memory.domain.ids import show_id
from memory.domain.policy import preset
from memory.domain.policy_fields import as_text, at, settings
from memory.pages.urls import urlpatterns
from tenants.models import Tenant
from tests.pages.staging import Full, mem, prm

READABLE = (
    "",
    "promotions/",
    "promotions/{prm}/",
    "contradictions/",
    "contradictions/{con}/",
    "quarantine/",
    "quarantine/{held}/",
    "evictions/",
    "blast/",
    "sweeps/",
    "memories/",
    "memories/{mem}/",
    "mounts/",
    "mounts/{mnt}/",
    "manifests/",
    "manifests/{man}/",
    "health/",
    "health/figure.json",
    "health/series.csv",
    "health/series.json",
    "health/verify/",
    "health/sample/",
    "health/sample/{smp}/",
    "alerts/",
    "alerts/settings/",
    "audit/",
    "audit/events.csv",
    "agents/",
    "agents/{agt}/",
    "members/",
    "scopes/",
    "settings/",
    "policies/",
    "policies/1/",
    "policies/presets/",
    "policies/drafts/{pdr}/",
    "policies/previews/{job}/",
    "vocabulary/",
)
FOR_REVIEWERS = ("promotions/bulk/", "memories/new/", "memories/delete/", "memories/{mem}/delete/")
FOR_ADMINS = (
    "agents/new/",
    "agents/{agt}/keys/{key}/",
    "agents/{agt}/keys/{key}/revoke/",
    "members/{mbr}/remove/",
    "scopes/grant/",
    "policies/drafts/new/",
    "policies/drafts/{pdr}/text/",
    "policies/drafts/{pdr}/fields/",
    "vocabulary/aliases/",
    "vocabulary/aliases/{als}/remove/",
    "vocabulary/predicates/",
    "vocabulary/predicates/{prd}/remove/",
    "imports/",
    "imports/{imp}/",
    "imports/{imp}/report.csv",
    "exports/",
    "exports/{exp}/",
    "erasures/",
)


def _every_field() -> dict[str, object]:
    """The form of a draft as it is filled in, with one setting changed."""
    document = preset("curated").model_dump(mode="json")
    values = {one.name: (one, at(document, one.path)) for one in settings()}
    filled = {
        name: value if one.kind == "several" else as_text(one, value) for name, (one, value) in values.items()
    }
    return {**filled, "decay.floor": "0.2", "version": "1"}


# What changes something: the address, and what is sent.
CHANGES = (
    ("promotions/{prm}/decide/", {"action": "approve", "version": "1"}, "review"),
    ("promotions/{prm}/snooze/", {"until": "tomorrow"}, "review"),
    ("promotions/{prm}/ask/", {"text": "How do you know?"}, "review"),
    ("promotions/bulk/", {"action": "reject", "reason": "no", "id": "{prm}.1"}, "review"),
    ("contradictions/{con}/decide/", {"action": "keep_a", "reason": "yes", "version": "1"}, "review"),
    ("quarantine/{held}/decide/", {"action": "release", "reason": "fine", "version": "1"}, "review"),
    (
        "memories/new/",
        {"content": "The relay mast is painted every fourth spring.", "scope": "shared"},
        "review",
    ),
    ("blast/quarantine/", {"memory": "{mem}", "reason": "a poisoned tool"}, "review"),
    ("memories/{mem}/pin/", {"reason": "keep", "version": "1"}, "review"),
    ("memories/{mem}/verify/", {"version": "1"}, "review"),
    (
        "memories/{mem}/edit/",
        {"content": "The staging cluster runs in eu-south-1.", "version": "1"},
        "review",
    ),
    ("memories/{mem}/delete/", {"reason": "gone", "version": "1"}, "review"),
    ("audit/verify/", {}, "review"),
    ("health/verify/{mem}/", {"version": "1"}, "review"),
    ("alerts/{alr}/acknowledge/", {"note": "seen"}, "review"),
    ("alerts/{alr}/snooze/", {"hours": "8"}, "review"),
    ("alerts/settings/channels/", {"kind": "email", "address": "second@example.test"}, "admin"),
    ("alerts/settings/channels/{chn}/switch/", {"on": "no"}, "admin"),
    ("alerts/settings/channels/{chn}/test/", {}, "admin"),
    ("alerts/settings/channels/{chn}/remove/", {}, "admin"),
    ("alerts/settings/rules/", {"metric": "regret", "breach": "20", "tell": "breach"}, "admin"),
    ("health/sample/{smp}/decide/", {"action": "right", "version": "1", "memory_version": "1"}, "review"),
    ("agents/new/", {"name": "new one", "role": "coder"}, "admin"),
    ("agents/{agt}/pause/", {"pause": "yes"}, "admin"),
    ("agents/{agt}/keys/", {"expires_in": "90", "trust_ceiling": "1"}, "admin"),
    ("agents/{agt}/keys/{key}/", {"networks": "192.0.2.0/24"}, "admin"),
    ("agents/{agt}/keys/{key}/rotate/", {}, "admin"),
    ("agents/{agt}/keys/{key}/revoke/", {"reason": "lost"}, "admin"),
    ("members/", {"email": "someone@example.test", "role": "auditor"}, "admin"),
    ("members/{mbr}/role/", {"role": "auditor"}, "admin"),
    ("members/{mbr}/remove/", {}, "admin"),
    ("members/invitations/{inv}/resend/", {}, "admin"),
    ("members/invitations/{inv}/revoke/", {}, "admin"),
    ("settings/", {"name": "Another name", "time_zone": "UTC"}, "admin"),
    (
        "settings/rules/",
        {
            "restore_days": "40",
            "manifest_days": "90",
            "approvals_project": "1",
            "approvals_shared": "2",
            "approvals_global": "2",
            "high_risk_approvals": "2",
            "reason": "two pairs of eyes",
            "active": "1",
        },
        "admin",
    ),
    ("policies/", {"document": '{"decay": {"floor": 0.2}}', "reason": "keep less"}, "admin"),
    ("policies/drafts/new/", {"name": "another", "begin": "preset:open"}, "admin"),
    ("policies/drafts/{pdr}/text/", {"document": "decay: {floor: 0.2}", "version": "1"}, "admin"),
    ("policies/drafts/{pdr}/fields/", _every_field(), "admin"),
    ("policies/drafts/{pdr}/activate/", {"reason": "tried", "version": "1", "active": "1"}, "admin"),
    ("policies/drafts/{pdr}/discard/", {"version": "1"}, "admin"),
    ("policies/drafts/{pdr}/preview/", {"version": "1"}, "admin"),
    ("imports/{imp}/run/", {}, "admin"),
    ("exports/", {"form": "jsonl"}, "admin"),
    (
        "vocabulary/aliases/",
        {"alias": "c_9", "subject": "user:9", "confirmed": "yes", "version": "2"},
        "admin",
    ),
    ("vocabulary/aliases/{als}/remove/", {"version": "2"}, "admin"),
    (
        "vocabulary/predicates/",
        {"name": "depot", "normaliser": "text", "confirmed": "yes", "version": "2"},
        "admin",
    ),
    ("vocabulary/predicates/{prd}/remove/", {"version": "2"}, "admin"),
)
MAY = {"owner": ("review", "admin"), "admin": ("review", "admin"), "reviewer": ("review",), "auditor": ()}
# Decisions that are taken back or made on rows which the stage has none of; held by tests of their own.
ELSEWHERE = {
    "promotions-bulk-undo", "promotion-take-back",
    "promotion-undo", "contradiction-undo", "quarantine-undo", "sample-undo", "alert-resend", "eviction-restore",
    "eviction-let-go", "memory-unpin", "memory-restore", "memory-admit", "policy-roll-back", "blast-step",
    "blast-undo", "deletion", "deletion-undo", "sweep", "sweep-apply", "sweep-undo", "tenant-delete", "tenant-keep",
    # of a job under way, and a download; held by tests/transfers
    "transfer-cancel", "export-file", "import-undo",
    # of an erasure that was begun, and its receipt; held by test_page_erasure
    "erasure", "erasure-receipt",
    # of every role's own; held by test_page_saved_views
    "view-save", "view-drop",
}  # fmt: skip


def names(full: Full) -> dict[str, str]:
    """What the addresses are filled with."""
    return {
        "prm": prm(full.request),
        "con": show_id("con", full.contradiction.id),
        "held": mem(full.held),
        "mem": mem(full.memory),
        "mnt": show_id("mnt", full.mount.id),
        "smp": show_id("smp", full.drawn.id),
        "alr": show_id("alr", full.alert.id),
        "chn": show_id("chn", full.channel.id),
        "man": show_id("man", full.read.id),
        "agt": show_id("agt", full.stage.coder.agent.id),
        "key": show_id("key", full.stage.coder.key.id),
        "mbr": show_id("mbr", full.stage.reviewer.membership.id),
        "inv": show_id("inv", full.invitation.id),
        "pdr": show_id("pdr", full.draft.id),
        "job": show_id("job", full.preview.id),
        "imp": show_id("job", full.looked.id),
        "exp": show_id("job", full.taken.id),
        "als": show_id("als", full.alias.id),
        "prd": show_id("prd", full.predicate.id),
    }


def state(full: Full) -> list[object]:
    """Everything that a page could have changed."""
    from django.db import connection

    tables = (
        "memory_memory",
        "memory_promotionrequest",
        "memory_promotionnote",
        "memory_contradiction",
        "memory_policyversion",
    )
    tables += ("memory_policydraft", "memory_job", "memory_subjectalias", "memory_predicatesetting")
    tables += (
        "memory_sampleitem",
        "memory_alert",
        "memory_alertchannel",
        "memory_alertrule",
        "memory_alertdelivery",
    )
    tables += ("tenants_agent", "tenants_agentkey", "tenants_membership", "tenants_invitation")
    found: list[object] = list(Tenant.objects.filter(id=full.stage.tenant.id).values())
    with full.stage.context(), connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"SELECT md5(string_agg(t::text, '' ORDER BY t.id)) FROM {table} t WHERE tenant_id = %s",
                           [full.stage.tenant.id])  # fmt: skip
            found.append(cursor.fetchone()[0])
    return found


def test_addresses__of_a_tenant__are_all_covered_here() -> None:
    listed = {*READABLE, *FOR_REVIEWERS, *FOR_ADMINS} | {path for path, _, _ in CHANGES}
    shapes = {path.replace("1/", "<int:number>/") if path == "policies/1/" else path for path in listed}
    shapes = {re.sub(r"\{(?!key)\w+\}", "<str:item>", shape) for shape in shapes}
    shapes = {shape.replace("{key}", "<str:key>") for shape in shapes}
    routes = dict(_routes(urlpatterns, ""))
    inside = {
        name: route.removeprefix("t/<slug:slug>/") for name, route in routes.items() if route.startswith("t/")
    }
    assert len(inside) > 35
    missing = {name for name, route in inside.items() if route not in shapes} - ELSEWHERE
    assert missing == set()


def _routes(patterns: list[object], prefix: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            found += _routes(pattern.url_patterns, prefix + str(pattern.pattern))
        elif isinstance(pattern, URLPattern):
            found.append((str(pattern.name), prefix + str(pattern.pattern)))
    return found


def _filled(sent: dict[str, str], filled: dict[str, str]) -> dict[str, str]:
    return {name: value.format(**filled) if any(one in value for one in ("{prm}", "{mem}")) else value
            for name, value in sent.items()}  # fmt: skip


@pytest.mark.parametrize("at", range(len(CHANGES)), ids=[path for path, _, _ in CHANGES])
def test_changes__by_the_owner__are_made(full: Full, owner: Client, at: int) -> None:
    """The positive control of the tests above."""
    path, sent, _need = CHANGES[at]
    filled, before = names(full), state(full)
    answer = owner.post(full.at(path.format(**filled)), _filled(sent, filled))
    assert answer.status_code in (200, 303), answer.content[:300]
    assert (state(full) != before) == (path != "audit/verify/")


def test_methods__that_a_page_does_not_take__are_refused(full: Full, owner: Client) -> None:
    assert owner.post(full.at("memories/")).status_code == 405
    assert owner.get(full.at(f"promotions/{prm(full.request)}/decide/")).status_code == 405
    assert owner.delete(full.at("memories/")).status_code == 405


def test_front__for_everyone__opens(stage: object) -> None:
    nobody = Client()
    for path in ("/", "/help/", "/accounts/login/"):
        assert nobody.get(path).status_code == 200, path
    assert nobody.get("/tenants/").status_code == 302
