"""Codes of the domain in the words of the pages: actions, triggers, findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext

from memory.domain.ids import show_id
from memory.domain.policy import Policy
from memory.domain.policy_fields import settings
from memory.models import AuditEvent
from memory.pages.audit_words import action_text, actor_text
from memory.services.said import said

# Contexts of words that the domain declares; `scripts/languages/declared.py` collects them.
CODE, POLICY = "code", "policy"

_CODED = frozenset(
    {
        "status",
        "status_reason",
        "kind",
        "outcome",
        "reason",
        "resolution",
        "risk",
        "severity",
        "layer",
        "origin",
    }
)
_TONES = {
    "approved": "ok", "promoted": "ok", "released": "ok", "restored": "ok", "settled": "ok", "verified": "ok",
    "rejected": "bad", "quarantined": "bad", "deleted": "bad", "held": "bad", "evicted": "warn",
    "expired": "warn", "superseded": "warn", "contested": "warn", "opened": "warn",
}  # fmt: skip
_FINDINGS = {
    "secret": gettext_lazy("Secret"),
    "pii": gettext_lazy("Personal data"),
    "personal": gettext_lazy("Personal data"),
    "instruction": gettext_lazy("Instruction"),
    "disguise": gettext_lazy("Disguised text"),
    "procedure": gettext_lazy("Procedure of an untrusted source"),
    "held_kind": gettext_lazy("Kind that the policy holds from untrusted sources"),
}


def plain(code: str) -> str:
    """A code in words, in the reader's language where these have them: `tool_output` → `tool output`."""
    words = code.replace("_", " ")
    return pgettext(CODE, words) if words else ""


def plain_reason(reason: str) -> str:
    """A reason code in words, what the product gave as a reason in the reader's language, a person's own as it is."""
    return said(reason) if " " in reason else plain(reason)


def value_words(field: str, value: str) -> str:
    """A value of a field that holds codes in words; of any other, which people and agents fill, as it is."""
    return plain_reason(value) if field in _CODED else value


def headed(code: str) -> str:
    """The same with a capital at its beginning; what follows keeps its own, as German nouns have them."""
    return upper_first(plain(code))


def upper_first(text: str) -> str:
    """A capital at the beginning."""
    return text[:1].upper() + text[1:]


def of_policy(text: str) -> str:
    """What the policy's schema and presets say about a setting, in the reader's language."""
    return pgettext(POLICY, text) if text else ""


def setting_words(path: str) -> str:
    """A path of the policy document in words (`decay floor`, `scopes project:* decay floor`), part and setting."""
    before, rest = "", path
    if path.startswith("scopes "):
        pattern, _space, rest = path.removeprefix("scopes ").partition(" ")
        before = f"{plain('scopes')} {pattern} "
    for part in Policy.model_fields:
        words = part.replace("_", " ")
        if rest == words:
            return f"{before}{plain(part)}"
        if rest.startswith(f"{words} "):
            return f"{before}{plain(part)}: {of_policy(rest.removeprefix(f'{words} '))}"
    return path


def change_words(change: str) -> str:
    """A change of the policy as its version keeps it (`decay floor 0.15 → 0.2`), the setting in words."""
    start = next((one for one in _settings() if change.startswith(f"{one} ")), "")
    return f"{setting_words(start)}{change.removeprefix(start)}" if start else change


@cache
def _settings() -> tuple[str, ...]:
    """Settings as changes name them, the longest first."""
    names = (" ".join(setting.path).replace("_", " ") for setting in settings())
    return tuple(sorted(names, key=len, reverse=True))


def timeline(events: Iterable[AuditEvent]) -> list[dict[str, Any]]:
    """Audit events as the template `_timeline.html` draws them."""
    shown = []
    for event in events:
        text = action_text(event.action)
        if event.reason:
            text = f"{text}: {plain_reason(event.reason)}"
        tone = _TONES.get(event.action.rpartition(".")[2], "")
        shown.append(
            {
                "at": event.at,
                "actor": actor_text(event.actor_name, event.actor_kind),
                "text": text,
                "tone": tone,
                "url": "",
            }
        )
    return shown


def finding_label(finding: Mapping[str, Any]) -> str:
    """The kind of a finding in words."""
    kind = str(finding.get("kind", ""))
    known = _FINDINGS.get(kind)
    return str(known) if known else headed(kind)


def signals(findings: Iterable[Mapping[str, Any]]) -> list[str]:
    """Findings as sentences: what was seen, in which field, by which rule."""
    return [
        _("%(what)s in %(field)s (%(rule)s)")
        % {
            "what": finding_label(one),
            "field": plain(str(one.get("field", ""))),
            "rule": plain(str(one.get("rule", ""))),
        }
        for one in findings
    ]


def said_key(subject: str, predicate: str) -> str:
    """`user:42 · plan`, or "" for free text."""
    return f"{subject} · {predicate}" if subject and predicate else subject or predicate


def shown(prefix: str, row: Any) -> str:
    """The shown id of a row."""
    return show_id(prefix, row.id)
