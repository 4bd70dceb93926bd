import json
import unicodedata
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.domain.graphemes import clusters
from memory.domain.normalise import (
    BadText,
    TooLong,
    canonical_text,
    content_of,
    cut,
    normalise_metadata,
    normalise_predicate,
    normalise_subject,
    normalise_text,
    parse_ttl,
    preview,
    value_hash,
    value_key,
    value_text,
)
from memory.domain.values import Normaliser

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
FLAG = "\U0001f1f5\U0001f1f9"
# The Arabic letters and the tone of a Thai word, and a Lydian letter outside the first plane.
SAMPLES = [
    "ä" * 30,
    "e\u0301" * 30,
    FAMILY * 10,
    FLAG * 20,
    "👍🏽" * 20,
    "กำ" * 30,
    "שלום " * 10,
    "\U00010920" * 30,
]


def test_normalise_text__decomposed_with_nul__is_composed_without_it():
    assert normalise_text("  cafe\u0301\x00 ") == "café"


def test_normalise_text__lone_surrogate__is_refused_by_field():
    with pytest.raises(BadText) as caught:
        normalise_text("half \ud83d an emoji", "value")
    assert caught.value.field == "value" and "surrogate" in caught.value.problem


@pytest.mark.parametrize("length", [8001, 100_000])
def test_normalise_text__above_the_limit__says_limit_and_length(length: int):
    with pytest.raises(TooLong) as caught:
        normalise_text("x" * length)
    assert (caught.value.field, caught.value.limit, caught.value.actual) == ("content", 8000, length)


def test_normalise_text__composes_to_the_limit__passes():
    assert len(normalise_text("e\u0301" * 8000)) == 8000


@given(st.text())
def test_normalise_text__any_text__is_stable(text: str):
    try:
        once = normalise_text(text)
    except BadText:
        return
    assert normalise_text(once) == once and unicodedata.is_normalized("NFC", once)


def test_normalise_metadata__sixty_kilobytes__pass():
    clean = normalise_metadata({"notes": "x" * 60_000, "n": [1, 2.5, None, True, {"a": "b\x00"}]})
    assert clean["n"] == [1, 2.5, None, True, {"a": "b"}]


@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        ({"a": "x" * 70_000}, TooLong),
        ({"a": float("nan")}, BadText),
        ({"a": float("inf")}, BadText),
        ({"a": 10**400}, BadText),
        ({"a": "\udcff"}, BadText),
        ({"\udcff": 1}, BadText),
        ({"a": {1: 2}}, BadText),
        ({"a": object()}, BadText),
        ({f"k{n}": n for n in range(1001)}, TooLong),
        ({"a": list(range(1001))}, TooLong),
    ],
)
def test_normalise_metadata__not_storable__is_refused(metadata: dict[str, object], error: type[ValueError]):
    with pytest.raises(error):
        normalise_metadata(metadata)


def test_normalise_metadata__nested_too_deep__is_refused_without_recursing_on():
    deep: object = "x"
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(TooLong, match="levels"):
        normalise_metadata({"a": deep})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=40)
@given(st.dictionaries(st.text(), json_values, max_size=5))
def test_normalise_metadata__any_json__is_stored_or_refused_by_name(metadata: dict[str, object]):
    try:
        clean = normalise_metadata(metadata)
    except (BadText, TooLong):
        return
    assert "\x00" not in json.dumps(clean, ensure_ascii=False, allow_nan=False)


@pytest.mark.parametrize("spelling", ["Time Zone", "time-zone", "timeZone", "TIME_ZONE", " time.zone "])
def test_normalise_predicate__spellings__become_one(spelling: str):
    assert normalise_predicate(spelling) == "time_zone"


def test_normalise_subject__aliases__are_followed_and_a_cycle_ends():
    aliases = {"customer_42": "user:42", "acme corp": "org:acme", "a": "b", "b": "a"}
    assert normalise_subject(" Customer_42 ", aliases) == "user:42"
    assert {normalise_subject(s, aliases) for s in ("Acme Corp", "ACME Corp.", "acme  corp")} == {"org:acme"}
    assert normalise_subject("a", aliases) in ("a", "b")


@pytest.mark.parametrize(
    ("normaliser", "spellings"),
    [
        (Normaliser.TEXT, ["Acme Corp", "ACME corp.", ' "acme  corp" ', "Ａcme corp", "acme\u200b corp"]),
        (Normaliser.BOOLEAN, ["yes", "True", "ON", "enabled", "1"]),
        (Normaliser.NUMBER, ["1,200", "1200", "1200.0", "1 200", "+1200"]),
        (Normaliser.CURRENCY, ["€1,200", "1200 EUR", "1.200,00 €", "EUR 1200.00", "1.2k euros"]),
        (Normaliser.TIMEZONE, ["EST", "Eastern Time", "America/New York", "america/new_york", "US/Eastern"]),
        (Normaliser.TIMEZONE, ["UTC+2", "utc+02:00", "GMT +2"]),
        (
            Normaliser.DATE,
            ["1990-03-14", "14 March 1990", "March 14, 1990", "14th of Mar. 1990", "1990/3/14"],
        ),
        (Normaliser.LANGUAGE, ["en", "English", "english."]),
        (Normaliser.EMAIL, ["A@b.test", "mailto:a@B.test", "<a@b.test>"]),
    ],
)
def test_value_key__spellings_of_one_value__are_equal(normaliser: Normaliser, spellings: list[str]):
    assert len({value_key(spelling, normaliser) for spelling in spellings}) == 1


@pytest.mark.parametrize(
    ("normaliser", "one", "other"),
    [
        (Normaliser.TEXT, "eu-west-1", "eu-west-2"),
        (Normaliser.TEXT, "C", "C++"),
        (Normaliser.TEXT, "is it up?", "is it up"),
        (Normaliser.CURRENCY, "10 EUR", "10 USD"),
        (Normaliser.CURRENCY, "10 EUR", "10k EUR"),
        (Normaliser.NUMBER, "-5", "5"),
        (Normaliser.NUMBER, "1.200", "1,200"),
        (Normaliser.DATE, "03/04/2025", "04/03/2025"),
        (Normaliser.DATE, "14 March", "14 May"),
        (Normaliser.TIMEZONE, "UTC+2", "UTC-2"),
        (Normaliser.TIMEZONE, "Europe/Paris", "Europe/Berlin"),
        (Normaliser.BOOLEAN, "yes", "no"),
    ],
)
def test_value_key__different_values__stay_apart(normaliser: Normaliser, one: str, other: str):
    assert value_key(one, normaliser) != value_key(other, normaliser)


@given(st.text(), st.sampled_from(Normaliser))
def test_value_key__any_text__is_idempotent(text: str, normaliser: Normaliser):
    key = value_key(text, normaliser)
    assert value_key(key, normaliser) == key
    assert canonical_text(canonical_text(text)) == canonical_text(text)


def test_value_hash__of_a_key__is_that_of_the_value():
    assert value_hash(value_key("€1,200", "currency")) == value_hash("1200 eur", Normaliser.CURRENCY)
    assert len(value_hash("x")) == 32


def test_value_text__json_values__become_text():
    assert [value_text(v) for v in ("a", 3, 2.5, True, False)] == ["a", "3", "2.5", "true", "false"]
    with pytest.raises(ValueError, match="value"):
        value_text(["a"])


def test_content_of__triple__reads_as_a_sentence():
    assert content_of("user:42", "pricing_plan", "enterprise") == "user:42 pricing plan: enterprise"


@pytest.mark.parametrize(
    ("given_ttl", "seconds"),
    [
        (3600, 3600),
        ("3600", 3600),
        ("2w", 1_209_600),
        ("14d", 1_209_600),
        ("12h", 43_200),
        ("30m", 1800),
        ("45s", 45),
    ],
)
def test_parse_ttl__durations__are_exact(given_ttl: object, seconds: int):
    assert parse_ttl(given_ttl) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "wrong",
    [0, "0", -1, "-1d", "2 fortnights", "", "d", "1y", 1.5, True, False, [], "1d2h", "9" * 30, "999999999w", "٣d",
     10**5000],
    ids=lambda wrong: repr(wrong)[:20] if not isinstance(wrong, int) or abs(wrong) < 99 else "huge",
)  # fmt: skip
def test_parse_ttl__anything_else__is_refused(wrong: object):
    with pytest.raises(ValueError, match="ttl"):
        parse_ttl(wrong)


def test_parse_ttl__none__stays_none():
    assert parse_ttl(None) is None


def test_preview__emoji_at_the_cut__is_left_out_whole():
    shown = preview("x" * 199 + FAMILY, 200)
    assert shown == "x" * 199 + "…"


@given(st.sampled_from(SAMPLES), st.integers(min_value=0, max_value=40))
def test_cut__any_place__never_breaks_a_cluster(text: str, limit: int):
    kept = cut(text, limit)
    assert len(kept) <= limit and text.startswith(kept)
    whole = list(clusters(text))
    assert list(clusters(kept)) == whole[: len(list(clusters(kept)))]


@given(st.text(max_size=300), st.integers(min_value=0, max_value=50))
def test_preview__any_text__is_encodable_and_within_the_limit(text: str, limit: int):
    shown = preview(text.replace("\ud83d", ""), limit)
    assert len(shown) <= max(limit, 1)
    assert "".join(clusters(text)) == text
