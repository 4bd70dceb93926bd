"""When beat starts what.  Data only; the tasks are in `memory.tasks`.

Every message expires before the next of its kind is due, so that after a standstill of beat, broker or worker
each sweep runs once and not once for every time it was missed.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from celery.schedules import crontab, schedule

DISPATCH: Final = "memory.dispatch_sweep"
RUN: Final = "memory.run_sweep"
WRITE_JOB: Final = "memory.run_write_job"
BLAST_JOB: Final = "memory.run_blast_job"
SWEEP_UNDO: Final = "memory.run_sweep_undo"
DELETE_JOB: Final = "memory.run_delete_job"
ERASE_JOB: Final = "memory.run_erase_job"
PREVIEW_JOB: Final = "memory.run_preview_job"
TRANSFER_JOB: Final = "memory.run_transfer_job"
MONTHS: Final = "memory.keep_manifest_months"
SANDBOX: Final = "memory.fill_sandbox"
TENANT_ENDS: Final = "memory.end_tenants"
WATCH_ALL: Final = "memory.watch_all"
WATCH: Final = "memory.watch_tenant"
DELIVER: Final = "memory.deliver_alert"
NOTE_PROCESS: Final = "memory.note_process"
BEAT_HEARTBEAT: Final = "memory.beat_heartbeat"

_MINUTE = 60
_HOUR = 60 * _MINUTE
# The daily sweeps and their hour (UTC), where a tenant has no off-peak hours of its own.  Their messages go out every
# hour, and each tenant's own clock decides (`memory.domain.off_peak`).
DAILY_HOURS: Final[dict[str, int]] = {
    "dedup": 1, "episodes": 1, "staleness": 2, "chain": 3, "retention": 3, "poisoning": 4,
}  # fmt: skip
# How long the message to one tenant stays valid: about the interval of its sweep.
VALID_SECONDS: Final[dict[str, int]] = {
    "expiry": 5 * _MINUTE,
    "decay": 60 * _MINUTE,
    "compaction": 60 * _MINUTE,
    "health": 60 * _MINUTE,
    "tasks": 10 * _MINUTE,
    "vectors": 10 * _MINUTE,
    **dict.fromkeys(DAILY_HOURS, _HOUR),
}
WATCH_SECONDS: Final = _MINUTE - 5

_TIMES: Final[dict[str, Any]] = {
    "expiry": schedule(timedelta(minutes=5)),
    "tasks": schedule(timedelta(minutes=10)),
    "vectors": schedule(timedelta(minutes=10)),
    "decay": crontab(minute=17),
    "compaction": crontab(minute=37),
    "health": crontab(minute=0),
    "dedup": crontab(minute=2),
    "episodes": crontab(minute=12),
    "staleness": crontab(minute=47),
    "chain": crontab(minute=7),
    "retention": crontab(minute=27),
    "poisoning": crontab(minute=52),
}

BEAT_SCHEDULE: Final[dict[str, dict[str, Any]]] = {
    **{
        f"sweep-{name}": {
            "task": DISPATCH,
            "schedule": when,
            "args": [name],
            "options": {"expires": VALID_SECONDS[name] - 5},
        }
        for name, when in _TIMES.items()
    },
    "manifest-months": {
        "task": MONTHS,
        "schedule": crontab(minute=22, hour=3),
        "options": {"expires": 24 * 60 * _MINUTE - 5},
    },
    "tenant-ends": {
        "task": TENANT_ENDS,
        "schedule": schedule(timedelta(minutes=15)),
        "options": {"expires": 15 * _MINUTE - 5},
    },
    "watch": {
        "task": WATCH_ALL,
        "schedule": schedule(timedelta(seconds=_MINUTE)),
        "options": {"expires": WATCH_SECONDS},
    },
    "beat-heartbeat": {
        "task": BEAT_HEARTBEAT,
        "schedule": schedule(timedelta(seconds=45)),
        "options": {"expires": 40},
    },
}

# Once when beat starts, so that a fresh installation has a first point on its charts before the hour is full.
AT_START: Final = ("health",)
