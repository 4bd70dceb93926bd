"""A year of simulated life under a moved clock, lived twice with the same words: with sweeps and without.

Everything goes through the services that agents and people use.  What an agent uses of what it was given is told by
the story: the first entry that says what is true on that day.  Whatever says the same again is of no further use, or a
store full of repeats would look like a good one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from bench.year_story import DAYS, LENIENT_DAYS, SURVEY, Scale, Session, Step, Story, Truth
from memgov import clock
from memory.domain.policy import Policy
from memory.domain.scopes import parse_grant
from memory.models import Contradiction, Memory
from memory.selectors import health_rows
from memory.services import tenancy
from memory.services.memory_write import memory_write
from memory.services.policies import policy_activate
from memory.services.recall import RetrieveRequest, memory_retrieve
from memory.services.retention import memory_pin
from memory.services.sweep_runs import sweep_apply
from memory.services.sweeps import SWEEPS
from memory.services.usage import usage_report
from memory.services.write_types import WriteRequest
from tenants.authentication import principal_of_key
from tenants.context import tenant_context
from tenants.principals import Principal, system

# What beat starts, once a night: in the order in which it would.
NIGHT = ("tasks", "expiry", "decay", "staleness", "compaction", "dedup", "episodes", "poisoning", "health")
MONTHS = 12
CUTS = (1, 3, 5, 10)
"""Sizes of a read: of one of ten, also what a shorter one would have given is counted."""
Tell = Callable[[str], None]


@dataclass
class Figures:
    """What one world came to, month by month and in the end."""

    live: list[int] = field(default_factory=list)
    hit_rate: list[float | None] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)
    said: Counter[str] = field(default_factory=Counter)
    stopped: int = 0
    end: dict[str, Any] = field(default_factory=dict)


class World:
    """One tenant that lives a story, swept or not."""

    def __init__(self, name: str, story: Story, start: datetime, *, swept: bool) -> None:
        self.name, self.story, self.start, self.swept = name, story, start, swept
        self.figures = Figures()
        self._given = self._used = 0
        self._attacks: set[UUID] = set()
        self._night, self._month = 0, 0
        with clock.moved_to(start):
            self._found(story.scale)

    def _found(self, scale: Scale) -> None:
        policy = Policy().model_dump(mode="json")
        policy["reconciliation"]["near_duplicates"] = "keep"
        self.tenant = tenancy.tenant_create(self.name, self.name, policy=Policy.model_validate(policy))
        self.person = Principal(self.tenant.id, "member", "usr_year", "the keeper", "owner")
        founder, grants = system(self.tenant.id, "bench.year"), ["project:works=rwp", "user:*=rwp"]
        self.agents = [self._hire(founder, f"{self.name}-{at}", grants) for at in range(scale.agents)]

    def _hire(self, founder: Principal, name: str, grants: list[str]) -> Principal:
        agent = tenancy.agent_create(founder, name, "crew", [parse_grant(text) for text in grants])
        key = tenancy.key_create(founder, agent, name="year").key
        with tenant_context(self.tenant.id):
            return principal_of_key(self.tenant.id, key.id)

    def live(self, session: Session, truths: dict[str, Any]) -> None:
        """One session, and the nights before it."""
        self._until(session.day)
        agent, at = self.agents[session.agent], self.start + timedelta(days=session.day)
        for number, step in enumerate(session.steps):
            with clock.moved_to(at + timedelta(seconds=40 * number)):
                self._do(self.agents[0] if step.registrar else agent, session, step, truths)

    def finish(self, truths: dict[str, Any]) -> None:
        """The nights to the end of the year, and what there is then."""
        self._until(DAYS)
        now = self.start + timedelta(days=DAYS)
        with clock.moved_to(now), tenant_context(self.tenant.id):
            self.figures.end = self._counted(truths, now)

    def _until(self, day: float) -> None:
        while self._night < int(day):
            self._night += 1
            with clock.moved_to(self.start + timedelta(days=self._night)):
                if self._night == LENIENT_DAYS:
                    policy_activate(self.person, Policy().model_dump(mode="json"), "no more of the same")
                if self.swept and self._night % self.story.scale.nights == 0:
                    self._sweep()
            if self._night * MONTHS // DAYS > self._month:
                self._month += 1
                self._note_month(self.start + timedelta(days=self._night))

    def _sweep(self) -> None:
        for name in NIGHT:
            run = SWEEPS[name](self.tenant.id)
            if run.status == "failed":
                raise RuntimeError(f"the sweep {name} failed: {run.note}")
            if run.status == "stopped":
                # It would have removed more than a fifth of a scope, and asks a person, who has looked.
                self.figures.stopped += 1
                sweep_apply(self.person, run.id, "looked at; what goes was talk")
                SWEEPS[name](self.tenant.id)

    def _note_month(self, now: datetime) -> None:
        with tenant_context(self.tenant.id):
            self.figures.live.append(Memory.objects.filter(status__in=("live", "contested")).count())
        rate = self._used / self._given if self._given else None
        self.figures.hit_rate.append(rate)
        self._given = self._used = 0

    def _do(self, agent: Principal, session: Session, step: Step, truths: dict[str, Any]) -> None:
        if step.doing == "say":
            outcome = memory_write(agent, WriteRequest(**step.line, session=f"{self.name}-{session.name}"))
            self.figures.said[f"{step.kind} {outcome.outcome}"] += 1
            if step.kind == "attack" and outcome.memory is not None:
                self._attacks.add(outcome.memory.id)
        elif step.doing == "pin":
            self._pin(truths[step.truth].wordings[0])
        elif step.doing == "survey":
            self._survey(
                agent, session, step.truth, [one for one in truths.values() if one.system == step.truth]
            )
        else:
            self._ask(agent, session, truths[step.truth])

    def _pin(self, content: str) -> None:
        with tenant_context(self.tenant.id):
            memory = Memory.objects.get(content=content, status="live")
        memory_pin(self.person, memory.id, "needed once, and then badly")

    def _ask(self, agent: Principal, session: Session, truth: Any) -> None:
        asked = RetrieveRequest(query=truth.question, session=f"{self.name}-{session.name}-reading")
        found = memory_retrieve(agent, asked)
        right = [entry.found.id for entry in found.entries if entry.found.content in truth.wordings]
        usage_report(agent, found.manifest.id, right[:1])
        self._given += len(found.entries)
        self._used += bool(right)
        counts = self.figures.asked
        counts["questions"] += 1
        counts["answered"] += bool(right)
        counts["given"] += len(found.entries)
        counts["of use"] += bool(right)
        counts["again"] += max(0, len(right) - 1)
        counts["tokens"] += found.manifest.tokens
        ids = [entry.found.id for entry in found.entries]
        for cut in CUTS:
            counts[f"answered of {cut}"] += not set(right).isdisjoint(ids[:cut])
        counts["attacks given"] += sum(entry.found.id in self._attacks for entry in found.entries)

    def _survey(self, agent: Principal, session: Session, system: str, known: Sequence[Truth]) -> None:
        """Ask about a system as a whole.  Of use is each thing that holds of it, the first time that it is said."""
        asked = RetrieveRequest(
            query=SURVEY.format(system=system), session=f"{self.name}-{session.name}-reading"
        )
        found = memory_retrieve(agent, asked)
        firsts: dict[int, UUID] = {}
        for entry in found.entries:
            for place, truth in enumerate(known):
                if entry.found.content in truth.wordings:
                    firsts.setdefault(place, entry.found.id)
        usage_report(agent, found.manifest.id, list(firsts.values()))
        self._given += len(found.entries)
        self._used += len(firsts)
        counts = self.figures.asked
        counts["surveys"] += 1
        counts["surveys given"] += len(found.entries)
        counts["surveys of use"] += len(firsts)
        counts["surveys known"] += len(known)

    def _counted(self, truths: dict[str, Any], now: datetime) -> dict[str, Any]:
        readable = Memory.objects.filter(status__in=("live", "contested"))
        readable = readable.exclude(expires_at__lte=now)
        known = set(readable.values_list("content", flat=True))
        lost = [key for key, truth in truths.items() if known.isdisjoint(truth.wordings)]
        largest = Counter(readable.values_list("scope", flat=True)).most_common(1)
        return {
            "live": len(known)
            if not largest
            else sum(Counter(readable.values_list("scope", flat=True)).values()),
            "largest_scope": largest[0][1] if largest else 0,
            "cap": Policy().reconciliation.cap,
            "duplicate_groups": health_rows.duplicate_groups(now)[health_rows.ALL],
            "duplicates_open": len(self._unqueued(now)),
            "contradictions_open": health_rows.clashes_unqueued(now),
            "waiting": Contradiction.objects.filter(status="open").count(),
            "past_their_end": Memory.objects.filter(status="live", expires_at__lte=now).count(),
            "load_bearing": len(truths),
            "lost": sorted(lost),
        }

    def _unqueued(self, now: datetime) -> list[tuple[UUID, UUID]]:
        """Pairs that say the same and are before nobody."""
        queued = {
            frozenset(pair)
            for pair in Contradiction.objects.filter(status="open").values_list("memory_a", "memory_b")
        }
        pairs = health_rows.same_pairs(now)
        return [pair for of_scope in pairs.values() for pair in of_scope if frozenset(pair) not in queued]


def run(scale: Scale, tell: Tell, seed: int = 7) -> dict[str, Any]:
    """Live the year; both columns, summed over the tenants."""
    start = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(days=DAYS)
    worlds: dict[str, list[World]] = {"swept": [], "unswept": []}
    for crew in range(scale.crews):
        story = Story(crew, scale, seed)
        pair = [World(f"year-{name}-{crew}", story, start, swept=name == "swept") for name in worlds]
        for session in story.sessions():
            tell(f"crew {crew + 1}, day {session.day:.0f}")
            for world in pair:
                world.live(session, story.truths)
        for world in pair:
            world.finish(story.truths)
        for name, world in zip(worlds, pair, strict=True):
            worlds[name].append(world)
    return {
        "scale": scale.words(),
        "columns": {name: _summed([world.figures for world in of]) for name, of in worlds.items()},
    }


def _summed(several: list[Figures]) -> dict[str, Any]:
    asked: Counter[str] = sum((one.asked for one in several), Counter())
    said: Counter[str] = sum((one.said for one in several), Counter())
    numbers = [name for name, value in several[0].end.items() if isinstance(value, int)]
    end = {name: sum(one.end[name] for one in several) for name in numbers}
    end["largest_scope"] = max(one.end["largest_scope"] for one in several)
    end["cap"] = several[0].end["cap"]
    return {
        **end,
        "lost": [key for one in several for key in one.end["lost"]],
        "hit_rate": _share(
            asked["of use"] + asked["surveys of use"], asked["given"] + asked["surveys given"]
        ),
        "hit_rate_pointed": _share(asked["of use"], asked["given"]),
        "hit_rate_surveys": _share(asked["surveys of use"], asked["surveys given"]),
        "survey_found": _share(asked["surveys of use"], asked["surveys known"]),
        "answered": _share(asked["answered"], asked["questions"]),
        "given_per_question": _share(asked["given"], asked["questions"]),
        "said_again": _share(asked["again"], asked["given"]),
        "tokens_per_question": _share(asked["tokens"], asked["questions"]),
        "first_by_cut": {str(cut): _share(asked[f"answered of {cut}"], asked["questions"]) for cut in CUTS},
        "attacks_given": asked["attacks given"],
        "stopped": sum(one.stopped for one in several),
        "said": dict(sorted(said.items())),
        "live_by_month": [sum(month) for month in zip(*(one.live for one in several), strict=True)],
        "hit_rate_by_month": [_mean(month) for month in zip(*(one.hit_rate for one in several), strict=True)],
    }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _mean(values: tuple[float | None, ...]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
