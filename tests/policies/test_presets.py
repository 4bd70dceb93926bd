"""Each preset replays the behaviour that its kind of store is known for, through the real services.

The examples are those of the field: an account's plan from a trusted source and a mood that is no fact; decay by idle
days and uses; a step of a task under its key; a note that leaks into nobody's session; a digest in bands.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from math import exp, log
from typing import Any

import pytest

from memgov import clock
from memory.domain.decay import decay_score
from memory.domain.policy import preset
from memory.domain.scopes import parse_scope
from memory.domain.types import OutcomeKind
from memory.models import Contradiction, Manifest, Memory, SweepRun, WriteDecision
from memory.services.digest import digest_read
from memory.services.errors import Denied, NotFound
from memory.services.memory_write import memory_write
from memory.services.policies import policy_activate
from memory.services.promotion import promotion_request
from memory.services.promotion_decide import promotion_decide
from memory.services.recall import RetrieveRequest, memory_retrieve
from memory.services.retention import memory_pin
from memory.services.sweeps import SWEEPS
from memory.services.usage import usage_report
from memory.services.working import WorkingWrite, working_get, working_list, working_put
from memory.services.write_types import Outcome, WriteRequest
from tenants.principals import Principal
from tests.factories import Stage, make_agent, make_person, make_tenant

pytestmark = pytest.mark.usefixtures("database")

START = datetime.fromisoformat("2026-03-01T09:00:00+00:00")


@pytest.fixture
def stage(request: pytest.FixtureRequest, database: None) -> Iterator[Stage]:
    """A tenant under the preset that the test names, at a fixed instant."""
    with clock.moved_to(START):
        made = make_tenant()
        policy_activate(made.owner.principal, preset(request.param), f"the preset {request.param}")
        yield made


under = pytest.mark.parametrize


def write(who: Principal, **fields: Any) -> Outcome:
    return memory_write(who, WriteRequest(**{"origin": "tool_verified", "scope": "project:alpha", **fields}))


def plan(who: Principal, value: str, **fields: Any) -> Outcome:
    return write(who, subject="customer_42", predicate="plan", value=value, **fields)


def texts(who: Principal, query: str, **asked: Any) -> list[str]:
    found = memory_retrieve(who, RetrieveRequest(query=query, **asked))
    return [entry.found.content for entry in found.entries]


def status_of(stage: Stage, outcome: Outcome) -> str:
    assert outcome.memory is not None
    with stage.context():
        return str(Memory.objects.get(id=outcome.memory.id).status)


def after(days: float) -> Any:
    return clock.moved_to(START + timedelta(days=days))


@under("stage", ["trusted-source"], indirect=True)
def test_trusted_source__only_trusted_origins_and_lasting_predicates__for_thirty_days(stage: Stage) -> None:
    coder = stage.coder.principal
    kept = plan(coder, "enterprise")
    assert kept.outcome is OutcomeKind.STORED and kept.policy_version == 2
    assert kept.memory is not None and kept.memory.expires_at == START + timedelta(days=30)
    for origin in ("model_inferred", "external", "tool_output", "user_input", "a_rumour"):
        refused = plan(coder, "free", origin=origin, confidence=1.0)
        assert (refused.outcome, refused.reason) == (OutcomeKind.REJECTED, "untrusted_source"), origin
    for predicate, value in (
        ("current_mood", "frustrated"),
        ("last_message", "where is my invoice"),
        ("session_intent", "cancel the order"),
    ):
        refused = write(coder, subject="customer_42", predicate=predicate, value=value)
        assert (refused.outcome, refused.reason) == (OutcomeKind.REJECTED, "transient"), predicate
    assert texts(coder, "which plan has customer_42") == [kept.memory.content]
    with after(30):
        assert texts(coder, "which plan has customer_42") == []
        assert status_of(stage, kept) == "live", "the reader does not wait for the sweep"
        SWEEPS["expiry"](stage.tenant.id)
        assert status_of(stage, kept) == "expired"


@under("stage", ["trusted-source"], indirect=True)
def test_trusted_source__newer_value_wins_and_said_again_lives_on(stage: Stage) -> None:
    coder = stage.coder.principal
    old = plan(coder, "starter", confidence=1.0)
    with after(1):
        new = plan(coder, "enterprise", confidence=0.1)
        assert new.outcome is OutcomeKind.SUPERSEDED and status_of(stage, old) == "superseded"
    with after(20):
        assert plan(coder, "enterprise").outcome is OutcomeKind.DUPLICATE
    with after(45):
        assert len(texts(coder, "which plan has customer_42")) == 1, "renewed on day 20"
        SWEEPS["decay"](stage.tenant.id)
        assert status_of(stage, new) == "live", "only time ends it"
    with after(51):
        assert texts(coder, "which plan has customer_42") == []


DECAYED = (
    # confidence, idle days, uses, kept: confidence × (0.6·e^(−idle/30) + 0.4·ln(1+uses)/3) against 0.15
    (0.9, 10, 0, True),
    (0.9, 40, 0, False),
    (0.9, 60, 0, False),
    (0.7, 30, 0, True),
    (0.6, 30, 0, False),
    (0.6, 30, 1, True),
    (0.9, 60, 10, True),
    (0.9, 365, 10, True),
    (0.6, 365, 2, False),
)


@under("stage", ["curated"], indirect=True)
@under(("confidence", "idle", "uses", "kept"), DECAYED)
def test_curated__decay__evicts_below_the_floor_by_the_published_formula(
    stage: Stage, confidence: float, idle: int, uses: int, kept: bool
) -> None:
    coder = stage.coder.principal
    fact = write(coder, content="The billing service listens on port 8443.", confidence=confidence)
    assert fact.outcome is OutcomeKind.STORED
    for _ in range(uses):
        read = memory_retrieve(coder, RetrieveRequest(query="port of the billing service"))
        usage_report(coder, read.manifest.id, [entry.found.id for entry in read.entries])
    with after(idle):
        run: SweepRun = SWEEPS["decay"](stage.tenant.id)
        assert (run.policy_version, run.changed) == (2, 0 if kept else 1)
        assert status_of(stage, fact) == ("live" if kept else "evicted")
    published = confidence * (0.6 * exp(-idle / 30) + 0.4 * log(1 + uses) / 3)
    assert decay_score(confidence, idle, uses, preset("curated")) == pytest.approx(published)
    assert (published >= 0.15) is kept


@under("stage", ["curated"], indirect=True)
def test_curated__admission_supersede_and_conflict(stage: Stage) -> None:
    coder = stage.coder.principal
    assert plan(coder, "starter", confidence=0.5).reason == "low_confidence"
    assert plan(coder, "starter", importance=0.5).reason == "low_importance"
    values = [plan(coder, value, confidence=0.9) for value in ("starter", "pro", "enterprise")]
    assert [one.outcome.value for one in values] == ["stored", "superseded", "superseded"]
    assert [status_of(stage, one) for one in values] == ["superseded", "superseded", "live"]
    weak = plan(coder, "free", origin="tool_output", confidence=0.6)
    assert (weak.outcome, weak.reason) == (OutcomeKind.HELD, "conflict")
    assert status_of(stage, values[2]) == "live"
    # 0.9 × 0.8 = 0.72 against 0.73 × 0.8 = 0.584: weaker, but within the margin of 0.15.
    assert plan(coder, "team", confidence=0.73).outcome is OutcomeKind.SUPERSEDED
    with stage.context():
        chain = list(
            Memory.objects.filter(predicate="plan", status="superseded").values_list("value", flat=True)
        )
        assert sorted(chain) == ["enterprise", "pro", "starter"]
        assert set(WriteDecision.objects.values_list("policy_version", flat=True)) == {2}


@under("stage", ["layered"], indirect=True)
def test_layered__working_memory_under_keys_for_an_hour__long_term_by_importance_and_confidence(
    stage: Stage,
) -> None:
    coder = stage.coder.principal
    working_put(coder, "deploy", "step_3", WorkingWrite("the migration has run"))
    assert working_get(coder, "deploy", "step_3").value == "the migration has run"
    with clock.moved_to(START + timedelta(seconds=3599)):
        assert len(working_list(coder, "deploy")) == 1
    with clock.moved_to(START + timedelta(seconds=3600)):
        assert working_list(coder, "deploy") == []
    for at, layer in enumerate(("episodic", "semantic", "procedural")):
        fact = {"content": f"Release {at + 4} of the ledger needs the new schema first.", "layer": layer}
        assert write(coder, **fact, importance=0.59, confidence=0.9).reason == "low_importance"
        assert write(coder, **fact, importance=0.6, confidence=0.69).reason == "low_confidence"
        assert write(coder, **fact, importance=0.6, confidence=0.7).outcome is OutcomeKind.STORED
    assert write(coder, content="The ledger keeps cents.", scope="session:s1", confidence=0.69).reason == (
        "low_confidence"
    )


@under("stage", ["layered"], indirect=True)
def test_layered__role_scopes__own_to_the_role_and_shared_by_the_orchestrator(stage: Stage) -> None:
    coder, chief = stage.coder.principal, stage.orchestrator.principal
    researcher = make_agent(stage.tenant, "researcher").principal
    own = write(coder, content="The linter is run before every commit.", scope="agent:coder")
    assert own.outcome is OutcomeKind.STORED
    assert texts(researcher, "when is the linter run") == []
    assert len(texts(coder, "when is the linter run")) == 1
    for scope in ("shared", "global", "agent:coder"):
        with pytest.raises(Denied):
            write(researcher, content="The budget is decided in March.", scope=scope)
    assert (
        write(chief, content="The budget is decided in March.", scope="shared").outcome is OutcomeKind.STORED
    )
    assert len(texts(researcher, "when is the budget decided")) == 1


@under("stage", ["least-visibility"], indirect=True)
def test_least_visibility__starts_narrow__seen_by_others_only_after_approval(stage: Stage) -> None:
    coder = stage.coder.principal
    peer = make_agent(stage.tenant, "coder", ["project:alpha=rw"]).principal
    guess = write(
        coder, content="The tenant seems to prefer blue.", origin="model_inferred", scope=None, session="s1"
    )
    assert guess.memory is not None
    assert (guess.memory.scope, guess.memory.confidence) == ("session:s1", 0.5)
    note = write(
        coder,
        content="The staging vault rotates its keys on Sundays.",
        scope=None,
        session="s1",
        confidence=0.95,
    )
    assert note.memory is not None and note.memory.scope == "session:s1"
    query = "when does the staging vault rotate its keys"
    assert (
        texts(coder, query, session="s1") and not texts(coder, query, session="s2") and not texts(peer, query)
    )
    asked = promotion_request(coder, note.memory.id, parse_scope("project:alpha"), "all need it")
    assert asked.status == "pending", "never by the policy alone"
    assert not texts(peer, query)
    with pytest.raises(Denied):
        promotion_decide(coder, asked.id, "approve", reason="mine", version=asked.version)
    promotion_decide(stage.reviewer.principal, asked.id, "approve", reason="checked", version=asked.version)
    assert len(texts(peer, query)) == 1


@under("stage", ["least-visibility"], indirect=True)
def test_least_visibility__what_everybody_will_see__takes_two_people(stage: Stage) -> None:
    coder, stranger = stage.coder.principal, make_agent(stage.tenant, "writer").principal
    fact = write(coder, content="Invoices are sent on the third working day.", confidence=0.95)
    assert fact.memory is not None
    asked = promotion_request(coder, fact.memory.id, parse_scope("shared"), "all need it")
    first = promotion_decide(
        stage.reviewer.principal, asked.id, "approve", reason="checked", version=asked.version
    )
    assert first.waits_for_more and not texts(stranger, "when are invoices sent")
    second = make_person(stage.tenant, "reviewer").principal
    done = promotion_decide(second, asked.id, "approve", reason="so do I", version=first.request.version)
    assert not done.waits_for_more
    assert len(texts(stranger, "when are invoices sent")) == 1
    low = write(
        stage.orchestrator.principal,
        content="Parking is free on Sundays.",
        scope="shared",
        origin="tool_output",
    )
    assert low.reason == "untrusted_source"


SAME = (
    # The same words; the same words in another order; one contains the other.
    ("The deploy script lives in tools/deploy.sh", "the deploy script lives in tools/deploy.sh."),
    ("The deploy script of alpha lives in tools/run.sh", "The alpha deploy script lives in tools/run.sh"),
    ("The user told us that the archive is kept in hall 9", "The archive is kept in hall 9"),
)


@under("stage", ["bounded-digest"], indirect=True)
def test_bounded_digest__said_in_nearly_the_same_words__is_kept_once(stage: Stage) -> None:
    coder = stage.coder.principal
    for first, second in SAME:
        assert write(coder, content=first, confidence=0.6).outcome is OutcomeKind.STORED
        again = write(coder, content=second, confidence=0.6)
        assert again.outcome in (OutcomeKind.DUPLICATE, OutcomeKind.NEAR_DUPLICATE), second
    apart = [write(coder, content=f"The lorry carries {many} crates at most.") for many in (40, 55)]
    assert [one.outcome for one in apart] == [OutcomeKind.STORED] * 2, "other numbers are other facts"
    with stage.context():
        assert Memory.objects.filter(status="live").count() == len(SAME) + 2
        assert not Contradiction.objects.exists()


@under("stage", ["bounded-digest"], indirect=True)
def test_bounded_digest__over_the_cap__loses_its_weakest_and_never_a_pinned_one(stage: Stage) -> None:
    coder = stage.coder.principal
    pinned = write(coder, content="The oldest lamp of the yard is number 0.", confidence=0.05)
    weakest = write(coder, content="The lamp of gate 1 burns gas.", confidence=0.1)
    assert pinned.memory is not None
    memory_pin(stage.owner.principal, pinned.memory.id, "a landmark")
    for at in range(499):
        write(coder, content=f"Rack {at} holds the spare router of line {at * 7 + 3}.", confidence=0.9)
    with stage.context():
        assert Memory.objects.filter(scope="project:alpha", status="live").count() == 500
    assert (status_of(stage, pinned), status_of(stage, weakest)) == ("live", "archived")


@under("stage", ["bounded-digest"], indirect=True)
def test_bounded_digest__bands__thirty_and_ninety_days_within_the_budget(stage: Stage) -> None:
    coder = stage.coder.principal
    facts = ("The mill grinds rye.", "The sluice opens at dawn.", "The barn is painted red.")
    for days, content in zip((0, 60, 90), facts, strict=True):
        with after(days):
            write(coder, content=content, confidence=0.2)
    with after(90):
        found = digest_read(coder, parse_scope("project:alpha")).digest
    assert {one.content for one in found.fresh} == {"The barn is painted red.", "The sluice opens at dawn."}
    assert [one.content for one in found.aging] == ["The mill grinds rye."]
    assert found.text.index("verify before relying on it") < found.text.index("The mill grinds rye.")
    with clock.moved_to(START + timedelta(days=90, seconds=1)):
        later = digest_read(coder, parse_scope("project:alpha"))
    assert later.digest.left_out == {"outdated": 1} and later.digest.tokens <= 1500
    with stage.context():
        assert Manifest.objects.latest("at").policy_version == 2
    with pytest.raises(NotFound):
        digest_read(coder, parse_scope("project:beta"))


@under("stage", ["open"], indirect=True)
def test_open__every_well_formed_candidate__stands_beside_the_others(stage: Stage) -> None:
    coder = stage.coder.principal
    said = (
        "ok",
        "What is your name?",
        "The mill grinds rye.",
        "The mill grinds rye.",
        "/tmp/a1/out.log holds the trace",
    )
    for content in said:
        stored = write(coder, content=content, origin="external", confidence=0.0, importance=0.0)
        assert stored.outcome is OutcomeKind.STORED, content
    values = [
        plan(coder, value, confidence=0.9 - at / 3) for at, value in enumerate(("starter", "pro", "starter"))
    ]
    assert [one.outcome for one in values] == [OutcomeKind.STORED] * 3
    with stage.context():
        assert Memory.objects.filter(status="live").count() == len(said) + 3
    with after(3000):
        assert SWEEPS["decay"](stage.tenant.id).changed == 0
        assert SWEEPS["compaction"](stage.tenant.id).changed == 0
