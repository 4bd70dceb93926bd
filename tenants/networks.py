"""From where a key may be used: networks as CIDR, and the address of a caller behind trusted proxies."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address, ip_network
from time import monotonic
from uuid import UUID

from django.conf import settings

from tenants.context import read_one

MOST = 20
# How long a process may go on with the networks that it read: a change holds everywhere within this many seconds.
KEPT_SECONDS = 10.0
_MOST_KEPT = 4096
_NETWORKS = "SELECT networks FROM tenants_agentkey k WHERE k.tenant_id = %s AND k.id = %s"
_kept: dict[UUID, tuple[float, tuple[str, ...]]] = {}


def parse_networks(text: str) -> list[str]:
    """Addresses and networks, divided by spaces, commas or lines, in their one spelling.  ValueError names the first
    that is none."""
    found = []
    for word in text.replace(",", " ").split():
        try:
            if "%" in word:  # a zone is a name of one machine's own
                raise ValueError
            found.append(str(ip_network(word, strict=False)))
        except ValueError:
            raise ValueError(f"{word[:60]!r} is no address or network such as 192.0.2.0/24") from None
    if len(found) > MOST:
        raise ValueError(f"at most {MOST} networks")
    return sorted(set(found))


def inside(networks: Sequence[str], address: str) -> bool:
    """Whether the address lies in one of the networks; every address does when there are none."""
    if not networks:
        return True
    try:
        at = ip_address(address)
    except ValueError:
        return False
    at = getattr(at, "ipv4_mapped", None) or at
    return any(at in ip_network(network) for network in networks)


def networks_of(tenant_id: UUID, key_id: UUID) -> tuple[str, ...]:
    """The key's networks, read again after `KEPT_SECONDS`."""
    known, now = _kept.get(key_id), monotonic()
    if known is not None and now - known[0] < KEPT_SECONDS:
        return known[1]
    row = read_one(tenant_id, _NETWORKS, [tenant_id, key_id])
    networks = tuple(row[0]) if row else ()
    if len(_kept) >= _MOST_KEPT:
        _kept.clear()
    _kept[key_id] = (now, networks)
    return networks


def forget(key_id: UUID) -> None:
    """Read the key's networks again at its next call in this process."""
    _kept.pop(key_id, None)


def address_of(remote: str, forwarded: str) -> str:
    """The caller's address.  What `X-Forwarded-For` says counts only as far as our own proxies wrote it."""
    proxies: int = settings.MEMGOV_TRUSTED_PROXIES
    hops = [hop.strip() for hop in forwarded.split(",") if hop.strip()]
    return hops[-proxies] if proxies and len(hops) >= proxies else remote
