"""Pages say things in words: what was done and by what, who is signed in where, how many there are, what changed."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from django.test import Client
from django.utils import translation

from memory.domain.policy import Policy
from memory.pages.audit_words import ACTIONS, action_text, actor_text
from memory.pages.browsers import browser_text
from memory.pages.context import named
from memory.pages.policy_shapes import value_text
from memory.pages.templatetags.memgov_ui import breakable, lasting
from memory.pages.wording import change_words, plain_reason, value_words
from memory.services.policies import policy_activate
from memory.services.said import said
from memory.services.sweeps import SWEEPS
from tests.factories import Stage
from tests.pages.staging import Full

ROOT = Path(__file__).resolve().parents[2]
# What looks like an action and is none: kinds of jobs, names of parts that act, rules, files.
NOT_ACTIONS = {
    "agent.id", "export.run", "export.trial", "import.preview", "import.run", "import.undo",
    "blast.quarantine", "blast.undo",
    "memories.delete", "memories.undelete", "policy.preview", "alerts.delivery", "sweep.retention", "sweep.undo",
    "subject.erase", "tenant.slug", "tenant.create", "tenant.ends",
}  # fmt: skip


def actions() -> set[str]:
    """Every action that a service appends to the audit, as far as it stands there as one text."""
    firsts = {code.partition(".")[0] for code in ACTIONS}
    found: set[str] = set()
    for folder in ("memory/services", "memory/store", "tenants"):
        for path in (ROOT / folder).rglob("*.py"):
            if "migrations" in path.parts:
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                text = node.value if isinstance(node, ast.Constant) else None
                if isinstance(text, str) and re.fullmatch(r"[a-z_]+\.[a-z_]+", text):
                    found |= {text} if text.partition(".")[0] in firsts else set()
    return found - NOT_ACTIONS


def test_actions__of_every_service__have_words() -> None:
    found = actions()
    assert len(found) > 90, "the search found them"
    assert found - set(ACTIONS) == set()


def test_action_text__of_an_unknown_code__is_readable() -> None:
    assert action_text("kite.let_fly") == "kite: let fly"


@pytest.mark.parametrize("name", sorted(SWEEPS))
def test_actor_text__of_every_sweep__is_a_word(name: str) -> None:
    assert actor_text(f"sweep.{name}") != f"sweep.{name}"


def test_actor_text__of_an_agent_that_is_called_like_a_part__is_its_name() -> None:
    assert actor_text("sweep.decay", "agent") == "sweep.decay"
    assert actor_text("cli.export") == "Command line"
    assert actor_text("invoice-beetle") == "invoice-beetle"


def test_reasons_of_the_product__are_said_in_german_and_those_of_people_as_they_are() -> None:
    with translation.override("de"):
        assert plain_reason("unused and unconfirmed: decayed below the floor").startswith("weder genutzt")
        assert plain_reason("the crew relies on it") == "the crew relies on it"


def test_audit__says_who_and_what_in_words_and_keeps_the_code(full: Full, owner: Client) -> None:
    page = owner.get(full.at("audit/")).content.decode()
    assert "<code>memory.stored</code>" not in page
    assert "stored it" in page and '<dd class="id">memory.stored</dd>' in page
    assert '<option value="memory.stored">Stored it</option>' in page


@pytest.mark.parametrize(
    ("agent", "shown"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0", "Edge on Windows"),
        ("Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36", "Chrome on Android"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1", "Safari on iPhone"),
        ("curl/8.5.0", "curl/8.5.0"),
        ("", ""),
    ],
)  # fmt: skip
def test_browser_text__of_what_browsers_send__is_short(agent: str, shown: str) -> None:
    assert browser_text(agent) == shown


def test_sessions__name_the_browser_and_keep_hostile_ones_harmless(stage: Stage, reviewer: Client) -> None:
    reviewer.get("/me/", headers={"user-agent": 'x" onload="alert(1)<b>'})
    assert 'onload="alert' not in reviewer.get("/me/").content.decode()


def test_sign_in__asks_in_our_words(database: None) -> None:
    page = Client().get("/accounts/login/").content.decode()
    assert "E-mail" in page and "Keep me signed in" in page
    assert "Remember Me" not in page and "placeholder" not in page
    assert ">E-mail" in Client().get("/accounts/password/reset/").content.decode()


def test_start__with_one_waiting__speaks_of_one(full: Full, reviewer: Client) -> None:
    page = reviewer.get(full.base).content.decode()
    assert "promotion to decide" in page and "promotions to decide" not in page


def test_policy__marks_and_opens_the_part_that_changed(stage: Stage, owner: Client) -> None:
    document = Policy().model_dump(mode="json")
    document["decay"]["floor"] = 0.2
    policy_activate(stage.owner.principal, document, "a try")
    page = owner.get(f"/t/{stage.tenant.slug}/policies/").content.decode()
    assert page.count("Changed in this version") == 1
    assert re.findall(r'<details class="more" open><summary>([^<]+)', page) == ["Decay"]


@pytest.mark.parametrize(
    ("minutes", "shown"),
    [(0, "0 min"), (45, "45 min"), (90, "90 min"), (120, "2 h"), (1440, "1 day"), (1500, "25 h"), (4320, "3 days")],
)  # fmt: skip
def test_lasting__is_exact(minutes: int, shown: str) -> None:
    assert lasting(minutes) == shown


def test_breakable__escapes_and_breaks_before_the_domain() -> None:
    assert breakable("a<b>@demo.example") == "a&lt;b&gt;<wbr>@demo.example"
    assert breakable("nobody") == "<wbr>nobody"


def test_values_of_policies__are_words_and_figures_of_the_language() -> None:
    with translation.override("de"):
        assert [value_text(one) for one in (0.25, 30, True, ["tool_output", "mood"], "merge", "a_name")] == [
            "0,25", "30", "an", "Ausgabe eines Werkzeugs, mood", "zusammenführen", "a_name",
        ]  # fmt: skip
        assert change_words("decay floor 0.15 → 0.2") == "Verblassen: Untergrenze 0.15 → 0.2"
    assert change_words("something else") == "something else"


def test_values__of_fields_that_people_fill__stay_as_they_are() -> None:
    with translation.override("de"):
        assert value_words("status", "evicted") == "verdrängt"
        assert value_words("content", "evicted") == "evicted"


def test_figures_in_sentences__have_the_units_of_the_language() -> None:
    alert = "Review queue age of the whole tenant is 11.4 days, at or above 7 days (breach)."
    with translation.override("de"):
        assert "11,4 Tage" in said(alert) and "7 Tage" in said(alert)
        assert said("wait some days") == "wait some days"
    assert said(alert) == alert


def test_demo_sign_ins__name_the_role_in_the_readers_language() -> None:
    with translation.override("de"):
        assert named({"tenant": "Lanternworks", "role": "owner"})["what"] == "Lanternworks: Inhaber"


def test_members__of_a_demo__are_told_before_they_type_that_nobody_is_invited(
    stage: Stage, owner: Client
) -> None:
    path = f"/t/{stage.tenant.slug}/members/"
    assert 'name="email"' in owner.get(path).content.decode()
    type(stage.tenant).objects.filter(id=stage.tenant.id).update(is_demo=True)
    page = owner.get(path).content.decode()
    assert "Nobody is invited to a demo." in page and 'name="email"' not in page
