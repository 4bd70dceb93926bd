"""Policies: the one in force, its versions, what each changed, the drafts; activating a text and rolling back."""

from __future__ import annotations

import json
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from memory.domain.policy import Policy, sparse
from memory.domain.policy_diff import changes
from memory.pages import policy_shapes as shapes
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import SeeOther, answer, flash, raise_or_deny, sentence, url
from memory.pages.forms import PolicyForm
from memory.selectors import pages_policies as found
from memory.services.errors import Invalid, ServiceError
from memory.services.policies import (
    PolicyInvalid,
    PolicyMoved,
    policy_activate,
    policy_read,
    policy_roll_back,
)
from memory.services.said import said
from tenants.context import tenant_context


@tenant_page("policies", write="admin")
def index(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The policy in force; POST activates a text at once."""
    if request.method != "POST":
        return _page(request, viewer, None)
    form = PolicyForm(request.POST)
    if form.is_valid():
        sent = form.cleaned_data
        try:
            document = policy_read(sent["document"])
            made = policy_activate(
                viewer.principal, document, sent["reason"], expected=number_of(request, "active")
            )
        except PolicyMoved as error:
            return _page(request, viewer, None, form=form, clash=shapes.clash(error), status=409)
        except PolicyInvalid as error:
            return _page(request, viewer, None, form=form, faults=faults_of(error, sent["document"]))
        except Invalid as error:
            form.add_error("reason", sentence(error))
        except ServiceError as error:
            return raise_or_deny(error)
        else:
            flash(request, _("Version %(n)d is in force.") % {"n": made.number})
            return SeeOther(url(viewer, "policies"))
    return _page(request, viewer, None, form=form)


@tenant_page("policies")
def one(request: HttpRequest, viewer: Viewer, number: int) -> HttpResponse:
    """One version."""
    return _page(request, viewer, number)


@tenant_page("policies", read=None, write="admin")
def roll_back(request: HttpRequest, viewer: Viewer, number: int) -> HttpResponse:
    """Activate what a version said, as a new version."""
    reason = request.POST.get("reason", "")
    try:
        made = policy_roll_back(viewer.principal, number, reason, expected=number_of(request, "active"))
    except PolicyMoved as error:
        return _page(request, viewer, number, clash=shapes.clash(error), reason=reason, status=409)
    except Invalid as error:
        return _page(request, viewer, number, error=sentence(error), reason=reason, status=422)
    except ServiceError as error:
        return raise_or_deny(error)
    flash(request, _("Version %(n)d is in force. It says what version %(was)d said.")
          % {"n": made.number, "was": number})  # fmt: skip
    return SeeOther(url(viewer, "policies"))


def number_of(request: HttpRequest, name: str) -> int | None:
    """The version that a form was made beside; None when the form names none."""
    text = request.POST.get(name, "")
    if not text:
        return None
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1


def faults_of(error: PolicyInvalid, text: str) -> list[dict[str, Any]]:
    """The faults with the line of the text that each is about."""
    lines = text.splitlines()
    return [
        {
            "line": one.line,
            "place": one.place,
            "message": said(one.message),
            "text": lines[one.line - 1][:160] if 0 < one.line <= len(lines) else "",
        }
        for one in error.faults
    ]


def _page(
    request: HttpRequest, viewer: Viewer, number: int | None, *, status: int = 200, **more: Any
) -> HttpResponse:
    form: PolicyForm | None = more.get("form")
    with tenant_context(viewer.tenant.id):
        shown = found.version(number)
        if shown is None:
            raise Http404
        before, active = found.before(shown.number), found.version(None)
        document = shapes.whole(shown.document)
        changed = list(changes(shapes.whole(before.document), document)) if before else []
        policy, in_force = Policy.model_validate(shown.document), viewer.policy()
        if viewer.can("admin") and form is None:
            form = PolicyForm(initial={"document": shapes.as_yaml(sparse(in_force.policy))})
        context = {
            "shown": shapes.version_shape(viewer, shown, shown),
            "active": in_force.number,
            "sections": shapes.sections(document, {path for path, _old, _new in changed}),
            "document": json.dumps(document, indent=2, ensure_ascii=False),
            "changes": shapes.change_rows(Policy.model_validate(before.document), policy) if before else [],
            "back": shapes.change_rows(in_force.policy, policy) if not shown.active else [],
            "versions": [shapes.version_shape(viewer, row, shown) for row in found.versions()],
            "drafts": [shapes.draft_shape(viewer, row) for row in found.drafts()],
            "activate_url": url(viewer, "policies"),
            "active_url": url(viewer, "policies") if active else "",
            **more,
            "form": form if viewer.can("admin") and number is None else None,
        }
        wrong = bool(more.get("faults")) or (form is not None and bool(form.errors))
        return answer(
            request, "pages/policies/index.html", context, 422 if wrong and status == 200 else status
        )
