"""Runs of sweeps for the pages."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from memory.models import SweepRun
from memory.selectors.pages_paging import Slice, Tally, by_id, tallied

STATUSES = ("running", "done", "stopped", "failed")


def page(name: str, status: str, cursor: str) -> tuple[Slice[SweepRun], Tally]:
    """One page of runs, the latest first; ids are of the instant at which a run began."""
    rows: QuerySet[Any] = SweepRun.objects.all()
    if name:
        rows = rows.filter(name=name)
    if status in STATUSES:
        rows = rows.filter(status=status)
    return by_id(rows, cursor), tallied(rows)


def waiting() -> int:
    """Sweeps whose last run was stopped and waits for a person's word."""
    latest = SweepRun.objects.filter(dry_run=False).order_by("name", "-started_at").distinct("name")
    return sum(
        run.status == "stopped" and "approved" not in run.details and bool(run.details.get("held"))
        for run in latest
    )
