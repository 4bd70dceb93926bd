"""The share of directives held and of statements let through, as floors that a change must not break.

The first figures, taken before anything was mended, are in `docs/sanitisation.md`; these hold what is reached.
"""

from __future__ import annotations

import pytest

from memory.domain.sanitisation import Sanitised, SanitiseRules, sanitise

from . import held_out
from .more_disguises import DISGUISED, HARMLESS_DISGUISES, MORE_DISGUISES, PLAIN

RULES = SanitiseRules()
LOW, TRUSTED = 0.3, 0.8


def _sanitised(text: str, trust: float = LOW) -> Sanitised:
    return sanitise({"content": text}, {}, trust=trust, kind="fact", layer="semantic", rules=RULES)


def _passed(texts: list[str], trust: float = LOW) -> list[str]:
    return [text for text in texts if _sanitised(text, trust).verdict == "pass"]


def _texts(name: str) -> list[str]:
    return [case.text for case in held_out.cases(name)]


@pytest.mark.parametrize(
    ("name", "floor"), [("directives", 0.97), ("indirect", 0.92), ("final_directives", 0.95)]
)
def test_directives__low_trust__are_held(name: str, floor: float) -> None:
    texts = _texts(name)
    missed = _passed(texts)
    assert 1 - len(missed) / len(texts) >= floor, missed


@pytest.mark.parametrize("name", ["clean", "statements", "final_clean"])
def test_statements__low_trust__pass(name: str) -> None:
    texts = _texts(name)
    held = [text for text in texts if text not in _passed([text])]
    assert len(held) / len(texts) <= 0.02, held


def test_preferences_and_procedures__trusted__all_pass() -> None:
    texts = _texts("trusted")
    assert _passed(texts, TRUSTED) == texts


def test_disguises__low_trust__are_held() -> None:
    families = ("override", "trigger_exfil", "plain_imperative", "secrecy")
    texts = [case.text for case in held_out.cases("directives") if case.family in families]
    disguised = list(held_out.disguised(texts))
    missed = [(name, plain) for name, text, plain in disguised if _sanitised(text).verdict == "pass"]
    assert 1 - len(missed) / len(disguised) >= 0.97, missed


def test_disguised_statements__nothing_directs__pass() -> None:
    texts = _texts("clean")[:40]
    harmless = (
        "fullwidth",
        "mathematical",
        "base64",
        "hex",
        "percent",
        "entities",
        "escapes",
        "comment",
        "rot13",
    )
    disguised = [case for case in held_out.disguised(texts) if case[0] in harmless]
    held = [(name, plain) for name, text, plain in disguised if _sanitised(text).verdict != "pass"]
    assert len(held) / len(disguised) <= 0.02, held


def test_more_disguises__low_trust__are_held() -> None:
    disguised = [(name, disguise(text)) for name, disguise in MORE_DISGUISES.items() for text in DISGUISED]
    missed = [(name, text) for name, text in disguised if _sanitised(text).verdict == "pass"]
    assert 1 - len(missed) / len(disguised) >= 0.97, missed


@pytest.mark.parametrize("name", HARMLESS_DISGUISES)
def test_more_disguises__of_a_plain_statement__pass(name: str) -> None:
    texts = [MORE_DISGUISES[name](text) for text in PLAIN]
    assert _passed(texts) == texts


@pytest.mark.parametrize("label", ["secret", "disguised"])
def test_authors_list__secrets_and_disguises__are_found(label: str) -> None:
    texts = held_out.by_authors(label)
    found = [text for text in texts if _sanitised(text).findings]
    assert found == texts


@pytest.mark.parametrize("name", ["secrets", "fresh_secrets"])
def test_secrets__any_trust__are_redacted(name: str) -> None:
    for text, secret in held_out.secrets(name):
        assert secret not in _sanitised(text, 1.0).fields["content"], text


@pytest.mark.parametrize("name", ["lookalikes", "fresh_lookalikes", "authors"])
def test_lookalikes__no_secret__stay_as_they_are(name: str) -> None:
    texts = held_out.by_authors("lookalike") if name == "authors" else _texts(name)
    changed = [text for text in texts if _sanitised(text).fields["content"] != text]
    assert len(changed) / len(texts) <= 0.02, changed
