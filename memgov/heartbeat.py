"""Signs of life of the worker and of beat, for `/readyz`: cache keys that go out when nobody renews them."""

from __future__ import annotations

import logging
from typing import Any, Final

from django.core.cache import cache

WORKER, BEAT = "worker", "beat"
# Six missed in a row are no matter of load: the loop that gives them does no task's work itself.
EVERY_SECONDS: Final = 5
LIFE_SECONDS: Final = {WORKER: 30, BEAT: 150}

log = logging.getLogger(__name__)


def give(name: str) -> None:
    """Say that `name` lives."""
    cache.set(f"heartbeat:{name}", 1, LIFE_SECONDS[name])


def lives(name: str) -> bool:
    """Whether it said so lately."""
    return cache.get(f"heartbeat:{name}") is not None


def start_worker_heartbeat(sender: Any, **_: Any) -> None:
    """On Celery's `worker_ready`: renew the key from the worker's own loop, so that a stuck one falls silent."""
    _give_quietly()
    sender.timer.call_repeatedly(EVERY_SECONDS, _give_quietly)


def _give_quietly() -> None:
    try:
        give(WORKER)
    except Exception as error:
        # A broker that is away is the readiness check's news, and no reason for the loop to die.
        log.warning("heartbeat: %s", error)
