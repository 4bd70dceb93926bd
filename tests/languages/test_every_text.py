"""Every page in a language that nobody speaks: what has no mark on its letters was never translated.

What agents and people wrote is not translated. It is taken from the tables, so that a forgotten text of ours is found
though it stands beside theirs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client, override_settings

from tests.languages.pseudo import marked, write_pseudo
from tests.languages.reading import plain_words, texts_of

if TYPE_CHECKING:
    from tests.pages.staging import Full

CODE = "en-xa"
# Names that are the same everywhere: of the product, of formats and processes, and in the sketch of the first page.
NAMES = frozenset(
    """
memgov English Deutsch CSV JSON YAML UTC SHA mgk mem UI worker beat Marked
billing bot project shared deploy pilot platform support triage agent
""".split()
)
# Codes that stand for themselves where they are shown: actions of the audit, predicates, ids, scopes.
CODES = re.compile(
    r"^[a-z]+\.[a-z_.]+$|^[a-z]+(_[a-z]+)+$|^(mem|prm|agt|key|job|man|smp|pdr)_[0-9a-f]+$|^[a-z]+:(KEY|\*)$"
)
ZONES = re.compile(r'<select [^>]*name="time_zone".*?</select>', re.DOTALL)
OF_ANYBODY = ("/", "/help/", "/tenants/", "/me/", "/accounts/password/change/", "/accounts/2fa/", "/nowhere/")
OF_NOBODY = ("/accounts/login/", "/accounts/signup/", "/demo/", "/invite/nothing/")


@pytest.fixture
def pseudo(tmp_path: Path) -> Iterator[None]:
    """A language of which every text has a mark."""
    folder = write_pseudo(tmp_path, "en_XA")
    with override_settings(LOCALE_PATHS=[folder], LANGUAGES=[("en", "English"), (CODE, "Marked")]):
        yield


def _browser(client: Client) -> Client:
    client.cookies["language"] = CODE
    return client


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield str(name)
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)


def _theirs(full: Full) -> set[str]:
    """The words in the tables: contents, names, reasons, documents."""
    from django.apps import apps
    from django.db.models import CharField, JSONField, TextField

    from tenants.models import User

    quiet = {
        "status",
        "kind",
        "layer",
        "origin",
        "outcome",
        "risk",
        "severity",
        "target_kind",
        "actor_kind",
        "message",
    }
    words: set[str] = set()
    with full.stage.context():
        for model in (
            *apps.get_app_config("memory").get_models(),
            *apps.get_app_config("tenants").get_models(),
        ):
            fields = [
                field.attname
                for field in model._meta.concrete_fields
                if isinstance(field, CharField | TextField | JSONField) and field.attname not in quiet
            ]
            rows = model.objects.filter(id__in=_people(full)) if model is User else model.objects.all()
            for row in rows.values_list(*fields)[:500]:
                for text in _strings(list(row)):
                    words.update(plain_words(text))
    return words


def _people(full: Full) -> list[Any]:
    return [one.user.id for one in (full.stage.owner, full.stage.reviewer)]


@cache
def _shipped() -> frozenset[str]:
    """What documents and scopes are written with: values of the policy, kinds of values and scopes, predicates."""
    from memory.domain.policy import Policy
    from memory.domain.policy_fields import settings
    from memory.domain.registry import BUILT_IN
    from memory.domain.scopes import ScopeKind
    from memory.domain.values import Normaliser

    codes = [
        "null",
        "cap",
        *Policy.model_fields,
        *Normaliser,
        *ScopeKind,
        *(choice for one in settings() for choice in one.choices),
    ]
    for rule in BUILT_IN:
        codes += [rule.name, *rule.aliases]
    return frozenset(word for code in codes for word in plain_words(str(code)))


def _unmarked(page: str, theirs: set[str]) -> list[str]:
    left, shipped = [], _shipped()
    for text in texts_of(ZONES.sub("", page)):
        whole = [word for word in text.split() if not word.endswith("…")]
        bare = [word for word in whole if not CODES.match(word.strip(".,:;()'"))]
        words = [word for part in bare for word in plain_words(part)]
        if any(word not in theirs and word not in NAMES and word not in shipped for word in words):
            left.append(text)
    return left


def test_pages__in_a_marked_language__have_no_text_without_a_mark(full: Full, pseudo: None) -> None:
    from tests.pages.staging import signed_in
    from tests.pages.test_every_page import FOR_ADMINS, FOR_REVIEWERS, READABLE, names

    browser, filled, theirs = _browser(signed_in(full.stage.owner)), names(full), _theirs(full)
    paths = [full.at(path.format(**filled)) for path in (*READABLE, *FOR_REVIEWERS, *FOR_ADMINS)]
    left: dict[str, list[str]] = {}
    pages = 0
    for path in (*OF_ANYBODY, *paths):
        answer = browser.get(path, follow=True)
        if "html" in answer.headers.get("Content-Type", ""):
            pages += 1
            left |= {path: found} if (found := _unmarked(answer.content.decode(), theirs)) else {}
    assert left == {}
    assert pages > 50


def test_pages__of_nobody__have_no_text_without_a_mark(database: None, pseudo: None) -> None:
    left = {}
    for path in OF_NOBODY:
        answer = _browser(Client()).get(path, follow=True)
        left |= {path: found} if (found := _unmarked(answer.content.decode(), set())) else {}
    assert left == {}


def test_refusals__in_a_marked_language__are_marked(full: Full, pseudo: None) -> None:
    """What services refuse is said in English to agents, and in the reader's language on a page."""
    from tests.pages.staging import signed_in
    from tests.pages.test_every_page import names

    browser, filled, theirs = _browser(signed_in(full.stage.owner)), names(full), _theirs(full)
    sent: tuple[tuple[str, dict[str, str]], ...] = (
        ("promotions/{prm}/decide/", {"action": "reject", "reason": "", "version": "1"}),
        ("promotions/{prm}/decide/", {"action": "approve", "reason": "yes", "version": "7"}),
        ("promotions/{prm}/ask/", {"text": ""}),
        ("contradictions/{con}/decide/", {"action": "keep_a", "reason": "", "version": "1"}),
        ("quarantine/{held}/decide/", {"action": "delete", "reason": "", "version": "1", "confirmed": "yes"}),
        ("memories/new/", {"content": "x", "scope": "nowhere:at all"}),
        ("memories/new/", {"content": "ok", "scope": "shared", "ttl": "soon"}),
        ("memories/{mem}/pin/", {"reason": "", "version": "1"}),
        ("memories/{mem}/edit/", {"content": "", "version": "1"}),
        ("memories/{mem}/delete/", {"reason": "", "version": "9"}),
        ("blast/quarantine/", {"memory": "{mem}", "reason": ""}),
        ("alerts/settings/channels/", {"kind": "email", "address": "nowhere"}),
        ("alerts/settings/rules/", {"metric": "regret", "breach": "much"}),
        ("agents/new/", {"name": "", "role": "Not A Role", "grants": "project alpha"}),
        ("agents/{agt}/keys/{key}/", {"networks": "here"}),
        ("members/", {"email": "nobody", "role": "auditor"}),
        ("settings/", {"name": "", "time_zone": "Moon/Crater"}),
        ("policies/", {"document": "decay: {floor: 7, roof: 1}", "reason": "no"}),
        ("policies/drafts/{pdr}/fields/", {"decay.floor": "deep", "version": "1"}),
        ("vocabulary/aliases/", {"alias": "user:7", "subject": "user:7"}),
    )
    left = {}
    for path, fields in sent:
        answer = browser.post(
            full.at(path.format(**filled)),
            {name: value.format(**filled) if "{m" in value else value for name, value in fields.items()},
        )
        assert answer.status_code in (409, 422), (path, answer.status_code)
        theirs_too = theirs | {word for value in fields.values() for word in plain_words(value)}
        left |= {path: found} if (found := _unmarked(answer.content.decode(), theirs_too)) else {}
    assert left == {}


def test_unmarked__a_text_of_ours_without_a_mark__is_found() -> None:
    """The positive control: among marked texts, words of others and codes, the forgotten one is seen."""
    page = (
        f"<p>{marked('Saved.')}</p><p>{marked('by')} helper-7</p><code>left_alone</code><p class='mem'>an agent's</p>"
        "<p>memory.held</p><button title='Forgotten'>x</button><p>Nobody marked this</p>"
    )
    assert _unmarked(page, {"helper"}) == ["Forgotten", "Nobody marked this"]
    assert json.dumps(marked("%(n)s of {0} <b>here</b>")).count("%(n)s") == 1
