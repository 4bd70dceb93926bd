"""The parts of the supervisor that can be shown without starting the product."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from memgov.processes import health, logs, readiness
from memgov.processes.banner import banner
from memgov.processes.logs import LogFile, LogFollower
from memgov.processes.plan import Plan
from memgov.processes.service import FIRST_PAUSE, Service
from memgov.processes.signals import Stopped, StopSignals
from tests.launcher.launched import wait_until


def service(tmp_path: Path, code: str) -> Service:
    return Service("beat", [sys.executable, "-c", code], dict(os.environ), tmp_path / "beat.log", port=0)


def test_service__ends_at_once__is_started_again_after_a_growing_pause(tmp_path: Path) -> None:
    crashing = service(tmp_path, "raise SystemExit(3)")
    crashing.start()
    said: list[str] = []

    def revived_twice() -> bool:
        if line := crashing.revive():
            said.append(line)
        return crashing.restarts == 2

    wait_until(revived_twice, 10, "started again twice")
    crashing.finish_stop()
    pauses = [line.rpartition(" in ")[2] for line in said if "ended (code 3)" in line]
    assert pauses[:2] == [f"{FIRST_PAUSE:.1f} s", f"{FIRST_PAUSE * 2:.1f} s"]
    assert crashing.crashes == 2


def test_service__stopped__takes_its_own_children_with_it(tmp_path: Path) -> None:
    marker = tmp_path / "grandchild"
    parent = service(
        tmp_path,
        "import subprocess, sys\n"
        f"child = subprocess.Popen([sys.executable, '-c', 'import threading; threading.Event().wait()'])\n"
        f"open({str(marker)!r}, 'w').write(str(child.pid)); child.wait()",
    )
    parent.start()
    wait_until(lambda: marker.exists() and marker.read_text() != "", 10, "grandchild started")
    grandchild = int(marker.read_text())
    parent.request_stop()
    parent.finish_stop()
    wait_until(
        lambda: not Path(f"/proc/{grandchild}").exists() or _is_zombie(grandchild), 5, "grandchild ended"
    )


def _is_zombie(pid: int) -> bool:
    return " Z " in Path(f"/proc/{pid}/stat").read_text()


def test_log__lines_in_pieces__shown_whole_and_once(tmp_path: Path) -> None:
    path = tmp_path / "web.log"
    file = LogFile("web", path)
    assert file.new_lines() == []
    with open(path, "a") as writer:
        for text, expected in (("one\ntw", ["one"]), ("o\n", ["two"]), ("", [])):
            writer.write(text)
            writer.flush()
            assert file.new_lines() == expected


def test_log__grown_large__is_kept_aside_and_followed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "ROTATE_AT", 10)
    path, out = tmp_path / "web.log", io.StringIO()
    follower = LogFollower(tmp_path, ["web"], out)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    for number in range(6):
        os.write(descriptor, f"a long line {number}\n".encode())
        follower.pump()
    os.close(descriptor)
    assert out.getvalue().splitlines() == [f"web      | a long line {number}" for number in range(6)]
    assert path.stat().st_size == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "web.log",
        "web.log.1",
        "web.log.2",
        "web.log.3",
    ]
    assert (tmp_path / "web.log.1").read_text() == "a long line 5\n"


def test_signals__stop_asked_for__pause_raises_and_nothing_else_does() -> None:
    with StopSignals() as signals:
        signals.pause(0)
        os.kill(os.getpid(), 15)
        with pytest.raises(Stopped):
            signals.pause(10)


def test_banner__demo_loaded__gives_sign_ins_key_and_a_line_to_try(tmp_path: Path) -> None:
    plan = Plan(tmp_path, port=8123)
    plan.demo_file.write_text(
        '{"sign_ins": [{"email": "owner@demo.example", "password": "p", "role": "owner", "tenant": "demo"}],'
        ' "agent_key": "mgk_abc_def", "tenant": "demo"}'
    )
    shown = banner(plan)
    assert "owner@demo.example  p  (owner of demo)" in shown
    assert "curl -s -H 'Authorization: Bearer mgk_abc_def' http://127.0.0.1:8123/api/v1/whoami" in shown


@pytest.mark.parametrize(
    ("allowed", "called"),
    [("", "127.0.0.1:8000"), ("*", "127.0.0.1:8000"), ("memgov.example, other", "memgov.example"),
     (".memgov.example", "memgov.example"), ("memgov.example,127.0.0.1", "127.0.0.1:8000")],
)  # fmt: skip
def test_readiness__hosts_restricted__calls_the_product_by_an_allowed_name(
    monkeypatch: pytest.MonkeyPatch, allowed: str, called: str
) -> None:
    monkeypatch.setenv("MEMGOV_ALLOWED_HOSTS", allowed)
    assert readiness.allowed_host("127.0.0.1:8000") == called


def test_health__beat_clock_old_or_missing__is_not_healthy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMGOV_DATA_DIR", str(tmp_path))
    assert not health.is_healthy("beat")
    clock = tmp_path / "beat-schedule.db"
    clock.touch()
    assert health.is_healthy("beat")
    os.utime(clock, (1, 1))
    assert not health.is_healthy("beat")
