"""Whether the worker and beat live: each of the two watches the other, for nobody can report their own silence.

The worker looks from its own loop and lets a task do the rest.  Beat looks from a thread, and when the worker is silent
it sends what there is to tell itself.
"""

from __future__ import annotations

import logging
import threading
from typing import Any, Final
from uuid import UUID

from django.db import connection

from memgov import clock, heartbeat
from memory import schedule
from memory.services.alert_delivery import delivery_send
from memory.services.alerts_watch import process_watched
from memory.store import alert_channels
from tenants.context import tenant_context
from tenants.models import Tenant

log = logging.getLogger(__name__)

EVERY_SECONDS: Final = 30
_AT_ONCE: Final = 50


def process_noted(name: str, *, lives: bool) -> int:
    """Open or end the alert about a process in every active tenant; how many tenants."""
    ids = active_tenants()
    for tenant_id in ids:
        process_watched(tenant_id, name, lives=lives)
    return len(ids)


def active_tenants() -> list[UUID]:
    """Ids of the tenants that are served."""
    rows = Tenant.objects.filter(status=Tenant.Status.ACTIVE).order_by("id")
    return list(rows.values_list("id", flat=True))


class Look:
    """One watcher's memory of what it saw: it acts when that changes, and at its first look."""

    def __init__(self, name: str) -> None:
        self.name, self._seen = name, None

    _seen: bool | None

    def changed(self) -> bool | None:
        """Whether the process lives, if that is news; else None."""
        lives = heartbeat.lives(self.name)
        news = None if lives == self._seen else lives
        self._seen = lives
        return news


def watch_beat(sender: Any, **_: Any) -> None:
    """On Celery's `worker_ready`: look at beat from the worker's loop."""
    look = Look(heartbeat.BEAT)

    def tick() -> None:
        try:
            news = look.changed()
            if news is not None:
                sender.app.send_task(schedule.NOTE_PROCESS, [heartbeat.BEAT, news], expires=600)
        except Exception as error:  # a broker that is away must not end the loop
            log.warning("watching beat: %s", error)

    # Beat may start after the worker: its first sign of life may take as long as it lives.
    sender.timer.call_after(
        heartbeat.LIFE_SECONDS[heartbeat.BEAT],
        lambda: sender.timer.call_repeatedly(EVERY_SECONDS, tick),
    )


def watch_worker(stop: threading.Event, first: float = 120, every: float = EVERY_SECONDS) -> threading.Thread:
    """On Celery's `beat_init`: look at the worker from a thread of beat, until told to stop."""
    thread = threading.Thread(
        target=_watch_worker, args=(stop, first, every), daemon=True, name="watch-worker"
    )
    thread.start()
    return thread


def _watch_worker(stop: threading.Event, first: float, every: float) -> None:
    look, pause = Look(heartbeat.WORKER), first
    while not stop.wait(pause):
        pause = every
        try:
            news = look.changed()
            if news is not None:
                process_noted(heartbeat.WORKER, lives=news)
            if not heartbeat.lives(heartbeat.WORKER):
                _send_here()
        except Exception as error:  # the next look is in half a minute
            log.warning("watching the worker: %s", error)
        finally:
            connection.close()


def _send_here() -> None:
    """Send what is due from this process: there is no worker that would."""
    for tenant_id in active_tenants():
        with tenant_context(tenant_id):
            waiting = alert_channels.due(clock.now(), _AT_ONCE)
        for delivery_id in waiting:
            delivery_send(tenant_id, delivery_id)
