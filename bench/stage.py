"""What a run stands on: servers of its own in a temporary folder, a migrated database, one tenant, two web processes.

Nothing here looks at, or writes to, the data directory of a person's memgov.  The servers keep everything on disk
as in production (`fsync`, `synchronous_commit`), because what a write costs is mostly that.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from bench.systems.base import Places
from memgov.embedded import children
from memgov.embedded.errors import StartError
from memgov.embedded.servers import EmbeddedServers
from memgov.processes import readiness
from memgov.processes.commands import command

if TYPE_CHECKING:
    from memory.domain.policy import Policy
    from tenants.principals import Principal

ROOT = Path(__file__).resolve().parent.parent
HOST = "127.0.0.1"
START_SECONDS = 120.0
NO_LIMIT = 1_000_000_000
_SETTINGS = {
    "DATABASE_URL",
    "MIGRATION_DATABASE_URL",
    "REDIS_URL",
    "DJANGO_SETTINGS_MODULE",
    "WEB_CONCURRENCY",
    "EMAIL_URL",
}


class Stage:
    """Servers, tenant and web processes of one run, for the length of a `with` block.

    Django is set up for the run's own database on entering, so a process can have one stage only.  The embedder
    `hash:dense` costs next to nothing, so that a model's time is in no figure.
    """

    def __init__(self, embedder: str = "hash:dense") -> None:
        self._embedder = embedder
        self._web: list[subprocess.Popen[bytes]] = []
        self.principal: Principal | None = None
        self.key = ""

    def __enter__(self) -> Stage:
        self.servers = EmbeddedServers.temporary(durable=True, purpose="memgov bench").start()
        try:
            self._set_up_django()
        except BaseException:
            self.servers.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._web:
            children.end(process, signal.SIGTERM, seconds=20)
            children.end_group(process)
        self.servers.stop()

    @property
    def folder(self) -> Path:
        """The temporary folder; it goes away with the stage."""
        return self.servers.data_dir

    def _set_up_django(self) -> None:
        kept = self.environment()
        for name in set(os.environ) - set(kept):
            del os.environ[name]
        os.environ.update(kept)
        import django

        django.setup()
        from memgov.processes.prepare import migrate

        migrate(verbosity=0)

    def environment(self) -> dict[str, str]:
        """What every process of the run gets: this run's servers and embedder, whatever the shell is set up for."""
        ours = {
            "DATABASE_URL": self.servers.app_url,
            "MIGRATION_DATABASE_URL": self.servers.owner_url,
            "REDIS_URL": self.servers.redis_url,
            "MEMGOV_DATA_DIR": str(self.folder),
            "MEMGOV_STATIC_ROOT": str(self.folder / "static"),
            "MEMGOV_EMBEDDER": self._embedder,
            "MEMGOV_LOG_LEVEL": "WARNING",
            "DJANGO_SETTINGS_MODULE": "memgov.settings",
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": str(ROOT),
        }
        return {**without_settings(os.environ), **ours}

    def make_tenant(self, preset_name: str = "default") -> Principal:
        """A new tenant, which is the stage's from now on, with one agent that may read and write everything."""
        self.policy, self.principal, self.key = new_tenant(preset_name)
        return self.principal

    def start_web(self) -> None:
        """memgov's own web process, as `memgov up` starts it, and the bare service in the same kind of process."""
        self._ports = children.free_port(), children.free_port()
        memgov, drf = (command("web", host=HOST, port=port, data_dir=self.folder) for port in self._ports)
        metrics = self.folder / "metrics"
        metrics.mkdir(mode=0o700)
        self._spawn("memgov", memgov, {"PROMETHEUS_MULTIPROC_DIR": str(metrics)})
        bare = ["bench.drf_app:application" if word == "memgov.wsgi" else word for word in drf]
        self._spawn("drf", bare, {"BENCH_DATABASE_URL": self._superuser_url("bench_drf")})
        for name, port, process, path in zip(
            ("memgov", "drf"), self._ports, self._web, ("/livez", "/"), strict=True
        ):
            ready = children.wait_until(lambda: _answers(port, path), process, START_SECONDS)  # noqa: B023
            if not ready:
                log = self.folder / "logs" / f"bench-{name}.log"
                raise StartError(f"the web process of {name} did not start: {children.last_line(log)}")

    def _spawn(self, name: str, arguments: list[str], more: Mapping[str, str]) -> None:
        log = self.folder / "logs" / f"bench-{name}.log"
        environment = {**self.environment(), **more}
        self._web.append(
            children.spawn(arguments, log=log, death_signal=signal.SIGTERM, environment=environment, cwd=ROOT)
        )

    def _superuser_url(self, database: str) -> str:
        return self.servers.url("superuser", database)

    def places(self) -> Places:
        """Where the systems are, for the callers."""
        memgov, drf = self._ports
        return Places(
            database=self._superuser_url("{db}"), memgov=f"http://{HOST}:{memgov}", drf=f"http://{HOST}:{drf}",
            key=self.key, folder=str(self.folder),
        )  # fmt: skip

    @property
    def web_port(self) -> int:
        """Where memgov's own web process answers."""
        return self._ports[0]

    def web_pids(self) -> dict[str, int]:
        """The first process of each web service; its workers are its children."""
        return dict(zip(("memgov", "drf"), (process.pid for process in self._web), strict=False))


def without_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without any setting of memgov, given as `NAME` or as `NAME_FILE`, which would win."""
    return {
        name: value
        for name, value in environment.items()
        if not name.startswith("MEMGOV_") and name.removesuffix("_FILE") not in _SETTINGS
    }


def new_tenant(preset_name: str = "default") -> tuple[Policy, Principal, str]:
    """A tenant under a preset without rate limits and caps of scopes, its one agent, and the agent's key.

    A cap (500 by default) would archive what was filled in at the first write, and sizes would not be sizes.
    """
    from memory.domain.policy import preset
    from memory.domain.policy_write_rules import RateLimits
    from memory.domain.scopes import parse_grant
    from memory.services import tenancy
    from tenants.authentication import authenticate_key
    from tenants.principals import system

    unlimited = RateLimits(
        writes_per_minute_key=NO_LIMIT, reads_per_minute_key=NO_LIMIT, requests_per_minute_tenant=NO_LIMIT
    )
    chosen = preset(preset_name)
    uncapped = chosen.reconciliation.model_copy(update={"cap": None})
    policy = chosen.model_copy(update={"rate_limits": unlimited, "reconciliation": uncapped})
    tenant = tenancy.tenant_create(f"bench-{secrets.token_hex(6)}", "Bench", policy=policy)
    actor = system(tenant.id, "bench")
    agent = tenancy.agent_create(actor, "bench", "orchestrator", [parse_grant("*=rwp")])
    key = tenancy.key_create(actor, agent).text
    return policy, authenticate_key(key), key


def _answers(port: int, path: str) -> bool:
    return readiness.ask(f"http://{HOST}:{port}", path=path, timeout=2.0).heard
