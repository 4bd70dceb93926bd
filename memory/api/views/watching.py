"""Looking on: who the key is, health, audit, jobs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q, QuerySet
from rest_framework.response import Response

from memgov import clock
from memory.api import docs
from memory.api.cursors import page_json, read_page
from memory.api.endpoint import Endpoint, id_in_path
from memory.api.problems import stop
from memory.api.representation import event_json, job_json, when
from memory.api.requests import MAX_BATCH, MAX_PAGE, AuditParameters, HealthParameters
from memory.domain import health
from memory.domain.ids import show_id
from memory.domain.scopes import Verb, default_grants, parse_scope
from memory.models import AuditEvent, Job
from memory.selectors import health as figures
from memory.selectors.alert_rules import metrics_of
from memory.selectors.listing import audit_events
from memory.selectors.policies import active_policy
from memory.services.access import may_on
from memory.services.embedding import present_model
from tenants.context import tenant_context
from tenants.models import AgentKey, Tenant

DEFAULT_DAYS = 30


class WhoAmI(Endpoint):
    """`GET whoami`"""

    @docs.whoami
    def get(self, request: Any) -> Response:
        me = self.principal
        assert me.agent_id is not None and me.key_id is not None
        tenant = Tenant.objects.get(id=me.tenant_id)
        with tenant_context(me.tenant_id):
            key = AgentKey.objects.get(id=me.key_id)
            active = active_policy()
        limits = active.policy.rate_limits
        text = active.policy.text
        return Response(
            {
                "tenant": {"id": show_id("ten", tenant.id), "slug": tenant.slug, "name": tenant.name},
                "agent": {"id": show_id("agt", me.agent_id), "name": me.name},
                "role": me.role,
                "key": {
                    "id": show_id("key", key.id),
                    "prefix": key.prefix,
                    "name": key.name,
                    "trust_ceiling": key.trust_ceiling,
                    "expires_at": when(key.expires_at),
                },
                "grants": self._grants(),
                "limits": {
                    "writes_per_minute": limits.writes_per_minute_key,
                    "reads_per_minute": limits.reads_per_minute_key,
                    "requests_per_minute_tenant": limits.requests_per_minute_tenant,
                    "content_characters": text.content_characters,
                    "metadata_bytes": text.metadata_bytes,
                    "body_bytes": settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
                    "batch_items": MAX_BATCH,
                    "page_size": MAX_PAGE,
                },
                "policy_version": active.number,
                "embedder": present_model(),
            }
        )

    def _grants(self) -> list[dict[str, Any]]:
        """Its own grants, and what its role has without any."""
        own = [
            {"pattern": pattern, "verbs": sorted(verbs), "source": "grant"}
            for pattern, verbs in self.principal.grants
        ]
        default = [
            {"pattern": rule.pattern, "verbs": sorted(map(str, rule.verbs)), "source": "default"}
            for rule in default_grants(self.principal.role)
        ]
        return [*own, *default]


class Health(Endpoint):
    """`GET health`"""

    parameters = {"GET": HealthParameters}

    @docs.health
    def get(self, request: Any) -> Response:
        scope, now = self.query.get("scope", ""), clock.now()
        since = now - timedelta(days=self.query.get("days", DEFAULT_DAYS))
        with tenant_context(self.principal.tenant_id):
            if scope and not may_on(self.principal, Verb.READ, parse_scope(scope)):
                raise stop(404, "not_found", f"there is no scope {scope} that this key may read")
            present = figures.current(present_model(), scope)
            points = figures.series(scope, since=since)
            metrics = metrics_of(scope)
        return Response(
            {
                "scope": scope or None,
                "at": when(now),
                "metrics": {
                    name: {
                        "value": present.get(name),
                        "state": health.state(metric, present.get(name)),
                        "unit": metric.unit,
                        "better": metric.better,
                        "label": metric.label,
                        "watch": metric.watch,
                        "breach": metric.breach,
                    }
                    for name, metric in metrics.items()
                },
                "details": {name: present.get(name) for name in health.DETAILS},
                "series": [_point(point) for point in points],
            }
        )


def _point(point: figures.Point) -> dict[str, Any]:
    return {
        "at": when(point.period),
        "span": point.span,
        "figures": point.figures,
        "spread": {name: {"low": low, "high": high} for name, (low, high) in point.spread.items()},
    }


class Audit(Endpoint):
    """`GET audit`"""

    parameters = {"GET": AuditParameters}

    @docs.audit
    def get(self, request: Any) -> Response:
        with tenant_context(self.principal.tenant_id):
            found = read_page(self._filtered(), "seq", self.query, "audit")
        return Response(page_json(request, "audit", found, event_json))

    def _filtered(self) -> QuerySet[AuditEvent]:
        query, events = self.query, audit_events(self.principal)
        if "action" in query:
            events = events.filter(action__in=query["action"])
        if "actor" in query:
            events = events.filter(Q(actor_id=query["actor"]) | Q(actor_name=query["actor"]))
        if "target" in query:
            events = events.filter(target_id=query["target"])
        if "scope" in query:
            events = events.filter(scope=query["scope"])
        if "since" in query:
            events = events.filter(at__gte=query["since"])
        if "until" in query:
            events = events.filter(at__lt=query["until"])
        return events


class OneJob(Endpoint):
    """`GET jobs/{id}`"""

    @docs.job
    def get(self, request: Any, job_id: str) -> Response:
        with tenant_context(self.principal.tenant_id):
            job = Job.objects.filter(id=id_in_path("job", job_id), agent_id=self.principal.agent_id).first()
        if job is None:
            raise stop(404, "not_found", "there is no such job of this agent")
        return Response(job_json(job))
