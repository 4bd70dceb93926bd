"""From where a key may be used: networks as CIDR, and the address of a caller behind trusted proxies."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address, ip_network

from django.conf import settings

MOST = 20


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


def address_of(remote: str, forwarded: str) -> str:
    """The caller's address.  What `X-Forwarded-For` says counts only as far as our own proxies wrote it."""
    proxies: int = settings.MEMGOV_TRUSTED_PROXIES
    hops = [hop.strip() for hop in forwarded.split(",") if hop.strip()]
    return hops[-proxies] if proxies and len(hops) >= proxies else remote
