"""The command itself, on amounts that take seconds: real servers, real processes, the shape of what it prints."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from bench.junk import CASES
from memgov.embedded.children import is_alive
from tests.bench.test_conversations import CONVERSATION, written
from tests.launcher.launched import ROOT, clean_environment, wait_until

pytestmark = pytest.mark.xdist_group("bench")
SECONDS = 600


def bench(*arguments: object, **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "memgov.cli", "bench", *map(str, arguments)]
    environment = {**clean_environment(), **more}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment, timeout=SECONDS
    )


def report(*arguments: object, **more: str) -> dict[str, Any]:
    done = bench(*arguments, "--json", **more)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["machine"]["cpus"] >= 1
    return found


def test_costs__tiny__every_system_does_the_work_in_every_case() -> None:
    found = report("--sizes", "100,400", "--rounds", 1, "--calls", 4, "--patience", 0)
    cases = found["costs"]["cases"]
    assert {(case["workload"], case["size"], case["clients"]) for case in cases} == {
        (workload, size, clients)
        for workload in ("write", "retrieve", "digest")
        for size in (100, 400)
        for clients in (1, 4)
    }
    for case in cases:
        assert case["failures"] == {}
        assert set(case["systems"]) == {"floor", "drf", "memgov"}
        assert set(case["ratios"]) == {"drf/floor", "memgov/drf", "memgov/floor"}
        for name, figures in case["systems"].items():
            assert figures["failed"] == 0, (case, name)
            assert 0 < figures["p50"] <= figures["p95"]
            if case["workload"] == "retrieve":
                assert figures["results"] == 10, "ten of ten, of a user with 20 memories or more"
            if case["workload"] == "write":
                assert set(figures["said"]) == {"stored"}
    assert set(found["costs"]["growth"]) == {"write", "retrieve", "digest"}


def test_junk__memgov__holds_every_case_and_the_floor_does_not() -> None:
    found = report("junk")["junk"]
    assert set(found) == {*(case.name for case in CASES), "race"}
    assert {name: row["memgov"]["holds"] for name, row in found.items()} == dict.fromkeys(found, True), found
    assert not any(row["floor"]["holds"] for row in found.values()), "the judgement can fail"


def test_sweep__tiny__each_of_the_four_does_its_share_beside_a_bare_statement() -> None:
    rows = report("sweep", "--sizes", "1500", "--rounds", 1, "--patience", 0)["sweeps"]
    names = ["decay", "expiry", "compaction", "health"]
    assert [(row["sweep"], row["size"]) for row in rows] == [(name, 1500) for name in names]
    assert all(row["rows_per_second"][name] > 0 for row in rows for name in ("bare", "memgov"))


def test_others__tiny__asked_among_few_and_more() -> None:
    found = report("others", "--sizes", "100,2500", "--rounds", 1, "--calls", 4, "--patience", 0)["others"]
    assert [case["others"] for case in found["cases"]] == [100, 2500]
    assert all(case["systems"]["memgov"]["results"] == 10 for case in found["cases"])
    assert set(found["growth"]) == {"p50", "processor_time", "beside_drf"}


def test_start__product_in_a_folder_of_its_own__is_ready_and_weighed() -> None:
    found = report("start", "--again", 0)["start"]
    assert found["first_seconds"] > 0 and found["again_seconds"] is None
    assert set(found["memory_mb"]) == {"postgres", "valkey", "web", "worker", "mcp", "beat"}
    assert all(megabytes > 0 for megabytes in found["memory_mb"].values())


def test_quality__shell_set_up_for_another_server__finds_the_turns_on_its_own(tmp_path: Path) -> None:
    persons = tmp_path / "url"
    persons.write_text("postgresql://somebody@127.0.0.1:1/precious", encoding="utf-8")
    found = report(
        "quality", written(tmp_path, [CONVERSATION]), "--embedder", "hash",
        DATABASE_URL_FILE=str(persons), MIGRATION_DATABASE_URL_FILE=str(persons), MEMGOV_EMBEDDER="none",
    )["quality"]  # fmt: skip
    assert (found["turns"], found["questions"], found["left_out"], found["not_stored"]) == (3, 1, 3, {})
    assert set(found["parts"]) == {"text alone", "vectors alone", "fused", "fused with neighbours"}
    assert found["parts"]["fused"]["recall@20"] >= 0.5
    assert found["parts"]["text alone"]["mrr"] == 1.0, "the one turn that has the word"


def test_bench__told_to_end__leaves_no_folder_and_no_process() -> None:
    with tempfile.TemporaryDirectory(prefix="memgov-bench-test-") as name:
        folder = Path(name)
        folder.chmod(
            0o711
        )  # the account of the servers has to pass, and pytest's own folders are closed to it
        command = [sys.executable, "-m", "memgov.cli", "bench", "sweep", "--sizes", "100000"]
        environment = {**clean_environment(), "TMPDIR": name}
        with subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL) as running:
            wait_until(lambda: any(folder.glob("*/runtime.json")), 120, "its servers run")
            note = json.loads(next(folder.glob("*/runtime.json")).read_text(encoding="utf-8"))
            running.terminate()
            assert running.wait(60) == 128 + signal.SIGTERM
        assert not list(folder.iterdir())
        assert not any(is_alive(process["pid"]) for process in note["processes"].values())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["quality", "nowhere.json"], "nowhere.json"),
        (["--peers", "nobody"], "no peer is called nobody"),
        (["--sizes", "many"], "numbers with commas"),
        (["sideways"], "invalid choice"),
    ],
)
def test_bench__nonsense__one_line_says_what(arguments: list[str], said: str) -> None:
    done = bench(*arguments)
    assert done.returncode != 0
    assert said in done.stderr and "Traceback" not in done.stderr
