"""How memory text, differences, times and sparklines are drawn: nothing hostile may come through alive."""

from __future__ import annotations

import datetime as dt
import re

import pytest
import time_machine
from django.template import Context, Template
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from memory.pages.templatetags.plaintext import reveal, reveal_spans
from memory.pages.templatetags.wordmarks import word_diff

NOW = dt.datetime(2026, 3, 31, 12, 0, tzinfo=dt.UTC)
HIDDEN = ["\u200b", "\u202e", "\u2066", "\u00ad", "\ufeff", "\x00", "\x1b", "\U000e0041"]


def render(source: str, **context: object) -> str:
    return Template("{% load memgov_ui %}" + source).render(Context(context))


@pytest.mark.parametrize("char", HIDDEN)
def test_reveal__hidden_character__is_drawn_as_an_escape(char: str) -> None:
    shown = reveal(f"pay{char}now")
    assert char not in shown
    assert f"U+{ord(char):04X}" in shown


def test_reveal__markup__is_escaped() -> None:
    assert reveal("<img src=x onerror=alert(1)>") == "&lt;img src=x onerror=alert(1)&gt;"


def test_reveal__joiner_inside_a_script__stays_unless_strict() -> None:
    word = "می\u200cخواهم"
    assert reveal(word) == word
    assert "ZWNJ" in reveal(word, strict=True)
    assert "ZWNJ" in reveal("pass\u200cword")


@given(st.text(), st.lists(st.tuples(st.integers(-3, 40), st.integers(-3, 40), st.just('"><b>'))))
def test_reveal_spans__any_text_and_spans__keeps_every_character_and_adds_no_element(
    text: str, spans: list[tuple[int, int, str]]
) -> None:
    shown = reveal_spans(text, spans)
    rest = re.sub(r'<span class="vh">[^<]*</span></mark>|<mark title="[^"]*">', "", shown)
    assert rest == reveal(text, strict=True)
    for ours in ('<span class="esc"', "</span>"):
        rest = rest.replace(ours, "")
    assert "<" not in rest


def test_reveal_spans__overlapping_spans__draw_no_character_twice() -> None:
    shown = reveal_spans("abcdef", [(0, 4, "one"), (2, 6, "two")])
    assert shown.count("c") - shown.count("class") == 1
    assert shown.index("abcd") < shown.index("ef")


def test_word_diff__one_word_changed__is_marked_on_both_sides() -> None:
    found = word_diff("issued in USD here", "issued in EUR here")
    assert found.old == "issued in <del>USD</del> here"
    assert found.new == "issued in <ins>EUR</ins> here"
    assert found.marked


def test_word_diff__very_different_sentences__are_shown_plain() -> None:
    found = word_diff("one two three", "four five <b>six</b>")
    assert not found.marked
    assert found.new == "four five &lt;b&gt;six&lt;/b&gt;"


@given(st.text(max_size=60), st.text(max_size=60))
def test_word_diff__any_two_texts__adds_only_del_and_ins(old: str, new: str) -> None:
    found = word_diff(old, new)
    for side in (found.old, found.new):
        for ours in ("<del>", "</del>", "<ins>", "</ins>", '<span class="esc"', "</span>"):
            side = side.replace(ours, "")
        assert "<" not in side


@pytest.mark.parametrize(
    ("minutes", "shown"),
    [(0, "just now"), (5, "5 min ago"), (180, "3 h ago"), (2 * 1440, "2 days ago"), (-90, "in 1 h")],
)
def test_ago__recent_moment__is_relative_with_the_instant_on_hover(minutes: int, shown: str) -> None:
    moment = NOW - dt.timedelta(minutes=minutes)
    with time_machine.travel(NOW, tick=False):
        html = render("{% ago t %}", t=moment)
    assert f">{shown}</time>" in html
    assert f'datetime="{moment.isoformat(timespec="seconds")}"' in html
    assert "UTC" in html


def test_ago__long_past__is_a_date() -> None:
    with time_machine.travel(NOW, tick=False):
        assert ">4 Jan 2026</time>" in render("{% ago t %}", t=dt.datetime(2026, 1, 4, 9, tzinfo=dt.UTC))


def test_sparkline__gap_in_the_data__is_a_gap_in_the_line() -> None:
    html = render("{% sparkline v %}", v=[1, 2, None, 3, 4])
    assert html.count("<polyline") == 2
    assert "style" not in html


@pytest.mark.parametrize("values", [[], [None, None], [5], [5, 5, 5], [None, 1, None]])
def test_sparkline__too_little_data__still_draws(values: list[float | None]) -> None:
    html = render("{% sparkline v %}", v=values)
    assert html.startswith("<svg") and "nan" not in html


def test_chip__unknown_state__is_shown_in_words() -> None:
    assert ">Half open</span>" in render('{% chip "status" s %}', s="half_open")


def test_chip__hostile_state__is_escaped() -> None:
    assert "<b>" not in render('{% chip "status" s %}', s="<b>x</b>")


def test_raw__number_under_a_comma_locale__stays_machine_readable() -> None:
    with translation.override("de"):
        assert render("{{ x|raw }}", x=0.86) == "0.86"
        assert render("{{ x|unit_score }}", x=0.86) == "0,86"
