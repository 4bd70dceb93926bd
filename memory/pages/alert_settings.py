"""Where alerts are told, when metrics raise them, and what did not arrive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from memory.domain.alerting import Rule
from memory.domain.health import METRICS, Metric
from memory.domain.ids import show_id
from memory.models import AlertChannel, AlertDelivery
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import SeeOther, answer, flash, flash_error, raise_or_deny, row_id, sentence, url
from memory.pages.metrics import number, unit
from memory.selectors import health
from memory.selectors import pages_alerts as found
from memory.selectors.alert_rules import own_rules, rule_for
from memory.services import alert_settings as service
from memory.services.alert_delivery import deliveries_send
from memory.services.errors import Conflict, Invalid, ServiceError
from tenants.context import tenant_context

_RULED = [metric for metric in METRICS.values() if metric.better != "neither"]


@tenant_page("alerts")
def index(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Channels, rules, and messages that were given up."""
    return _page(request, viewer)


def _page(request: HttpRequest, viewer: Viewer, status: int = 200, **more: Any) -> HttpResponse:
    with tenant_context(viewer.tenant.id):
        channels = found.channels()
        named = {channel.id: _address(viewer, channel) for channel in channels}
        last = found.last_deliveries([channel.id for channel in channels])
        dead, dead_total = found.undelivered()
        context = {
            "channels": [_channel(viewer, one, last.get(one.id)) for one in channels],
            "rules": _rules(),
            "metrics": [
                {"slug": one.name, "name": _(one.label), "unit": unit(one).strip()} for one in _RULED
            ],
            "scopes": health.scopes(),
            "dead": [_delivery(one, named) for one in dead],
            "dead_total": dead_total,
            "trying": [_delivery(one, named) for one in found.trying()],
            "can_manage": viewer.can("admin"),
            "typed": {},
            "rule_typed": _defaults(request),
            **more,
        }
        return answer(request, "pages/alerts/settings.html", context, status)


def _channel(viewer: Viewer, channel: AlertChannel, last: AlertDelivery | None) -> dict[str, Any]:
    return {
        "id_text": show_id("chn", channel.id),
        "kind": channel.kind,
        "address": _address(viewer, channel),
        "least": channel.least,
        "on": channel.disabled_at is None,
        "why": channel.disabled_why,
        "created_by": channel.created_by,
        "created_at": channel.created_at,
        "last": None
        if last is None
        else {"status": last.status, "at": last.done_at or last.created_at, "error": last.error},
    }


def _address(viewer: Viewer, channel: AlertChannel) -> str:
    """The path of a webhook may be a secret itself: it is shown to who manages it."""
    hidden = channel.kind == service.WEBHOOK and not viewer.can("admin")
    return service.host_of(channel) if hidden else channel.address


def _delivery(row: AlertDelivery, named: dict[Any, str]) -> dict[str, Any]:
    return {
        "id_text": show_id("dlv", row.id),
        "message": row.body["data"]["message"],
        "event": row.event,
        "to": named.get(row.channel_id, "–"),
        "attempts": row.attempts,
        "error": row.error,
        "answer": row.answer,
        "created_at": row.created_at,
        "next_at": row.next_at,
    }


def _rules() -> list[dict[str, Any]]:
    """What holds for the whole tenant, and what was set for single scopes."""
    own = own_rules()
    keys = [(metric.name, "") for metric in _RULED] + sorted(key for key in own if key[1])
    return [
        _rule(METRICS[name], scope, rule_for(own, METRICS[name], scope), own=(name, scope) in own)
        for name, scope in keys
        if name in METRICS
    ]


def _rule(metric: Metric, scope: str, rule: Rule, *, own: bool) -> dict[str, Any]:
    def shown(value: float | None) -> str:
        return "–" if value is None else f"{number(metric, value)}{unit(metric)}"

    return {
        "metric": metric.name, "name": _(metric.label), "scope": scope, "watch": shown(rule.watch),
        "breach": shown(rule.breach), "tell": rule.tell, "slack": f"{rule.slack * 100:.3g} %",
        "quiet": rule.quiet_minutes, "own": own,
    }  # fmt: skip


def _defaults(request: HttpRequest) -> dict[str, str]:
    """The form as the link in the table asks for it."""
    metric = METRICS.get(request.GET.get("metric", ""))
    scope = request.GET.get("scope", "").replace("\x00", "")[:200]
    if metric is None or metric.better == "neither":
        return {"scope": scope, "tell": "breach", "slack": "1", "quiet": "1440"}
    rule = rule_for(own_rules(), metric, scope)
    factor = 100 if metric.unit == "share" else 1
    return {
        "metric": metric.name,
        "scope": scope,
        "watch": "" if rule.watch is None else f"{rule.watch * factor:.6g}",
        "breach": "" if rule.breach is None else f"{rule.breach * factor:.6g}",
        "tell": rule.tell if rule.tell != "never" or not scope else "breach",
        "slack": f"{rule.slack * 100:.3g}",
        "quiet": str(rule.quiet_minutes),
    }


@tenant_page("alerts", read=None, write="admin")
def channel_add(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Tell another address; the secret of a webhook is in this answer and in no other."""
    typed = {name: request.POST.get(name, "") for name in ("kind", "address", "least")}
    try:
        channel, secret = service.channel_add(
            viewer.principal, typed["kind"], typed["address"], typed["least"] or "warning"
        )
    except (Invalid, Conflict) as error:
        return _page(
            request, viewer, error.status if error.status == 409 else 422, error=sentence(error), typed=typed
        )
    except ServiceError as error:
        return raise_or_deny(error)
    if not secret:
        flash(request, _("Added. Send a test to see that it arrives."))
        return SeeOther(url(viewer, "alert-settings"))
    return _page(request, viewer, new_secret=secret, new_address=channel.address)


@tenant_page("alerts", read=None, write="admin")
def channel_remove(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Tell an address no more."""
    return _acted(
        request, viewer, lambda: service.channel_remove(viewer.principal, row_id("chn", item)), _("Removed.")
    )


@tenant_page("alerts", read=None, write="admin")
def channel_switch(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Pause a channel, or go on."""
    on = request.POST.get("on") == "yes"
    return _acted(
        request,
        viewer,
        lambda: service.channel_switch(viewer.principal, row_id("chn", item), on=on),
        _("It is told again.") if on else _("Paused. Nothing is told there."),
    )


@tenant_page("alerts", read=None, write="admin")
def channel_test(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Send a test; how it went is in the row a moment later."""
    return _acted(
        request,
        viewer,
        lambda: service.channel_test(viewer.principal, row_id("chn", item)),
        _("A test is on its way. The row of the channel says how it went."),
    )


@tenant_page("alerts", read=None, write="admin")
def resend(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Try a message that was given up once more."""
    return _acted(
        request,
        viewer,
        lambda: service.delivery_resend(viewer.principal, row_id("dlv", item)),
        _("On its way again."),
    )


@tenant_page("alerts", read=None, write="admin")
def rule_set(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Set or reset the threshold of a metric."""
    names = ("metric", "scope", "watch", "breach", "tell", "slack", "quiet")
    typed = {name: request.POST.get(name, "").strip() for name in names}
    if request.POST.get("action") == "reset":
        return _acted(
            request, viewer, lambda: service.rule_reset(viewer.principal, typed["metric"], typed["scope"]),
            _("Back to the default."),
        )  # fmt: skip
    try:
        rule = _read(typed)
        service.rule_set(viewer.principal, typed["metric"], typed["scope"], rule)
    except Invalid as error:
        return _page(
            request, viewer, 422, rule_error=sentence(error), rule_typed=typed, rule_field=error.field
        )
    except ServiceError as error:
        return raise_or_deny(error)
    flash(request, _("Saved. It holds from the next measuring on."))
    return SeeOther(url(viewer, "alert-settings"))


@dataclass(frozen=True, slots=True)
class _Number:
    """A number as it is typed: percent for shares."""

    field: str
    factor: float = 1.0

    def read(self, text: str) -> float | None:
        if not text:
            return None
        try:
            return float(text.replace(",", ".")) / self.factor
        except ValueError:
            raise Invalid(f"{text[:40]!r} is no number", field=self.field) from None


def _read(typed: dict[str, str]) -> Rule:
    metric = METRICS.get(typed["metric"])
    factor = 100.0 if metric is not None and metric.unit == "share" else 1.0
    slack = _Number("slack", 100.0).read(typed["slack"])
    quiet = _Number("quiet_minutes").read(typed["quiet"])
    return Rule(
        watch=_Number("watch", factor).read(typed["watch"]),
        breach=_Number("breach", factor).read(typed["breach"]),
        tell=typed["tell"],  # type: ignore[arg-type]
        slack=0.01 if slack is None else slack,
        quiet_minutes=1440 if quiet is None else _whole(quiet),
    )


def _whole(minutes: float) -> int:
    if not 0 <= minutes <= 1e6:
        raise Invalid("the quiet time is at most 30 days", field="quiet_minutes")
    return int(minutes)


def _acted(request: HttpRequest, viewer: Viewer, act: Callable[[], Any], done: str) -> HttpResponse:
    try:
        act()
    except (Conflict, Invalid) as error:
        flash_error(request, sentence(error))
    except ServiceError as error:
        return raise_or_deny(error)
    else:
        deliveries_send(viewer.tenant.id)
        flash(request, done)
    return SeeOther(url(viewer, "alert-settings"))
