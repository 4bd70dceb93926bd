"""Policies: the one in force, its versions, what each changed, and activating another."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from memory.domain.policy import Policy
from memory.domain.policy_diff import changes, in_words
from memory.models import PolicyVersion
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import SeeOther, answer, flash, raise_or_deny, sentence, url
from memory.pages.forms import PolicyForm
from memory.pages.wording import plain
from memory.selectors import pages_policies as found
from memory.services.errors import Invalid, ServiceError
from memory.services.policies import policy_activate
from tenants.context import tenant_context


@tenant_page("policies", write="admin")
def index(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The policy in force; POST activates a document."""
    if request.method != "POST":
        return _page(request, viewer, None, None)
    form = PolicyForm(request.POST)
    if form.is_valid():
        try:
            made = policy_activate(
                viewer.principal, form.cleaned_data["document"], form.cleaned_data["reason"]
            )
        except Invalid as error:
            form.add_error("reason" if error.field == "reason" else "document", sentence(error))
        except ServiceError as error:
            return raise_or_deny(error)
        else:
            flash(request, _("Version %(n)d is in force.") % {"n": made.number})
            return SeeOther(url(viewer, "policies"))
    return _page(request, viewer, None, form)


@tenant_page("policies")
def one(request: HttpRequest, viewer: Viewer, number: int) -> HttpResponse:
    """One version."""
    return _page(request, viewer, number, None)


def _page(request: HttpRequest, viewer: Viewer, number: int | None, form: PolicyForm | None) -> HttpResponse:
    with tenant_context(viewer.tenant.id):
        versions = found.versions()
        shown = found.version(number)
        if shown is None:
            raise Http404
        before = found.before(shown.number)
        document = _whole(shown.document)
        changed = list(changes(_whole(before.document), document)) if before else []
        if form is None and viewer.can("admin"):
            form = PolicyForm(initial={"document": document})
        context = {
            "shown": _version(viewer, shown, shown),
            "sections": _sections(document, {path for path, _old, _new in changed}),
            "document": json.dumps(document, indent=2, ensure_ascii=False),
            "changes": [_change(*one) for one in changed],
            "versions": [_version(viewer, row, shown) for row in versions],
            "form": form if viewer.can("admin") else None,
            "activate_url": url(viewer, "policies"),
        }
        return answer(
            request, "pages/policies.html", context, 422 if form is not None and form.errors else 200
        )


def _whole(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with every default filled in."""
    return Policy.model_validate(document).model_dump(mode="json")


def _version(viewer: Viewer, row: PolicyVersion, shown: PolicyVersion) -> dict[str, Any]:
    return {
        "version": row.number,
        "status": "active" if row.active else "retired",
        "at": row.activated_at or row.created_at,
        "by": row.created_by,
        "reason": row.reason,
        "url": url(viewer, "policy", row.number),
        "on": row.number == shown.number,
    }


def _sections(document: Mapping[str, Any], changed: set[str]) -> list[dict[str, Any]]:
    """Each part of the document with its leaves as rows."""
    shown = []
    for name, part in document.items():
        if not isinstance(part, Mapping) or not part:
            continue
        rows = [
            {
                "name": label,
                "value": _value(value),
                "what": "",
                "changed": f"{plain(name)} {label}" in changed,
            }
            for label, value in _leaves("", part)
        ]
        touched = any(row["changed"] for row in rows)
        shown.append({"title": plain(name).capitalize(), "rows": rows, "changed": touched})
    return shown


def _leaves(path: str, part: Mapping[str, Any]) -> Sequence[tuple[str, Any]]:
    found_rows: list[tuple[str, Any]] = []
    for name, value in part.items():
        label = f"{path} {plain(str(name))}".strip()
        if isinstance(value, Mapping) and value:
            found_rows.extend(_leaves(label, value))
        else:
            found_rows.append((label, value))
    return found_rows


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return _("on") if value else _("off")
    if value is None:
        return _("none")
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or _("nothing")
    if isinstance(value, Mapping):
        return _("nothing")
    return str(value)


def _change(path: str, old: object, new: object) -> dict[str, str]:
    if isinstance(old, list | tuple) and isinstance(new, list | tuple):
        return {"path": path, "before": "", "after": in_words(path, old, new).removeprefix(path).strip()}
    return {"path": path, "before": "" if old is None else _value(old), "after": _value(new)}
