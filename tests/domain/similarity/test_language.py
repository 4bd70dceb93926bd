"""The guess of a language, which only has to keep English rules where they belong."""

import pytest

from memory.domain.similarity import guess_language
from memory.domain.similarity.language import common_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The user likes tea", "en"),
        ("vegetarian", "en"),
        ("Infra runs on K8s", "en"),
        ("Zoë lives in Zürich", "en"),
        ("Kunde wohnt in Bern", "de"),
        ("Il a un chat et un chien", "fr"),
        ("El cliente usa PostgreSQL 15", "es"),
        ("Trabalha em Lisboa", "pt"),
        ("Он любит чай", "ru"),
        ("ユーザーは東京に住んでいます", "ja"),
        ("用户喜欢茶", "zh"),
        ("서울에 삽니다", "ko"),
        ("koffie of thee", None),
        ("Lieblingsfarbe: blau", None),
        ("qx-9 = zzr", None),
        ("", None),
    ],
)
def test_guess_language__short_text__is_told_or_left_open(text: str, language: str | None) -> None:
    assert guess_language(text) == language


def test_common_language__plain_text_of_no_language__follows_the_other() -> None:
    assert common_language("qx-9", "The user has qx-9", None, None) == "en"
    assert common_language("Lieblingsfarbe: grün", "The user likes green", None, None) is None
    assert common_language("Kunde wohnt in Bern", "The user lives in Bern", None, None) is None
