"""A year of simulated life, in small: the story is the same each time, and what has to hold at its end holds."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench.report import year_rows
from bench.year_draw import picture
from bench.year_story import DAYS, QUICK, Scale, Story
from tests.bench.test_command import report

pytestmark = pytest.mark.xdist_group("bench")


def test_story__same_seed__is_the_same_and_another_is_not() -> None:
    def told(seed: int) -> str:
        return json.dumps([asdict(session) for session in Story(0, QUICK, seed).sessions()])

    assert told(7) == told(7)
    assert told(7) != told(8)


def test_story__full_scale__has_all_that_the_year_needs() -> None:
    scale = Scale()
    assert scale.words() == "2 tenants, 20 agents, 200 sessions"
    story = Story(1, scale)
    sessions = list(story.sessions())
    days = [session.day for session in sessions]
    assert days == sorted(days) and days[-1] < DAYS
    assert {session.agent for session in sessions} == set(range(10))
    kinds = [step.kind for session in sessions for step in session.steps]
    assert {"truth", "noise", "workaround", "attack", "rumour", "ask", "survey", "pin"} == set(kinds)
    changes = [step for session in sessions[1:] for step in session.steps if step.registrar]
    assert len(changes) == 3 * scale.users, "each plan changes three times"
    assert all(truth.wordings for truth in story.truths.values())


def test_year__in_small__keeps_what_bears_load_and_lets_the_rest_go(tmp_path: Path) -> None:
    drawn = tmp_path / "year.svg"
    found = report("year", "--quick", "--embedder", "hash", "--draw", drawn)["year"]
    swept, unswept = found["columns"]["swept"], found["columns"]["unswept"]
    assert swept["largest_scope"] <= swept["cap"]
    assert (swept["duplicates_open"], swept["contradictions_open"]) == (0, 0), (
        "each is merged or before a person"
    )
    assert (swept["lost"], swept["answered"]) == ([], 1.0)
    assert swept["past_their_end"] == 0 < unswept["past_their_end"]
    assert swept["hit_rate"] > unswept["hit_rate"]
    assert swept["live"] < unswept["live"]
    assert unswept["duplicates_open"] > 0, "the story does let doubles in"
    for kind in ("truth", "noise", "workaround", "attack", "rumour"):
        done = [
            {name: count for name, count in column["said"].items() if name.startswith(kind)}
            for column in (swept, unswept)
        ]
        assert sum(done[0].values()) == sum(done[1].values()) > 0, "both lived the same"
    root = ElementTree.parse(drawn).getroot()
    lines = [element for element in root.iter() if element.tag.endswith("polyline")]
    assert len(lines) == 4 and all(len(line.attrib["points"].split()) == 12 for line in lines)
    assert drawn.stat().st_size < 8000 and picture(found) == drawn.read_text()
    assert [row[0] for row in year_rows(found)][-3] == "hit rate: used of given"
