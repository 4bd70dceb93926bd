"""Calls of the API pass their own, short lane; pages keep theirs."""

from __future__ import annotations

import pytest

from tests.api.caller import Caller

pytestmark = pytest.mark.usefixtures("database")


def test_call__no_session_and_nothing_to_run(coder: Caller) -> None:
    answer = coder.get("whoami", Accept_Encoding="gzip")
    assert answer.status_code == 200 and not answer.cookies
    assert answer["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert answer["X-Frame-Options"] == "DENY" and answer["X-Content-Type-Options"] == "nosniff"
    assert int(answer["Content-Length"]) == len(answer.content) and answer["X-Request-ID"]


def test_call__refused__the_same_headers() -> None:
    answer = Caller(None).get("whoami")
    assert answer.status_code == 401 and "frame-ancestors 'none'" in answer["Content-Security-Policy"]
