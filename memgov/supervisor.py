"""The whole product on one machine: starts it in order, keeps it running, ends it in order.

One thread and one loop.  The processes are described in `processes.commands`, one of them is handled
in `processes.service`, the two servers in `memgov.embedded`; nothing here knows what they do.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from time import monotonic, time

from memgov.embedded import children, datadir, runtime
from memgov.embedded.errors import StartError
from memgov.embedded.servers import EmbeddedServers
from memgov.embedded.service_user import service_user
from memgov.processes.banner import banner
from memgov.processes.commands import ROLES, command
from memgov.processes.demo import DemoLoad
from memgov.processes.logs import LogFollower
from memgov.processes.plan import HOST, SOMETHING_CHANGED, Plan, servers_are_given
from memgov.processes.readiness import Readiness, ask
from memgov.processes.service import Service
from memgov.processes.signals import Stopped, StopSignals

TICK = 0.2
READY_SECONDS = 180.0
CRASHES_AT_START = 3
FIRST = ("web", "worker")  # the others follow once web answers: they would only slow its loading
STOP_ORDER = (("web", "mcp"), ("beat", "worker"))


class Supervisor:
    """Runs one `Plan` until a signal ends it."""

    def __init__(self, plan: Plan, *, follow: bool, when_ready: Callable[[], None] | None = None) -> None:
        """`follow` shows the processes' log lines; `when_ready` is called once, after the banner."""
        self._plan, self._follow, self._when_ready = plan, follow, when_ready
        self._signals = StopSignals()
        self._servers: EmbeddedServers | None = None
        self._services: list[Service] = []
        self._demo: DemoLoad | None = None
        self._logs = LogFollower(plan.logs, [*ROLES, "postgres", "valkey"], sys.stdout if follow else None)

    def run(self) -> None:
        """Start, say so, watch, and end; raises `StartError` when it cannot start."""
        self._began, self._began_at = monotonic(), time()
        given = servers_are_given()
        user = None if given else service_user(self._plan.data_dir)
        datadir.prepare(self._plan.data_dir, user)
        lock = datadir.DirectoryLock(self._plan.data_dir)
        lock.acquire(f"memgov up, {self._plan.web_url}")
        try:
            with self._signals:
                self._run_holding(lock, given)
        except Stopped:
            pass
        finally:
            lock.release()

    def _run_holding(self, lock: datadir.DirectoryLock, given: bool) -> None:
        end_leftovers(runtime.last(self._plan.data_dir))
        self._plan.refuse_busy_ports()
        self._plan.logs.mkdir(mode=0o700, exist_ok=True)
        shutil.rmtree(self._plan.metrics, ignore_errors=True)
        self._plan.metrics.mkdir(mode=0o700)
        try:
            if given:
                self._say("using the servers of DATABASE_URL and REDIS_URL (no demo there)")
            else:
                self._start_servers(lock)
            self._bring_up()
            self._wait_until_ready()
            self._load_demo()
            self._announce()
            self._watch()
        finally:
            self._stop()

    # --- start ---

    def _start_servers(self, lock: datadir.DirectoryLock) -> None:
        servers = EmbeddedServers(self._plan.data_dir)
        servers.start(lock)
        self._servers = servers
        self._say(f"PostgreSQL and Valkey run ({self._seconds():.1f} s)")

    def _bring_up(self) -> None:
        """Prepare, then web and worker.  When this very version has been prepared before, they load
        meanwhile on the other core; if something was to be done after all, they are started anew."""
        prepared, version = self._plan.data_dir / "prepared", self._plan.version()
        if prepared.exists() and prepared.read_text(encoding="utf-8") == version:
            self._start_services(FIRST)
        if self._prepare():
            self._stop_services()
        datadir.write_private(prepared, version)
        self._say(f"database and static files are up to date ({self._seconds():.1f} s)")
        self._start_services(FIRST)

    def _prepare(self) -> bool:
        """Migrations and static files; whether any changed.  A failure ends the start with its last line."""
        log = self._plan.logs / "prepare.log"
        requeue = [f"--requeue-before={self._began_at}"] if self._servers else []
        process = children.spawn(
            [sys.executable, "-m", "memgov.processes.prepare", *requeue],
            log=log,
            death_signal=signal.SIGKILL,
            environment=self._plan.environment(),
        )
        self._await(process)
        if process.returncode not in (0, SOMETHING_CHANGED):
            raise StartError(f"preparing the database failed: {children.last_line(log)} (see {log})")
        return process.returncode == SOMETHING_CHANGED

    def _await(self, process: subprocess.Popen[bytes]) -> None:
        try:
            while process.poll() is None:
                self._signals.pause(TICK)
        finally:
            children.end_group(process)
            process.wait()

    def _start_services(self, roles: Iterable[str]) -> None:
        """Start those of these that are not started yet."""
        environment = self._plan.environment()
        ports = {"web": self._plan.port, "mcp": self._plan.mcp_port}
        started = {service.name for service in self._services}
        for role in (role for role in roles if role not in started):
            port = ports.get(role, 0)
            arguments = command(role, host=HOST, port=port, data_dir=self._plan.data_dir)
            service = Service(role, arguments, environment, self._plan.logs / f"{role}.log", port)
            self._services.append(service)
            service.start()
        self._write_runtime()

    def _wait_until_ready(self) -> None:
        end, answer = monotonic() + READY_SECONDS, Readiness(False, "not asked yet")
        while monotonic() < end:
            self._signals.pause(TICK)
            self._revive()
            for service in self._services:
                if service.crashes >= CRASHES_AT_START:
                    raise StartError(
                        f"{service.name} does not start: {children.last_line(service.log)} (see {service.log})"
                    )
            if not answer.ready:
                answer = self._asked()
            if answer.heard and len(self._services) < len(ROLES):
                self._start_services(ROLES)
            if answer.ready:
                self._say(f"\nmemgov is ready after {self._seconds():.1f} s:  {self._plan.web_url}\n")
                return
        raise StartError(f"not ready after {READY_SECONDS:.0f} s: {answer.detail} (see {self._plan.logs})")

    def _asked(self) -> Readiness:
        """Whether web is ready, and MCP as well, which is loaded after it."""
        web = ask(self._plan.web_url)
        if not web.ready:
            return web
        mcp = ask(f"http://{HOST}:{self._plan.mcp_port}", path="/livez")
        return mcp if mcp.ready else Readiness(False, "mcp does not answer yet", heard=True)

    def _load_demo(self) -> None:
        """Only the first start has one to load, and only into servers of our own; web serves meanwhile."""
        if not (self._plan.demo and self._servers):
            return
        self._demo = DemoLoad(self._plan)
        if self._demo.is_running():
            self._say("loading the demo tenants; this happens once and takes about a minute …")
        while self._demo.is_running():
            self._signals.pause(TICK)
            self._revive()
        if news := self._demo.news():
            self._say(f"{news}\n")

    def _announce(self) -> None:
        self._say(banner(self._plan))
        if self._follow:
            self._say("Ctrl-C stops everything; the data stays.\n")
        self._logs.skip()
        if self._when_ready:
            self._when_ready()

    # --- watch ---

    def _watch(self) -> None:
        while True:
            self._signals.pause(TICK)
            self._revive()
            self._logs.pump()

    def _revive(self) -> None:
        news = [line for service in self._services if (line := service.revive())]
        if self._servers:
            news += [f"{name} had ended and was started again" for name in self._servers.restart_ended()]
        for line in news:
            self._say(line)
        if news:
            self._write_runtime()

    # --- stop ---

    def _stop(self) -> None:
        if self._services:
            self._say("\nstopping …")
        if self._demo:
            self._demo.stop()
        self._stop_services()
        if self._servers:
            self._servers.stop()
            self._say(f"stopped; the data stays in {self._plan.data_dir}")
        (self._plan.data_dir / runtime.FILE_NAME).unlink(missing_ok=True)

    def _stop_services(self) -> None:
        by_name = {service.name: service for service in self._services}
        for stage in STOP_ORDER:
            members = [by_name[name] for name in stage if name in by_name]
            for service in members:
                service.request_stop()
            for service in members:
                service.finish_stop()
        self._services.clear()

    # --- what others see ---

    def _write_runtime(self) -> None:
        note: runtime.Runtime = self._servers.runtime() if self._servers else {"supervisor_pid": os.getpid()}
        processes = dict(note.get("processes", {}))
        for service in self._services:
            if service.process:
                pid = service.process.pid
                processes[service.name] = {"pid": pid, "port": service.port, "restarts": service.restarts}
        note["processes"] = processes
        note["web_url"], note["mcp_url"] = self._plan.web_url, self._plan.mcp_url
        runtime.write(self._plan.data_dir, note)

    def _seconds(self) -> float:
        return monotonic() - self._began

    def _say(self, line: str) -> None:
        print(line, flush=True)


def end_leftovers(before: runtime.Runtime | None) -> None:
    """End processes of ours whose supervisor was killed, where the kernel did not (not on Linux)."""
    for name, process in (before or {}).get("processes", {}).items():
        if name in ROLES:
            children.end_orphan(process["pid"], "memgov", signal.SIGKILL)
