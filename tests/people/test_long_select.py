"""The select of hundreds of choices is the one that Django would draw."""

from __future__ import annotations

import pytest
from django import forms
from django.test.html import parse_html

from memory.pages.settings_forms import AccountForm, GeneralForm, LongSelect

HOSTILE = '"><script>alert(1)</script>'


class _Two(forms.Form):
    by_us = forms.ChoiceField(required=False, widget=LongSelect)
    by_django = forms.ChoiceField(required=False)

    def __init__(self, choices: list[tuple[str, str]], chosen: object) -> None:
        super().__init__(initial={"by_us": chosen, "by_django": chosen}, auto_id=False)
        for name in ("by_us", "by_django"):
            self.fields[name].choices = choices  # type: ignore[attr-defined]


@pytest.mark.parametrize("chosen", [None, "", "a", "b & c", HOSTILE, "none of them", 7])
def test_choices__of_every_kind__are_drawn_as_django_draws_them(chosen: object) -> None:
    choices = [
        ("", "Any"),
        ("a", "First"),
        ("a ", "Near"),
        ("b & c", "<Second>"),
        (HOSTILE, HOSTILE),
        ("7", "Seven"),
    ]
    form = _Two(choices, chosen)
    ours, theirs = str(form["by_us"]), str(form["by_django"]).replace("by_django", "by_us")
    assert parse_html(ours) == parse_html(theirs)
    assert "<script>" not in ours


@pytest.mark.parametrize("form", [AccountForm, GeneralForm])
def test_zones__of_a_saved_form__have_the_saved_one_chosen(form: type[forms.Form]) -> None:
    drawn = str(form(initial={"time_zone": "Asia/Kolkata"})["time_zone"])
    assert '<option value="Asia/Kolkata" selected>Asia/Kolkata</option>' in drawn
    assert drawn.count("<option") > 400 and drawn.count(" selected") == 1
