"""Health: every figure by its definition on a tenant made by hand; a planted leak is found; no data is None."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgov import clock
from memgov.ids import new_id
from memory.domain import freshness
from memory.domain.health import DETAILS, METRICS
from memory.domain.policy import Policy
from memory.domain.registry import DEFAULT_REGISTRY
from memory.domain.scopes import parse_grant
from memory.domain.types import Band, Kind
from memory.models import Contradiction, HealthSnapshot, Manifest, WriteDecision
from memory.selectors import health, health_rows, leaks
from memory.services import health as health_service
from memory.services import retention, tenancy
from memory.services.sweeps import sweep_decay, sweep_health
from memory.store import manifests
from tenants.principals import system
from tests.sweeps.planting import NOW, Plot

pytestmark = pytest.mark.usefixtures("database")
DAY = timedelta(days=1)
UNGUARDED = Policy.model_validate({"retention": {"sweep_guard": 1.0}})


def _measure(plot: Plot, model: str | None = None) -> dict[str, dict[str, float | None]]:
    with plot.stage.context():
        return health.measure(NOW, model)


def _read(
    plot: Plot, given: Sequence[tuple[UUID, str]], *, agent: Any = None, at: Any = NOW - DAY
) -> Manifest:
    """A manifest as a faulty retrieval might leave it: whatever it gave, to whomever."""
    agent = agent or plot.stage.coder
    manifest = Manifest(
        id=new_id(at), kind="retrieve", at=at, agent_id=agent.agent.id, agent_name=agent.agent.name,
        agent_role=agent.agent.role, policy_version=1, block_digest="", tokens=100 * len(given),
    )  # fmt: skip
    entries = [
        {
            "rank": rank,
            "memory_id": memory_id,
            "version": 1,
            "scope": scope,
            "band": "fresh",
            "channel": "retrieved",
            "score": 1.0,
            "scores": {},
            "source": "",
            "trust": 0.0,
        }
        for rank, (memory_id, scope) in enumerate(given, 1)
    ]
    with plot.stage.context():
        manifests.insert(manifest, entries)
    return manifest


def _written(plot: Plot, outcome: str, reason: str = "", scope: str = "project:alpha") -> None:
    row = {
        "agent_name": "planter",
        "scope": scope,
        "origin": "tool_output",
        "policy_version": 1,
        "at": NOW - DAY,
    }
    with plot.stage.context():
        WriteDecision(outcome=outcome, reason=reason, **row).save()


def test_figures__empty_tenant__counts_are_0_and_the_rest_is_missing() -> None:
    figures = _measure(Plot())[health.ALL]
    assert set(figures) == {*METRICS, *DETAILS}
    zero = {
        "live_facts",
        "duplicate_groups",
        "contradictions",
        "cross_scope_leaks",
        "unindexed_rows",
        "review_queue_age",
        "fresh",
        "aging",
        "outdated",
        "never_used",
        "to_verify",
        "never_given",
        "miswrite_judged",
    }
    assert {name for name, value in figures.items() if value == 0} == zero
    assert all(figures[name] is None for name in METRICS if name not in zero)


def test_figures__of_stored_rows() -> None:
    plot = Plot()
    plot.plant(4, content="young ")
    plot.plant(2, content="old ", at=NOW - 100 * DAY)
    plot.plant(2, content="over ", expires_at=NOW - DAY)
    plot.plant(content="waits ", status="quarantined", at=NOW - 5 * DAY)
    plot.plant(content="young ", scope="project:beta")
    plot.plant(content="YOUNG ", scope="project:beta", subject="another key")
    found = _measure(plot)
    whole, alpha, beta = found[health.ALL], found["project:alpha"], found["project:beta"]
    assert (whole["live_facts"], alpha["live_facts"], beta["live_facts"]) == (8, 6, 2)
    assert alpha["expired_not_cleaned"] == pytest.approx(2 / 8)
    assert beta["expired_not_cleaned"] == 0
    assert alpha["stale_share"] == pytest.approx(2 / 6)
    assert (whole["duplicate_groups"], alpha["duplicate_groups"], beta["duplicate_groups"]) == (1, 0, 1)
    assert whole["review_queue_age"] == pytest.approx(5)
    assert beta["review_queue_age"] == 0
    assert whole["unindexed_rows"] == 0
    assert _measure(plot, "some-model")[health.ALL]["unindexed_rows"] == 8
    assert whole["miswrite_rate"] is None


def test_figures__contradictions_and_merges_that_await_a_person() -> None:
    plot = Plot()
    plan: dict[str, Any] = {"subject": "user:1", "predicate": "plan", "single_valued": True}
    plot.plant(content="pro ", status="contested", **plan)
    plot.plant(content="free ", status="contested", **plan)
    (a, b, c) = plot.plant(3, content="said so ")
    with plot.stage.context():
        Contradiction(
            kind="conflict", scope="project:alpha", memory_a=a, memory_b=c, created_at=NOW - 2 * DAY
        ).save()
        Contradiction(kind="merge", scope="project:alpha", memory_a=a, memory_b=b, created_at=NOW).save()
        Contradiction(kind="merge", scope="project:alpha", memory_a=b, memory_b=c, created_at=NOW).save()
    figures = _measure(plot)["project:alpha"]
    assert figures["contradictions"] == 2
    assert figures["duplicate_groups"] == 1, "two pairs that share a memory are one group"
    assert figures["review_queue_age"] == pytest.approx(2)


def test_figures__of_reads() -> None:
    plot = Plot()
    mine = plot.plant(3, agent_name="writer one")
    other = plot.plant(1, content="o", agent_name="writer two")
    reported = _read(plot, [(one, "project:alpha") for one in [*mine, *other]])
    _read(plot, [(mine[0], "project:alpha")])
    _read(plot, [(mine[0], "project:alpha")], at=NOW - 8 * DAY)
    with plot.stage.context():
        manifests.mark(reported, {mine[0]: manifests.USED}, NOW)
    whole = _measure(plot)[health.ALL]
    assert whole["hit_rate"] == pytest.approx(1 / 4)
    assert whole["usage_coverage"] == pytest.approx(1 / 2)
    assert whole["injected_mean"] == pytest.approx(2.5)
    assert whole["injected_p95"] == pytest.approx(1 + 0.95 * 3)
    assert whole["injected_tokens_mean"] == pytest.approx(250)
    assert whole["top_source_share"] == pytest.approx(4 / 5)
    assert _measure(plot)["project:alpha"]["hit_rate"] == pytest.approx(1 / 4)


def test_figures__of_writes() -> None:
    plot = Plot()
    plot.plant()
    for outcome, reason in [
        ("stored", ""),
        ("held", "contains_instruction"),
        ("held", "conflict"),
        ("echo", ""),
    ]:
        _written(plot, outcome, reason)
    whole = _measure(plot)[health.ALL]
    assert (whole["quarantine_rate"], whole["echo_rate"]) == (pytest.approx(1 / 4), pytest.approx(1 / 4))


def test_figures__eviction_taken_back__is_regret() -> None:
    plot = Plot(UNGUARDED)
    ids = plot.plant(4, at=NOW - 180 * DAY)
    sweep_decay(plot.tenant_id, now=NOW - DAY)
    assert _measure(plot)[health.ALL]["regret"] == 0
    with clock.moved_to(NOW - timedelta(hours=1)):
        retention.memory_restore(plot.stage.reviewer.principal, ids[0], "needed")
    found = _measure(plot)
    assert found[health.ALL]["regret"] == pytest.approx(1 / 4)
    assert found["project:alpha"]["regret"] == pytest.approx(1 / 4)


def test_leaks__what_grants_defaults_and_ownership_allow__is_none() -> None:
    plot = Plot()
    scopes = ["project:alpha", "user:7", "agent:coder", "shared", "global"]
    with clock.moved_to(NOW - 2 * DAY):
        tenancy.grant_set(
            system(plot.tenant_id, "test"), parse_grant("project:alpha=r"), agent=plot.stage.coder.agent
        )
        tenancy.grant_set(system(plot.tenant_id, "test"), parse_grant("user:*=r"), agent_role="coder")
    given = [(plot.plant(scope=scope)[0], scope) for scope in scopes]
    _read(plot, given)
    with plot.stage.context():
        assert leaks.leaks(NOW - 30 * DAY, NOW) == []


def test_leaks__planted__each_is_found_and_named() -> None:
    plot = Plot()
    with clock.moved_to(NOW - 2 * DAY):
        tenancy.grant_set(
            system(plot.tenant_id, "test"), parse_grant("project:alpha=r"), agent=plot.stage.coder.agent
        )
    (open_one,) = plot.plant(scope="project:alpha")
    (secret,) = plot.plant(scope="project:secret")
    (session,) = plot.plant(scope="session:of-nobody")
    # The second says that it comes from a scope that may be read; the revision knows better.
    _read(plot, [(open_one, "project:alpha"), (secret, "project:alpha"), (session, "session:of-nobody")])
    with plot.stage.context():
        found = {(memory, scope) for _, memory, scope in leaks.leaks(NOW - 30 * DAY, NOW)}
    assert found == {(secret, "project:secret"), (session, "session:of-nobody")}
    figures = _measure(plot)
    assert figures[health.ALL]["cross_scope_leaks"] == 2
    assert figures["project:secret"]["cross_scope_leaks"] == 1
    assert figures["project:alpha"]["cross_scope_leaks"] == 0


def test_leaks__granted_then_revoked__reads_before_are_none_and_after_are() -> None:
    plot = Plot()
    actor, coder = system(plot.tenant_id, "test"), plot.stage.coder.agent
    with clock.moved_to(NOW - 10 * DAY):
        tenancy.grant_set(actor, parse_grant("project:beta=rw"), agent=coder)
    (memory,) = plot.plant(scope="project:beta")
    _read(plot, [(memory, "project:beta")], at=NOW - 9 * DAY)
    with clock.moved_to(NOW - 8 * DAY):
        tenancy.grant_set(actor, parse_grant("project:beta=w"), agent=coder)
    with plot.stage.context():
        assert leaks.leaks(NOW - 30 * DAY, NOW) == []
    late = _read(plot, [(memory, "project:beta")], at=NOW - 7 * DAY)
    with plot.stage.context():
        ((manifest, _, _),) = leaks.leaks(NOW - 30 * DAY, NOW)
        assert manifest == late.id


def test_leaks__granted_after_the_read__does_not_make_it_right() -> None:
    plot = Plot()
    (memory,) = plot.plant(scope="project:beta")
    _read(plot, [(memory, "project:beta")], at=NOW - DAY)
    with clock.moved_to(NOW):
        tenancy.grant_set(
            system(plot.tenant_id, "test"), parse_grant("project:*=r"), agent=plot.stage.coder.agent
        )
    with plot.stage.context():
        assert len(leaks.leaks(NOW - 30 * DAY, NOW)) == 1


def test_leaks__grant_planted_by_a_superuser_without_audit__counts_as_a_grant(superuser_url: str) -> None:
    plot = Plot()
    (memory,) = plot.plant(scope="project:beta")
    _read(plot, [(memory, "project:beta")])
    with psycopg.connect(superuser_url) as intruder:
        intruder.execute(
            "INSERT INTO tenants_grant (tenant_id, id, agent_id, agent_role, pattern, verbs, created_by, created_at)"
            " VALUES (%s, gen_random_uuid(), NULL, 'coder', 'project:beta', '{read}', '', %s)",
            [plot.tenant_id, NOW - 3 * DAY],
        )
    with plot.stage.context():
        assert leaks.leaks(NOW - 30 * DAY, NOW) == []


def test_snapshot__twice_in_an_hour__one_row_per_scope_with_the_last_figures() -> None:
    plot = Plot()
    plot.plant(2)
    plot.plant(scope="session:passing")
    first = sweep_health(plot.tenant_id, now=NOW)
    plot.plant(content="more ")
    sweep_health(plot.tenant_id, now=NOW + timedelta(minutes=50))
    sweep_health(plot.tenant_id, now=NOW + timedelta(minutes=61))
    assert (first.status, first.changed) == ("done", 2)
    with plot.stage.context():
        assert HealthSnapshot.objects.count() == 4
        points = health.series("project:alpha", ["live_facts", "regret"], since=NOW - DAY)
        assert [(point.period.hour, point.figures) for point in points] == [
            (12, {"live_facts": 3, "regret": None}),
            (13, {"live_facts": 3, "regret": None}),
        ]
        assert health.scopes() == ["project:alpha"]
        newest = health.latest()
    assert newest is not None
    assert newest.figures["live_facts"] == 4


def test_health_now__after_a_read_or_a_write__is_measured_anew() -> None:
    plot = Plot()
    assert health_service.health_now(plot.tenant_id)["live_facts"] == 0
    with clock.moved_to(NOW):
        (memory,) = plot.plant()
        _read(plot, [(memory, "project:alpha")], at=NOW)
        figures = health_service.health_now(plot.tenant_id)
        assert (figures["live_facts"], figures["injected_mean"]) == (1, 1)
        assert health_service.health_now(plot.tenant_id, "project:alpha")["live_facts"] == 1
        assert health_service.health_now(plot.tenant_id, "project:unknown")["live_facts"] == 0


def test_health__of_another_tenant__is_not_in_it() -> None:
    mine, other = Plot(), Plot()
    other.plant(5)
    sweep_health(other.tenant_id, now=NOW)
    assert _measure(mine)[health.ALL]["live_facts"] == 0
    with mine.stage.context():
        assert health.series() == []


@settings(max_examples=25, deadline=None)
@given(
    kind=st.sampled_from(Kind),
    predicate=st.sampled_from(["", "version", "birthday", "plan", "never heard of"]),
    days=st.integers(0, 400),
)
def test_stale__sql_and_domain__agree_on_the_band(kind: Kind, predicate: str, days: int) -> None:
    policy = Policy.model_validate({"freshness": {"bands": {"event": {"fresh_days": 5, "aging_days": 200}}}})
    plot = _plot_of_bands()
    learned = NOW - timedelta(days=days, seconds=1)
    plot.look("UPDATE memory_memory SET status = 'deleted' WHERE tenant_id = %(tenant)s RETURNING 1")
    plot.plant(content=f"{kind}{predicate}{days} ", kind=kind.value, predicate=predicate, at=learned)
    with plot.stage.context():
        found = health_rows.stored(policy, DEFAULT_REGISTRY, NOW, None)[health.ALL]["stale_share"]
    rule = DEFAULT_REGISTRY.lookup(predicate) if predicate else None
    assert (found == 1) is (freshness.band(kind, rule, learned, NOW, policy) is Band.OUTDATED)


_plots: list[Plot] = []


def _plot_of_bands() -> Plot:
    """One tenant for all examples: making one for each would take most of the time."""
    if not _plots:
        _plots.append(Plot())
    return _plots[0]
