"""The vocabulary: other names of subjects and rules of predicates, changed in two steps: first what it would do."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from memory.domain.ids import show_id
from memory.domain.registry import BUILT_IN, PredicateRule
from memory.models import PredicateSetting, SubjectAlias
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import SeeOther, answer, flash, raise_or_deny, row_id, sentence, url, version_of
from memory.pages.forms import AliasForm, PredicateForm
from memory.selectors import pages_vocabulary as found
from memory.selectors.vocabulary import rule_of
from memory.services.errors import Conflict, Invalid, NotFound, ServiceError
from memory.services.vocabulary import (
    Renamed,
    RuleSet,
    alias_remove,
    alias_set,
    predicate_remove,
    predicate_set,
)
from tenants.context import tenant_context

_BUILT_IN = {rule.name: rule for rule in BUILT_IN}


@tenant_page("vocabulary")
def index(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """All aliases and all rules, with how much stands under each."""
    query = request.GET.get("q", "").replace("\x00", "").strip()[:100]
    with tenant_context(viewer.tenant.id):
        rows, total = found.aliases(query)
        under = found.under_subjects({row.subject for row in rows})
        own = {row.name: row for row in found.settings()}
        rules = [*(rule_of(row) for row in own.values()), *(r for n, r in _BUILT_IN.items() if n not in own)]
        shown = [rule for rule in rules if _about(rule, query)]
        met = found.under_predicates({rule.name for rule in shown})
        context = {
            "q": query,
            "aliases": [_alias(viewer, row) | {"memories": under[row.subject]} for row in rows],
            "total": total,
            "rules": [
                _rule(viewer, rule, own.get(rule.name)) | {"memories": met[rule.name]} for rule in shown
            ],
        }
        return answer(request, "pages/vocabulary/index.html", context)


def _about(rule: PredicateRule, query: str) -> bool:
    return not query or any(query.casefold() in name for name in (rule.name, *rule.aliases))


def _alias(viewer: Viewer, row: SubjectAlias) -> dict[str, Any]:
    return {
        "alias": row.alias,
        "subject": row.subject,
        "by": row.created_by,
        "at": row.created_at,
        "edit_url": url(viewer, "alias-set", alias=row.alias),
        "remove_url": url(viewer, "alias-remove", show_id("als", row.id)),
    }


def _rule(viewer: Viewer, rule: PredicateRule, own: PredicateSetting | None) -> dict[str, Any]:
    return {
        "name": rule.name,
        "aliases": ", ".join(rule.aliases),
        "single_valued": rule.single_valued,
        "volatile": rule.volatile,
        "ages": rule.ages,
        "normaliser": str(rule.normaliser),
        "half_life_days": rule.half_life_days,
        "own": own is not None,
        "by": own.updated_by if own else "",
        "at": own.updated_at if own else None,
        "edit_url": url(viewer, "predicate-set", predicate=rule.name),
        "remove_url": url(viewer, "predicate-remove", show_id("prd", own.id)) if own else "",
    }


@tenant_page("vocabulary", read="admin", write="admin")
def alias(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Set an alias: the first POST says what it would do, the second does it."""
    if request.method != "POST":
        with tenant_context(viewer.tenant.id):
            rows, _total = found.aliases("")
            known = {row.alias: row.subject for row in rows}
        name = request.GET.get("alias", "")
        return _alias_page(
            request, viewer, AliasForm(initial={"alias": name, "subject": known.get(name, "")})
        )
    form = AliasForm(request.POST)
    if not form.is_valid():
        return _alias_page(request, viewer, form, status=422)
    sent, sure = form.cleaned_data, request.POST.get("confirmed") == "yes"
    try:
        done = alias_set(
            viewer.principal, sent["alias"], sent["subject"], sent["reason"],
            expected=version_of(request) if sure else None, keep=sure,
        )  # fmt: skip
    except Conflict as error:
        return _alias_page(request, viewer, form, status=409, clash=sentence(error))
    except Invalid as error:
        form.add_error(error.field if error.field in form.fields else None, sentence(error))
        return _alias_page(request, viewer, form, status=422)
    except ServiceError as error:
        return raise_or_deny(error)
    if not sure:
        return _alias_page(request, viewer, form, effect=_effect_of(done))
    names = {"alias": done.alias.alias, "subject": done.alias.subject}
    flash(request, _("%(alias)s means %(subject)s from now on.") % names)
    return SeeOther(url(viewer, "vocabulary"))


def _effect_of(done: Renamed) -> dict[str, Any]:
    return {
        "alias": done.alias.alias,
        "subject": done.alias.subject,
        "renamed": done.renamed,
        "merged": done.merged,
        "contested": done.contested,
    }


def _alias_page(
    request: HttpRequest, viewer: Viewer, form: AliasForm, *, status: int = 200, **more: Any
) -> HttpResponse:
    with tenant_context(viewer.tenant.id):
        context = {"form": form, "version": found.version(), **more}
        return answer(request, "pages/vocabulary/alias.html", context, status)


@tenant_page("vocabulary", read="admin", write="admin")
def alias_gone(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Ask, and let a name stand for itself again."""
    with tenant_context(viewer.tenant.id):
        row = found.alias(row_id("als", item))
    if row is None:
        raise Http404
    name = f"{row.alias} → {row.subject}"
    return _removed(
        request, viewer, name, _("Memories that were renamed stay where they are."),
        lambda reason, version: alias_remove(viewer.principal, row.alias, reason, expected=version),
    )  # fmt: skip


@tenant_page("vocabulary", read="admin", write="admin")
def predicate(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Set the rule of a predicate: the first POST says what it would do, the second does it."""
    if request.method != "POST":
        return _predicate_page(
            request,
            viewer,
            PredicateForm(initial=_initial(viewer, _asked(request, "predicate"))),
        )
    form = PredicateForm(request.POST)
    if not form.is_valid():
        return _predicate_page(request, viewer, form, status=422)
    sure = request.POST.get("confirmed") == "yes"
    try:
        made = predicate_set(
            viewer.principal, form.rule(), form.cleaned_data["reason"],
            expected=version_of(request) if sure else None, keep=sure,
        )  # fmt: skip
    except Conflict as error:
        return _predicate_page(request, viewer, form, status=409, clash=sentence(error))
    except Invalid as error:
        form.add_error(error.field if error.field in form.fields else "name", sentence(error))
        return _predicate_page(request, viewer, form, status=422)
    except ServiceError as error:
        return raise_or_deny(error)
    if not sure:
        return _predicate_page(request, viewer, form, effect=_effect_of_rule(viewer, made))
    flash(
        request,
        _("The rule of %(name)s holds for what is written from now on.") % {"name": made.setting.name},
    )
    return SeeOther(url(viewer, "vocabulary"))


def _asked(request: HttpRequest, name: str) -> str:
    """A parameter without NUL, which nothing can look for."""
    return request.GET.get(name, "").replace("\x00", "")


def _initial(viewer: Viewer, name: str) -> dict[str, Any]:
    with tenant_context(viewer.tenant.id):
        row = found.setting(name)
    rule = rule_of(row) if row is not None else _BUILT_IN.get(name, PredicateRule(name))
    return {
        "name": rule.name,
        "single_valued": rule.single_valued,
        "volatile": rule.volatile,
        "ages": rule.ages,
        "normaliser": rule.normaliser.value,
        "half_life_days": rule.half_life_days,
        "aliases": "\n".join(rule.aliases),
    }


def _effect_of_rule(viewer: Viewer, done: RuleSet) -> dict[str, Any]:
    """What would be different, and what stands under the predicate."""
    made = done.setting
    with tenant_context(viewer.tenant.id):
        was = viewer.policy().words.registry.lookup(made.name)
        standing = found.standing(made.name)
    will = rule_of(made)
    names = ("single_valued", "volatile", "ages", "normaliser", "half_life_days")
    pairs = [(name.replace("_", " "), getattr(was, name), getattr(will, name)) for name in names]
    changes = [(name, _said(before), _said(after)) for name, before, after in pairs if before != after]
    return {
        "name": made.name,
        "changes": changes,
        "standing": standing,
        "renamed": done.brought.renamed,
        "merged": done.brought.merged,
        "contested": done.brought.contested,
        "becomes_single": will.single_valued and not was.single_valued,
    }


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return _("as the policy says") if value is None else str(value)


def _predicate_page(
    request: HttpRequest, viewer: Viewer, form: PredicateForm, *, status: int = 200, **more: Any
) -> HttpResponse:
    with tenant_context(viewer.tenant.id):
        context = {"form": form, "version": found.version(), **more}
        return answer(request, "pages/vocabulary/predicate.html", context, status)


@tenant_page("vocabulary", read="admin", write="admin")
def predicate_gone(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Ask, and take the tenant's own rule away."""
    with tenant_context(viewer.tenant.id):
        row = found.setting_of(row_id("prd", item))
    if row is None:
        raise Http404
    known = (
        _("The built-in rule holds again.")
        if row.name in _BUILT_IN
        else _("Without a rule it may have many values.")
    )
    return _removed(
        request, viewer, row.name, known,
        lambda reason, version: predicate_remove(viewer.principal, row.name, reason, expected=version),
    )  # fmt: skip


def _removed(request: HttpRequest, viewer: Viewer, name: str, then: str, service: Any) -> HttpResponse:
    clash, status, reason = "", 200, request.POST.get("reason", "")
    if request.method == "POST":
        try:
            service(reason, version_of(request))
        except (Conflict, Invalid) as error:
            clash, status = sentence(error), 409 if isinstance(error, Conflict) else 422
        except NotFound:
            raise Http404 from None
        except ServiceError as error:
            return raise_or_deny(error)
        else:
            flash(request, _("Removed. It holds for what is written from now on."))
            return SeeOther(url(viewer, "vocabulary"))
    with tenant_context(viewer.tenant.id):
        context = {
            "name": name,
            "then": then,
            "clash": clash,
            "reason": reason,
            "version": found.version(),
            "here": request.path,
        }
        return answer(request, "pages/vocabulary/remove.html", context, status)
