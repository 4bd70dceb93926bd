"""Messages about alerts: written with the alert, sent after the commit, tried again, given up, and sent once more."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from ipaddress import ip_network
from uuid import UUID

import pytest
from django.db import connection
from django.test import override_settings
from standardwebhooks import Webhook

from memgov import clock
from memgov.celery import app
from memory.domain.alerting import MOST_ATTEMPTS
from memory.models import Alert, AlertChannel, AlertDelivery, AuditEvent
from memory.services.alert_delivery import deliveries_send, delivery_send
from memory.services.alert_settings import (
    channel_add,
    channel_remove,
    channel_switch,
    channel_test,
    delivery_resend,
)
from memory.services.errors import Conflict, Denied, Invalid, NotFound
from memory.store import alerts
from memory.tasks import watch_tenant
from tests.factories import Stage, make_tenant
from tests.receivers import Receiver, mail_server, receiver
from tests.sweeps.planting import NOW
from tests.sweeps.processes import worker

pytestmark = pytest.mark.usefixtures("database")
LOCAL = [ip_network("127.0.0.1/32")]


@pytest.fixture
def stage(database: None) -> Stage:
    return make_tenant()


@pytest.fixture
def inbox() -> Iterator[Receiver]:
    with receiver() as found, override_settings(MEMGOV_WEBHOOK_NETWORKS=LOCAL):
        yield found


def opened(stage: Stage, severity: str = "critical", target: str = "stale_share") -> Alert:
    alert = Alert(
        kind="metric", severity=severity, scope="project:alpha", target=target, message="Stale share is 81 %."
    )
    with stage.context():
        assert alerts.raise_alert(alert, NOW)
    return alert


def messages(stage: Stage) -> list[AlertDelivery]:
    with stage.context():
        return list(AlertDelivery.objects.order_by("id"))


def send(stage: Stage, at: timedelta = timedelta(0)) -> list[str]:
    return [delivery_send(stage.tenant.id, one.id, NOW + at) for one in messages(stage)]


def test_webhook__alert__arrives_signed_and_says_what_is_so(stage: Stage, inbox: Receiver) -> None:
    channel, secret = channel_add(stage.owner.principal, "webhook", inbox.url)
    alert = opened(stage)
    with clock.moved_to(clock.now()):
        assert delivery_send(stage.tenant.id, messages(stage)[0].id) == "sent"
    [got] = inbox.got
    event = Webhook(secret).verify(got.body, got.headers)
    assert event == json.loads(got.body)
    assert (event["type"], event["data"]["message"]) == ("memgov.alert.opened", "Stale share is 81 %.")
    assert event["data"]["id"] == f"alr_{alert.id.hex}" and event["source"].endswith(
        f"/t/{stage.tenant.slug}/"
    )
    assert delivery_send(stage.tenant.id, messages(stage)[0].id) == "not due", "it is sent once"
    [sent] = messages(stage)
    assert (sent.status, sent.attempts, sent.answer, sent.channel_id) == ("sent", 1, 204, channel.id)


def test_secret__is_shown_once_and_encrypted_with_the_tenants_key(stage: Stage, inbox: Receiver) -> None:
    channel, secret = channel_add(stage.owner.principal, "webhook", inbox.url)
    other = make_tenant()
    with stage.context(), connection.cursor() as cursor:
        cursor.execute("SELECT t::text FROM memory_alertchannel t WHERE tenant_id = %s", [stage.tenant.id])
        (row,) = cursor.fetchone()
        kept = AlertChannel.objects.get(id=channel.id)
        cursor.execute(
            "SELECT string_agg(t::text, '') FROM memory_auditevent t WHERE tenant_id = %s", [stage.tenant.id]
        )
        (audit,) = cursor.fetchone()
    assert secret.startswith("whsec_")
    for found in (row, audit):
        assert secret[6:] not in found and secret[6:].encode().hex() not in found
    assert "/hook" not in audit, "the path of the address may be a secret too"
    from cryptography.fernet import InvalidToken

    from memory.store import alert_channels

    with stage.context():
        assert alert_channels.secret_of(kept) == secret
    with other.context(), pytest.raises(InvalidToken):
        alert_channels.secret_of(kept)


def test_mail__alert__arrives_with_where_to_look(stage: Stage) -> None:
    channel_add(stage.owner.principal, "email", "alerts@example.test")
    alert = opened(stage)
    with stage.context():
        alerts.update(alert, ended_at=NOW)
        alerts.tell(alert, alerts.ENDED, NOW)
    smtp = "django.core.mail.backends.smtp.EmailBackend"
    with (
        mail_server() as box,
        override_settings(EMAIL_BACKEND=smtp, EMAIL_HOST="127.0.0.1", EMAIL_PORT=box.port),
    ):
        assert send(stage) == ["sent", "sent"]
        first, second = box.mails
        assert box.to == ["alerts@example.test"] * 2
        assert first["Subject"] == f"[memgov {stage.tenant.slug}] Stale share is 81 %."
        assert str(second["Subject"]).split("] ")[1] == "over: Stale share is 81 %."
        text = first.get_content()
        assert f"/t/{stage.tenant.slug}/alerts/" in text and "Scope: project:alpha" in text
        channel_test(stage.owner.principal, messages(stage)[0].channel_id)
        box.refusing = True
        with clock.moved_to(NOW):
            assert (
                delivery_send(stage.tenant.id, messages(stage)[2].id, clock.now() + timedelta(days=365 * 9))
                == "again"
            )
    assert "mail server" in messages(stage)[2].error


def test_subject__hostile_scope_name__is_one_line(stage: Stage) -> None:
    from memory.services.alert_words import subject_line

    channel_add(stage.owner.principal, "email", "alerts@example.test")
    alert = Alert(kind="x", severity="warning", target="t", message="a\r\nBcc: everyone@example.test\n")
    with stage.context():
        alerts.raise_alert(alert, NOW)
    assert "\n" not in subject_line(messages(stage)[0]) and "\r" not in subject_line(messages(stage)[0])


def test_failures__are_tried_with_growing_waits_then_given_up_and_sent_again_by_a_person(
    stage: Stage, inbox: Receiver
) -> None:
    channel_add(stage.owner.principal, "webhook", inbox.url)
    opened(stage)
    inbox.answers[:] = [(500, {})]
    waits, at = [], timedelta(0)
    for _ in range(MOST_ATTEMPTS):
        assert (
            delivery_send(stage.tenant.id, messages(stage)[0].id, NOW + at - timedelta(seconds=1))
            == "not due"
        )
        ended = send(stage, at)
        waits.append(messages(stage)[0].next_at - NOW - at)
        at = messages(stage)[0].next_at - NOW
    assert ended == ["dead"] and len(inbox.got) == MOST_ATTEMPTS
    assert waits[:3] == [timedelta(seconds=5), timedelta(minutes=5), timedelta(minutes=30)]
    assert len({got.headers["webhook-id"] for got in inbox.got}) == 1, "a repetition is told by its id"
    [dead] = messages(stage)
    assert (dead.status, dead.answer, dead.error) == ("dead", 500, "the receiver answered 500")
    with stage.context():
        assert AuditEvent.objects.filter(action="alert.undelivered").count() == 1
    inbox.answers[:] = [(200, {})]
    with pytest.raises(Denied):
        delivery_resend(stage.reviewer.principal, dead.id)
    delivery_resend(stage.owner.principal, dead.id)
    assert delivery_send(stage.tenant.id, dead.id) == "sent"
    with pytest.raises(Conflict):
        delivery_resend(stage.owner.principal, dead.id)
    with pytest.raises(NotFound):
        delivery_resend(make_tenant().owner.principal, dead.id)


def test_receiver__that_is_gone__is_switched_off(stage: Stage, inbox: Receiver) -> None:
    channel, _secret = channel_add(stage.owner.principal, "webhook", inbox.url)
    opened(stage)
    inbox.answers[:] = [(410, {})]
    assert send(stage) == ["dead"]
    opened(stage, target="another")
    assert len(messages(stage)) == 1, "nothing is told there any more"
    channel_switch(stage.owner.principal, channel.id, on=True)
    opened(stage, target="a third")
    assert len(messages(stage)) == 2


def test_channel__switched_off__what_waits_stays_until_it_is_on(stage: Stage, inbox: Receiver) -> None:
    channel, _secret = channel_add(stage.owner.principal, "webhook", inbox.url)
    opened(stage)
    [waiting] = messages(stage)
    channel_switch(stage.owner.principal, channel.id, on=False)
    assert delivery_send(stage.tenant.id, waiting.id, NOW) == "not due", "nor when the broker has it already"
    assert deliveries_send(stage.tenant.id, NOW + timedelta(days=1)) == 0 and inbox.got == []
    channel_switch(stage.owner.principal, channel.id, on=True)
    assert delivery_send(stage.tenant.id, waiting.id, NOW) == "sent"


def test_channel__switched_off_between_attempts__is_not_asked_again(stage: Stage, inbox: Receiver) -> None:
    channel, _secret = channel_add(stage.owner.principal, "webhook", inbox.url)
    opened(stage)
    inbox.answers[:] = [(500, {})]
    assert send(stage) == ["again"]
    channel_switch(stage.owner.principal, channel.id, on=False)
    assert send(stage, timedelta(days=1)) == ["not due"] and len(inbox.got) == 1


def test_channel__switched_off__a_persons_resend_and_test_go_out(stage: Stage, inbox: Receiver) -> None:
    channel, _secret = channel_add(stage.owner.principal, "webhook", inbox.url)
    opened(stage)
    inbox.answers[:] = [(410, {}), (204, {})]
    assert send(stage) == ["dead"], "and the channel is off"
    [dead] = messages(stage)
    delivery_resend(stage.owner.principal, dead.id)
    assert delivery_send(stage.tenant.id, dead.id) == "sent"
    asked = channel_test(stage.owner.principal, channel.id)
    assert delivery_send(stage.tenant.id, asked.id) == "sent"


def test_address__that_turned_private__is_refused_when_it_is_sent(stage: Stage, inbox: Receiver) -> None:
    channel_add(stage.owner.principal, "webhook", inbox.url)
    opened(stage)
    with override_settings(MEMGOV_WEBHOOK_NETWORKS=[]):
        assert send(stage) == ["dead"]
    assert "private" in messages(stage)[0].error and inbox.got == []


def test_channel__is_told_of_its_severity_only_and_never_flooded(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel_add(stage.owner.principal, "email", "night@example.test", "critical")
    opened(stage, "warning", "mild")
    assert messages(stage) == []
    monkeypatch.setattr(alerts, "_MOST_WAITING", 3)
    for at in range(5):
        opened(stage, target=f"metric {at}")
    assert len(messages(stage)) == 3


def test_channel__bad_address_or_role__is_refused_and_nothing_stored(stage: Stage) -> None:
    owner = stage.owner.principal
    for kind, address in (
        ("email", "nobody"), ("email", "a@b"), ("webhook", "http://169.254.169.254/latest/"),
        ("pigeon", "x@example.test"),
        ("webhook", "https://127.0.0.1/"), ("webhook", "https://nowhere.invalid/"), ("webhook", "https://localhost/"),
    ):  # fmt: skip
        with pytest.raises(Invalid):
            channel_add(owner, kind, address)
    with pytest.raises(Denied):
        channel_add(stage.reviewer.principal, "email", "alerts@example.test")
    channel, _ = channel_add(owner, "email", "alerts@example.test")
    with pytest.raises(Conflict):
        channel_add(owner, "email", "alerts@example.test")
    with pytest.raises(NotFound):
        channel_test(make_tenant().owner.principal, channel.id)
    opened(stage)
    channel_remove(owner, channel.id)
    with stage.context():
        assert (AlertChannel.objects.count(), AlertDelivery.objects.count()) == (0, 0)


def test_alert_taken_back__leaves_no_message(stage: Stage) -> None:
    channel_add(stage.owner.principal, "email", "alerts@example.test")
    alert = Alert(kind="x", severity="warning", target="t", message="m")
    with pytest.raises(ZeroDivisionError), stage.context():
        alerts.raise_alert(alert, NOW)
        assert AlertDelivery.objects.count() == 1
        raise ZeroDivisionError
    assert messages(stage) == []


def test_worker__killed_while_sending__another_sends_it_again(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMGOV_WEBHOOK_NETWORKS", "127.0.0.1/32")
    with receiver() as inbox, override_settings(MEMGOV_WEBHOOK_NETWORKS=LOCAL):
        _channel, secret = channel_add(stage.owner.principal, "webhook", inbox.url)
        opened(stage)
        app.control.purge()
        inbox.hold.clear()
        with worker():
            watch_tenant.delay(str(stage.tenant.id))
            assert inbox.arrived.acquire(timeout=60)
        [cut_off] = messages(stage)
        assert (cut_off.status, cut_off.attempts) == ("waiting", 1), "nobody noted how it ended"
        inbox.hold.set()
        app.control.purge()
        with stage.context():  # the lease of the dead worker runs out
            AlertDelivery.objects.filter(id=cut_off.id).update(next_at=NOW)
        with worker() as second:
            watch_tenant.delay(str(stage.tenant.id))
            second.until(r"memory\.deliver_alert\[.*succeeded.*'sent'")
        assert [Webhook(secret).verify(got.body, got.headers)["id"] for got in inbox.got] == [
            cut_off.body["id"]
        ] * 2
    assert messages(stage)[0].status == "sent"
    assert UUID(str(messages(stage)[0].id))
