"""Words of a template are those of the reader's language, although each is looked up once."""

from __future__ import annotations

import pytest
from django.template import engines
from django.utils import translation
from django.utils.safestring import SafeString


def drawn(source: str, language: str | None, **context: object) -> str:
    with translation.override(language):
        return str(engines["django"].from_string(source).render(context))


@pytest.mark.parametrize(
    "source",
    [
        '{% trans "Reason" %}', '{% translate "Reason" %}', "{% trans 'Reason' %}",
        '{% trans "Reason" as word %}[{{ word }}]', '{% trans "No such text & <b>" %}', '{% trans "100% of it" %}',
        '{% trans "Reason"|upper %}', "{% trans given %}", '{% trans "Reason" noop %}',
        '{% trans "Reason" context "x" %}',
        '{% autoescape off %}{% trans "No such text & <b>" %}{% endautoescape %}',
    ],
)  # fmt: skip
def test_words__in_every_form_of_the_tag__are_those_of_django(source: str) -> None:
    for language in ("en", "de", "en", None):
        theirs = drawn("{% load i18n %}" + source, language, given="Scope & <i>")
        assert drawn(source, language, given="Scope & <i>") == theirs


def test_words__of_one_template__follow_the_language() -> None:
    page = engines["django"].from_string('{% trans "Reason" %} {% trans "Scope" as word %}{{ word }}')
    said = []
    for language in ("en", "de", "en", "de"):
        with translation.override(language):
            said.append(page.render({}))
    assert said[0] == "Reason Scope" == said[2]
    assert said[1] == said[3] != said[0]
    assert isinstance(said[0], SafeString)
