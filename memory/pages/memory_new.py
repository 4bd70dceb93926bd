"""Writing a memory by hand: the same gates as any agent's write, and the outcome in words."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from memory.domain.ids import show_id
from memory.domain.types import Kind, Origin, OutcomeKind
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import SeeOther, answer, flash, raise_or_deny, sentence, url
from memory.pages.forms import MemoryForm
from memory.pages.wording import headed, plain
from memory.selectors.pages_memories import scope_names
from memory.services.errors import Conflict, Invalid, ServiceError, TooLarge
from memory.services.memory_write import memory_write
from memory.services.said import said
from memory.services.write_types import Outcome, WriteRequest
from tenants.context import tenant_context


@tenant_page("memories", read="review", write="review")
def new(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The form; then the memory that now says it, or the form again with what stood in the way."""
    kinds = [(one.value, headed(one.value)) for one in Kind]
    form = MemoryForm(request.POST if request.method == "POST" else None, kinds=kinds)
    if request.method == "POST" and form.is_valid():
        try:
            outcome = memory_write(viewer.principal, _offered(form))
        except (Invalid, TooLarge, Conflict) as error:
            field = getattr(error, "field", None)
            form.add_error(field if field in form.fields else None, sentence(error))
        except ServiceError as error:
            return raise_or_deny(error)
        else:
            if outcome.memory is not None:
                flash(request, _said(outcome))
                return SeeOther(url(viewer, "memory", show_id("mem", outcome.memory.id)))
            form.add_error(None, _refused(outcome))
    with tenant_context(viewer.tenant.id):
        context = {"form": form, "scopes": scope_names()}
        return answer(request, "pages/memories/new.html", context, 422 if form.errors else 200)


def _offered(form: MemoryForm) -> WriteRequest:
    def given(name: str) -> str | None:
        text: str = form.cleaned_data[name].strip()
        return text or None

    return WriteRequest(
        content=given("content"),
        subject=given("subject"),
        predicate=given("predicate"),
        value=given("value"),
        kind=Kind(kind) if (kind := given("kind")) else None,
        scope=form.cleaned_data["scope"],
        ttl=form.cleaned_data["ttl"],
        origin=Origin.USER_EXPLICIT.value,
    )


def _said(outcome: Outcome) -> str:
    """What became of it, for the memory that now stands for it."""
    words = {
        OutcomeKind.STORED: _("Stored."),
        OutcomeKind.SUPERSEDED: _("Stored. The value before it stays in the history."),
        OutcomeKind.DUPLICATE: _("Known already: it counts as confirmed."),
        OutcomeKind.NEAR_DUPLICATE: _("Known already in other words: it counts as confirmed."),
        OutcomeKind.ECHO: _("Known already."),
    }
    held = _("Held for review: %(reason)s.") % {"reason": plain(outcome.reason or "")}
    return words.get(outcome.outcome, held)


def _refused(outcome: Outcome) -> str:
    why = said(outcome.explanation) or plain(outcome.reason or "")
    return _("The policy refused it: %(why)s. Nothing was stored.") % {"why": why.rstrip(".")}
