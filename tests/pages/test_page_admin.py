"""Agents and keys, members, policies, audit, health and the start page."""

from __future__ import annotations

import csv
import io
import json
import logging
from datetime import timedelta

import pytest
from django.test import Client

from memgov import clock
from memory.domain.health import METRICS
from memory.domain.ids import show_id
from memory.models import AuditEvent, HealthSnapshot, PolicyVersion
from memory.services.policies import policy_activate
from tenants.authentication import KeyRefused, authenticate_key
from tenants.models import Agent, AgentKey
from tests.factories import Stage, make_person
from tests.pages.staging import Full, mem, signed_in, write


def agent_at(stage: Stage, what: str = "") -> str:
    shown = show_id("agt", stage.coder.agent.id)
    return f"/t/{stage.tenant.slug}/agents/{shown}/{what}"


def test_agent__registered_with_grants__gets_its_page(stage: Stage, owner: Client) -> None:
    sent = {"name": "fresh agent", "role": "writer", "grants": "project:beta=rw\nuser:*=r"}
    answer = owner.post(f"/t/{stage.tenant.slug}/agents/new/", sent)
    assert answer.status_code == 303
    page = owner.get(answer["Location"]).content.decode()
    assert "project:beta" in page and "user:*" in page and "agent:writer" in page
    assert "fresh agent" in owner.get(f"/t/{stage.tenant.slug}/agents/", {"q": "fresh"}).content.decode()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("role", "No Good"),
        ("grants", "project:beta"),
        ("grants", "planet:x=r"),
        ("name", "TAKEN"),
    ],
)
def test_agent__with_something_wrong__is_refused_in_the_form(
    stage: Stage, owner: Client, field: str, value: str
) -> None:
    taken = stage.coder.agent.name
    sent = {"name": "another", "role": "writer", "grants": "", field: taken if value == "TAKEN" else value}
    with stage.context():
        before = Agent.objects.count()
    answer = owner.post(f"/t/{stage.tenant.slug}/agents/new/", sent)
    assert answer.status_code == 422 and b'role="alert"' in answer.content
    with stage.context():
        assert Agent.objects.count() == before


def test_key__is_shown_once_and_nowhere_else(
    stage: Stage, owner: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    answer = owner.post(agent_at(stage, "keys/"), {"expires_in": "30", "trust_ceiling": "0.6"})
    text = answer.content.decode()
    key = text.split('id="new-key">')[1].split("<")[0]
    assert answer.status_code == 200 and answer["Cache-Control"] == "no-store"
    principal = authenticate_key(key)
    assert principal.trust_ceiling == 0.6
    secret = key.rsplit("_", 1)[1] if key.count("_") == 2 else key[20:]
    assert secret not in owner.get(agent_at(stage)).content.decode()
    assert secret not in caplog.text
    assert secret not in str(dict(owner.session)) and secret not in str(owner.cookies)
    with stage.context():
        row = AgentKey.objects.get(id=principal.key_id)
        assert secret.encode() not in bytes(row.secret_hash)
        kept = json.dumps(list(AuditEvent.objects.values_list("reason", "before", "after")))
        assert secret not in kept
        assert row.expires_at is not None and row.expires_at < clock.now() + timedelta(days=31)


def test_key__rotated__the_old_one_works_for_a_day_and_the_new_one_is_shown(
    stage: Stage, owner: Client
) -> None:
    shown = show_id("key", stage.coder.key.id)
    answer = owner.post(agent_at(stage, f"keys/{shown}/rotate/"))
    key = answer.content.decode().split('id="new-key">')[1].split("<")[0]
    assert authenticate_key(key).agent_id == stage.coder.agent.id
    assert authenticate_key(stage.coder.key_text).agent_id == stage.coder.agent.id
    with pytest.raises(KeyRefused):
        authenticate_key(stage.coder.key_text, now=clock.now() + timedelta(hours=25))


def test_key__revoked_with_a_reason__is_refused_from_then_on(stage: Stage, owner: Client) -> None:
    at = agent_at(stage, f"keys/{show_id('key', stage.coder.key.id)}/revoke/")
    assert b"cannot be undone" in owner.get(at).content
    assert owner.post(at, {"reason": " "}).status_code == 422
    assert authenticate_key(stage.coder.key_text)
    assert owner.post(at, {"reason": "it leaked"}).status_code == 303
    with pytest.raises(KeyRefused):
        authenticate_key(stage.coder.key_text)


def test_pause__stops_the_keys_until_it_is_resumed(stage: Stage, owner: Client) -> None:
    owner.post(agent_at(stage, "pause/"), {"pause": "yes"})
    with pytest.raises(KeyRefused):
        authenticate_key(stage.coder.key_text)
    owner.post(agent_at(stage, "pause/"), {"pause": "no"})
    assert authenticate_key(stage.coder.key_text)


def test_policy__activated__shows_what_changed(stage: Stage, owner: Client) -> None:
    at = f"/t/{stage.tenant.slug}/policies/"
    sent = {"document": json.dumps({"decay": {"floor": 0.3}}), "reason": "forget sooner"}
    assert owner.post(at, sent).status_code == 303
    page = owner.get(at).content.decode()
    assert "Policy version 2" in page and "forget sooner" in page
    assert "<del>0.15</del>" in page and "<ins>0.3</ins>" in page
    assert "Policy version 1" in owner.get(at + "1/").content.decode()
    assert owner.get(at + "9/").status_code == 404


@pytest.mark.parametrize("document", ["{", "[]", '{"decay": {"floor": 7}}', '{"no_such": 1}'])
def test_policy__that_is_wrong__is_refused_and_kept_in_the_form(
    stage: Stage, owner: Client, document: str
) -> None:
    answer = owner.post(f"/t/{stage.tenant.slug}/policies/", {"document": document, "reason": "try"})
    assert answer.status_code == 422
    with stage.context():
        assert PolicyVersion.objects.count() == 1


def test_audit__filters_and_pages_through_the_chain(full: Full, owner: Client) -> None:
    import re

    for at in range(60):
        write(
            full.stage.coder, content=f"Rack {at} of hall {at % 7} holds the spare router number {at * 31}."
        )
    ids, page = [], owner.get(full.at("audit/")).content.decode()
    while True:
        ids += re.findall(r'class="id">(evt_[0-9a-f]{32})<', page)
        older = re.search(r'rel="next" href="([^"]+)"', page)
        if not older:
            break
        page = owner.get(older[1].replace("&amp;", "&")).content.decode()
    with full.stage.context():
        expected = [
            f"evt_{one.hex}" for one in AuditEvent.objects.order_by("-seq").values_list("id", flat=True)
        ]
    assert ids == expected
    only = owner.get(full.at("audit/"), {"action": "promotion.requested"}).content.decode()
    assert only.count("<tr>") - 1 == 1
    about = owner.get(full.at("audit/"), {"q": mem(full.held)}).content.decode()
    assert mem(full.held) in about and mem(full.memory) not in about
    nothing = owner.get(full.at("audit/"), {"until": "2001-01-01"}).content.decode()
    assert "No event matches" in nothing
    assert owner.get(full.at("audit/"), {"since": "nonsense", "below": "x"}).status_code == 200


def test_audit__verified__says_that_the_chain_holds(full: Full, reviewer: Client) -> None:
    assert "Not verified yet" in reviewer.get(full.at("audit/")).content.decode()
    answer = reviewer.post(full.at("audit/verify/"))
    assert "The chain holds" in reviewer.get(answer["Location"]).content.decode()
    assert "Chain verified" in reviewer.get(full.at("audit/")).content.decode()


def test_audit_csv__has_no_cell_that_a_spreadsheet_would_run(full: Full, owner: Client) -> None:
    from memory.services.retention import memory_pin

    evil = '=HYPERLINK("http://evil.test","x")'
    memory_pin(full.stage.owner.principal, full.memory.id, evil)
    answer = owner.get(full.at("audit/events.csv"))
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    with full.stage.context():
        assert len(rows) == AuditEvent.objects.count()
    assert any(row["reason"] == f"'{evil}" for row in rows)
    assert not [cell for row in rows for cell in row.values() if cell[:1] in "=+-@\t\r" and cell]


def snapshots(stage: Stage, days: int = 20, gap: int = 5) -> None:
    """Daily figures as the sweep would have left them, with one day missing."""
    now = clock.now()
    with stage.context():
        for ago in range(days):
            if ago == gap:
                continue
            figures = {name: float(ago % 9) / 10 for name in METRICS} | {
                "contradictions": 14.0,
                "regret": None,
            }
            HealthSnapshot(period=now - timedelta(days=ago), figures=figures).save()


def test_health__with_snapshots__shows_tiles_chart_table_and_file(stage: Stage, reviewer: Client) -> None:
    snapshots(stage)
    admin = stage.owner.principal
    policy_activate(admin, {"decay": {"floor": 0.3}}, "forget sooner")
    base = f"/t/{stage.tenant.slug}/health/"
    page = reviewer.get(base, {"metric": "contradictions", "range": "30"})
    text = page.content.decode()
    assert "'sha256-47DEQpj8HBSa" in page["Content-Security-Policy"]
    assert "Breach" in text and "No data" in text and "decay: floor" in text
    assert text.count('<svg class="spark"') == len(METRICS)
    part = reviewer.get(base, {"metric": "regret"}, headers={"HX-Request": "true", "HX-Target": "focus"})
    assert "<html" not in part.content.decode() and "Regret" in part.content.decode()
    figure = reviewer.get(base + "figure.json", {"metric": "contradictions", "range": "30"}).json()
    assert [len(trace["x"]) for trace in figure["data"]] == [14, 5], "a gap is a gap in the line"
    drawn = json.dumps(figure)
    assert "$accent" in drawn and "$policy" in drawn and "#0000a" not in drawn and "<b>" not in drawn
    assert '"14.0"' not in drawn and figure["data"][-1]["y"][-1] == 14
    table = reviewer.get(base + "series.csv", {"metric": "contradictions", "range": "30"}).content.decode()
    rows = list(csv.reader(io.StringIO(table)))
    assert len(rows) == 31 and rows[-1][3] == "14.0" and rows[-6][3] == ""


def test_health__without_snapshots__says_so(stage: Stage, reviewer: Client) -> None:
    page = reviewer.get(f"/t/{stage.tenant.slug}/health/").content.decode()
    assert "Not measured yet" in page
    assert reviewer.get(f"/t/{stage.tenant.slug}/health/figure.json").json()["data"] == []


def test_other_pages__do_not_carry_the_style_hash(stage: Stage, reviewer: Client) -> None:
    policy = reviewer.get(f"/t/{stage.tenant.slug}/promotions/")["Content-Security-Policy"]
    assert "sha256" not in policy and "style-src 'self'" in policy


def test_start__shows_what_waits_and_what_is_out_of_range(full: Full, reviewer: Client) -> None:
    snapshots(full.stage)
    text = reviewer.get(full.base).content.decode()
    assert "promotion to decide" in text and "Contradictions" in text and "Breach" in text


def test_start__of_a_new_tenant__shows_the_first_steps(stage: Stage, owner: Client) -> None:
    text = owner.get(f"/t/{stage.tenant.slug}/").content.decode()
    assert "Three steps to the first memory" in text and "curl" in text


def test_theme__is_remembered_and_never_leads_elsewhere(stage: Stage) -> None:
    browser = Client()
    answer = browser.post("/theme/", {"theme": "dark"}, headers={"Referer": "http://evil.test/x"})
    assert answer["Location"] == "/" and browser.cookies["theme"].value == "dark"
    assert b'data-theme="dark"' in browser.get("/").content
    back = browser.post("/theme/", {"theme": "light"}, headers={"Referer": "http://testserver/help/?a=1"})
    assert back["Location"] == "/help/?a=1"
    assert browser.post("/theme/", {"theme": "<x>"}).cookies.get("theme") is None


def test_members__list__names_who_is_you(stage: Stage) -> None:
    person = make_person(stage.tenant, "auditor", name="Eve Fictional")
    text = signed_in(person).get(f"/t/{stage.tenant.slug}/members/").content.decode()
    assert "Eve Fictional" in text and "You" in text and "Invite" not in text
