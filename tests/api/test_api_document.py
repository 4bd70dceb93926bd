"""The examples of docs/api.md, run by a shell in their order, against a demo and with the key of its newcomer."""

from __future__ import annotations

import os
import re
import secrets
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from memgov import clock
from memory.demo import stage
from memory.demo.cast import LANTERN, ROLES, Cast
from memory.demo.play import Play
from tenants.models import Tenant, User
from tests.browser import Web

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "api.md"
DAYS = 6
_EXAMPLE = re.compile(r"```sh\n(.*?)```\n(→ [\d, ]+)?", re.DOTALL)
# The status goes where no pipe of an example takes it along.
_CURL = """curl() { command curl "$@" -w '%{stderr}%{http_code} %{url_effective}\\n'; }\n"""


def examples() -> list[tuple[str, list[int]]]:
    """Each block of shell, and the statuses that the document gives it."""
    found = _EXAMPLE.findall(DOCUMENT.read_text(encoding="utf-8"))
    return [
        (block, [int(status) for status in re.findall(r"\d{3}", arrow)])
        for block, arrow in found
        if "mgk_…" not in block
    ]


@pytest.fixture
def demo(database: None) -> Iterator[Cast]:
    """The first demo tenant, with fewer days and a name of its own."""
    cast = replace(LANTERN, slug=f"demo-{secrets.token_hex(4)}")
    users = {role: User.objects.create_user(cast.address(role), None, name=role.title()) for role in ROLES}
    tenant = Play(cast, users, clock.now() - timedelta(minutes=20), days=DAYS).run()
    Tenant.objects.filter(id=tenant.id).update(status=Tenant.Status.ACTIVE)
    yield cast
    stage.remove(cast)


def test_examples_of_the_document__in_their_order__answer_as_it_says(
    demo: Cast, web: Web, tmp_path: Path
) -> None:
    blocks = examples()
    script = _CURL + "".join(f"echo '== {number}' >&2\n{block}" for number, (block, _) in enumerate(blocks))
    (tmp_path / ".venv").symlink_to(sys.prefix)
    done = subprocess.run(
        ["bash", "-euc", script.replace("--tenant demo", f"--tenant {demo.slug}")], cwd=tmp_path,
        env={**os.environ, "MEMGOV_URL": web.url, "MEMGOV_KEY": stage.new_key(demo)},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    said = re.split(r"^== \d+\n", done.stderr, flags=re.MULTILINE)[1:]
    answered = [[int(status) for status in re.findall(r"^(\d{3}) http", part, re.MULTILINE)] for part in said]
    wrong = [
        (block, expected, statuses)
        for (block, expected), statuses in zip(blocks, answered, strict=False)
        if statuses != expected
    ]
    assert wrong == [], done.stdout[-3000:]
    assert done.returncode == 0 and len(answered) == len(blocks), done.stderr[-2000:]
    assert sum(map(len, answered)) > 40
