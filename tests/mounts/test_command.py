"""`memgov mount apply` and `diff`, as a repository's CI calls them."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from memgov import clock
from memory.domain.ids import show_id
from tests.factories import Stage
from tests.mounts.files import SIGNED, STAGING, TABS, given, manifest, memory_of, read, ref, rows, say, write

pytestmark = pytest.mark.usefixtures("database")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memgov.mount.yaml"


def mount(does: str, stage: Stage, file: Path, *more: str) -> tuple[int, str, str]:
    """Exit code, output, errors."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    try:
        call_command("mount", does, str(file), "--tenant", stage.tenant.slug, *more, stdout=out, stderr=err)
    except CommandError as error:
        code = error.returncode
        err.write(str(error))
    except SystemExit as end:
        code = int(end.code or 0)
    return code, out.getvalue(), err.getvalue()


def test_apply_and_diff__exit_codes__are_those_of_a_diff_tool(stage: Stage, file: Path) -> None:
    file.write_bytes(manifest([say(STAGING), say(TABS)]))
    code, out, _ = mount("diff", stage, file)
    assert (
        code == 1 and "+ line 3: project:alpha" in out and "2 to add" in out and "nothing was stored" in out
    )
    assert mount("apply", stage, file, "--commit", "abc1234", "--by", "pipeline 7")[0] == 0
    code, out, _ = mount("diff", stage, file)
    assert code == 0 and "no difference" in out
    file.write_bytes(manifest([say(STAGING), say(SIGNED)]))
    code, out, _ = mount("diff", stage, file)
    assert code == 1 and "- not in the file" in out and "(deleted)" in out and "+ line 5" in out
    assert mount("apply", stage, file, "--dry-run")[0] == 0
    assert given(read(stage.coder.principal)) == [STAGING, TABS]
    file.write_bytes(manifest([say("ok")]))
    for does in ("diff", "apply"):
        code, _, err = mount(does, stage, file)
        assert code == 2 and f"{file}:3: " in err and "[too_vague]" in err and "nothing was changed" in err


def test_json__is_for_programs(stage: Stage, file: Path) -> None:
    known = write(stage.coder.principal, TABS)
    file.write_bytes(manifest([say(STAGING), ref(known)]))
    code, out, _ = mount("diff", stage, file, "--json")
    told = json.loads(out)
    assert (code, told["status"], told["entries"]) == (1, "would_apply", 2)
    assert [one["memory"] for one in told["changes"]] == [None, show_id("mem", known.id)]
    told = json.loads(mount("apply", stage, file, "--json", "--commit", "abc1234")[1])
    assert (told["status"], told["commit"], told["name"]) == ("applied", "abc1234", "alpha")
    assert told["changes"][0]["memory"] == show_id("mem", memory_of(stage, STAGING).id)
    told = json.loads(mount("apply", stage, file, "--json", "--commit", "abc1234")[1])
    assert (told["status"], told["changes"]) == ("unchanged", [])
    file.write_bytes(b"name: alpha\nentries:\n- id: mem_1\n- content: ok\n  scope: project:alpha\n")
    code, out, _ = mount("apply", stage, file, "--json")
    told = json.loads(out)
    assert code == 2 and told["status"] == "refused"
    assert [(one["line"], one["code"]) for one in told["problems"]] == [(3, "invalid"), (4, "too_vague")]


def test_trouble__of_any_kind__is_exit_code_2(stage: Stage, file: Path) -> None:
    assert mount("diff", stage, file)[0] == 2, "no such file"
    file.write_bytes(manifest([]))
    assert mount("apply", stage, file, "--commit", "main")[0] == 2
    with pytest.raises(CommandError) as error:
        call_command("mount", "diff", str(file), "--tenant", "nobody-s")
    assert error.value.returncode == 2 and "no tenant" in str(error.value)


def test_hostile_text__in_file_and_memory__steers_no_terminal(stage: Stage, file: Path) -> None:
    known = write(stage.coder.principal, "The \x1b[31mlantern\u202e desk of alpha opens at seven.")
    file.write_text(
        f'name: alpha\nentries:\n- id: mem_{known.id.hex}\n- "\\e[2Jx": "\\u202e"\n', encoding="utf-8"
    )
    code, out, err = mount("apply", stage, file)
    assert code == 2 and not {"\x1b", "\u202e"} & set(out + err)
    file.write_text(f"name: alpha\nentries:\n- id: mem_{known.id.hex}\n", encoding="utf-8")
    code, out, err = mount("apply", stage, file)
    assert code == 0 and not {"\x1b", "\u202e"} & set(out + err) and "lantern" in out


def test_within__from_the_command_line__bounds_the_file(stage: Stage, file: Path) -> None:
    file.write_bytes(manifest([say(STAGING)]))
    code, _, err = mount("apply", stage, file, "--within", "user:*")
    assert code == 2 and "[out_of_scope]" in err
    assert mount("apply", stage, file, "--within", "user:*", "--within", "project:alpha")[0] == 0
    assert len(rows(stage)) == 1


def test_apply__what_aged__is_said_to_be_confirmed(stage: Stage, file: Path) -> None:
    file.write_bytes(manifest([say(STAGING)]))
    mount("apply", stage, file)
    with clock.moved_to(clock.now() + timedelta(days=45)):
        code, out, _ = mount("apply", stage, file)
    assert code == 0 and "nothing to change" in out and "1 had aged; the file confirms them" in out


def test_the_program__as_ci_runs_it__ends_with_these_codes(stage: Stage, file: Path) -> None:
    """`memgov` itself, as a process of its own, against the servers of this run."""

    def run(*arguments: str, given: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "memgov.cli", "mount", *arguments, "--tenant", stage.tenant.slug]
        return subprocess.run(command, check=False, input=given, capture_output=True, cwd=ROOT, timeout=120)

    file.write_bytes(manifest([say(STAGING)]))
    assert run("diff", str(file)).returncode == 1
    applied = run("apply", "-", "--commit", "abc1234", given=file.read_bytes())
    assert applied.returncode == 0, applied.stderr
    assert run("diff", str(file)).returncode == 0
    file.write_bytes(manifest([say("ok")]))
    refused = run("apply", str(file))
    assert (
        refused.returncode == 2
        and f"{file}:3: ".encode() in refused.stderr
        and b"Traceback" not in refused.stderr
    )
    assert given(read(stage.coder.principal)) == [STAGING]
