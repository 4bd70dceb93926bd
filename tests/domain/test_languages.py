"""Search in more languages than English: what a text is found by, and what a query asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.languages import LANGUAGES, guessed
from memory.domain.search_terms import asked, index_terms
from memory.domain.text import MAX_QUERY_TERMS, MAX_TERMS, query_terms, terms


def found(content: str, query: str, *languages: str) -> set[str]:
    """The words of the query that the content holds, by the first of their terms."""
    held = set(index_terms(content))
    return {ways[0] for ways in asked(query, languages) if held.intersection(ways)}


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Der Kunde will die Rechnung monatlich."), ("fr", "Le client veut une facture par mois."),
        ("es", "¿Cuándo enviamos los pedidos?"), ("it", "Il cliente preferisce la fattura mensile."),
        ("nl", "De klant wil de factuur per maand."), ("pt", "O cliente não quer a fatura mensal."),
        ("sv", "Kunden vill ha fakturan varje månad."), ("fi", "Asiakas haluaa laskun, mutta ei joka viikko."),
        ("tr", "Müşteri aylık fatura istiyor."), (None, "The customer wants the invoice monthly."),
        (None, "Use the MIT license and run ./la/mit.sh on port 8080."), (None, "GLW-2207"), (None, ""),
        (None, "東京都に住む"), (None, "новые заказы"),
    ],
)  # fmt: skip
def test_guessed__single_sentences__are_told_apart(language: str | None, text: str) -> None:
    assert guessed(text) == language


@pytest.mark.parametrize(
    ("content", "query", "words"),
    [
        # stems of the query's own language, on both sides
        ("Die Lieferungen gehen in das Lager am Hafen.", "Wohin geht nun die Lieferung?", 2),
        ("Les factures sont envoyées au client le lundi.", "Quand est-ce que la facture est envoyée ?", 2),
        ("Los pedidos grandes se envían los lunes.", "¿Cuándo se envía el pedido grande?", 3),
        ("Заказы отправляются по понедельникам.", "отправка заказа понедельник", 2),
        ("يحب المستخدم الكتب القديمة", "كتب مستخدم", 2),
        ("Ο χρήστης έστειλε την ΠΑΡΑΓΓΕΛΙΑ", "παραγγελία του χρήστη", 2),
        # signs that writers leave out
        ("يُحِبُّ المُسْتَخْدِمُ القَهْوَةَ", "القهوة", 1),
        ("Der Müller wohnt in der Straße der Künste.", "Wo wohnt Muller?", 2),
        # scripts without spaces
        ("顧客は毎月の請求書を希望する", "請求書", 2),
        ("客户要求每月开发票", "发票", 1),
        ("고객은 매월 청구서를 원한다", "청구서", 2),
        ("ลูกค้าต้องการใบแจ้งหนี้ทุกเดือน", "ใบแจ้งหนี้", 9),
        # compounds
        ("Die Rechnungsprüfung ist dienstags.", "Wann ist die Prüfung?", 1),
        ("Das Lieferungslager ist am Hafen.", "Lager", 1),
        ("Das Lieferungslager ist am Hafen.", "Lieferung", 1),
        ("De klant wil een verzekeringspolis.", "polis", 1),
        # codes, paths and numbers in any language
        ("Der Fehler GLW-2207 ist in src/glow/api.py auf Port 8080.", "GLW-2207 api.py 8080", 6),
        ("Die Funktion getUserName gibt 3,50 zurück.", "user name", 2),
    ],
)  # fmt: skip
def test_index_and_query__of_one_language__meet(content: str, query: str, words: int) -> None:
    assert len(found(content, query)) == words


def test_asked__short_query__needs_the_languages_of_the_policy() -> None:
    content = "Die Lieferungen gehen in das Lager am Hafen."
    assert found(content, "Lieferung") == set()
    assert found(content, "Lieferung", "de") == {"lieferung"}
    assert found(content, "Lieferung", "fr", "de") == {"lieferung"}


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("Dana went to the harbour.", "Where does Dana go?"), ("They go to the harbour.", "who went there"),
        ("The kiln was bought by two people.", "2 person buy"), ("Releases need 2 signatures.", "two signatures"),
        ("Its children took the left door.", "Which child takes it?"),
    ],
)  # fmt: skip
def test_index_and_query__irregular_forms_and_small_numbers__meet(content: str, query: str) -> None:
    words = asked(query)
    assert len(found(content, query)) >= len(words) - 1
    assert all(len(ways) <= 2 for ways in words)
    assert [ways for ways in asked("go went gone") if "go" in ways] == [("go", "went", "gone")], (
        "asked for once"
    )


def test_asked__function_words_of_its_language__are_not_asked_for() -> None:
    assert [ways[0] for ways in asked("Wann liefern wir an das Lager?")] == ["liefern", "lager"]
    assert [ways[0] for ways in asked("When do we deliver to the depot?")] == ["deliv", "depot"]


@pytest.mark.parametrize(
    ("query", "kept"),
    [("var", {"var"}), ("env var name", {"env", "var", "name"}), ("com port", {"com", "port"}),
     ("man page", {"man", "page"}), ("van", {"van"}), ("LA", {"la"}), ("les", {"les"}), ("wann wo", {"wann", "wo"})],
)  # fmt: skip
def test_asked__english_word_that_is_a_function_word_elsewhere__is_asked_for(
    query: str, kept: set[str]
) -> None:
    assert {ways[0] for ways in asked(query)} == kept


@pytest.mark.parametrize("query", ["what he said, she would say", "two 2", "made make", "go went gone"])
def test_asked__no_term_twice(query: str) -> None:
    flat = [term for ways in asked(query) for term in ways]
    assert len(flat) == len(set(flat))


@given(st.text(max_size=300), st.lists(st.sampled_from(LANGUAGES), max_size=3))
def test_any_text__keeps_its_plain_terms_and_finds_itself(text: str, languages: list[str]) -> None:
    held = index_terms(text)
    assert held[: len(terms(text))] == terms(text) and len(held) <= MAX_TERMS
    words = asked(text, languages)
    flat = [term for ways in words for term in ways]
    assert len(flat) <= MAX_QUERY_TERMS and all(ways for ways in words)
    assert {ways[0] for ways in words} <= set(query_terms(text))
    assert all(set(held).intersection(ways) for ways in words)


def test_index_terms__of_the_longest_text__stay_within_bounds() -> None:
    long = "Die Donaudampfschifffahrtsgesellschaft und das Verzekeringspolislager prüfen nicht. " * 95
    assert len(index_terms(long)) <= MAX_TERMS


def test_index_terms__of_one_word_without_end__tries_no_compounds() -> None:
    endless = "Der Plan ist nicht " + "bcdefghijab" * 720
    assert index_terms(endless) == terms(endless)
