"""Memory while auditing: bounded by what is listed and compared, not by how many rows go by.

`MEMGOV_TEST_AUDIT_LINES=1000000` audits so many lines by the command and holds it to 500 MB; without it, a few
thousand. `MEMGOV_TEST_READ_ROWS=1000000` reads so many of each format.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory.importers.numbers import Numbers, hashed

LINES = int(os.environ.get("MEMGOV_TEST_AUDIT_LINES", "3000"))
READ = int(os.environ.get("MEMGOV_TEST_READ_ROWS", "100000"))
MB = 1024 * 1024
LIMIT = 500 * MB
MORE = " by the desk that keeps the ledgers of the north wing and of both mills at the river" * 2
"""Makes a file of 100,000 rows several times as large as what reading it may take."""

_READ = """
import sys
from pathlib import Path
from memory.importers import ForeignRecord, open_store
rows = sum(isinstance(item, ForeignRecord) for part in open_store(Path(sys.argv[1])).parts() for item in part.items)
"""
_AUDIT = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from memory.audit.analysis import audit_store
from memory.importers import open_store
rows = audit_store(open_store(Path(sys.argv[1])), datetime.now(UTC)).records
"""
_TELL = """
peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(rows, peak * 1024)
"""


def _lines(path: Path, rows: int) -> None:
    path.write_text("".join(f"- What is the name of order {n}?\n" for n in range(rows)))


def _page(path: Path, rows: int) -> None:
    with path.open("w") as out:
        out.write('{"count": 1, "next": null, "results": [')
        out.writelines(("," if at else "") + json.dumps(_memory(at)) + "\n" for at in range(rows))
        out.write("]}")


def _history(path: Path, rows: int) -> None:
    with path.open("w") as out:
        out.write("[")
        out.writelines(
            ("," if at else "")
            + json.dumps(
                {"memory_id": f"m{at}", "old_memory": None, "new_memory": f"Order {at} is paid{MORE}"}
            )
            for at in range(rows)
        )
        out.write("]")


def _jsonl(path: Path, rows: int) -> None:
    with gzip.open(path, "wt", compresslevel=1) as out:
        out.writelines(
            json.dumps({"text": f"Order {at} is paid{MORE}", "owner": "ana"}) + "\n" for at in range(rows)
        )


def _csv(path: Path, rows: int) -> None:
    with path.open("w", newline="") as out:
        table = csv.writer(out)
        table.writerow(["id", "text", "owner"])
        table.writerows([at, f"Order {at} is paid{MORE}", "ana"] for at in range(rows))


def _bare(path: Path, rows: int) -> None:
    with path.open("w") as out:
        out.write("[")
        out.writelines(("," if at else "") + json.dumps(_memory(at)) for at in range(rows))  # all in one line
        out.write("]")


def _mcp(path: Path, rows: int) -> None:
    with path.open("w") as out:
        for at in range(rows // 2):
            said = [f"Order {at} is paid{MORE}", f"Order {at} went to desk {at % 97}"]
            out.write(
                json.dumps(
                    {"type": "entity", "name": f"order {at}", "entityType": "order", "observations": said}
                )
            )
            out.write("\n")


def _langgraph(path: Path, rows: int) -> None:
    with path.open("w") as out:
        for at in range(rows):
            row = {"prefix": "users.ana", "key": f"k{at}", "value": {"text": f"Order {at} is paid{MORE}"}}
            out.write(json.dumps({**row, "created_at": "2026-01-05T00:00:00Z"}) + "\n")


def _graphiti(path: Path, rows: int) -> None:
    with path.open("w") as out:
        out.write("[")
        for at in range(rows):
            edge = {"uuid": f"e{at}", "fact": f"Order {at} is paid{MORE}", "group_id": "g",
                    "source_node_uuid": f"n{at}", "target_node_uuid": "n0"}  # fmt: skip
            out.write(("," if at else "") + json.dumps(edge))
        out.write("]")


def _rows(path: Path, rows: int) -> None:
    with path.open("w") as out:
        out.writelines(
            json.dumps({"text": f"Order {at} is paid{MORE}", "owner": "ana"}) + "\n" for at in range(rows)
        )


def _zip(path: Path, rows: int, method: int = zipfile.ZIP_DEFLATED) -> None:
    """Four members, of which each is read from its beginning."""
    with zipfile.ZipFile(path, "w", method) as archive:
        for part in range(4):
            with archive.open(f"part{part}.jsonl", "w", force_zip64=True) as out:
                for at in range(part, rows, 4):
                    out.write(
                        json.dumps({"text": f"Order {at} is paid{MORE}", "owner": "ana"}).encode() + b"\n"
                    )


def _bzip2(path: Path, rows: int) -> None:
    _zip(path, rows, zipfile.ZIP_BZIP2)


def _lzma(path: Path, rows: int) -> None:
    _zip(path, rows, zipfile.ZIP_LZMA)


def _memory(at: int) -> dict[str, object]:
    return {
        "id": f"{at:032x}",
        "memory": f"Order {at} is paid{MORE}",
        "user_id": "ana",
        "metadata": {"source": "chat"},
    }


WRITTEN = [
    _lines,
    _page,
    _bare,
    _history,
    _mcp,
    _langgraph,
    _graphiti,
    _rows,
    _jsonl,
    _csv,
    _zip,
    _bzip2,
    _lzma,
]

needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peaks are read from /proc")


@needs_proc
@pytest.mark.parametrize("write", WRITTEN)
def test_reading__ten_times_the_rows__no_more_memory(
    tmp_path: Path, write: Callable[[Path, int], None]
) -> None:
    peaks = {}
    few, many = 10_000, READ
    for rows in (few, many):
        store = tmp_path / f"store{rows}"
        write(store, rows)
        peaks[rows] = _peak(_READ, store, rows)
        store.unlink()
    assert peaks[many] - peaks[few] < 10 * MB
    assert peaks[many] < LIMIT


@needs_proc
@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_reading__a_small_zip_of_very_much__unpacked_in_pieces(tmp_path: Path, method: int) -> None:
    """300 MB of which a zip holds some hundred bytes, by bzip2 all of it in one piece."""
    with zipfile.ZipFile(tmp_path / "store.zip", "w", method) as archive, archive.open("a.txt", "w") as out:
        for _ in range(300):
            out.write(bytes(MB))
    assert _peak(_READ, tmp_path / "store.zip", 0) < 150 * MB


@needs_proc
def test_audit__six_times_the_lines__a_few_bytes_for_each(tmp_path: Path) -> None:
    peaks = {}
    for rows in (2_500, 15_000):
        _lines(tmp_path / "store.txt", rows)
        peaks[rows] = _peak(_AUDIT, tmp_path / "store.txt", rows)
    assert peaks[15_000] - peaks[2_500] < 6 * MB


def _still_runs(process: subprocess.Popen[bytes]) -> bool:
    """Whether it has not ended within the next moment."""
    try:
        process.wait(timeout=0.05)
    except subprocess.TimeoutExpired:
        return True
    return False


@needs_proc
def test_command__many_lines__all_its_processes_below_the_limit(tmp_path: Path) -> None:
    store = tmp_path / "store.txt"
    with store.open("w") as out:
        out.writelines(
            f"- Customer {n} pays within {n % 60 + 1} days by order of desk {n}\n" for n in range(LINES)
        )
    command = [sys.executable, "-m", "memgov.cli", "audit", str(store), "--json"]
    with (tmp_path / "report.json").open("wb") as out, subprocess.Popen(command, stdout=out) as running:
        most = 0
        while _still_runs(running):
            most = max(most, sum(map(_resident, _family(running.pid))))
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["rows"] == LINES
    assert 0 < most < LIMIT


def test_numbers__many_hashes__found_again_in_few_bytes() -> None:
    numbers, known = Numbers(), {}
    for at in range(1, 100_001):
        key = hashed(str(at % 60_000))
        assert numbers.setdefault(key, at) == known.setdefault(key, at)
    assert len(numbers) == len(known) == 60_000
    assert numbers.size <= 32 * len(numbers)


def test_numbers__hashes_that_want_the_same_place__kept_apart() -> None:
    numbers = Numbers()
    keys = [0, *(place << 40 for place in range(1, 400)), 2**64 - 1]
    assert [numbers.setdefault(key, at) for at, key in enumerate(keys, 1)] == list(range(1, len(keys) + 1))
    assert [numbers.setdefault(key, 9) for key in keys] == list(range(1, len(keys) + 1))


def _peak(code: str, store: Path, rows: int) -> int:
    done = subprocess.run(
        [sys.executable, "-c", code + _TELL, str(store)],
        capture_output=True,
        text=True,
        check=True,
        timeout=500,
    )
    read, peak = map(int, done.stdout.split())
    assert read == rows
    return peak


def _family(pid: int) -> Iterator[int]:
    yield pid
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = thread.read_text().split()
        except OSError:
            continue
        for child in children:
            yield from _family(int(child))


def _resident(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmRSS")), 0)
