"""Typed readers of environment variables.

Every setting can also be given as ``NAME_FILE`` (a path whose contents are the value), so that secrets
need not stand in a process's environment.  A wrong value raises `SettingError` naming the variable.
"""

from __future__ import annotations

import os
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit


class SettingError(SystemExit):
    """A setting that cannot be used; ends the start with one readable line."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"memgov: setting {name}: {problem}")


def text(name: str, default: str = "") -> str:
    """The variable, or the contents of the file named by ``NAME_FILE``, or the default."""
    path = os.environ.get(f"{name}_FILE")
    if path:
        try:
            return Path(path).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise SettingError(f"{name}_FILE", f"cannot be read: {error.strerror}") from None
    return os.environ.get(name, default)


def boolean(name: str, default: bool = False) -> bool:
    """1/true/yes/on or 0/false/no/off, in any case."""
    value = text(name).lower()
    if value in {"", "1", "true", "yes", "on", "0", "false", "no", "off"}:
        return default if value == "" else value in {"1", "true", "yes", "on"}
    raise SettingError(name, f"must be true or false, not {value!r}")


def integer(name: str, default: int, *, low: int, high: int) -> int:
    """A whole number within bounds."""
    value = text(name)
    if not value:
        return default
    try:
        number = int(value)
    except ValueError:
        raise SettingError(name, f"must be a whole number, not {value!r}") from None
    if not low <= number <= high:
        raise SettingError(name, f"must be between {low} and {high}, not {number}")
    return number


def words(name: str, default: str = "") -> list[str]:
    """A comma-separated list."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def networks(name: str) -> list[IPv4Network | IPv6Network]:
    """A comma-separated list of networks such as 10.1.0.0/16."""
    try:
        return [ip_network(word) for word in words(name)]
    except ValueError as error:
        raise SettingError(name, f"must be networks such as 10.1.0.0/16: {error}") from None


def database(name: str, url: str) -> dict[str, object]:
    """Django's settings for one PostgreSQL URL."""
    parts = urlsplit(url)
    if parts.scheme not in {"postgres", "postgresql"}:
        raise SettingError(name, "must be postgresql://user:password@host:port/database")
    try:
        port = parts.port
    except ValueError:
        raise SettingError(name, "has a port that is not a number") from None
    if not parts.path.strip("/"):
        raise SettingError(name, "names no database")
    return {
        "ENGINE": "memgov.postgres",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or "",
        "PORT": str(port or ""),
        "OPTIONS": dict(parse_qsl(parts.query)),
    }


def redis_url(name: str, url: str) -> str:
    """A redis URL, checked for its scheme."""
    if urlsplit(url).scheme not in {"redis", "rediss", "unix"}:
        raise SettingError(name, "must be redis://, rediss:// or unix://")
    return url


def secret(name: str) -> str:
    """A secret of at least 32 characters, or empty when it is not set."""
    value = text(name)
    if value and len(value) < 32:
        raise SettingError(name, f"is too short: 32 characters or more, not {len(value)}")
    return value
