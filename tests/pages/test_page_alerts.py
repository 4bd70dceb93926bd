"""Alerts in the browser: acknowledged, snoozed, paused from, and told: channels, thresholds, what did not arrive."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network

import pytest
from django.core.cache import cache
from django.test import Client, override_settings

from memgov import clock, heartbeat
from memory.domain.ids import show_id
from memory.models import Alert, AlertChannel, AlertDelivery, AlertRule, AuditEvent
from memory.services.alert_settings import channel_add
from memory.services.alerts_watch import metrics_watched
from memory.store import alert_channels, alerts
from memory.store import health as snapshots
from tenants.models import Agent
from tests.factories import make_person
from tests.pages.staging import Full, signed_in
from tests.receivers import Receiver, receiver


@pytest.fixture
def inbox() -> Iterator[Receiver]:
    with receiver() as found, override_settings(MEMGOV_WEBHOOK_NETWORKS=[ip_network("127.0.0.1/32")]):
        yield found


def alert_of(full: Full) -> Alert:
    with full.stage.context():
        found: Alert = Alert.objects.get(id=full.alert.id)
        return found


def at(full: Full, what: str) -> str:
    return full.at(f"alerts/{show_id('alr', full.alert.id)}/{what}/")


def text_of(browser: Client, address: str, **query: str) -> str:
    return browser.get(address, query).content.decode()


def test_list__shows_what_needs_a_look_and_the_count_in_the_navigation(full: Full, reviewer: Client) -> None:
    text = text_of(reviewer, full.at("alerts/"))
    assert "Many texts were refused." in text and "Acknowledge" in text and "Pause the agent" not in text
    assert 'id="count-alerts"' in text or ">1<" in text
    auditor = signed_in(make_person(full.stage.tenant, "auditor"))
    assert "Acknowledge" not in text_of(auditor, full.at("alerts/"))


def test_acknowledge__with_a_note__moves_it_out_of_the_way_once(
    full: Full, reviewer: Client, owner: Client
) -> None:
    done = reviewer.post(at(full, "acknowledge"), {"note": "a stuck session"})
    assert done.status_code == 303
    text = text_of(reviewer, full.at("alerts/"))
    assert "Acknowledged." in text and "Nothing needs a look" in text
    text = text_of(reviewer, full.at("alerts/"), view="all")
    assert "a stuck session" in text and "seen by" in text
    again = owner.post(at(full, "acknowledge"), {"note": "me too"}, follow=True).content.decode()
    assert "acknowledged already" in again and alert_of(full).note == "a stuck session"


def test_snooze__hides_it_until_then_and_is_taken_back(full: Full, reviewer: Client) -> None:
    reviewer.post(at(full, "snooze"), {"hours": "8"})
    assert "Nothing needs a look" in text_of(reviewer, full.at("alerts/"))
    assert "snoozed until" in text_of(reviewer, full.at("alerts/"), view="snoozed")
    reviewer.post(at(full, "snooze"), {"hours": "0", "view": "snoozed"})
    assert alert_of(full).snoozed_until is None
    refused = reviewer.post(at(full, "snooze"), {"hours": "99999"}, follow=True).content.decode()
    assert "Choose for how long" in refused and alert_of(full).snoozed_until is None


def test_burst__agent_is_paused_from_the_alert(full: Full, owner: Client) -> None:
    text = text_of(owner, full.at("alerts/"))
    assert "Pause the agent" in text
    owner.post(full.at(f"agents/{alert_of(full).target}/pause/"), {"pause": "yes"})
    with full.stage.context():
        assert Agent.objects.get(id=full.stage.coder.agent.id).paused_at is not None
    assert "Agent paused" in text_of(owner, full.at("alerts/"))


def test_list__worker_without_a_sign_of_life__says_so(full: Full, reviewer: Client) -> None:
    for name in (heartbeat.WORKER, heartbeat.BEAT):
        heartbeat.give(name)
    assert "no sign of life" not in text_of(reviewer, full.at("alerts/"))
    cache.delete("heartbeat:worker")
    assert "The worker gives no sign of life" in text_of(reviewer, full.at("alerts/"))


def test_webhook__secret_is_in_one_answer_only(
    full: Full, owner: Client, reviewer: Client, inbox: Receiver
) -> None:
    sent = {"kind": "webhook", "address": inbox.url, "least": "warning"}
    answer = owner.post(full.at("alerts/settings/channels/"), sent)
    assert answer.status_code == 200 and answer["Cache-Control"] == "no-store"
    secret = answer.content.decode().split('id="new-key">')[1].split("<")[0]
    assert secret.startswith("whsec_")
    page = text_of(owner, full.at("alerts/settings/"))
    assert secret not in page and inbox.url in page
    assert "/hook" not in text_of(reviewer, full.at("alerts/settings/")), "its path is for who manages it"
    assert owner.post(full.at("alerts/settings/channels/"), sent).status_code == 409


@pytest.mark.parametrize(
    "address", ["http://169.254.169.254/latest", "https://10.0.0.1/", "nonsense", "", "https://" + "x" * 600]
)
def test_webhook__private_or_malformed__is_422_and_keeps_what_was_typed(
    full: Full, owner: Client, address: str
) -> None:
    answer = owner.post(full.at("alerts/settings/channels/"), {"kind": "webhook", "address": address})
    assert answer.status_code == 422 and b'aria-invalid="true"' in answer.content
    assert address in answer.content.decode()
    with full.stage.context():
        assert AlertChannel.objects.count() == 1


def test_test_button__sends_and_shows_how_it_went(full: Full, owner: Client, inbox: Receiver) -> None:
    from memory.services.alert_delivery import delivery_send

    channel, _secret = channel_add(full.stage.owner.principal, "webhook", inbox.url)
    done = owner.post(full.at(f"alerts/settings/channels/{show_id('chn', channel.id)}/test/"), follow=True)
    assert "A test is on its way" in done.content.decode()
    with full.stage.context():
        delivery = AlertDelivery.objects.get(channel_id=channel.id)
    inbox.answers[:] = [(410, {})]
    assert delivery_send(full.stage.tenant.id, delivery.id) == "dead"
    page = text_of(owner, full.at("alerts/settings/"))
    assert "Given up" in page and "What did not arrive" in page and "gone (410)" in page
    resend = full.at(f"alerts/settings/messages/{show_id('dlv', delivery.id)}/resend/")
    assert signed_in(full.stage.reviewer).post(resend).status_code == 403
    assert "On its way again" in owner.post(resend, follow=True).content.decode()
    inbox.answers[:] = [(204, {})]
    assert delivery_send(full.stage.tenant.id, delivery.id) == "sent"
    assert "was not given up" in owner.post(resend, follow=True).content.decode()
    assert (
        owner.post(full.at(f"alerts/settings/messages/{show_id('dlv', full.alert.id)}/resend/")).status_code
        == 404
    )


def test_channel__paused_and_removed(full: Full, owner: Client) -> None:
    base = full.at(f"alerts/settings/channels/{show_id('chn', full.channel.id)}/")
    owner.post(base + "switch/", {"on": "no"})
    assert "paused by" in text_of(owner, full.at("alerts/settings/"))
    assert "It is so already" in owner.post(base + "switch/", {"on": "no"}, follow=True).content.decode()
    owner.post(base + "switch/", {"on": "yes"})
    owner.post(base + "remove/")
    assert "Alerts are only listed here" in text_of(owner, full.at("alerts/settings/"))
    assert owner.post(base + "remove/").status_code == 404


def test_threshold__set_changed_and_reset__shows_in_table_tiles_and_chart(
    full: Full, owner: Client, reviewer: Client
) -> None:
    with full.stage.context():
        snapshots.upsert({"": {"stale_share": 0.4}}, clock.now())
    assert (
        "Breach"
        not in text_of(reviewer, full.at("health/"), metric="stale_share")
        .split("The numbers")[0]
        .split("tiles")[0]
    )
    rule = {
        "metric": "stale_share",
        "watch": "20",
        "breach": "35,5",
        "tell": "watch",
        "slack": "2",
        "quiet": "90",
    }
    assert owner.post(full.at("alerts/settings/rules/"), rule).status_code == 303
    with full.stage.context():
        kept = AlertRule.objects.get()
        assert (kept.watch, kept.breach, kept.slack, kept.quiet_minutes) == (0.2, 0.355, 0.02, 90)
    page = text_of(owner, full.at("alerts/settings/"), metric="stale_share")
    assert "35.5 %" in page and 'value="35.5"' in page
    assert "should be below 20 %" in text_of(reviewer, full.at("health/"), metric="stale_share")
    figure = reviewer.get(full.at("health/figure.json"), {"metric": "stale_share"}).json()
    assert "breach 35.5" in str(figure["layout"])
    assert "Stale share" in text_of(reviewer, full.base)
    owner.post(full.at("alerts/settings/rules/"), {"action": "reset", "metric": "stale_share"})
    with full.stage.context():
        assert AlertRule.objects.count() == 0
        assert AuditEvent.objects.filter(action__startswith="threshold.").count() == 2
    assert (
        owner.post(full.at("alerts/settings/rules/"), {"action": "reset", "metric": "x"}).status_code == 404
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"breach": "lots"}, {"watch": "90"}, {"breach": "120"}, {"quiet": "nan"}, {"slack": "inf"},
        {"metric": "live_facts"}, {"tell": "x"}, {"scope": "a b"},
    ],
    ids=str,
)  # fmt: skip
def test_threshold__nonsense__is_422_and_keeps_what_was_typed(
    full: Full, owner: Client, wrong: dict[str, str]
) -> None:
    rule = {
        "metric": "stale_share",
        "watch": "20",
        "breach": "35",
        "tell": "breach",
        "slack": "2",
        "quiet": "90",
    }
    answer = owner.post(full.at("alerts/settings/rules/"), rule | wrong)
    assert answer.status_code == 422 and 'role="alert"' in answer.content.decode()
    if "tell" not in wrong and "metric" not in wrong:
        assert f'value="{next(iter(wrong.values()))}"' in answer.content.decode()
    with full.stage.context():
        assert AlertRule.objects.count() == 0


def test_hostile_text__in_an_alert__is_inert(full: Full, owner: Client) -> None:
    evil = "<script>alert(1)</script>\u202e"
    with full.stage.context():
        alerts.raise_alert(
            Alert(kind="x", severity="warning", target="t", scope="project:a", message=evil), clock.now()
        )
        dead = AlertDelivery.objects.get(alert_id__isnull=False, body__data__message=evil)
        alert_channels.take(dead.id, clock.now())
        dead.attempts = 1
        assert alert_channels.ended(dead, clock.now(), status=AlertDelivery.DEAD, error="<b>no</b>")
    for path in ("alerts/", "alerts/settings/"):
        text = text_of(owner, full.at(path))
        assert "<script>alert" not in text and "&lt;script&gt;" in text and "\u202e" not in text


def test_metric_alert__links_to_its_chart(full: Full, reviewer: Client) -> None:
    with full.stage.context():
        metrics_watched({"": {"regret": 0.5}}, clock.now())
    assert "health/?metric=regret" in text_of(reviewer, full.at("alerts/"))
