"""A draft as form fields, for the whole tenant or for one scope pattern: what is seen is what holds there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from memory.domain.policy import Policy
from memory.domain.policy_fields import (
    NOTHING,
    Setting,
    as_text,
    at,
    effective,
    from_text,
    settings,
    settings_of_scopes,
    with_value,
)
from memory.domain.scopes import parse_pattern
from memory.models import PolicyDraft
from memory.pages import policy_shapes as shapes
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import SeeOther, answer, flash, raise_or_deny, row_id, url, version_of
from memory.pages.wording import headed, of_policy, plain, upper_first
from memory.selectors import pages_policies as found
from memory.services.errors import ServiceError
from memory.services.policies import PolicyInvalid, PolicyMoved
from memory.services.policy_drafts import draft_save
from memory.services.said import said
from tenants.context import tenant_context

_WIDGETS: dict[str, type[forms.Widget]] = {
    "switch": forms.Select, "choice": forms.Select, "several": forms.CheckboxSelectMultiple,
    "words": forms.Textarea, "text": forms.Textarea,
}  # fmt: skip


class SettingField(forms.Field):
    """One setting of the document."""

    def __init__(self, setting: Setting, value: Any, inherited: Any) -> None:
        self.setting = setting
        widget = _WIDGETS.get(setting.kind, forms.TextInput)
        attrs: dict[str, Any] = {"autocomplete": "off"}
        if setting.kind in ("number", "count"):
            attrs |= {"inputmode": "decimal" if setting.kind == "number" else "numeric"}
        if setting.kind in ("words", "text"):
            attrs |= {"rows": 3, "spellcheck": "false"}
        options = {"choices": _choices(setting)} if setting.kind in ("switch", "choice", "several") else {}
        super().__init__(
            required=False,
            widget=widget(attrs=attrs, **options),
            label=_label(setting),
            initial=value if setting.kind == "several" else as_text(setting, value),
            help_text=_help(setting, value, inherited),
        )

    def clean(self, value: Any) -> Any:
        given = value if isinstance(value, list) else [value or ""]
        if any("\x00" in one for one in given):
            raise forms.ValidationError(_("holds a character that cannot be stored"))
        try:
            return from_text(self.setting, given)
        except ValueError as error:
            raise forms.ValidationError(said(str(error))) from None


def _label(setting: Setting) -> str:
    if len(setting.path) == 1:
        return headed(setting.path[0])
    return upper_first(of_policy(" ".join(setting.path[1:]).replace("_", " ")))


def _choices(setting: Setting) -> list[tuple[str, str]]:
    if setting.kind == "switch":
        return [("on", _("on")), ("off", _("off"))]
    return [(one, plain(one)) for one in setting.choices]


def _bounds(setting: Setting) -> str:
    ends = {"least": f"{setting.least:g}", "most": f"{setting.most:g}"}
    return (_("above %(least)s, up to %(most)s") if setting.above else _("%(least)s to %(most)s")) % ends


def _help(setting: Setting, value: Any, inherited: Any) -> str:
    """What it means, its bounds, and what would hold otherwise."""
    words = [of_policy(setting.about).rstrip(".")] if setting.about else []
    if setting.bounds():
        words.append(_bounds(setting))
    if setting.kind == "words":
        words.append(_("one a line"))
    if setting.optional:
        words.append(_("empty: none"))
    if value != inherited:
        words.append(_("otherwise %(value)s") % {"value": shapes.value_text(inherited)})
    return "; ".join(words)


@dataclass(frozen=True, slots=True)
class Sheet:
    """What one form edits: a draft's document at a pattern ("" for the whole tenant)."""

    document: Mapping[str, Any]
    pattern: str

    @property
    def under(self) -> tuple[str, ...]:
        return ("scopes", self.pattern) if self.pattern else ()

    @property
    def settings(self) -> tuple[Setting, ...]:
        return settings_of_scopes() if self.pattern else settings()

    def holds(self) -> dict[str, Any]:
        """What holds here."""
        return effective(self.document, self.pattern)

    def otherwise(self) -> dict[str, Any]:
        """What would hold here if this sheet said nothing."""
        if not self.pattern:
            return Policy().model_dump(mode="json")
        return effective(with_value(self.document, self.under, NOTHING), self.pattern)

    def with_given(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The document after the form: only what was changed in the form changes in the document."""
        holds, otherwise, changed = self.holds(), self.otherwise(), dict(self.document)
        for one in self.settings:
            value = given[one.name]
            if value == at(holds, one.path):
                continue
            kept = NOTHING if value == at(otherwise, one.path) else value
            changed = with_value(changed, (*self.under, *one.path), kept)
        return changed


class FieldsForm(forms.Form):
    """Every setting of a sheet as a field."""

    def __init__(self, sheet: Sheet, *args: Any) -> None:
        super().__init__(*args)
        self.sheet = sheet
        holds, otherwise = sheet.holds(), sheet.otherwise()
        for one in sheet.settings:
            value, inherited = at(holds, one.path), at(otherwise, one.path)
            self.fields[one.name] = SettingField(one, value, inherited)
        self.own = {one.name for one in sheet.settings if at(holds, one.path) != at(otherwise, one.path)}

    def sections(self) -> Iterator[dict[str, Any]]:
        """The fields by part of the document."""
        parts: dict[str, list[forms.BoundField]] = {}
        for one in self.sheet.settings:
            parts.setdefault(one.path[0], []).append(self[one.name])
        for name, fields in parts.items():
            own = sum(field.name in self.own for field in fields)
            wrong = sum(bool(field.errors) for field in fields)
            yield {
                "name": name,
                "title": headed(name),
                "fields": fields,
                "own": own,
                "wrong": wrong,
            }

    def place(self, error: PolicyInvalid) -> None:
        """Put each fault beside its field, or above all where it belongs to several."""
        for fault in error.faults:
            name = fault.place.removeprefix(f"scopes.{self.sheet.pattern}." if self.sheet.pattern else "")
            field = next((one for one in self.fields if one == name or one.startswith(f"{name}.")), None)
            self.add_error(field, said(fault.message))


@tenant_page("policies", read="admin", write="admin")
def fields(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """The draft as a form, for the whole tenant or with `scope` for one pattern."""
    draft_id = row_id("pdr", item)
    asked = (request.POST if request.method == "POST" else request.GET).get("scope", "").strip()
    with tenant_context(viewer.tenant.id):
        draft = found.draft(draft_id)
    if draft is None:
        raise Http404
    try:
        pattern = parse_pattern(asked) if asked else ""
    except ValueError as error:
        return _page(request, viewer, draft, FieldsForm(Sheet(draft.document, "")), 422, asked=asked,
                     wrong_scope=said(str(error)))  # fmt: skip
    sheet = Sheet(draft.document, pattern)
    if request.method != "POST":
        return _page(request, viewer, draft, FieldsForm(sheet))
    return _saved(request, viewer, draft, FieldsForm(sheet, request.POST))


def _saved(request: HttpRequest, viewer: Viewer, draft: PolicyDraft, form: FieldsForm) -> HttpResponse:
    version = version_of(request)
    if not form.is_valid():
        return _page(request, viewer, draft, form, 422, version=version)
    try:
        document = form.sheet.with_given(form.cleaned_data)
        draft_save(viewer.principal, draft.id, document, version=version)
    except PolicyMoved as error:
        return _page(request, viewer, draft, form, 409, clash=shapes.clash(error))
    except PolicyInvalid as error:
        form.place(error)
        return _page(request, viewer, draft, form, 422, version=version)
    except ServiceError as error:
        return raise_or_deny(error)
    flash(request, _("Saved. Nothing is in force yet."))
    return SeeOther(url(viewer, "policy-draft", shapes.draft_shape(viewer, draft)["id_text"]))


def _page(
    request: HttpRequest,
    viewer: Viewer,
    draft: PolicyDraft,
    form: FieldsForm,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    with tenant_context(viewer.tenant.id):
        patterns = sorted(draft.document.get("scopes", {}))
        here = url(viewer, "policy-draft-fields", shapes.draft_shape(viewer, draft)["id_text"])
        context = {
            "draft": shapes.draft_shape(viewer, draft),
            "version": draft.version,
            "form": form,
            "pattern": form.sheet.pattern,
            "patterns": [{"name": one, "on": one == form.sheet.pattern} for one in patterns],
            "here": here,
            **more,
        }
        return answer(request, "pages/policies/fields.html", context, status)
