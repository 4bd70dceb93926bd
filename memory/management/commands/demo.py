"""`memgov demo load|remove|status`: the two demo tenants."""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from time import monotonic
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from rich.progress import Progress

from memory.demo import stage
from memory.demo.cast import CASTS
from memory.demo.play import DAYS

_BY_SLUG = {cast.slug: cast for cast in CASTS}


class Command(BaseCommand):
    help = "Load, remove or look at the demo tenants."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=["load", "remove", "status"])
        parser.add_argument("--tenant", choices=list(_BY_SLUG), help="load only this one, in this process")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["action"] == "load" and options["tenant"]:
            stage.load(_BY_SLUG[options["tenant"]], self._say_day)
        else:
            getattr(self, f"_{options['action']}")()

    def _say_day(self, day: int) -> None:
        self.stdout.write(str(day))
        self.stdout.flush()

    def _load(self) -> None:
        began = monotonic()
        missing = [cast.slug for cast in CASTS if not stage.is_loaded(cast)]
        with Progress(transient=True) as progress:
            bar = progress.add_task(f"Living {DAYS} demo days", total=DAYS * len(missing) or None)
            _load_side_by_side(missing, lambda: progress.advance(bar))
        self._tell_supervisor(fresh_key=bool(missing))
        self.stdout.write(
            f"demo: {len(missing)} of {len(CASTS)} tenants loaded in {monotonic() - began:.1f} s"
        )

    def _remove(self) -> None:
        removed = [cast.slug for cast in CASTS if stage.remove(cast)]
        (settings.DATA_DIR / "demo.json").unlink(missing_ok=True)
        (settings.DATA_DIR / "demo-loaded").unlink(missing_ok=True)
        self.stdout.write(f"demo: removed {', '.join(removed) or 'nothing, there was none'}")

    def _status(self) -> None:
        for cast in CASTS:
            self.stdout.write(f"{cast.slug}: {'loaded' if stage.is_loaded(cast) else 'not loaded'}")

    def _tell_supervisor(self, *, fresh_key: bool) -> None:
        """Leave sign-ins and one agent key where `memgov up` shows them from."""
        note = settings.DATA_DIR / "demo.json"
        if note.exists() and not fresh_key:
            return
        document = {
            "tenant": CASTS[0].slug,
            "agent_key": stage.new_key(CASTS[0]),
            "sign_ins": [asdict(entry) for entry in stage.sign_ins()],
        }
        settings.DATA_DIR.mkdir(parents=True, exist_ok=True)
        note.touch(mode=0o600)
        note.write_text(json.dumps(document, indent=1), encoding="utf-8")


def _load_side_by_side(slugs: Sequence[str], day_done: Callable[[], None]) -> None:
    """Each tenant in a process of its own: the histories are independent, and there are two cores."""

    def load(slug: str) -> None:
        command = [sys.executable, "-m", "django", "demo", "load", "--tenant", slug]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for _ in process.stdout:
                day_done()
        if process.returncode:
            raise CommandError(f"the demo tenant {slug} could not be loaded; run the load again")

    with ThreadPoolExecutor(max_workers=len(slugs) or 1) as pool:
        list(pool.map(load, slugs))
