"""The report as JSON, for programs. Names are added in later versions, never changed within one."""

from __future__ import annotations

import json
from typing import Any, Final

from memory.audit.model import Category, Item, Report

VERSION: Final = 1


def as_json(report: Report) -> str:
    """One JSON document."""
    return json.dumps(document(report), ensure_ascii=False, indent=1)


def document(report: Report) -> dict[str, Any]:
    """The report as plain values. A rate is null where the store cannot tell, and `not_measurable` says why."""
    return {
        "version": VERSION,
        "name": report.name,
        "made_at": report.made_at.isoformat(),
        "rows": report.records,
        "unreadable": report.unreadable,
        "verdicts": {str(verdict): count for verdict, count in report.verdicts.items()},
        "found": {category.value: _tally(report, category) for category in Category},
        "rules": {
            rule: count for (_, rule), count in sorted(report.rules.items(), key=lambda one: one[0][1])
        },
        "sources": [
            {
                "name": source.name,
                "format": source.format or None,
                "title": source.title,
                "rows": source.records,
                "unreadable": source.unreadable,
                "left_out": dict(source.notes),
            }
            for source in report.sources
        ],
        "items": [_item(item) for item in report.items],
        "broken": [
            {"source": source, "pointer": pointer, "problem": problem}
            for source, pointer, problem in report.broken
        ],
        "by_month": dict(sorted(report.months.items())),
        "limits": report.limits,
    }


def _tally(report: Report, category: Category) -> dict[str, Any]:
    tally = report.tallies[category]
    if tally.rate is None:
        return {"count": None, "of": 0, "rate": None, "not_measurable": tally.why_not}
    return {"count": tally.count, "of": tally.of, "rate": round(tally.rate, 6)}


def _item(item: Item) -> dict[str, Any]:
    return {
        "source": item.source,
        "pointer": item.pointer,
        "verdict": str(item.verdict),
        "text": item.text,
        "findings": [
            {"category": found.category.value, "rule": found.rule, "why": found.why}
            for found in item.findings
        ],
    }
