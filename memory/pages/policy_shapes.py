"""How policies look on their pages: documents in words, changes, versions, drafts, and who was faster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import yaml
from django.utils.formats import localize
from django.utils.translation import gettext as _

from memory.domain.ids import show_id
from memory.domain.policy import Policy
from memory.domain.policy_diff import changes, in_words
from memory.domain.policy_fields import settings
from memory.models import Job, PolicyDraft, PolicyVersion
from memory.pages.access import Viewer
from memory.pages.answers import sentence, url
from memory.pages.audit_words import actor_text
from memory.pages.wording import headed, of_policy, plain, plain_reason, setting_words
from memory.services.policies import PolicyMoved
from memory.services.said import said

# Choices of settings, which have words; what else is text there stands as people typed it.
_CHOICES: Final = frozenset(choice for setting in settings() for choice in setting.choices)


def whole(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with every default filled in."""
    return Policy.model_validate(document).model_dump(mode="json")


def as_yaml(document: Mapping[str, Any]) -> str:
    """The document as people edit it."""
    if not document:
        return ""
    return str(yaml.safe_dump(dict(document), sort_keys=False, allow_unicode=True, width=110))


def version_shape(viewer: Viewer, row: PolicyVersion, shown: PolicyVersion | None = None) -> dict[str, Any]:
    """A version as lists and heads show it."""
    return {
        "version": row.number,
        "status": "active" if row.active else "retired",
        "at": row.activated_at or row.created_at,
        "by": actor_text(row.created_by),
        "reason": plain_reason(row.reason),
        "url": url(viewer, "policy", row.number),
        "on": shown is not None and row.number == shown.number,
    }


def draft_shape(viewer: Viewer, row: PolicyDraft) -> dict[str, Any]:
    """A draft as lists and heads show it, with the addresses of what can be done."""
    id_text = show_id("pdr", row.id)
    return {
        "id_text": id_text,
        "name": row.name,
        "version": row.version,
        "based_on": row.based_on,
        "by": actor_text(row.updated_by),
        "at": row.updated_at,
        "url": url(viewer, "policy-draft", id_text),
    }


def preview_shape(viewer: Viewer, row: Job) -> dict[str, Any]:
    """A preview as lists and heads show it."""
    id_text, about = show_id("job", row.id), row.result or {}
    return {
        "id_text": id_text,
        "url": url(viewer, "policy-preview", id_text),
        "status": row.status,
        "ended": row.status in ("done", "failed"),
        "error": said(row.error),
        "done": row.done,
        "total": row.total,
        "by": actor_text(row.actor_name),
        "at": row.created_at,
        "name": about.get("name", ""),
        "version": about.get("version", 0),
        "against": about.get("against", 0),
        "seconds": about.get("seconds"),
    }


def change_rows(old: Policy, new: Policy) -> list[dict[str, str]]:
    """What differs between two policies: path, before, after."""
    found = changes(old.model_dump(mode="json"), new.model_dump(mode="json"))
    return [_change(*one) for one in found]


def _change(path: str, old: object, new: object) -> dict[str, str]:
    if isinstance(old, list | tuple) and isinstance(new, list | tuple):
        return {
            "path": setting_words(path),
            "before": "",
            "after": in_words(path, old, new).removeprefix(path).strip(),
        }
    return {
        "path": setting_words(path),
        "before": "" if old is None else value_text(old),
        "after": value_text(new),
    }


def sections(document: Mapping[str, Any], changed: set[str]) -> list[dict[str, Any]]:
    """Each part of the document with its leaves as rows; `changed` are paths as `changes` gives them."""
    shown = []
    for name, part in document.items():
        if not isinstance(part, Mapping) or not part:
            continue
        rows = [
            {
                "name": of_policy(label),
                "value": value_text(value),
                "changed": f"{name.replace('_', ' ')} {label}" in changed,
            }
            for label, value in _leaves("", part)
        ]
        touched = any(row["changed"] for row in rows)
        shown.append({"title": headed(name), "rows": rows, "changed": touched})
    return shown


def _leaves(path: str, part: Mapping[str, Any]) -> Sequence[tuple[str, Any]]:
    found_rows: list[tuple[str, Any]] = []
    for name, value in part.items():
        key = str(name)  # scopes keep their names, as in the paths of `changes`
        label = f"{path} {key if ':' in key or key == '*' else key.replace('_', ' ')}".strip()
        if isinstance(value, Mapping) and value:
            found_rows.extend(_leaves(label, value))
        else:
            found_rows.append((label, value))
    return found_rows


def value_text(value: Any) -> str:
    """A value in words."""
    if isinstance(value, bool):
        return _("on") if value else _("off")
    if value is None:
        return _("none")
    if isinstance(value, list | tuple):
        return ", ".join(map(value_text, value)) or _("nothing")
    if isinstance(value, Mapping):
        return _("nothing")
    if isinstance(value, float):
        return str(localize(value))
    return plain(value) if value in _CHOICES else str(value)


def clash(error: PolicyMoved) -> dict[str, Any]:
    """Who was faster and what changed, for `_clash.html` of the policy pages."""
    return {"by": error.by, "reason": error.reason, "changes": error.changes, "detail": sentence(error)}
