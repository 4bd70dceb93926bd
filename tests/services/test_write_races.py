"""Writers at the same moment, really in parallel: the database settles what may stand beside what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from memory.domain.audit_chain import verify
from memory.models import Memory, MemoryIndex
from memory.selectors import audit as audit_selectors
from memory.services.memory_write import memory_write
from memory.services.write_types import Outcome, WriteRequest
from tests.factories import make_tenant
from tests.parallel import at_once

pytestmark = pytest.mark.usefixtures("database")


def test_races__fifty_identical_writes__one_live_row() -> None:
    stage = make_tenant()

    def call(number: int) -> Callable[[], Outcome]:
        request = WriteRequest(
            content="The press halls open at seven.", scope="project:alpha", origin="tool_verified",
            session=f"s{number}",
        )  # fmt: skip
        return lambda: memory_write(stage.coder.principal, request)

    outcomes = Counter(outcome.outcome for outcome in at_once([call(n) for n in range(50)]))
    assert outcomes == {"stored": 1, "duplicate": 49}
    with stage.context():
        row = Memory.objects.get()
        assert (row.status, row.reproductions) == ("live", 49)
        assert MemoryIndex.objects.count() == 1
        assert verify(audit_selectors.chain(), audit_selectors.checkpoints()).ok


def test_races__two_values_of_one_key__never_two_live() -> None:
    stage = make_tenant()
    for round_number in range(10):
        subject = f"user:{round_number}"
        at_once(
            [
                lambda value=value, subject=subject: memory_write(
                    stage.coder.principal,
                    WriteRequest(
                        subject=subject, predicate="plan", value=value, scope=subject, origin="user_explicit"
                    ),
                )
                for value in ("pro", "free", "team", "solo")
            ]
        )
        with stage.context():
            statuses = Counter(Memory.objects.filter(subject=subject).values_list("status", flat=True))
            assert statuses == {"live": 1, "superseded": 3}
