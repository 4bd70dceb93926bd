"""`memgov policy`: faults with their lines, what somebody else changed, previews, and rolling back."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from memory.domain.policy import PRESETS
from memory.models import Memory, PolicyVersion
from memory.services.memory_write import memory_write
from memory.services.policies import policy_activate
from memory.services.write_types import WriteRequest
from tests.factories import Stage, make_tenant

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture
def stage(database: None) -> Stage:
    return make_tenant()


def call(*arguments: str) -> tuple[str, str]:
    """What the command writes to standard output and to standard error."""
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command("policy", *arguments, stdout=out, stderr=err)
    except CommandError as error:
        return out.getvalue(), f"{err.getvalue()}{error}"
    return out.getvalue(), err.getvalue()


def test_set__file_with_faults__each_with_its_line(stage: Stage, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text("decay:\n  flor: 0.2\nscopes:\n  project:*:\n    decay: {floor: 2}\n")
    out, err = call("set", str(file), "--tenant", stage.tenant.slug, "--reason", "a slip")
    assert out == ""
    assert f"{file}:2: decay.flor: there is no such setting; did you mean floor?" in err
    assert f"{file}:5: scopes.project:*.decay.floor" in err
    with stage.context():
        assert PolicyVersion.objects.count() == 1


def test_set__beside_another_version__says_what_changed(stage: Stage, tmp_path: Path) -> None:
    file, slug = tmp_path / "policy.json", stage.tenant.slug
    file.write_text(json.dumps({"decay": {"floor": 0.2}}))
    policy_activate(stage.owner.principal, {"reconciliation": {"cap": 40}}, "small")
    _, err = call("set", str(file), "--tenant", slug, "--reason", "mine", "--expect", "1")
    assert "version 2 is in force by now, not 1" in err and "reconciliation cap 500 → 40" in err
    out, _ = call("set", str(file), "--tenant", slug, "--reason", "mine", "--expect", "2")
    assert "policy version 3 is active" in out
    out, _ = call("roll-back", "2", "--tenant", slug, "--reason", "too soon", "--expect", "3")
    assert out.splitlines()[0] == "policy version 4 is active" and "  reconciliation cap 500 → 40" in out
    out, _ = call("show", "--short", "--tenant", slug)
    assert out.splitlines()[1:] == ["reconciliation:", "  cap: 40"]
    _, err = call("roll-back", "9", "--tenant", slug, "--reason", "no")
    assert "there is no policy version 9" in err


def test_presets__listed__with_what_each_would_change(stage: Stage) -> None:
    out, _ = call("presets")
    assert [line.split(":")[0] for line in out.splitlines()] == list(PRESETS)
    out, _ = call("presets", "--tenant", stage.tenant.slug)
    assert "  reconciliation cap 500 → none" in out


def test_preview__of_a_file__tells_and_changes_nothing(stage: Stage, tmp_path: Path) -> None:
    file, slug = tmp_path / "policy.yaml", stage.tenant.slug
    request = WriteRequest(
        content="The north gate is locked at nine.", scope="project:alpha", origin="tool_verified"
    )
    written = memory_write(stage.coder.principal, request).memory
    assert written is not None
    file.write_text("admission: {confidence_floor: {middle: 0.95}}\n")
    out, _ = call("preview", str(file), "--tenant", slug)
    assert "looked at 1 entries, 1 writes" in out and "nothing was changed" in out
    assert "stored: 1 refused (low_confidence 1)" in out and f"mem_{written.id.hex}" in out
    assert "written: 1 refused (stored → rejected: low_confidence 1)" in out
    told = json.loads(call("preview", str(file), "--tenant", slug, "--json", "--reads", "0")[0])
    assert told["stored"][0]["name"] == "refused" and told["against"] == 1
    assert "at most" in call("preview", str(file), "--tenant", slug, "--writes", "999999")[1]
    with stage.context():
        assert PolicyVersion.objects.count() == 1 and Memory.objects.get().status == "live"
