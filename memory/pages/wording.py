"""Codes of the domain in the words of the pages: actions, triggers, findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext

from memory.domain.ids import show_id
from memory.domain.policy import Policy
from memory.models import AuditEvent

# Contexts of words that the domain declares; `scripts/languages/declared.py` collects them.
CODE, POLICY = "code", "policy"

_ACTIONS = {
    "memory.stored": gettext_lazy("stored it"),
    "memory.confirmed": gettext_lazy("learned it again"),
    "memory.echoed": gettext_lazy("wrote back what it had been shown"),
    "memory.held": gettext_lazy("wrote it, and it was held back"),
    "memory.superseded": gettext_lazy("replaced it with a newer value"),
    "memory.merged": gettext_lazy("merged it into another memory"),
    "memory.contested": gettext_lazy("marked it as contested"),
    "memory.archived": gettext_lazy("archived it"),
    "memory.evicted": gettext_lazy("evicted it"),
    "memory.expired": gettext_lazy("let it expire"),
    "memory.deleted": gettext_lazy("deleted it"),
    "memory.restored": gettext_lazy("restored it"),
    "memory.promoted": gettext_lazy("widened its scope"),
    "memory.edited": gettext_lazy("edited it"),
    "memory.pinned": gettext_lazy("pinned it"),
    "memory.unpinned": gettext_lazy("unpinned it"),
    "memory.verified": gettext_lazy("confirmed that it is still true"),
    "memory.quarantined": gettext_lazy("put it into quarantine"),
    "memory.quarantine_undone": gettext_lazy("took it out of quarantine with the whole step"),
    "memory.undeleted": gettext_lazy("brought it back with the whole deletion"),
    "memories.delete_started": gettext_lazy("began to delete many memories"),
    "memories.deleted": gettext_lazy("deleted many memories in one step"),
    "memories.undelete_started": gettext_lazy("began to take a deletion back"),
    "memories.undeleted": gettext_lazy("took a deletion back"),
    "memory.purged": gettext_lazy("took its text away for good"),
    "memory.sweep_undone": gettext_lazy("brought it back with the whole sweep"),
    "sweep.approved": gettext_lazy("let a stopped sweep go ahead"),
    "task.compressed": gettext_lazy("put the notes of the task into one episode"),
    "sweep.stopped": gettext_lazy("stopped before it removed too much"),
    "memory.released": gettext_lazy("released it from quarantine"),
    "promotion.requested": gettext_lazy("asked to share it more widely"),
    "promotion.approved": gettext_lazy("approved"),
    "promotion.approval_added": gettext_lazy("approved; one more is needed"),
    "promotion.rejected": gettext_lazy("rejected"),
    "promotion.quarantined": gettext_lazy("sent it to quarantine"),
    "promotion.withdrawn": gettext_lazy("took the request back"),
    "promotion.reopened": gettext_lazy("took the decision back"),
    "promotion.revalidated": gettext_lazy("brought the request up to date"),
    "promotion.snoozed": gettext_lazy("put the request off"),
    "promotion.woken": gettext_lazy("brought the request back"),
    "promotion.asked": gettext_lazy("asked the proposer"),
    "promotion.answered": gettext_lazy("answered a question"),
    "import_preview.begun": gettext_lazy("uploaded a file to import"),
    "import_preview.done": gettext_lazy("had a file looked at"),
    "import_run.begun": gettext_lazy("began an import"),
    "import_run.done": gettext_lazy("imported a file"),
    "export_trial.begun": gettext_lazy("began to count what an export would hold"),
    "export_trial.done": gettext_lazy("counted what an export would hold"),
    "export_run.begun": gettext_lazy("began an export"),
    "export_run.done": gettext_lazy("exported the tenant"),
    "export_run.downloaded": gettext_lazy("downloaded an export"),
    "mount.applied": gettext_lazy("applied a mount manifest"),
    "mount.refused": gettext_lazy("offered a mount manifest that was refused"),
    "contradiction.opened": gettext_lazy("opened the contradiction by writing"),
    "contradiction.settled": gettext_lazy("settled it"),
    "contradiction.reopened": gettext_lazy("took the decision back"),
}
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


def action_text(action: str) -> str:
    """What an actor did, to be read after the actor's name."""
    known = _ACTIONS.get(action)
    return str(known) if known else plain(action.replace(".", ": "))


def timeline(events: Iterable[AuditEvent]) -> list[dict[str, Any]]:
    """Audit events as the template `_timeline.html` draws them."""
    shown = []
    for event in events:
        text = action_text(event.action)
        if event.reason:
            text = f"{text}: {plain(event.reason) if ' ' not in event.reason else event.reason}"
        tone = _TONES.get(event.action.rpartition(".")[2], "")
        shown.append({"at": event.at, "actor": event.actor_name, "text": text, "tone": tone, "url": ""})
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
