"""Search terms: the same words come out of a memory and of the question asked about it."""

import random
import threading

import pytest

from memory.domain.text import MAX_QUERY_TERMS, MAX_TERM_LENGTH, query_terms, terms


def test_terms__inflected_words__meet_in_one_stem() -> None:
    assert terms("The deploys were failing") == terms("deploy failed") == ["deploy", "fail"]


def test_terms__stop_words_and_contractions__leave_nothing() -> None:
    assert terms("It isn't that we're who you don't") == []


@pytest.mark.parametrize(
    "name", ["new_checkout", "new-checkout", "newCheckout", "NewCheckout", "NEW_CHECKOUT"]
)
def test_terms__one_identifier_in_any_case_style__gives_whole_and_parts(name: str) -> None:
    assert set(terms(name)) == {"newcheckout", "new", "checkout"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see /etc/app/config.yaml", {"etc/app/config.yaml", "etc", "app", "config", "yaml"}),
        ("http://example.com:8443/health", {"example", "8443", "health"}),
        ("user:42", {"user:42", "user", "42"}),
        ("django.db.models", {"django.db.models", "django", "db"}),
        ("pinned to v2.3.0", {"v2.3.0", "2.3.0"}),
        ("25MB", {"25mb", "25", "mb"}),
        ("limit 10,000", {"10000"}),
        ("2025-03-01", {"2025", "03", "01"}),
        ("C++ or C#", {"c++", "c#"}),
        ("dana@example.com", {"dana@example.com", "dana"}),
        ("e-mail", {"email"}),
    ],
)
def test_terms__codes_paths_and_numbers__are_found_whole_and_in_parts(text: str, expected: set[str]) -> None:
    assert expected <= set(terms(text, language=None))


def test_terms__different_versions__share_no_whole_term() -> None:
    assert set(terms("3.11")).isdisjoint(terms("3.12"))


def test_terms__accents_width_and_case__do_not_matter() -> None:
    assert terms("ＣＡＦÉ Zürich") == terms("cafe zurich") == ["cafe", "zurich"]


def test_terms__script_without_spaces__gives_pairs() -> None:
    assert {"東京", "京都"} <= set(terms("東京都に住む"))
    assert set(terms("猫")) & set(terms("猫が好き")) == {"猫"}


def test_terms__marks_of_indic_scripts__do_not_cut_words() -> None:
    assert terms("मुझे हिंदी पसंद है") == ["मुझे", "हिंदी", "पसंद", "है"]


def test_terms__language_given__uses_its_stemmer() -> None:
    assert terms("новые заказы", language="ru") == terms("новый заказ", language="ru")
    assert terms("the houses", language=None) == ["the", "houses"]


@pytest.mark.parametrize("text", ["", " \n", "?!…", "🎉👩‍👩‍👧", "\u200b\u202e", "___", "://"])
def test_terms__nothing_to_search__gives_no_terms(text: str) -> None:
    assert terms(text) == []


@pytest.mark.parametrize("unit", ["A", "a_", "a'", "1.", "日", "é", "\u0301", "a://"])
def test_terms__hostile_length__stays_bounded(unit: str) -> None:
    found = terms(unit * 60_000, limit=100)
    assert len(found) <= 100
    assert all(len(term) <= MAX_TERM_LENGTH for term in found)


def test_terms__any_code_points__never_fail_and_repeat_exactly() -> None:
    rng = random.Random(7)
    for _ in range(300):
        text = "".join(chr(rng.randrange(1, 0x2FFFF)) for _ in range(40))
        assert terms(text) == terms(text)


def test_terms__many_threads__agree() -> None:
    words = [f"running{chr(97 + i % 26)} deployments relational" for i in range(200)]
    alone = [terms(word) for word in words]
    seen: list[list[list[str]]] = []
    threads = [threading.Thread(target=lambda: seen.append([terms(w) for w in words])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [alone] * 8


def test_query_terms__repeats__are_asked_once_in_order() -> None:
    assert query_terms("port of the billing port") == ["port", "bill"]


def test_query_terms__too_many__keeps_codes_and_long_words() -> None:
    filler = " ".join(f"{a}{b}o" for a in "bcdfgh" for b in "klmnpr")
    kept = query_terms(f"{filler} ERR-4711 kubernetes")
    assert len(kept) == MAX_QUERY_TERMS
    assert {"err4711", "4711", "kubernet"} <= set(kept)
