"""Drawn mounts, memories, grants and reads, against a few lines of Python that say what has to come out."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import Any

import pytest

from memory.domain.ids import show_id
from memory.domain.injection import BlockEntry, render_block
from memory.domain.scopes import Verb, may, parse_grant, parse_scope
from memory.domain.tokens import count_tokens
from memory.domain.types import Band
from memory.models import Memory
from memory.services.recall import RetrieveRequest, memory_retrieve
from tests.factories import Machine, Stage, make_agent, make_tenant
from tests.mounts.files import apply, manifest, read, ref, write

pytestmark = pytest.mark.usefixtures("database")

SCOPES = (
    "project:alpha",
    "project:beta",
    "user:1",
    "user:2",
    "shared",
    "global",
    "agent:coder",
    "agent:tester",
)
PATHS = ("deploy/*", "*.py", "src/?.c", "a_b/*", "100%/*")
READ_PATHS = ("deploy/x/y", "src/a.c", "src/ab.c", "main.py", "a_b/c", "axb/c", "100%/x", "100/x")
TAGS = ("ops", "style", "release")
GRANTS = ("project:alpha=r", "project:*=r", "user:1=rw", "user:*=r", "project:beta=w", "*=p", "shared=w")


@dataclass(frozen=True)
class Placed:
    """One drawn entry: where its memory lives and where it is declared."""

    memory: Memory
    mount: str
    place: int
    order: int
    paths: tuple[str, ...]
    tags: tuple[str, ...]


def some(rng: random.Random, of: tuple[str, ...], most: int, chance: float = 0.2) -> tuple[str, ...]:
    return tuple(rng.sample(of, rng.randint(1, most) if rng.random() < chance else 0))


def drawn(stage: Stage, rng: random.Random) -> tuple[list[Placed], list[Machine]]:
    """A tenant with memories in all scopes, two mounts over them, and agents with drawn grants."""
    chief = stage.orchestrator.principal
    memories = [
        write(
            chief,
            f"Hall {n} of wing {rng.randint(10, 99)} holds the lantern number {rng.randint(100, 999)}.",
            scope=scope,
            origin=rng.choice(["tool_verified", "user_explicit", "system_defined"]),
            paths=some(rng, PATHS, 2),
            tags=some(rng, TAGS, 2),
        )
        for n, scope in enumerate(SCOPES * 2)
    ]
    placed = []
    for name in ("b-mount", "a-mount"):
        entries = [
            Placed(memory, name, place, rng.randint(-1, 1), some(rng, PATHS, 2), some(rng, TAGS, 2))
            for place, memory in enumerate(rng.sample(memories, 10))
        ]
        listed = [
            ref(one.memory, order=one.order, applies_to={"paths": list(one.paths), "tags": list(one.tags)})
            for one in entries
        ]
        apply(stage, manifest(listed, name=name))
        placed += entries
    agents = [
        make_agent(stage.tenant, rng.choice(["coder", "tester"]), rng.sample(GRANTS, rng.randint(0, 4)))
        for _ in range(4)
    ]
    return placed, agents


def matches(glob: str, path: str) -> bool:
    pattern = "".join(".*" if c == "*" else "." if c == "?" else re.escape(c) for c in glob)
    return re.fullmatch(pattern, path, re.DOTALL) is not None


def applies(paths: Any, tags: Any, request: RetrieveRequest) -> bool:
    here = not paths or any(matches(glob, path) for glob in paths for path in request.paths)
    return here and (not tags or bool(set(tags) & set(request.tags)))


def expected(placed: list[Placed], machine: Machine, request: RetrieveRequest) -> list[str]:
    """Contents that have to come out, in order."""
    principal = machine.principal
    rules = [
        parse_grant(f"{pattern}={''.join(verb[0] for verb in verbs)}") for pattern, verbs in principal.grants
    ]
    able, seen = [], set()
    for one in sorted(placed, key=lambda one: (one.order, one.mount, one.place)):
        memory = one.memory
        scope = parse_scope(memory.scope)
        if not may(Verb.READ, scope, agent_role=principal.role, rules=rules) or memory.id in seen:
            continue
        if memory.trust < (0.7 if request.high_stakes else 0.0) or memory.trust < (request.min_trust or 0.0):
            continue
        if request.scopes is not None and memory.scope not in request.scopes:
            continue
        if applies(one.paths, one.tags, request) and applies(memory.paths, memory.tags, request):
            able.append(memory)
            seen.add(memory.id)
    able = able if request.high_stakes else able[: request.limit]
    given: list[Memory] = []
    for memory in able:
        longer = render_block(map(shown, [*given, memory]))
        if len(given) < (request.limit or 10) and count_tokens(longer) <= (request.max_tokens or 1500):
            given.append(memory)
    return [memory.content for memory in given]


def shown(memory: Memory) -> BlockEntry:
    """As the block has it; all are young."""
    source = f"{memory.agent_name}/{memory.tool}" if memory.tool else memory.agent_name
    return BlockEntry(
        show_id("mem", memory.id), memory.version, memory.scope, source, memory.trust, Band.FRESH,
        memory.recorded_at, memory.content,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_declared__drawn_tenants_and_reads__are_what_the_rules_say(database: None, seed: int) -> None:
    rng, stage = random.Random(seed), make_tenant()
    placed, agents = drawn(stage, rng)
    stranger = make_tenant().orchestrator
    found_any = 0
    for _ in range(60):
        machine = rng.choice(agents)
        request = RetrieveRequest(
            query="",
            paths=some(rng, READ_PATHS, 4, 0.7),
            tags=some(rng, TAGS, 3, 0.7),
            limit=rng.randint(1, 12),
            max_tokens=rng.choice([None, None, 90, 200, 400]),
            high_stakes=rng.random() < 0.3,
            min_trust=rng.choice([None, None, 0.85]),
            scopes=rng.choice([None, None, rng.sample(SCOPES, 3)]),
        )
        found = memory_retrieve(machine.principal, request)
        given = [entry.found.content for entry in found.entries if entry.channel == "declared"]
        assert given == expected(placed, machine, request), (seed, request)
        found_any += len(given)
    assert found_any > 100, "the positive control: a draw that finds nothing proves nothing"
    assert read(stranger.principal).entries == []
