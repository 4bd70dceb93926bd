"""How imports and exports look on their pages."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.domain.ids import show_id
from memory.models import Job
from memory.pages.access import Viewer
from memory.pages.answers import url
from memory.pages.wording import headed, plain
from memory.services.said import said
from memory.services.transfer_files import KEPT, path_of
from memory.services.transfers import IMPORT, IMPORTS, LOOK, TRIAL, UNDO, is_kept
from memory.store import jobs

_SHOWN_ROWS = 100
_OUTCOMES = {
    "held": gettext_lazy("wait for review as candidates"),
    "quarantined": gettext_lazy("wait in quarantine"),
    "replaced": gettext_lazy("take the place of a live memory's value"),
    "duplicate": gettext_lazy("are known in the same words"),
    "near_duplicate": gettext_lazy("are known in other words"),
    "known": gettext_lazy("were imported before"),
    "ended": gettext_lazy("were over in their own store"),
    "rejected": gettext_lazy("are refused by the policy"),
    "skipped": gettext_lazy("say otherwise than a live memory and are left out"),
    "invalid": gettext_lazy("cannot be stored"),
    "unreadable": gettext_lazy("cannot be read"),
    "removed": gettext_lazy("rows of the import went"),
    "restored": gettext_lazy("values that it had replaced live again"),
    "stayed": gettext_lazy("stay: somebody decided on them"),
}
_TONES = {
    "held": "ok",
    "restored": "ok",
    "replaced": "warn",
    "rejected": "warn",
    "skipped": "warn",
    **dict.fromkeys(("quarantined", "invalid", "unreadable"), "bad"),
}


class ImportForm(forms.Form):
    """What goes with an uploaded file."""

    scope = forms.CharField(
        label=gettext_lazy("One scope for all rows"),
        max_length=200,
        required=False,
        help_text=gettext_lazy(
            "Such as project:alpha. Empty: each row goes to the user or agent that it names."
        ),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    on_conflict = forms.ChoiceField(
        label=gettext_lazy("A row that says otherwise than a live memory"),
        choices=[
            ("ask", gettext_lazy("waits beside it, and a person decides")),
            ("skip", gettext_lazy("is left out")),
            ("replace", gettext_lazy("takes its place: I vouch for the file")),
        ],
    )


def transfer(viewer: Viewer, job: Job, now: datetime) -> dict[str, Any]:
    """A job as lists and its own page show it."""
    about: Mapping[str, Any] = job.result or {}
    id_text, is_import = show_id("job", job.id), job.kind in IMPORTS
    page = "import" if is_import else "export"
    ended, kept = job.status in jobs.ENDED, _is_kept(viewer, job, now)
    return {
        "id_text": id_text,
        "url": url(viewer, page, id_text),
        "name": about.get("name") or str(about.get("form", "")).upper(),
        "trial": job.kind in (LOOK, TRIAL),
        "status": job.status,
        "ended": ended,
        "stopping": not ended and bool(about.get("cancel")),
        "percent": round(job.done / max(job.total, 1) * 100),
        "error": said(job.error),
        "by": job.actor_name,
        "at": job.created_at,
        "about": about,
        "audit_url": url(viewer, "audit", q=id_text),
        "run_url": url(viewer, "import", about["run"]) if about.get("run") else "",
        "undo_url": url(viewer, "import", about["undo"]) if about.get("undo") else "",
        "can_undo": job.kind == IMPORT and ended and not about.get("undo"),
        "back": job.kind == UNDO,
        "of_url": url(viewer, "import", about["of"]) if about.get("of") else "",
        "can_run": job.kind == LOOK and job.status == jobs.DONE and kept and not about.get("run"),
        "file_url": url(viewer, "export-file", id_text) if job.kind == "export.run" and kept else "",
        "until": job.finished_at + KEPT if job.finished_at else None,
        **(_rows(about) if is_import else _tables(about)),
    }


def _is_kept(viewer: Viewer, job: Job, now: datetime) -> bool:
    return is_kept(job, now) and path_of(viewer.tenant.id, job.id).exists()


def _rows(about: Mapping[str, Any]) -> dict[str, Any]:
    counts: Mapping[str, int] = about.get("counts", {})
    told = about.get("told", [])
    return {
        "outcomes": [
            {"name": str(words), "count": counts[name], "tone": _TONES.get(name, "")}
            for name, words in _OUTCOMES.items()
            if counts.get(name)
        ]
        + _cleared(about),
        "reasons": [
            {"name": plain(name), "count": count} for name, count in about.get("reasons", {}).items()
        ],
        "findings": [
            {"name": headed(name), "count": count} for name, count in about.get("findings", {}).items()
        ],
        "samples": [
            {**one, "what": ", ".join(plain(each) for each in one["what"])}
            for one in about.get("samples", [])
        ],
        "sources": [{**one, "title": _(one["title"])} for one in about.get("sources", [])],
        "told": [
            {"row": row, "what": plain(what), "why": said(why)} for row, what, why in told[:_SHOWN_ROWS]
        ],
        "told_total": len(told),
    }


def _cleared(about: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows among all these whose text is not wholly what the file says."""
    if not about.get("cleared"):
        return []
    words = _("had zero characters, which were taken out")
    return [{"name": words, "count": about["cleared"], "tone": "warn"}]


def _tables(about: Mapping[str, Any]) -> dict[str, Any]:
    counts: Mapping[str, int] = about.get("counts", {})
    return {
        "tables": [
            {"name": name.partition("_")[2], "count": count} for name, count in counts.items() if count
        ],
        "total": sum(counts.values()),
    }
