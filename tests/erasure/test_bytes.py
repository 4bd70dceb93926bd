"""What an operator can prove after an erasure, and that its work goes in batches whatever the number of rows."""

from __future__ import annotations

import secrets
from pathlib import Path

import psycopg
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.services import erasure_run as running
from memory.services.erasure import subject_erase
from memory.services.erasure_run import erasure_run
from tests.erasure.lived import SUBJECT, erased, wish
from tests.statements import statements
from tests.sweeps.planting import Plot

pytestmark = pytest.mark.usefixtures("database")
TABLES = ("memory_memory", "memory_revision", "memory_writedecision")


def on_disk(superuser_url: str, text: str) -> int:
    """How often the text stands in the files of the tables, as the server has written them."""
    found = 0
    with psycopg.connect(superuser_url, autocommit=True) as server:
        server.execute("CHECKPOINT")
        (folder,) = server.execute("SHOW data_directory").fetchone() or ("",)
        for table in TABLES:
            (path,) = server.execute("SELECT pg_relation_filepath(%s)", [table]).fetchone() or ("",)
            for part in Path(folder, path).parent.glob(f"{Path(path).name}*"):
                found += part.read_bytes().count(text.encode())
    return found


def test_disk__after_an_erasure_and_vacuum__holds_no_byte_of_the_phrase(superuser_url: str) -> None:
    canary, plot = f"canary{secrets.token_hex(8)}", Plot()
    plot.plant(5, subject=SUBJECT, predicate="note", content=f"{canary} note ")
    assert on_disk(superuser_url, canary) >= 5
    erased(plot.stage)
    with psycopg.connect(superuser_url, autocommit=True) as server:
        for table in TABLES:
            server.execute(f"VACUUM (FULL) {table}")
    assert on_disk(superuser_url, canary) == 0


def test_many__one_request__goes_in_batches_and_tells_how_far_it_is() -> None:
    plot, told = Plot(), []
    plot.plant(3 * running.BATCH, subject=SUBJECT, predicate="note", content="a note of the subject ")
    job = subject_erase(plot.stage.owner.principal, wish())
    assert (job.status, job.total) == ("queued", 3 * running.BATCH)
    with CaptureQueriesContext(connection) as many:
        assert (
            erasure_run(plot.tenant_id, job.id, tell=lambda done, total: told.append((done, total))) == "done"
        )
    assert told == [(number * running.BATCH, 3 * running.BATCH) for number in (1, 2, 3)]
    few = Plot()
    few.plant(10, subject=SUBJECT, predicate="note", content="a note of the subject ")
    job = subject_erase(few.stage.owner.principal, wish())
    with CaptureQueriesContext(connection) as less:
        assert erasure_run(few.tenant_id, job.id) == "done"
    assert len(statements(many)) - len(statements(less)) < 80, "by batch, not by row"
