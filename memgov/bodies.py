"""What a request's headers say of its body, for calls and pages alike."""

from __future__ import annotations


def is_packed(content_encoding: str) -> bool:
    """Whether a `Content-Encoding` says that something was done to the body.

    Bodies are read as they come (RFC 9110, 15.5.16): what is packed is refused, and so is what only says that it is,
    which would otherwise be stored as if nothing had been said.
    """
    return any(coding.strip().lower() not in ("", "identity") for coding in content_encoding.split(","))
