"""Posting a signed message to an address that a tenant chose, and to no other.

The address is resolved once, every answer of the resolver has to be a public one, and the connection goes to the
address that was looked at: a name that resolves differently a moment later leads nowhere else.  Redirects are answers
like any other, proxies of the environment are not asked.  Signing follows Standard Webhooks (standardwebhooks.com).
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import ipaddress
import json
import secrets
import socket
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
from django.conf import settings

SECRET_PREFIX: Final = "whsec_"
_SECONDS: Final = 10
"""For the whole message, from connecting to the status line: a receiver that trickles holds no worker longer."""
Resolver = Callable[..., Any]
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class AddressRefused(ValueError):
    """The address may not be posted to; the text says why."""


class NotDelivered(Exception):
    """Nobody took the message.  `status` is the answer's, if there was one."""

    def __init__(self, why: str, status: int | None = None) -> None:
        super().__init__(why)
        self.status = status


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message goes: the parts of the URL, and the address that was looked at."""

    scheme: str
    host: str
    port: int
    path: str
    address: Address


def new_secret() -> str:
    """A secret as its receiver is shown it: 256 random bits."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """`v1,<base64>` over id, timestamp and body."""
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = f"{message_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def located(url: str, resolver: Resolver = socket.getaddrinfo) -> Place:
    """Resolve an address and look at it.  Raises `AddressRefused`, and `NotDelivered` when the name has no address."""
    scheme, host, port, path = _parts(url)
    try:
        answers = resolver(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise NotDelivered(f"{host} has no address") from None
    found = [ipaddress.ip_address(answer[4][0].partition("%")[0]) for answer in answers]
    if not found:
        raise NotDelivered(f"{host} has no address")
    for address in found:
        if not _allowed(address):
            raise AddressRefused("the address is private, local or reserved; webhooks go to public addresses")
        if scheme == "http" and not _named_by_operator(address):
            raise AddressRefused("the address has to start with https://")
    return Place(scheme, host, port, path, found[0])


def host_of(url: str) -> str:
    """The host of an address, for records that should not hold what may be a secret path."""
    return _parts(url)[1]


def _parts(url: str) -> tuple[str, str, int, str]:
    try:
        parts = urlsplit(url)
        port, host = parts.port, parts.hostname or ""
    except ValueError:
        raise AddressRefused("this is no web address") from None
    if parts.scheme not in ("https", "http") or not host:
        raise AddressRefused("the address has to start with https://")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise AddressRefused("the address must hold no user name, password or fragment")
    if any(ord(letter) <= 32 or ord(letter) == 127 for letter in url):
        raise AddressRefused("the address must hold no spaces or control characters")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return parts.scheme, host, port or (443 if parts.scheme == "https" else 80), path


def _allowed(address: Address) -> bool:
    """Public, or in a network that the operator named.  Link-local addresses (cloud metadata) never are."""
    plain = _unwrapped(address)
    if plain.is_link_local or plain.is_multicast or plain.is_unspecified:
        return False
    return _named_by_operator(plain) or _public(plain)


def _named_by_operator(address: Address) -> bool:
    plain = _unwrapped(address)
    return any(
        plain in network for network in settings.MEMGOV_WEBHOOK_NETWORKS if network.version == plain.version
    )


def _unwrapped(address: Address) -> Address:
    """The IPv4 address inside an IPv6 one that leads to it: mapped, 6to4, NAT64, or compatible."""
    if not isinstance(address, ipaddress.IPv6Address):
        return address
    inner = address.ipv4_mapped or address.sixtofour
    if inner is None and address in _NAT64:
        inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if inner is None and int(address) >> 32 == 0 and int(address) > 1:
        inner = ipaddress.IPv4Address(int(address))
    return inner or address


_NAT64: Final = ipaddress.ip_network("64:ff9b::/96")
_GLOBAL: Final = ipaddress.ip_network("2000::/3")
"""All of IPv6 that is given out for hosts on the internet: site-local, unique local, discard, segment routing and
local NAT64 addresses lie outside, whatever a release of Python knows of them."""
_NO_HOSTS: Final = tuple(
    ipaddress.ip_network(one)
    for one in (
        "2001::/23", "2001:db8::/32", "3fff::/20",  # Teredo, benchmarks, ORCHID; documentation
        "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15",  # protocols, relays of 6to4, benchmarks
    )
)  # fmt: skip


def _public(address: Address) -> bool:
    """Whether a host on the internet may have it."""
    if any(address in network for network in _NO_HOSTS if network.version == address.version):
        return False
    return address.is_global and not address.is_reserved and (address.version == 4 or address in _GLOBAL)


def post(
    url: str, secret: str, message: Mapping[str, Any], at: datetime, resolver: Resolver = socket.getaddrinfo
) -> int:
    """Post a CloudEvent, signed; the status of the answer (2xx).  Raises `AddressRefused` and `NotDelivered`."""
    place = located(url, resolver)
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
    message_id, stamp = str(message["id"]), int(at.timestamp())
    address = f"[{place.address}]" if place.address.version == 6 else str(place.address)
    name = f"[{place.host}]" if ":" in place.host else place.host
    default = place.port == (443 if place.scheme == "https" else 80)
    headers = {
        "Host": name if default else f"{name}:{place.port}",
        "Content-Type": "application/cloudevents+json; charset=utf-8",
        "User-Agent": "memgov",
        "webhook-id": message_id,
        "webhook-timestamp": str(stamp),
        "webhook-signature": signature(secret, message_id, stamp, body),
    }
    status = _sent(f"{place.scheme}://{address}:{place.port}{place.path}", place.host, headers, body)
    if not 200 <= status < 300:
        raise NotDelivered(f"the receiver answered {status}", status)
    return status


def _sent(target: str, server_name: str, headers: Mapping[str, str], body: bytes) -> int:
    """The status of the answer, within `_SECONDS`.

    In a loop of its own, since only there one deadline holds for everything: timeouts of sockets begin anew with
    each byte.  In a thread of its own, since the caller's may have a loop.
    """
    asked = _asked(target, server_name, headers, body)
    with ThreadPoolExecutor(1, thread_name_prefix="webhook") as thread:
        try:
            return thread.submit(asyncio.run, asked).result()
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, TimeoutError) as error:
            raise NotDelivered(f"no answer: {type(error).__name__}") from None


async def _asked(target: str, server_name: str, headers: Mapping[str, str], body: bytes) -> int:
    extensions = {"sni_hostname": server_name}
    async with (
        asyncio.timeout(_SECONDS),
        httpx.AsyncClient(follow_redirects=False, trust_env=False, timeout=_SECONDS) as client,
        client.stream("POST", target, headers=dict(headers), content=body, extensions=extensions) as answer,
    ):
        return answer.status_code  # what else it says is not read
