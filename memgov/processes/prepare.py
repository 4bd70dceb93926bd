"""What must be done once before the processes start, in one Django process because each costs a second.

    python -m memgov.processes.prepare [--requeue-before EPOCH]

Migrations as the owner, Django's checks of the result, static files when they changed, and (with our own
broker) tasks that a killed worker had taken and not finished.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.executor import MigrationExecutor

from memgov.celery import app
from memgov.processes.plan import SOMETHING_CHANGED

OWNER = "owner"


def migrate(verbosity: int = 1) -> bool:
    """Apply what is missing; whether there was anything."""
    executor = MigrationExecutor(connections[OWNER])
    pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if not pending:
        return False
    user = {name: connections[name].settings_dict["USER"] for name in (OWNER, DEFAULT_DB_ALIAS)}
    if user[OWNER] == user[DEFAULT_DB_ALIAS]:
        sys.exit(
            "MIGRATION_DATABASE_URL is needed: migrations are missing, and only the owner may apply them"
        )
    call_command("migrate", database=OWNER, interactive=False, verbosity=verbosity)
    return True


def collect_static() -> bool:
    """Collect and compress the static files unless the collected ones are of the same sources."""
    stamp = Path(settings.STATIC_ROOT) / ".sources"
    sources = _static_sources()
    if stamp.exists() and stamp.read_text(encoding="utf-8") == sources:
        return False
    call_command("collectstatic", interactive=False, verbosity=0, clear=Path(settings.STATIC_ROOT).exists())
    stamp.write_text(sources, encoding="utf-8")
    return True


def _static_sources() -> str:
    digest = hashlib.sha256(settings.STATIC_URL.encode())
    for finder in get_finders():
        for path, storage in finder.list([]):
            info = os.stat(storage.path(path))
            digest.update(f"{path} {info.st_size} {info.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def requeue_unfinished(before: float) -> int:
    """Put tasks taken before a moment (seconds since the epoch) and not acknowledged back; how many.

    Celery does this by itself only after the visibility timeout (hours).  Only right for a broker that we
    have just started ourselves: what was taken before that moment was taken by a worker that is gone.
    """
    with app.connection_for_write() as connection:
        channel: Any = connection.default_channel
        with channel.conn_or_acquire() as client:
            tags = client.zrange(channel.qos.unacked_index_key, "-inf", before, byscore=True)
            for tag in tags:
                channel.qos.restore_by_tag(tag, client)
    return len(tags)


def main() -> int:
    """Do what is asked for, say what was done, and tell by the exit code whether anything changed."""
    parser = argparse.ArgumentParser(prog="memgov.processes.prepare")
    parser.add_argument("--requeue-before", type=float, metavar="EPOCH")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memgov.settings")
    django.setup()
    if options.requeue_before:
        print("unfinished tasks queued again:", requeue_unfinished(options.requeue_before), flush=True)
    migrated = migrate()
    print("migrations:", "applied" if migrated else "nothing to do", flush=True)
    # Not those that load every address: the processes do that themselves, and it takes seconds.
    call_command("check", tags=["models", "database"], databases=[DEFAULT_DB_ALIAS, OWNER], verbosity=0)
    collected = collect_static()
    print("static files:", "collected" if collected else "unchanged", flush=True)
    return SOMETHING_CHANGED if migrated or collected else 0


if __name__ == "__main__":
    sys.exit(main())
