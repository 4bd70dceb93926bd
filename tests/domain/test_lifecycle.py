import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.lifecycle import (
    FINAL,
    READABLE,
    RESTORABLE,
    SOURCES,
    TRANSITIONS,
    Event,
    IllegalTransition,
    allowed,
    move,
    released_to,
)
from memory.domain.types import Status


def test_readable__only_live_and_contested():
    assert {Status.LIVE, Status.CONTESTED} == READABLE


@pytest.mark.parametrize(
    ("status", "event", "target"),
    [
        (Status.CANDIDATE, Event.ADMIT, Status.LIVE),
        (Status.LIVE, Event.SUPERSEDE, Status.SUPERSEDED),
        (Status.SUPERSEDED, Event.RESTORE, Status.LIVE),
        (Status.MERGED, Event.RESTORE, Status.LIVE),
        (Status.EVICTED, Event.RESTORE, Status.LIVE),
        (Status.LIVE, Event.QUARANTINE, Status.QUARANTINED),
        (Status.QUARANTINED, Event.RELEASE, Status.LIVE),
        (Status.LIVE, Event.CONTEST, Status.CONTESTED),
        (Status.CONTESTED, Event.SETTLE, Status.LIVE),
        (Status.DELETED, Event.PURGE, Status.ERASED),
    ],
)
def test_move__event_that_applies__leads_on(status: Status, event: Event, target: Status):
    assert move(status, event) is target


@pytest.mark.parametrize(
    ("status", "event"),
    [
        (Status.LIVE, Event.ADMIT),
        (Status.LIVE, Event.RESTORE),
        (Status.QUARANTINED, Event.RESTORE),
        (Status.QUARANTINED, Event.ADMIT),
        (Status.QUARANTINED, Event.SETTLE),
        (Status.CANDIDATE, Event.RELEASE),
        (Status.EVICTED, Event.EVICT),
        (Status.DELETED, Event.DELETE),
        (Status.DELETED, Event.EXPIRE),
        (Status.LIVE, Event.PURGE),
    ],
)
def test_move__event_that_does_not_apply__is_refused_with_both_names(status: Status, event: Event):
    with pytest.raises(IllegalTransition, match=rf"{status}.*{event}"):
        move(status, event)


@pytest.mark.parametrize("event", list(Event))
def test_move__erased__stays_erased(event: Event):
    with pytest.raises(IllegalTransition):
        move(Status.ERASED, event)
    assert allowed(Status.ERASED) == frozenset()


@given(st.lists(st.sampled_from(Event), max_size=30))
def test_move__any_history__quarantine_is_left_only_by_a_decision(events: list[Event]):
    status = Status.CANDIDATE
    for event in events:
        before = status
        if event in allowed(status):
            status = move(status, event)
        if before is Status.QUARANTINED and status in READABLE:
            assert event is Event.RELEASE


def test_transitions__every_status_but_erased__can_be_erased_and_every_removal_restored():
    assert SOURCES[Event.ERASE] == frozenset(Status) - FINAL
    assert SOURCES[Event.RESTORE] == RESTORABLE
    removed = {target for (source, _), target in TRANSITIONS.items() if source in READABLE} - READABLE
    assert removed <= RESTORABLE | {Status.QUARANTINED} | FINAL


def test_released_to__replaced_row__does_not_come_back_beside_its_successor():
    assert released_to(Status.SUPERSEDED) is Status.SUPERSEDED
    assert released_to(Status.EVICTED) is Status.EVICTED
    assert released_to(Status.CONTESTED) is Status.LIVE
