"""What a reader may not read leaves no trace in anything that it gets: drawn grants, memories and reads.

Each world is a tenant with a reader of drawn grants.  It reads; then others write into every place that it may not
read, and into another tenant, with the words of its very queries; then it reads the same again.  Everything that it
can see has to be the same to the last digit: entries, scores, counts, block, digest, manifest and errors.  A few lines
of Python say beside it what it may read.  Each read has a positive control: who may read everything sees what was
written.

`MEMGOV_TEST_ISOLATION_DRAWS` says how many reads are drawn (120 when it does not; 10,000 before a release).
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest

from memgov import clock
from memory.domain.policy import preset
from memory.domain.scopes import parse_scope
from memory.models import Memory
from memory.services.digest import digest_read
from memory.services.errors import NotFound
from memory.services.manifest_read import manifest_read
from memory.services.memory_write import memory_write
from memory.services.recall import RetrieveRequest, memory_retrieve
from memory.services.usage import usage_report
from memory.services.write_types import WriteRequest
from tests.factories import Machine, Stage, make_agent, make_tenant

pytestmark = pytest.mark.usefixtures("database")

DRAWS = int(os.environ.get("MEMGOV_TEST_ISOLATION_DRAWS", "120"))
PER_WORLD = 40
WORLDS = -(-DRAWS // PER_WORLD)

PLACES = (
    "project:alpha", "project:beta", "user:1", "user:2", "shared", "global", "agent:coder", "agent:tester",
    "session:mine", "session:theirs", "task:mine", "task:theirs",
)  # fmt: skip
GRANTS = (
    "project:alpha=r",
    "project:*=r",
    "user:1=rw",
    "user:*=rp",
    "project:beta=w",
    "user:2=p",
    "agent:tester=r",
)
WORDS = tuple(
    "lantern kiln gateway ledger paper roll hall press dye harbour mill crane refund invoice".split()
)
EVERYTHING: dict[str, Any] = {"limit": 100, "max_tokens": 1_000_000}


@dataclass
class World:
    """A tenant, who reads in it, who reads everything, and what was written."""

    stage: Stage
    reader: Machine
    chief: Machine
    readable: dict[UUID, str] = field(default_factory=dict)
    forbidden: set[str] = field(default_factory=set)


def may_read(grants: list[str], place: str, session: str, task: str) -> bool:
    """The rule, once more and in other words than the product's."""
    if place in ("shared", "global", "agent:coder"):
        return True
    kind = place.split(":")[0]
    if place in ("session:mine", "task:mine"):
        return place in (f"session:{session}", f"task:{task}")
    readable = {one.split("=")[0] for one in grants if "r" in one.split("=")[1]}
    return place in readable or f"{kind}:*" in readable


def sentence(rng: random.Random, marker: str) -> str:
    return f"The {' '.join(rng.sample(WORDS, 4))} number {rng.randint(10, 99)} is {marker}."


def put(machine: Machine, place: str, content: str, rng: random.Random) -> Memory:
    layer = rng.choice(("semantic", "episodic", "episodic"))
    kind, _, key = place.partition(":")
    run = {kind: key} if kind in ("session", "task") else {"session": rng.choice(("mine", "talk", ""))}
    if machine.principal.role != "coder" and run.get("session") == "mine":
        run = {}
    request = WriteRequest(content=content, scope=place, layer=layer, origin="user_explicit", **run)  # type: ignore[arg-type]
    outcome = memory_write(machine.principal, request)
    assert outcome.memory is not None, outcome
    return outcome.memory


def make_world(rng: random.Random, grants: list[str]) -> World:
    stage = make_tenant(policy=preset("open"))
    reader = make_agent(stage.tenant, "coder", grants)
    world = World(stage, reader, stage.orchestrator)
    for run in ("session:mine", "task:mine"):
        put(reader, run, sentence(rng, f"own{rng.randrange(16**6):06x}"), rng)
    for number in range(20):
        place = rng.choice([one for one in PLACES if "mine" not in one])
        put(stage.orchestrator, place, sentence(rng, f"base{number}x{rng.randrange(16**6):06x}"), rng)
    with stage.context():
        world.readable = {row.id: row.scope for row in Memory.objects.all()}
    return world


def intrude(world: World, grants: list[str], rng: random.Random) -> None:
    """Write, with the words that are asked for, wherever the reader may not read, here and in another tenant."""
    other = make_tenant(policy=preset("open"))
    for place in PLACES:
        marker = f"intruder{rng.randrange(16**8):08x}"
        if "mine" not in place and not may_read(grants, place, "", ""):
            put(world.chief, place, sentence(rng, marker), rng)
            world.forbidden.add(marker)
        put(other.orchestrator, place, f"{' '.join(WORDS)} foreign{rng.randrange(16**8):08x}", rng)


def draw_read(rng: random.Random) -> dict[str, Any]:
    """What one read asks."""
    asked: dict[str, Any] = {
        "query": " ".join(rng.sample(WORDS, rng.randint(1, 4))),
        "session": rng.choice(("", "mine", "theirs", "talk")),
        "task": rng.choice(("", "mine", "theirs")),
        "limit": rng.choice((1, 3, 10, 100)),
        "max_tokens": rng.choice((20, 200, 1_000_000)),
    }
    if rng.random() < 0.3:
        asked["scopes"] = rng.sample([*PLACES, "project:nowhere"], rng.randint(0, 4))
    if rng.random() < 0.2:
        asked["layers"] = ["episodic"]
    if rng.random() < 0.2:
        asked["high_stakes"] = True
    return asked


def seen(world: World, grants: list[str], asked: dict[str, Any]) -> Any:
    """Everything that the read shows, after it was held against the rule."""
    found = memory_retrieve(world.reader.principal, RetrieveRequest(**asked))
    given = [entry.found for entry in found.entries]
    for row in given:
        assert may_read(grants, row.scope, asked["session"], asked["task"]), (grants, asked, row.scope)
        assert row.id in world.readable
    if not asked.get("layers"):
        wanted = asked.get("scopes")
        able = [
            place
            for place in world.readable.values()
            if may_read(grants, place, asked["session"], asked["task"])
            and (wanted is None or place in wanted)
        ]
        assert len(given) + sum(found.excluded.values()) == len(able), (asked, found.excluded)
    manifest = manifest_read(world.reader.principal, found.manifest.id)
    assert [one.entry.memory_id for one in manifest.injected] == [row.id for row in given]
    return [
        [(one.found.id, one.found.version, one.found.scope, one.score, one.parts) for one in found.entries],
        found.excluded, found.block, found.manifest.tokens, manifest.text, manifest.manifest.excluded,
    ]  # fmt: skip


def digest_of(world: World, place: str) -> str:
    try:
        return digest_read(world.reader.principal, parse_scope(place)).digest.text
    except NotFound as error:
        return str(error).replace(place, "that scope")


def controlled(world: World, asked: dict[str, Any]) -> None:
    """Who may read everything finds what was written; or the reads before would prove nothing."""
    read = memory_retrieve(world.chief.principal, RetrieveRequest(query=asked["query"], **EVERYTHING))
    assert any(marker in read.block for marker in world.forbidden), (asked, world.forbidden)
    assert "foreign" not in read.block
    with pytest.raises(NotFound):
        manifest_read(world.reader.principal, read.manifest.id)
    with pytest.raises(NotFound):
        usage_report(world.reader.principal, read.manifest.id, set())


@pytest.mark.parametrize("number", range(WORLDS))
def test_reads__of_what_may_not_be_read__leave_no_trace(number: int) -> None:
    rng = random.Random(f"isolation {number}")
    grants = rng.sample(GRANTS, rng.randint(0, 4))
    world = make_world(rng, grants)
    draws = [draw_read(rng) for _ in range(min(PER_WORLD, DRAWS - number * PER_WORLD))]
    with clock.moved_to(clock.now()):
        before = [seen(world, grants, asked) for asked in draws]
        digests = {place: digest_of(world, place) for place in (*PLACES, "session:nowhere")}
    intrude(world, grants, rng)
    with clock.moved_to(clock.now()):
        for asked, then in zip(draws, before, strict=True):
            now = seen(world, grants, asked)
            assert now == then, asked
            assert not any(marker in str(now) for marker in world.forbidden)
            controlled(world, asked)
        assert {place: digest_of(world, place) for place in digests} == digests
        hidden = [place for place in PLACES if "mine" not in place and not may_read(grants, place, "", "")]
        assert {digests[place] for place in hidden} == {digests["session:nowhere"]}, (
            "there or not, it looks the same"
        )
