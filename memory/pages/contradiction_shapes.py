"""How a contradiction was settled, as its page shows it: who, when, what was kept, and what settled it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.domain.ids import parse_id
from memory.models import AuditEvent, Contradiction, Job, Memory
from memory.pages.access import Viewer
from memory.pages.answers import url
from memory.pages.audit_words import actor_text
from memory.pages.wording import plain_reason
from memory.services.foreign_import import REASON as IMPORTED

_KEPT: Final = {
    "keep_a": gettext_lazy("A was kept"),
    "keep_b": gettext_lazy("B was kept"),
    "keep_both": gettext_lazy("Both were kept"),
    "moot": gettext_lazy("Nothing was left to decide"),
}
_SETTLED: Final = "contradiction.settled"


def settlement(
    viewer: Viewer, found: Contradiction, b: Memory, events: Iterable[AuditEvent]
) -> dict[str, Any] | None:
    """Its settlement, or None while it is open.  ``events`` are those about it, newest first."""
    if found.status == "open":
        return None
    told = next((event for event in events if event.action == _SETTLED), None)
    return {
        "kept": _KEPT.get(found.resolution, found.resolution),
        "by": actor_text(told.actor_name, told.actor_kind) if told else found.resolved_by,
        "at": found.resolved_at,
        "reason": plain_reason(told.reason) if told and told.reason else "",
        **_import(viewer, found, b, told),
    }


def _import(viewer: Viewer, found: Contradiction, b: Memory, told: AuditEvent | None) -> dict[str, str]:
    """The file whose values took the place of others, where no person looked at the two."""
    if found.undo.get("by") != IMPORTED:
        return {"how": "", "import_url": ""}
    source = b.metadata.get("import")
    named = {"file": "", "pointer": "", **(source if isinstance(source, dict) else {})}
    how = _("An import that replaces what it contradicts; nobody looked at the two")
    if named["file"]:
        how = (
            _(
                "An import that replaces what it contradicts: %(pointer)s of %(file)s; nobody looked at the two"
            )
            % named
        )
    return {"how": how, "import_url": _job_url(viewer, told.request_id if told else "")}


def _job_url(viewer: Viewer, request_id: str) -> str:
    """The page of the import that was begun in the browser; those of the command line have none."""
    try:
        job = parse_id("job", request_id)
    except ValueError:
        return ""
    known = viewer.can("admin") and Job.objects.filter(id=job).exists()
    return url(viewer, "import", request_id) if known else ""
