from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.ids import PREFIXES, new_id, parse_id, show_id

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def test_new_id__many_in_one_millisecond__rise_strictly_and_are_version_7():
    ids = [new_id(NOON) for _ in range(5000)]
    assert ids == sorted(set(ids))
    assert {(one.version, one.variant) for one in ids} == {(7, "specified in RFC 4122")}
    assert {one.int >> 80 for one in ids} == {int(NOON.timestamp() * 1000)}


def test_new_id__earlier_time_given_later__carries_that_time():
    new_id(NOON)
    earlier = datetime(2026, 4, 1, tzinfo=UTC)
    assert new_id(earlier) < new_id(NOON)


def test_new_id__naive_time__is_refused():
    with pytest.raises(ValueError, match="aware"):
        new_id(datetime(2026, 5, 1))  # noqa: DTZ001


@given(st.sampled_from(sorted(PREFIXES)), st.uuids())
def test_show_id__any_id__is_read_back(prefix: str, uuid: UUID):
    assert parse_id(prefix, show_id(prefix, uuid)) == uuid


@pytest.mark.parametrize(
    "text",
    ["", "mem", "mem_", "mem_12", "man_" + "0" * 32, "mem_" + "G" * 32, "mem_" + "A" * 32, "mem_" + "0" * 33,
     f"mem_{5:032x}\n", "mem_ " + "0" * 31],
)  # fmt: skip
def test_parse_id__anything_else__is_refused(text: str):
    with pytest.raises(ValueError, match="mem_"):
        parse_id("mem", text)
