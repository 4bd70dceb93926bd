"""`memgov demo load|remove|status`: the two demo tenants."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from time import monotonic
from typing import Any

import django
from django.conf import settings
from django.core.management.base import BaseCommand
from rich.progress import Progress

from memory.demo import stage
from memory.demo.cast import CASTS
from memory.demo.play import DAYS

_BY_SLUG = {cast.slug: cast for cast in CASTS}


def _load(slug: str) -> str:
    """One tenant in a process of its own: the histories are independent."""
    django.setup()
    stage.load(_BY_SLUG[slug])
    return slug


class Command(BaseCommand):
    help = "Load, remove or look at the demo tenants."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=["load", "remove", "status"])

    def handle(self, *args: Any, **options: Any) -> None:
        getattr(self, f"_{options['action']}")()

    def _load(self) -> None:
        began = monotonic()
        missing = [cast.slug for cast in CASTS if not stage.is_loaded(cast)]
        with Progress(transient=True) as progress:
            bar = progress.add_task(f"Living {DAYS} demo days", total=len(missing) or None)
            with ProcessPoolExecutor(max_workers=2, mp_context=get_context("spawn")) as pool:
                for _ in pool.map(_load, missing):
                    progress.advance(bar)
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
