"""The figures as tables for a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table


def show(report: dict[str, Any], console: Console) -> None:
    """Everything that the report holds."""
    if "costs" in report:
        _show_costs(report["costs"], console)
    if "junk" in report:
        _show_junk(report["junk"], console)
    if "quality" in report:
        _show_quality(report["quality"], console)
    if "year" in report:
        _show_year(report["year"], console)
    for name, show_part in (
        ("sweeps", _show_sweeps),
        ("previews", _show_previews),
        ("pages", _show_pages),
        ("others", _show_others),
        ("start", _show_start),
    ):
        if name in report:
            show_part(report[name], console)
    if "busy" in report:
        busy = report["busy"]
        console.print(
            f"Of the machine, other work used {busy['median']:.0%} (median) and {busy['most']:.0%} (most) before "
            f"blocks, and niced work {busy['niced']:.0%}.  Compare ratios, not times."
        )


def _show_costs(costs: dict[str, Any], console: Console) -> None:
    for workload in dict.fromkeys(case["workload"] for case in costs["cases"]):
        cases = [case for case in costs["cases"] if case["workload"] == workload]
        names = list(dict.fromkeys(name for case in cases for name in [*case["systems"], *case["failures"]]))
        console.print(_costs_table(workload, cases, names))
        if grown := costs["growth"].get(workload):
            console.print("p50 of the largest size by that of the smallest:", _words(grown))
        for case in cases:
            for name, reason in case["failures"].items():
                console.print(
                    f"{workload} {case['size']:,} × {case['clients']}: {name} failed: {reason}", markup=False
                )
    if costs["interrupted"]:
        console.print("Interrupted: only the cases above are complete.")
    console.print()


def _costs_table(workload: str, cases: Sequence[dict[str, Any]], names: Sequence[str]) -> Table:
    table = Table(title=f"{workload}: p50 / p95 in ms, calls per second, ms of processor time per call")
    table.add_column("memories")
    table.add_column("callers", justify="right")
    for name in (*names, "ratios of p50", "ratios of processor time"):
        table.add_column(name)
    for case in cases:
        cells = [_cell(case["systems"].get(name)) for name in names]
        table.add_row(
            f"{case['size']:,}",
            str(case["clients"]),
            *cells,
            _words(case["ratios"]),
            _words(case["cpu_ratios"]),
        )
    return table


def _show_junk(junk: dict[str, Any], console: Console) -> None:
    systems = list(dict.fromkeys(name for found in junk.values() for name in found))
    table = Table(title="junk: whether it holds, and the readable rows it leaves")
    for name in ("case", *systems):
        table.add_column(name)
    for case, found in junk.items():
        table.add_row(case, *(_junk_cell(found.get(name)) for name in systems))
    console.print(table)


def _junk_cell(found: dict[str, Any] | None) -> str:
    if found is None:
        return "-"
    if "error" in found:
        return f"failed: {found['error'][:40]}"
    rows = f"{found['live']} rows" + (f" in {found['groups']} groups" if found["groups"] is not None else "")
    return f"{'holds' if found['holds'] else 'NO'}, {rows}\n{_words(found['said'])}"


def _show_quality(quality: dict[str, Any], console: Console) -> None:
    asked = f"{quality['questions']:,} questions about {quality['turns']:,} turns"
    table = Table(title=f"{asked} of {quality['conversations']} conversations")
    table.add_column("ranked by")
    names = list(next(iter(quality["parts"].values())))
    for name in names:
        table.add_column(name, justify="right")
    for part, figures in quality["parts"].items():
        table.add_row(part, *(f"{figures[name]:.3f}" for name in names))
    console.print(table)
    if quality["left_out"]:
        console.print(
            f"{quality['left_out']} questions name no turn of their conversation and were left out."
        )
    if quality["not_stored"]:
        console.print("Turns that were not stored:", _words(quality["not_stored"]))


def _show_pages(pages: dict[str, Any], console: Console) -> None:
    table = Table(
        title=f"first byte of a page with {pages['size']:,} in every queue, beside one with nothing, in ms"
    )
    for name in ("page", "empty", "full", "ratio", "statements"):
        table.add_column(name, justify="left" if name == "page" else "right")
    for row in pages["rows"]:
        ms = row["ms"]
        table.add_row(
            row["page"], f"{ms['empty']}", f"{ms['full']}", f"{row['full_by_empty']}", str(row["statements"])
        )
    console.print(table)


def _show_previews(previews: Sequence[dict[str, Any]], console: Console) -> None:
    table = Table(title="previews of a policy")
    for name in ("draft", "memories", "told of", "seconds", "of the process itself", "it grew by"):
        table.add_column(name, justify="left" if name == "draft" else "right")
    for row in previews:
        table.add_row(
            row["draft"],
            f"{row['entries']:,}",
            f"{row['told']:,}",
            f"{row['seconds']:.1f}",
            f"{row['own_seconds']:.1f}",
            f"{row['grown_mib']} MiB",
        )
    console.print(table)


_YEAR = (
    ("readable memories in the end", "live"),
    ("largest scope (cap)", "largest_scope"),
    ("groups that say the same, before nobody", "duplicates_open"),
    ("keys with two values, before nobody", "contradictions_open"),
    ("pairs that await a person", "waiting"),
    ("live rows past their end", "past_their_end"),
    ("load-bearing facts", "load_bearing"),
    ("of these lost", "lost"),
    ("pointed questions that got their answer", "answered"),
    ("entries given per question", "given_per_question"),
    ("given that only say again what another says", "said_again"),
    ("hit rate of pointed questions", "hit_rate_pointed"),
    ("hit rate of surveys", "hit_rate_surveys"),
    ("what surveys found of what holds", "survey_found"),
    ("hit rate: used of given", "hit_rate"),
    ("attack texts given to agents", "attacks_given"),
    ("times that a sweep stopped and asked", "stopped"),
)


def year_rows(found: dict[str, Any]) -> list[tuple[str, str, str]]:
    """What stands in the two columns, as text."""
    swept, unswept = found["columns"]["swept"], found["columns"]["unswept"]
    return [(words, _year_cell(name, swept), _year_cell(name, unswept)) for words, name in _YEAR]


def _year_cell(name: str, column: dict[str, Any]) -> str:
    value = column[name]
    if name == "largest_scope":
        return f"{value:,} ({column['cap']:,})"
    if name == "lost":
        return str(len(value))
    if value is None:
        return "–"
    if name in ("answered", "said_again", "survey_found") or name.startswith("hit_rate"):
        return f"{value:.2%}"
    return f"{value:.1f}" if isinstance(value, float) else f"{value:,}"


def _show_year(found: dict[str, Any], console: Console) -> None:
    table = Table(title=f"a year of {found['scale']}")
    table.add_column("")
    table.add_column("with sweeps", justify="right")
    table.add_column("without", justify="right")
    for row in year_rows(found):
        table.add_row(*row)
    console.print(table)


def _show_sweeps(sweeps: Sequence[dict[str, Any]], console: Console) -> None:
    table = Table(title="sweeps: rows changed per second (health: looked at)")
    for name in (
        "sweep",
        "memories",
        "one bare statement",
        "memgov",
        "bare by memgov",
        "database, µs a row",
        "worker, µs a row",
        "worker grew",
    ):
        table.add_column(name, justify="right")
    for row in sweeps:
        rates = row["rows_per_second"]
        table.add_row(
            row["sweep"],
            f"{row['size']:,}",
            f"{rates['bare']:,}",
            f"{rates['memgov']:,}",
            str(row["bare_by_memgov"]),
            f"{row['database_us_per_row']:.0f}",
            f"{row['worker_us_per_row']:.1f}",
            f"{row['worker_grew_mib']:.1f} MiB",
        )
    console.print(table)


def _show_others(others: dict[str, Any], console: Console) -> None:
    table = Table(title="retrieve by a tenant of 1,000 memories")
    for name in ("memories of others", "drf", "memgov", "memgov/drf"):
        table.add_column(name, justify="right")
    for case in others["cases"]:
        cells = [_cell(case["systems"].get(name)) for name in ("drf", "memgov")]
        table.add_row(f"{case['others']:,}", *cells, str(case["ratios"]["memgov/drf"]))
    console.print(table)
    console.print("growth from the fewest to the most:", _words(others["growth"]))


def _show_start(start: dict[str, Any], console: Console) -> None:
    console.print(f"first start {start['first_seconds']} s, again {start['again_seconds']} s until ready")
    console.print(f"memory in MB, {start['memory_mb_total']} in all:", _words(start["memory_mb"]))


def _cell(figures: dict[str, Any] | None) -> str:
    if figures is None:
        return "failed"
    text = (
        f"{figures['p50']:.2f} / {figures['p95']:.2f}  {figures['rate']:.0f}/s\ncpu {figures['cpu_ms']:.2f}"
    )
    if "hits" in figures:
        text += f"\nhit {figures['hits']:.2f}, {figures['results']:.1f} of 10"
    odd = {word: times for word, times in figures["said"].items() if word != "stored"}
    if odd:
        text += "\n" + _words(odd)
    return text + (f"\n{figures['failed']} failed" if figures["failed"] else "")


def _words(pairs: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in pairs.items())
