"""Numbers, days, texts and bytes that no field expects, in every field of every form: an answer, never a crash."""

from __future__ import annotations

import logging
from collections import Counter

import pytest
from django.test import Client

from memory.services.invitations import invitation_create
from tests.factories import Stage, make_tenant
from tests.pages.lived import live
from tests.pages.oddities import (
    COUNTS,
    NUL,
    ODD,
    TEXTS,
    WORDS,
    found_forms,
    mixed,
    name_of,
    send,
    share,
    tries,
)
from tests.pages.rendered_forms import Form
from tests.pages.staging import fill, signed_in

SIGNED_OUT = ("/", "/accounts/login/", "/accounts/password/reset/")
# The form of a draft has a field for each setting of the policy; they are read by one function.
MANY = 40
EVERY = 16

pytestmark = pytest.mark.usefixtures("as_deployed")


def test_oddities__in_every_field_of_every_form__never_crash(
    database: None, caplog: pytest.LogCaptureFixture
) -> None:
    """On a stage of its own: some are taken, for they are text."""
    caplog.set_level(logging.CRITICAL)
    lived = live(fill(make_tenant()))
    browser = signed_in(lived.full.stage.owner)
    browser.raise_request_exception = False
    found = found_forms(browser, [*lived.paths(), "/me/"])
    crashed, met, answers = [], set(), Counter[int]()
    for form, name, value in tries([one for one in found if len(one.names) <= MANY]):
        status = send(browser, form, {name: value})
        answers[status] += 1
        met.add((form.action, name))
        if status >= 500:
            crashed.append(f"{name_of(form)} {name}={value[:40]!r}")
    crashed += _wide(browser, next(one for one in found if len(one.names) > MANY))
    assert crashed == []
    assert len(met) > 120
    # What was gone or decided meanwhile reads no field.
    assert answers[404] + answers[409] < answers.total() / 3, answers


def _wide(browser: Client, form: Form) -> list[str]:
    """The form with very many fields: odd values in all of them at once, and in some of them alone."""
    odd = list(dict.fromkeys([*TEXTS, *COUNTS, *WORDS]))
    names = [name for name in form.names if name != "version"]
    given = list(mixed(names, odd))
    alone = names[::EVERY]
    given += [{name: value} for at, name in enumerate(alone) for value in share(odd, at, len(alone))]
    return [f"{name_of(form)} {list(one)[:3]}" for one in given if send(browser, form, one) >= 500]


def test_front__of_people_without_an_account__never_crashes(stage: Stage) -> None:
    link = invitation_create(stage.owner.principal, f"{stage.tenant.slug}-new@example.test", "auditor").link
    nobody = Client(raise_request_exception=False)
    paths = [*SIGNED_OUT, "/invite/" + link.split("/invite/")[1]]
    crashed = []
    for form in found_forms(nobody, paths):
        for name in form.names:
            for value in (NUL, *ODD):
                status = send(nobody, form, {name: value})
                if status >= 500 and name_of(form) != "pages:demo":  # every demo taken is a 503
                    crashed.append(f"{name_of(form)} {name}={value[:40]!r}: {status}")
    assert crashed == []
