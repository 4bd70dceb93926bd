"""How a start ends: by Ctrl-C in order, by kill -9 with nothing left running and nothing lost."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator

import psycopg
import pytest
import redis

from tests.launcher.launched import Launched, MakeFolder, kill, running, wait_until

ROWS = 100
QUEUE = "launcher-test"
# Takes a task from the queue as a worker does, and dies before it has acknowledged it.
TAKE_AND_DIE = f"""
import os, sys
from kombu import Connection
with Connection(sys.argv[1]) as connection:
    queue = connection.SimpleQueue({QUEUE!r})
    queue.put({{"work": "unfinished"}})
    message = queue.get(timeout=10)
    os._exit(0 if message.payload == {{"work": "unfinished"}} else 1)
"""


@pytest.fixture(scope="module")
def product(new_folder: MakeFolder) -> Launched:
    """A product of this file's own, which its tests end in their order."""
    product = Launched(new_folder())
    product.up_detached()
    return product


@pytest.fixture(scope="module")
def killed(product: Launched) -> Iterator[tuple[Launched, set[int]]]:
    """A product whose supervisor was killed just after answered writes and in the middle of a task."""
    note, family = product.runtime(), product.family()
    subprocess.run([sys.executable, "-c", TAKE_AND_DIE, note["redis_url"]], check=True, timeout=30)
    with psycopg.connect(note["owner_url"], autocommit=True) as owner:
        owner.execute("CREATE TABLE launcher_rows (number int)")
        for number in range(ROWS):
            owner.execute("INSERT INTO launcher_rows VALUES (%s)", [number])
        kill(note["supervisor_pid"])
    yield product, family
    for pid in running(family):
        kill(pid)


@pytest.fixture(scope="module")
def up_again(killed: tuple[Launched, set[int]]) -> Iterator[tuple[Launched, subprocess.Popen[str]]]:
    """The next start after that, in the foreground."""
    wait_until(lambda: not running(killed[1]), 30, "everything ended")
    process = killed[0].up_here()
    yield killed[0], process
    process.kill()
    process.wait()


def test_supervisor__killed__nothing_goes_on_running(killed: tuple[Launched, set[int]]) -> None:
    wait_until(lambda: not running(killed[1]), 15, "everything ended after its supervisor")


def test_status__supervisor_killed__says_it_does_not_run(killed: tuple[Launched, set[int]]) -> None:
    assert killed[0].run("status").returncode == 3


def test_rows__committed_before_the_kill__are_there(up_again: tuple[Launched, subprocess.Popen[str]]) -> None:
    with psycopg.connect(up_again[0].runtime()["owner_url"]) as owner:
        found = owner.execute("SELECT count(DISTINCT number) FROM launcher_rows").fetchone()
        owner.execute("DROP TABLE launcher_rows")
    assert found == (ROWS,)


def test_task__taken_before_the_kill__is_queued_again(
    up_again: tuple[Launched, subprocess.Popen[str]],
) -> None:
    broker = redis.Redis.from_url(up_again[0].runtime()["redis_url"])
    assert broker.llen(QUEUE) == 1
    broker.delete(QUEUE)


def test_up__interrupted__ends_everything_in_order(up_again: tuple[Launched, subprocess.Popen[str]]) -> None:
    product, process = up_again
    family = product.family()
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert said.rstrip().endswith(f"stopped; the data stays in {product.data_dir}")
    assert running(family) == set()
    assert "database system is shut down" in (product.data_dir / "logs" / "postgres.log").read_text()


def started_by(product: Launched, process: subprocess.Popen[str]) -> bool:
    """Whether the note is this start's own and not that of a supervisor which was killed before."""
    assert process.poll() is None, process.communicate()[0]
    note = product.data_dir / "runtime.json"
    return note.exists() and product.runtime()["supervisor_pid"] == process.pid


def test_up__terminated_while_starting__leaves_nothing(product: Launched) -> None:
    product.run("down")
    process = subprocess.Popen(
        product.command("up", "--no-demo", "--port", str(product.port)),
        env=product.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    wait_until(lambda: started_by(product, process), 60, "servers started")
    family = product.family()
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert running(family) == set()
