"""What retrieval has to find, on long conversations that are not ours to ship.

`MEMGOV_TEST_LOCOMO` names a LoCoMo-shaped file of whole conversations; it takes some minutes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FILE = os.environ.get("MEMGOV_TEST_LOCOMO", "")
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(not FILE, reason="MEMGOV_TEST_LOCOMO names no file of conversations")
def test_quality__long_conversations__is_reached_and_each_part_is_worth_something() -> None:
    command = [sys.executable, "-m", "memgov.cli", "bench", "quality", FILE, "--json"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=3600, check=False)
    assert answer.returncode == 0, answer.stderr[-2000:]
    quality = json.loads(answer.stdout)["quality"]
    assert quality["not_stored"] == {}
    parts = quality["parts"]
    whole, fused = parts["fused with neighbours"], parts["fused"]
    assert whole["recall@5"] >= 0.62 and whole["recall@10"] >= 0.72 and whole["mrr"] >= 0.46
    assert whole["recall@5"] > fused["recall@5"] > parts["text alone"]["recall@5"]
    assert fused["recall@5"] > parts["vectors alone"]["recall@5"]
