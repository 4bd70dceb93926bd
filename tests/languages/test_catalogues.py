"""The translations are whole: nothing missing or guessed, and the compiled files made of what is in the repository."""

from __future__ import annotations

import pytest
from babel.messages.catalog import Catalog

from scripts.languages.catalogues import compiled, faults, languages, path_of, read, updated
from scripts.languages.collect import collect
from scripts.languages.sentences import LISTED, listing


def test_languages__of_the_settings__each_have_a_catalogue() -> None:
    from django.conf import settings

    assert [code for code, _name in settings.LANGUAGES if code != settings.LANGUAGE_CODE] == languages()


@pytest.mark.parametrize("language", languages())
def test_catalogue__of_a_language__holds_every_text_translated_with_its_places(language: str) -> None:
    """`make messages` brings the catalogue up to date, and says what is still to be translated."""
    assert path_of(language, "po").read_bytes() == updated(language, collect()), "run `make messages`"
    assert list(faults(read(language))) == []


@pytest.mark.parametrize("language", languages())
def test_catalogue__compiled__is_that_of_the_repository(language: str) -> None:
    assert path_of(language, "mo").read_bytes() == compiled(language), "run `make messages`"


def test_sentences__of_services__are_listed() -> None:
    assert LISTED.read_text(encoding="utf-8") == listing(), "run `make messages`"


@pytest.mark.parametrize(
    ("source", "said", "fault"),
    [
        ("Saved.", "", "not translated"),
        ("%(n)s left", "%(m)s übrig", "other places"),
        ("at most {0} of {1}", "höchstens {0}", "other places"),
        ("Begin<b>now</b>", "Jetzt<i>beginnen</i>", "other tags"),
        ("Saved.", "Gespeichert. ", "space"),
        (("%(n)s day", "%(n)s days"), ("%(n)s Tag", ""), "not translated"),
    ],
)
def test_faults__of_a_wrong_translation__are_found(
    source: str | tuple[str, str], said: str | tuple[str, str], fault: str
) -> None:
    """The positive control of the tests above."""
    catalog = Catalog(locale="de")
    catalog.add(source, said)
    assert [fault in found for found in faults(catalog)] == [True]


def test_faults__of_a_guess__are_found() -> None:
    catalog = Catalog(locale="de")
    catalog.add("Saved.", "Gespeichert.", flags=["fuzzy"])
    assert [found.partition(":")[0] for found in faults(catalog)] == ["guessed"]
