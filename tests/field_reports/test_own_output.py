"""What memgov itself gives out comes back through an agent: nothing of it becomes a memory, in no format."""

from __future__ import annotations

import pytest

from memory.models import Memory
from tests.api.caller import Caller
from tests.factories import Stage
from tests.field_reports.writing import write

pytestmark = pytest.mark.usefixtures("database")


@pytest.mark.parametrize("kind", ["xml", "markdown", "json"])
def test_admission__own_block_written_back__whole_or_by_line__nothing_new(
    stage: Stage, coder: Caller, kind: str
) -> None:
    for content in ("The press halls open at seven.", "Mill four delivers paper on Mondays."):
        write(stage, content)
    answer = coder.post("retrieve", {"query": "when do the press halls open", "format": kind})
    assert answer.status_code == 200, answer.content
    block = answer.json()["block"]
    text = block if isinstance(block, str) else block["text"]
    assert "press halls" in text
    with stage.context():
        before = Memory.objects.filter(status="live").count()
    answers = {piece: write(stage, piece).outcome for piece in [text, *filter(str.strip, text.splitlines())]}
    assert [k for k, v in answers.items() if v == "stored"] == []
    with stage.context():
        assert Memory.objects.filter(status="live").count() == before
