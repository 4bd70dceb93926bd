"""Sentences in which services and rules refuse something: pages say them in the reader's language.

The API says them in English, whatever the caller reads. They are found where they are raised, so that no list has to be
kept by hand: `f"at most {n} characters"` becomes `at most {0} characters`, and `memory.services.said` knows it again.
Which places hold words of ours, to be translated with the sentence, `scripts.languages.places` says.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from memory.domain.health import METRICS
from memory.domain.types import Status
from memory.selectors.deletions import REASONS as LEFT
from scripts.languages.places import marked
from scripts.languages.raised import pattern_of, raised

ROOT: Final = Path(__file__).resolve().parents[2]
CONTEXT: Final = "said by a service"
LISTED: Final = ROOT / "locale/sentences.txt"

# What pages call, and what raises behind it.
FOLDERS: Final = (
    "memory/services",
    "memory/domain",
    "memory/pages",
    "memory/importers/source.py",
    "tenants/networks.py",
)
# Reached by agents and commands alone.
NOT_PAGES: Final = frozenset(
    {
        "memory/domain/audit_chain.py",
        "memory/domain/exports.py",
        "memory/domain/health.py",
        "memory/domain/ids.py",
        "memory/domain/injection.py",
        "memory/domain/mount/document.py",
        "memory/domain/mount/yaml_lines.py",
        "memory/services/audit_verify.py",
        "memory/services/digest.py",
        "memory/services/export_parquet.py",
        "memory/services/session_end.py",
        "memory/services/task_complete.py",
        "memory/services/task_gate.py",
        "memory/services/task_rollback.py",
        "memory/services/tenant_file.py",
        "memory/services/tenant_import.py",
        "memory/services/usage.py",
        "memory/services/working.py",
        "memory/services/working_read.py",
        "memory/services/write_jobs.py",
    }
)
# Where sentences are made that are kept or handed on and not raised: every text of these modules with words in it.
TELLING: Final = (
    "memory/domain/admission.py",
    "memory/domain/alerting.py",
    "memory/domain/policy_faults.py",
    "memory/domain/promotion.py",
    "memory/domain/scopes.py",
    "memory/services/alerts.py",
    "memory/services/alerts_watch.py",
    "memory/services/job_takes.py",
    "memory/services/memory_write.py",
    "memory/services/preview/entries.py",
    "memory/services/preview/reads.py",
    "memory/services/preview/report.py",
    "memory/services/preview/writes.py",
    "memory/services/second_look.py",
    "memory/services/sweeps/watch.py",
    "memory/services/usage.py",
)
# What the validation of documents says, as `memory.domain.policy_faults` words it.
OF_VALIDATION: Final = (
    "has to be a valid number",
    "has to be a valid number, unable to parse string as a number",
    "has to be a valid integer",
    "has to be a valid integer, unable to parse string as an integer",
    "has to be a valid integer, got a number with a fractional part",
    "has to be a valid boolean",
    "has to be a valid boolean, unable to interpret input",
    "has to be a valid string",
    "has to be a valid list",
    "has to be a finite number",
    "has to be less than {0}",
    "has to be less than or equal to {0}",
    "has to be greater than {0}",
    "has to be greater than or equal to {0}",
    "write {0}, {1} to {2}",
    "write {0}, above {1} to {2}",
    "has to be {0} to {1}",
    "has to be above {0} to {1}",
    "has to be at least {0}",
    "String should have at most {0} characters",
    "Field required",
)
# Words that stand in the places of sentences.
VALUES: Final = (
    *("above", "below", "watch", "breach", "worker", "beat", "a number", "a whole number"),
    *("days", "tokens", "entries"),
    *("pending", "stale", "approved", "rejected", "withdrawn", "undone"),
    *("reason", "note"),
    *(f"{reason.replace('_', ' ')}: {{0}}" for reason in LEFT),
)
_ACTION: Final = re.compile(r"[a-z_]+\.[a-z_]+")
_MOVES: Final = frozenset({"move", "set", "note"})
_WORDS: Final = re.compile(r"[A-Za-z']{2,} [A-Za-z'{-]{1,}")


def _told(tree: ast.AST) -> Iterator[str]:
    """Every text but docstrings, parts of texts, and what is only compared or looked up."""
    quiet = {
        id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            quiet.add(id(node.value))
    for node in ast.walk(tree):
        whole = isinstance(node, ast.JoinedStr)
        if isinstance(node, ast.JoinedStr | ast.Constant) and (whole or id(node) not in quiet):
            text = pattern_of(node)
            if text and _WORDS.search(text) and re.search(r"[A-Za-z]{2,} ", text):
                yield text


def _reasons(tree: ast.AST) -> Iterator[str]:
    """Why the product did something by itself: what is handed on with an action of the audit, or as `reason`."""
    for node in ast.walk(tree):
        found: list[ast.expr] = []
        if isinstance(node, ast.Call):
            of_event = any(_is_action(one) for one in node.args) or getattr(node.func, "attr", "") in _MOVES
            found = [one.value for one in node.keywords if one.arg in ("reason", "status_reason")]
            found += node.args if of_event else []
        elif isinstance(node, ast.AnnAssign) and "REASON" in ast.unparse(node.target) and node.value:
            found = [node.value]
        for one in found:
            if isinstance(one, ast.JoinedStr | ast.Constant) and _WORDS.search(pattern_of(one) or ""):
                yield str(pattern_of(one))


def _is_action(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and bool(_ACTION.fullmatch(str(node.value)))


def sentences() -> Iterator[tuple[str, str]]:
    """(file, sentence), in order of the files."""
    for text in (*OF_VALIDATION, *VALUES, *map(str, Status), *(metric.label for metric in METRICS.values())):
        yield "memory/domain/types.py", text
    for name in TELLING:
        for text in _told(ast.parse((ROOT / name).read_text(encoding="utf-8"))):
            yield name, text
    for folder in FOLDERS:
        root = ROOT / folder
        for path in [root] if root.is_file() else sorted(root.rglob("*.py")):
            name = str(path.relative_to(ROOT))
            if folder == "memory/services":
                for text in _reasons(ast.parse(path.read_text(encoding="utf-8"))):
                    yield name, text
            if name not in NOT_PAGES:
                for text in raised(ast.parse(path.read_text(encoding="utf-8"))):
                    yield name, text


def listing() -> str:
    """The sentences as `memory.services.said` reads them: one a line."""
    lines = [text.replace("\n", "\\n") for text in marked(text for _name, text in sentences())]
    return "\n".join(lines) + "\n"
