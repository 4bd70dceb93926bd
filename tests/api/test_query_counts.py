"""How many statements a call costs, authentication included.  BEGIN and COMMIT are not counted: they are no work."""

from __future__ import annotations

from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.api.caller import Caller
from tests.statements import statements


def sentence(n: int) -> dict[str, str]:
    words = ("billing", "search", "gateway", "mailer", "ledger")
    return {
        "content": f"The {words[n % 5]} service of alpha is owned by team number {n + 10}.",
        "scope": "project:alpha",
        "origin": "user_explicit",
    }


def test_plain_write__costs_at_most_12_statements(coder: Caller) -> None:
    assert coder.post("memories", sentence(0)).status_code == 201
    with CaptureQueriesContext(connection) as captured:
        assert coder.post("memories", sentence(1)).status_code == 201
    used = statements(captured)
    assert len(used) <= 12, "\n".join(used)


def test_retrieve__costs_at_most_8_statements__however_many_it_finds(coder: Caller) -> None:
    for n in range(5):
        assert coder.post("memories", sentence(n)).status_code == 201
    with CaptureQueriesContext(connection) as captured:
        found = coder.post("retrieve", {"query": "who owns the service of alpha"})
    assert len(found.json()["entries"]) == 5
    used = statements(captured)
    assert len(used) <= 8, "\n".join(used)


def test_list__costs_the_same_for_one_row_and_for_five(coder: Caller) -> None:
    counts = []
    for n in range(5):
        coder.post("memories", sentence(n))
        with CaptureQueriesContext(connection) as captured:
            assert len(coder.get("memories").json()["results"]) == n + 1
        counts.append(len(statements(captured)))
    assert counts == [counts[0]] * 5 and counts[0] <= 6


def test_promotion_list__costs_the_same_for_one_row_and_for_three(coder: Caller) -> None:
    counts = []
    for n in range(3):
        memory = coder.post("memories", sentence(n)).json()["memory"]
        coder.post("promotions", {"memory": memory["id"], "to_scope": "shared", "reason": "for all"})
        with CaptureQueriesContext(connection) as captured:
            assert len(coder.get("promotions").json()["results"]) == n + 1
        counts.append(len(statements(captured)))
    assert counts == [counts[0]] * 3
