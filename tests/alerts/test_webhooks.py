"""Where a webhook may go, and that what arrives is signed: private addresses, rebinding and redirects lead nowhere."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from ipaddress import ip_network
from time import monotonic
from typing import Any

import pytest
from django.test import override_settings
from standardwebhooks import Webhook

from memory.clients import webhooks
from tests.receivers import Receiver, receiver, trickling

LOCAL = [ip_network("127.0.0.1/32")]
MESSAGE = {"id": "dlv_1", "specversion": "1.0", "data": {"message": "Grüße"}}


def resolving(*addresses: str) -> Any:
    """A resolver that gives one of the lists at each call, the last one for ever."""
    answers = [one.split(",") for one in addresses]

    def resolve(_host: str, port: int, **_: Any) -> list[Any]:
        now = answers.pop(0) if len(answers) > 1 else answers[0]
        return [(0, 0, 0, "", (address, port)) for address in now]

    return resolve


@pytest.fixture
def inbox() -> Iterator[Receiver]:
    with receiver() as found, override_settings(MEMGOV_WEBHOOK_NETWORKS=LOCAL):
        yield found


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
        "224.0.0.1", "255.255.255.255", "198.18.0.1", "192.0.2.1", "240.0.0.1",
        "::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1",
        "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "::7f00:1",
        "fec0::1", "feff::1", "64:ff9b:1::a00:1", "100::1", "5f00::1", "3fff::1", "2001:2::1", "2001:10::1", "4000::1",
        "2001:0:5db8:d822::ffff:ffff", "2001:0:5db8:d822:0:0:f5ff:fffe",  # Teredo, whoever stands behind it
        "2002:a9fe:a9fe::1", "2002:c058:6301::", "64:ff9b::7f00:1", "::ffff:0:127.0.0.1", "::ffff:100.64.0.1",
        "192.0.0.8", "192.88.99.1", "fec0::1%eth0",
        "93.184.216.34,10.0.0.1", "2606:2800:220:1::1,fec0::1",
    ],
)  # fmt: skip
def test_address__private_local_or_reserved__is_refused(address: str) -> None:
    with pytest.raises(webhooks.AddressRefused):
        webhooks.located("https://hooks.example.test/x", resolving(address))


def test_address__public__is_taken_and_pinned() -> None:
    place = webhooks.located("https://hooks.example.test:8443/a?b=c", resolving("93.184.216.34", "10.0.0.1"))
    assert (str(place.address), place.port, place.path) == ("93.184.216.34", 8443, "/a?b=c")


@pytest.mark.parametrize("address", ["2606:2800:220:1::1", "2a00:1450:4001::1", "::ffff:93.184.216.34"])
def test_address__public_by_ipv6__is_taken(address: str) -> None:
    assert str(webhooks.located("https://hooks.example.test/", resolving(address)).address)


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.test/", "ftp://hooks.example.test/", "https://", "hooks.example.test", "",
        "https://user:secret@hooks.example.test/", "https://hooks.example.test/#part", "https://a b/",
        "https://hooks.example.test:99999/", "https://[::1/", "file:///etc/passwd", "https://x\r\nHost: y/",
    ],
)  # fmt: skip
def test_address__malformed_or_not_https__is_refused(url: str) -> None:
    with pytest.raises(webhooks.AddressRefused):
        webhooks.located(url, resolving("93.184.216.34"))


@pytest.mark.parametrize("host", ["127.0.0.1", "2130706433", "0x7f000001", "127.1", "localhost", "[::1]"])
def test_address__written_in_another_way__is_resolved_first(host: str) -> None:
    """By the resolver of this machine: however it is written, it is looked at as what it is."""
    with pytest.raises((webhooks.AddressRefused, webhooks.NotDelivered)):
        webhooks.located(f"https://{host}/")


def test_link_local__even_when_the_operator_names_it__is_refused() -> None:
    with override_settings(MEMGOV_WEBHOOK_NETWORKS=[ip_network("0.0.0.0/0")]):
        webhooks.located("http://inside.example.test/", resolving("10.0.0.1"))
        with pytest.raises(webhooks.AddressRefused):
            webhooks.located("http://meta.example.test/", resolving("169.254.169.254"))


def test_unknown_name__is_not_delivered() -> None:
    def none(*_: Any, **__: Any) -> Any:
        raise OSError("no such name")

    with pytest.raises(webhooks.NotDelivered):
        webhooks.located("https://hooks.example.test/", none)


def test_post__is_signed_as_the_standard_says(inbox: Receiver) -> None:
    secret, now = webhooks.new_secret(), datetime.now(UTC)
    assert webhooks.post(inbox.url, secret, MESSAGE, now) == 204
    [got] = inbox.got
    assert Webhook(secret).verify(got.body, got.headers) == MESSAGE, "checked by the standard's own library"
    with pytest.raises(Exception, match="signature"):
        Webhook(webhooks.new_secret()).verify(got.body, got.headers)
    with pytest.raises(Exception, match="signature"):
        Webhook(secret).verify(got.body.replace(b"dlv_1", b"dlv_2"), got.headers)
    assert got.headers["content-type"].startswith("application/cloudevents+json")
    assert got.headers["webhook-id"] == "dlv_1" and json.loads(got.body)["data"]["message"] == "Grüße"


def test_post__goes_to_the_address_that_was_looked_at_and_names_the_host(inbox: Receiver) -> None:
    """The name leads here once and elsewhere after: it is asked only once."""
    port = inbox.url.rsplit(":", 1)[1].split("/")[0]
    url = f"http://hooks.example.test:{port}/hook?x=1"
    webhooks.post(url, webhooks.new_secret(), MESSAGE, datetime.now(UTC), resolving("127.0.0.1", "10.9.9.9"))
    assert inbox.got[0].headers["host"] == f"hooks.example.test:{port}"
    assert inbox.got[0].path == "/hook?x=1"


def test_post__redirect__is_not_followed(inbox: Receiver) -> None:
    with receiver() as elsewhere:
        for status in (301, 302, 307, 308):
            inbox.answers[:] = [(status, {"Location": elsewhere.url})]
            with pytest.raises(webhooks.NotDelivered) as failed:
                webhooks.post(inbox.url, webhooks.new_secret(), MESSAGE, datetime.now(UTC))
            assert failed.value.status == status
        assert elsewhere.got == [] and len(inbox.got) == 4


def test_post__proxy_of_the_environment__is_not_asked(
    inbox: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    with receiver() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        webhooks.post(inbox.url, webhooks.new_secret(), MESSAGE, datetime.now(UTC))
        assert proxy.got == [] and len(inbox.got) == 1


def test_post__nobody_there__is_not_delivered() -> None:
    with receiver() as gone:
        url = gone.url
    with (
        override_settings(MEMGOV_WEBHOOK_NETWORKS=LOCAL),
        pytest.raises(webhooks.NotDelivered, match="no answer"),
    ):
        webhooks.post(url, webhooks.new_secret(), MESSAGE, datetime.now(UTC))


@pytest.mark.parametrize("spoken", [b"", b"HTTP/1.1 200 OK\r\nX-Slow: "])
def test_post__receiver_that_trickles__holds_nobody_beyond_the_deadline(
    monkeypatch: pytest.MonkeyPatch, spoken: bytes
) -> None:
    """Each byte comes well within the time that one read may take; the answer never comes to its end."""
    monkeypatch.setattr(webhooks, "_SECONDS", 1.0)
    with trickling(spoken) as url, override_settings(MEMGOV_WEBHOOK_NETWORKS=LOCAL):
        began = monotonic()
        with pytest.raises(webhooks.NotDelivered, match="TimeoutError"):
            webhooks.post(url, webhooks.new_secret(), MESSAGE, datetime.now(UTC))
        assert 0.9 < monotonic() - began < 8


def test_post__within_a_running_loop__is_sent(inbox: Receiver) -> None:
    async def called() -> int:
        return webhooks.post(inbox.url, webhooks.new_secret(), MESSAGE, datetime.now(UTC))

    assert asyncio.run(called()) == 204
