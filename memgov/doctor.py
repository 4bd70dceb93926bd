"""`memgov doctor`: looks at everything the product stands on and says how to mend what is wrong.

The report is made here, the single checks are in `doctor_checks`.  It only looks, and starts nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass

import django
from django.conf import settings
from django.db import DatabaseError

from memgov import doctor_checks as checks
from memgov.doctor_checks import Wrong
from memgov.embedded import runtime

DATABASE_CHECKS: dict[str, Callable[[], str]] = {
    "database": checks.check_database,
    "extensions": checks.check_extensions,
    "roles": checks.check_roles,
    "migrations": checks.check_migrations,
    "row-level security": checks.check_row_level_security,
}
OTHER_CHECKS: dict[str, Callable[[], str]] = {
    "broker": checks.check_broker,
    "worker": checks.check_worker,
    "mcp": checks.check_mcp,
    "embedder": checks.check_embedder,
    "disk": checks.check_disk,
}


@dataclass(frozen=True)
class Finding:
    """One line of the report; `ok` is None for what could not be looked at."""

    check: str
    ok: bool | None
    detail: str
    mend: str = ""


def main(*, as_json: bool) -> int:
    """Print the report; exit code 0 when everything is well."""
    findings = examine()
    well = all(finding.ok for finding in findings)
    if as_json:
        print(json.dumps({"ok": well, "checks": [asdict(finding) for finding in findings]}, indent=2))
    else:
        for finding in findings:
            _show(finding)
    return 0 if well else 1


def examine() -> list[Finding]:
    """All findings, in the order in which things build on each other."""
    try:
        django.setup()
        findings = [_look("settings", checks.check_settings)]
    except SystemExit as error:  # a setting that cannot be used ends every start, with its name
        return [Finding("settings", False, str(error), "correct this variable in the environment")]
    findings += _examine_database()
    for name, check in OTHER_CHECKS.items():
        if name == "worker" and not findings[-1].ok:
            findings.append(Finding(name, None, "not asked: it is reached through the broker"))
        else:
            findings.append(_look(name, check))
    return findings


def _examine_database() -> list[Finding]:
    findings: list[Finding] = []
    for name, check in DATABASE_CHECKS.items():
        if findings and not findings[0].ok:
            findings.append(Finding(name, None, "not looked at: the database does not answer"))
        else:
            findings.append(_look(name, check))
    return findings


def _look(name: str, check: Callable[[], str]) -> Finding:
    try:
        return Finding(name, True, check())
    except Wrong as wrong:
        return Finding(name, False, str(wrong), wrong.mend)
    except DatabaseError as error:
        return Finding(name, False, " ".join(str(error).split()), _database_remedy())


def _database_remedy() -> str:
    if runtime.read(settings.DATA_DIR) is None and not settings.DATABASE_URL:
        return "nothing runs here: start it with `memgov up`, or give DATABASE_URL"
    return "check DATABASE_URL and MIGRATION_DATABASE_URL, and that the server runs"


def _show(finding: Finding) -> None:
    mark = {True: "ok", False: "FAIL", None: "-"}[finding.ok]
    print(f"{mark:<5} {finding.check:<19} {finding.detail}")
    if finding.mend:
        print(f"{'':<25} → {finding.mend}")
