"""Drafts of policies: begun, looked at beside the policy in force, edited as text, activated, discarded."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from memory.domain.ids import show_id
from memory.domain.policy import Policy, preset
from memory.domain.policy_diff import changes
from memory.domain.policy_presets import ALL, BY_NAME
from memory.models import PolicyDraft
from memory.pages import policy_shapes as shapes
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import (
    SeeOther,
    answer,
    flash,
    raise_or_deny,
    row_id,
    sentence,
    url,
    version_of,
)
from memory.pages.forms import DraftForm, DraftTextForm
from memory.pages.policies import faults_of, number_of
from memory.pages.wording import of_policy
from memory.selectors import pages_policies as found
from memory.services.errors import Conflict, Invalid, ServiceError
from memory.services.policies import PolicyInvalid, PolicyMoved, policy_read
from memory.services.policy_drafts import draft_activate, draft_discard, draft_save, draft_start
from tenants.context import tenant_context

_IN_FORCE, _PRESET, _VERSION = "active", "preset:", "version:"


@tenant_page("policies")
def presets(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The presets, each with what it would change here."""
    with tenant_context(viewer.tenant.id):
        present = viewer.policy().policy
        items = [
            {
                "name": one.name,
                "title": of_policy(one.title),
                "about": of_policy(one.about),
                "changes": shapes.change_rows(present, preset(one.name)),
                "begin_url": url(viewer, "policy-draft-new", begin=f"{_PRESET}{one.name}"),
            }
            for one in ALL
        ]
        return answer(request, "pages/policies/presets.html", {"items": items})


@tenant_page("policies", read="admin", write="admin")
def new(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Begin a draft from the policy in force, an earlier version or a preset."""
    with tenant_context(viewer.tenant.id):
        offered = _beginnings()
    if request.method != "POST":
        begin = request.GET.get("begin", "") or _IN_FORCE
        initial = {"begin": begin, "name": _name_of(begin)}
        form = DraftForm(initial=initial, beginnings=offered)
    else:
        form = DraftForm(request.POST, beginnings=offered)
        if form.is_valid():
            try:
                draft = _begin(viewer, form.cleaned_data["name"], form.cleaned_data["begin"])
            except (Invalid, Conflict) as error:
                form.add_error("name", sentence(error))
            except ServiceError as error:
                return raise_or_deny(error)
            else:
                flash(request, _("The draft is there. Nothing is in force yet."))
                return SeeOther(url(viewer, "policy-draft", show_id("pdr", draft.id)))
    with tenant_context(viewer.tenant.id):
        return answer(request, "pages/policies/new.html", {"form": form}, 422 if form.errors else 200)


def _beginnings() -> list[tuple[str, str]]:
    versions = [
        (f"{_VERSION}{one.number}", _("Version %(n)d: %(why)s") % {"n": one.number, "why": one.reason[:60]})
        for one in found.versions()
    ]
    ready = [(f"{_PRESET}{one.name}", _("Preset: %(name)s") % {"name": of_policy(one.title)}) for one in ALL]
    return [(_IN_FORCE, _("The policy in force")), *ready, *versions]


def _name_of(begin: str) -> str:
    return (
        of_policy(BY_NAME[begin.removeprefix(_PRESET)].title)
        if begin.removeprefix(_PRESET) in BY_NAME
        else ""
    )


def _begin(viewer: Viewer, name: str, begin: str) -> PolicyDraft:
    if begin.startswith(_PRESET):
        return draft_start(viewer.principal, name, from_preset=begin.removeprefix(_PRESET))
    if begin.startswith(_VERSION):
        return draft_start(viewer.principal, name, from_version=int(begin.removeprefix(_VERSION)))
    return draft_start(viewer.principal, name)


@tenant_page("policies")
def one(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """One draft beside the policy in force."""
    return page(request, viewer, row_id("pdr", item))


def page(
    request: HttpRequest, viewer: Viewer, draft_id: UUID, *, status: int = 200, **more: Any
) -> HttpResponse:
    """The page of a draft, with what stood in the way of an action."""
    with tenant_context(viewer.tenant.id):
        draft = found.draft(draft_id)
        if draft is None:
            raise Http404
        active = viewer.policy()
        policy = Policy.model_validate(draft.document)
        document = policy.model_dump(mode="json")
        changed = {path for path, _old, _new in changes(active.policy.model_dump(mode="json"), document)}
        context = {
            "draft": shapes.draft_shape(viewer, draft),
            "active": active.number,
            "changes": shapes.change_rows(active.policy, policy),
            "sections": shapes.sections(document, changed),
            "document": shapes.as_yaml(draft.document),
            "previews": [
                shapes.preview_shape(viewer, row) for row in found.previews_of(show_id("pdr", draft.id))
            ],
            **more,
        }
        return answer(request, "pages/policies/draft.html", context, status)


@tenant_page("policies", read="admin", write="admin")
def text(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """The draft as text."""
    draft_id = row_id("pdr", item)
    if request.method != "POST":
        return _text_page(request, viewer, draft_id)
    form = DraftTextForm(request.POST)
    if not form.is_valid():
        return _text_page(request, viewer, draft_id, form=form, status=422)
    typed = form.cleaned_data["document"]
    try:
        draft_save(viewer.principal, draft_id, policy_read(typed), version=version_of(request))
    except PolicyMoved as error:
        return _text_page(request, viewer, draft_id, form=form, clash=shapes.clash(error), status=409)
    except PolicyInvalid as error:
        faults = faults_of(error, typed)
        return _text_page(
            request, viewer, draft_id, form=form, faults=faults, kept=version_of(request), status=422
        )
    except ServiceError as error:
        return raise_or_deny(error)
    flash(request, _("Saved. Nothing is in force yet."))
    return SeeOther(url(viewer, "policy-draft", item))


def _text_page(
    request: HttpRequest, viewer: Viewer, draft_id: UUID, *, status: int = 200, **more: Any
) -> HttpResponse:
    with tenant_context(viewer.tenant.id):
        draft = found.draft(draft_id)
        if draft is None:
            raise Http404
        if "form" not in more:
            as_json = request.GET.get("as") == "json"
            written = json.dumps(draft.document, indent=2, ensure_ascii=False) if as_json else ""
            more["form"] = DraftTextForm(initial={"document": written or shapes.as_yaml(draft.document)})
        # After a clash the form is bound to what is there now, which the page shows; after a fault to what it was.
        more["version"] = more.pop("kept", draft.version)
        context = {"draft": shapes.draft_shape(viewer, draft), **more}
        return answer(request, "pages/policies/text.html", context, status)


@tenant_page("policies", read=None, write="admin")
def activate(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Put the draft in force."""
    draft_id, reason = row_id("pdr", item), request.POST.get("reason", "")
    expected = number_of(request, "active")
    try:
        made = draft_activate(
            viewer.principal,
            draft_id,
            reason,
            version=version_of(request),
            expected=-1 if expected is None else expected,
        )
    except PolicyMoved as error:
        return page(request, viewer, draft_id, status=409, clash=shapes.clash(error), reason=reason)
    except Invalid as error:
        return page(request, viewer, draft_id, status=422, error=sentence(error), reason=reason)
    except ServiceError as error:
        return raise_or_deny(error)
    flash(request, _("Version %(n)d is in force.") % {"n": made.number})
    return SeeOther(url(viewer, "policies"))


@tenant_page("policies", read=None, write="admin")
def discard(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Throw the draft away."""
    draft_id = row_id("pdr", item)
    try:
        draft = draft_discard(viewer.principal, draft_id, version=version_of(request))
    except PolicyMoved as error:
        return page(request, viewer, draft_id, status=409, clash=shapes.clash(error))
    except ServiceError as error:
        return raise_or_deny(error)
    flash(request, _("The draft “%(name)s” is discarded.") % {"name": draft.name})
    return SeeOther(url(viewer, "policies"))
