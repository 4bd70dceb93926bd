"""Where the server is and who calls."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from urllib.parse import urlsplit

import httpx

URL_VARIABLE = "MEMGOV_URL"
KEY_VARIABLE = "MEMGOV_KEY"
API = "/api/v1/"

DEFAULT_TIMEOUT = httpx.Timeout(30.0, connect=10.0)


def own_version() -> str:
    """The version of this package."""
    try:
        return version("memgov-client")
    except PackageNotFoundError:
        return "0"


@dataclass(frozen=True)
class Connection:
    """An address and a key.  The key is never shown."""

    url: str
    key: str = field(repr=False)

    @property
    def base_url(self) -> str:
        """The address that paths of calls are below."""
        return self.url + API

    @property
    def headers(self) -> dict[str, str]:
        """What every request carries."""
        return {
            "Authorization": f"Bearer {self.key}",
            "Accept": "application/json",
            "User-Agent": f"memgov-client/{own_version()}",
        }


def connection(url: str | None, key: str | None) -> Connection:
    """From the arguments, else from MEMGOV_URL and MEMGOV_KEY.

    The address may be that of the server or of its API.  Raises ValueError that says what is missing or wrong.
    """
    address = (url or os.environ.get(URL_VARIABLE) or "").strip()
    secret = (key or os.environ.get(KEY_VARIABLE) or "").strip()
    if not address:
        raise ValueError(f"where is memgov? give url, or set {URL_VARIABLE} (such as http://127.0.0.1:8000)")
    if not secret:
        raise ValueError(f"who calls? give key, or set {KEY_VARIABLE} to an agent's key (mgk_…)")
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(f"{address!r} is no address of a server, such as http://127.0.0.1:8000")
    if parts.username or parts.password:
        raise ValueError("an address holds no credentials; give the key by itself")
    return Connection(address.rstrip("/").removesuffix(API.rstrip("/")), secret)
