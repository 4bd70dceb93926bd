"""What needs no server: patience, addresses, connections, and what is never shown."""

from __future__ import annotations

import inspect
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memgov_client import NEVER_AGAIN, Client, ProblemError, RetryPolicy
from memgov_client.binding import cursor_of
from memgov_client.call import as_params, path
from memgov_client.errors import problem
from memgov_client.retrying import read_retry_after
from memgov_client.settings import connection

KEY = "mgk_not_to_be_shown"


@given(
    attempt=st.integers(1, 10), waited=st.floats(0, 100), asked=st.none() | st.floats(0, 1000),
    chance=st.floats(0, 1), attempts=st.integers(1, 8), max_wait=st.floats(0, 100),
)  # fmt: skip
def test_pause__never_beyond_the_bounds_and_never_less_than_asked(
    attempt: int, waited: float, asked: float | None, chance: float, attempts: int, max_wait: float
) -> None:
    policy = RetryPolicy(attempts=attempts, max_wait=max_wait)
    pause = policy.pause(attempt, waited, asked, lambda: chance)
    if pause is None:
        least = policy.first_pause / 2 if asked is None else asked
        assert attempt >= attempts or waited + max(least, 8.0, (asked or 0) * 1.1) > max_wait
    else:
        assert attempt < attempts and waited + pause <= max_wait
        assert asked <= pause <= asked * 1.1 + 1e-9 if asked is not None else 0 < pause <= policy.max_pause


def test_pause__doubles_and_is_spread() -> None:
    policy = RetryPolicy(attempts=9)
    assert [policy.pause(n, 0, None, lambda: 1.0) for n in range(1, 8)] == [0.25, 0.5, 1, 2, 4, 8, 8]
    assert policy.pause(1, 0, None, lambda: 0.0) == 0.125
    assert NEVER_AGAIN.pause(1, 0, 0.0, lambda: 0.0) is None


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("3", 3), (" 60 ", 60), ("Wed, 21 Oct 2026 07:28:10 GMT", 10), ("Wed, 21 Oct 2020 07:28:00 GMT", 0),
     ("soon", None), ("-1", None), ("", None), (None, None), ("²", None)],
)  # fmt: skip
def test_retry_after__as_number_or_date(header: str | None, seconds: float | None) -> None:
    assert read_retry_after(header, datetime(2026, 10, 21, 7, 28, tzinfo=UTC)) == seconds


def test_addresses__parts_stay_parts() -> None:
    assert path("tasks", "ab?c#d", "working", "ü x") == "tasks/ab%3Fc%23d/working/%C3%BC%20x"
    assert as_params({"a": None, "b": True, "c": ["x", "y"], "d": 3}) == {"b": "true", "c": "x,y", "d": "3"}


def test_next_page__only_its_cursor_is_taken() -> None:
    assert cursor_of("https://elsewhere.example/api/v1/memories?page_size=2&cursor=a%3Ab") == "a:b"
    assert cursor_of("https://elsewhere.example/") is None and cursor_of(None) is None


@pytest.mark.parametrize(
    ("url", "base"),
    [("http://h:8000", "http://h:8000/api/v1/"), ("http://h/", "http://h/api/v1/"),
     ("https://h/api/v1/", "https://h/api/v1/"), ("https://h/under/api/v1", "https://h/under/api/v1/")],
)  # fmt: skip
def test_address__of_the_server_or_of_its_api(url: str, base: str) -> None:
    assert connection(url, KEY).base_url == base


@pytest.mark.parametrize(
    "url", ["h:8000", "ftp://h", "http://", "http://h?x=1", "http://u:p@h", "no address"]
)
def test_address__that_is_none__is_refused_with_words(url: str) -> None:
    with pytest.raises(ValueError, match="address"):
        connection(url, KEY)


def test_environment__is_used_and_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMGOV_URL", raising=False)
    monkeypatch.delenv("MEMGOV_KEY", raising=False)
    with pytest.raises(ValueError, match="MEMGOV_URL"):
        Client()
    with pytest.raises(ValueError, match="MEMGOV_KEY"):
        Client("http://h")
    monkeypatch.setenv("MEMGOV_URL", "http://h:1")
    monkeypatch.setenv("MEMGOV_KEY", KEY)
    with Client() as client:
        assert client.connection.base_url == "http://h:1/api/v1/"
        assert KEY not in repr(client) and KEY not in repr(client.connection)


def test_methods__show_their_parameters_and_documentation() -> None:
    with Client("http://h", KEY) as client:
        assert "idempotency_key" in inspect.signature(client.write).parameters
        assert (client.write.__doc__ or "").startswith("Offer one candidate")
        assert Client.write.__doc__ == client.write.__doc__


def test_problem__of_unknown_shape__is_still_an_error_of_ours() -> None:
    error = problem(418, {"errors": [1, {"field": "a"}]})
    assert isinstance(error, ProblemError) and error.code == "unknown" and error.errors[0].field == "a"
