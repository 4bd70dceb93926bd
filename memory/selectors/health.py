"""Health of a tenant: the figures of every metric, now and over time.  Looking changes nothing that is measured.

What a metric means is `memory.domain.health`.  A figure without data is None, never 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from time import perf_counter

from django.core.cache import cache

from memgov import clock
from memory.domain.health import DETAILS, METRICS
from memory.models import HealthSnapshot, Manifest
from memory.selectors import audit, health_judged, health_rows, health_use
from memory.selectors.health_rows import ALL, ByScope, Figures
from memory.selectors.policies import active_policy
from tenants.context import current_tenant_id

# Scopes that have figures of their own: not sessions and tasks, which come and go, and the largest of the others.
MOST_SCOPES = 500
_PASSING = ("session:", "task:")
# Where no row means that there is none, and not that nobody looked.
_COUNTS = (
    "live_facts", "duplicate_groups", "contradictions", "cross_scope_leaks", "unindexed_rows",
    "fresh", "aging", "outdated", "to_verify", "never_used", "never_given", "miswrite_judged",
)  # fmt: skip

_KEPT_SECONDS = 60
# One that took half a second or longer is good for 20 times as long, whatever happens: 5% of the time at most.
_LONG_SECONDS, _REST = 0.5, 20


@dataclass(frozen=True, slots=True)
class Point:
    """The figures of one hour, or of one day that was folded; a metric that was not measured then is None.

    `spread` has the lowest and highest of a folded day.
    """

    period: datetime
    figures: Figures
    span: str = HealthSnapshot.HOUR
    spread: Mapping[str, Sequence[float]] = field(default_factory=dict)


def measure(now: datetime, model: str | None) -> ByScope:
    """Every metric of the current tenant, whole ('') and by scope; `model` is the embedder's, None without one."""
    active = active_policy()
    found: ByScope = health_rows.stored(active.policy, active.words.registry, now, model)
    several: list[ByScope] = [health_use.reads(now), health_use.writes(now), health_judged.miswrites(now)]
    for more in several:
        for scope, figures in more.items():
            found.setdefault(scope, {}).update(figures)
    singles: dict[str, Mapping[str, float | None]] = {
        "duplicate_groups": health_rows.duplicate_groups(now),
        "contradictions": health_rows.contradictions(now),
        "review_queue_age": health_rows.queue_ages(now),
        "top_source_share": health_use.top_sources(now),
        "regret": health_use.regret(now),
        "cross_scope_leaks": health_use.leak_counts(now),
        "never_given": health_rows.ungiven(now),
    }
    for name, values in singles.items():
        for scope, value in values.items():
            found.setdefault(scope, {})[name] = value
    return {scope: _complete(found[scope]) for scope in _shown(found)}


def current(model: str | None, scope: str = ALL, now: datetime | None = None) -> Figures:
    """The figures now, of the tenant or one scope.

    Kept for a minute as long as nothing is written or read in the tenant, and where measuring takes long, for 20 times
    as long in any case, so that looking often costs little, however large and busy the tenant.
    """
    at = now or clock.now()
    if now is not None:
        return measure(at, model).get(scope) or _complete({})
    resting = f"health:rest:{current_tenant_id()}:{model}"
    found: ByScope | None = cache.get(resting)
    if found is None:
        key = f"health:now:{current_tenant_id()}:{_state(model, at)}"
        found = cache.get(key)
        if found is None:
            found = _measured(key, resting, at, model)
    return found.get(scope) or _complete({})


def _measured(key: str, resting: str, at: datetime, model: str | None) -> ByScope:
    started = perf_counter()
    found = measure(at, model)
    took = perf_counter() - started
    rest = int(took * _REST)
    cache.set(key, found, max(rest, _KEPT_SECONDS))
    if took >= _LONG_SECONDS:
        cache.set(resting, found, min(rest, _KEPT_SECONDS))
    return found


def _state(model: str | None, at: datetime) -> str:
    """Changes with every write, read and report, and every minute."""
    head = audit.head()
    latest = Manifest.objects.order_by("-at").values_list("id", "usage_reported_at").first()
    return f"{head.seq if head else 0}:{latest}:{model}:{int(at.timestamp()) // _KEPT_SECONDS}".replace(
        " ", ""
    )


def latest(scope: str = ALL) -> Point | None:
    """The newest snapshot."""
    rows = HealthSnapshot.objects.filter(scope=scope).order_by("-period")
    row = rows.values_list("period", "figures", "span", "spread").first()
    return Point(*row) if row else None


def series(
    scope: str = ALL, metrics: Sequence[str] | None = None, since: datetime | None = None
) -> list[Point]:
    """Snapshots in the order of time: days as far as hours were folded, hours after that.

    A period without a snapshot is not in it: a gap stays a gap.
    """
    rows = HealthSnapshot.objects.filter(scope=scope)
    if since is not None:
        rows = rows.filter(period__gte=since)
    wanted = list(metrics or [*METRICS, *DETAILS])
    return [
        Point(
            period,
            {name: figures.get(name) for name in wanted},
            span,
            {k: v for k, v in spread.items() if k in wanted},
        )
        for period, figures, span, spread in rows.order_by("period", "span").values_list(
            "period", "figures", "span", "spread"
        )
    ]


def scopes() -> list[str]:
    """Scopes that the newest snapshot has figures of."""
    newest = HealthSnapshot.objects.order_by("-period").values_list("period", flat=True).first()
    rows = HealthSnapshot.objects.filter(period=newest).exclude(scope=ALL)
    return list(rows.order_by("scope").values_list("scope", flat=True))


def _shown(found: ByScope) -> Iterable[str]:
    own = [scope for scope in found if scope and not scope.startswith(_PASSING)]
    own.sort(key=lambda scope: (-(found[scope].get("live_facts") or 0), scope))
    return [ALL, *own[:MOST_SCOPES]] if ALL in found else own[:MOST_SCOPES]


def _complete(figures: Figures) -> Figures:
    filled: Figures = {name: (0 if name in _COUNTS else None) for name in (*METRICS, *DETAILS)}
    # Nothing waits: that is no missing figure.
    filled["review_queue_age"] = 0.0
    return {**filled, **{name: value for name, value in figures.items() if name in filled}}
