"""`policy show|diff FILE|preview FILE|set FILE|preset NAME|roll-back N|presets --tenant SLUG`: policies from a file or
a preset."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import yaml
from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from memgov import clock
from memory.domain import policy_presets
from memory.domain.policy import PRESETS, Policy, preset, sparse
from memory.management.named import refusals_told, tenant_named
from memory.models import PolicyVersion
from memory.selectors.policies import active_policy
from memory.services.errors import ServiceError
from memory.services.policies import (
    PolicyInvalid,
    PolicyMoved,
    policy_activate,
    policy_diff,
    policy_read,
    policy_roll_back,
)
from memory.services.preview import PreviewReport, preview_report
from memory.services.preview.report import MOST_READS, MOST_WRITES, READS, WRITES
from tenants.context import tenant_context
from tenants.models import Tenant
from tenants.principals import Principal, system

_FILE = "YAML or JSON; what it leaves out has the product's default; - reads standard input"


class Command(BaseCommand):
    help = "Show, compare and change the policy of a tenant."

    def add_arguments(self, parser: ArgumentParser) -> None:
        does = parser.add_subparsers(
            dest="does", required=True, metavar="show|diff|preview|set|preset|roll-back|presets"
        )
        show = does.add_parser("show", help="the active policy, as YAML")
        show.add_argument("--short", action="store_true", help="only what differs from the product's default")
        diff = does.add_parser("diff", help="what a file would change; changes nothing")
        look = does.add_parser("preview", help="what a file would do; changes nothing")
        put = does.add_parser("set", help="activate a file as a new version")
        ready = does.add_parser("preset", help="activate a preset as a new version")
        back = does.add_parser("roll-back", help="activate what an earlier version said, as a new version")
        listed = does.add_parser("presets", help="the presets, and what each would change; changes nothing")
        look.add_argument("--writes", type=int, default=WRITES, help=f"writes to repeat ({WRITES})")
        look.add_argument("--reads", type=int, default=READS, help=f"reads to repeat ({READS})")
        look.add_argument("--json", action="store_true", help="the whole report")
        for one in (diff, look, put):
            one.add_argument("file", help=_FILE)
        ready.add_argument("name", choices=PRESETS)
        back.add_argument("number", type=int)
        for one in (put, ready, back):
            one.add_argument("--reason", required=True, help="stands beside the version")
            one.add_argument(
                "--expect", type=int, metavar="N", help="only if version N is in force, as you saw it"
            )
        for one in (show, diff, look, put, ready, back):
            one.add_argument("--tenant", required=True, metavar="SLUG")
        listed.add_argument("--tenant", metavar="SLUG", help="compare with this tenant's policy")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["does"] == "presets" and not options["tenant"]:
            self._presets(None)
            return
        tenant = tenant_named(options["tenant"])
        actor = system(tenant.id, f"cli.policy_{options['does'].replace('-', '_')}")
        with refusals_told():
            try:
                self._does(tenant, actor, options)
            except ServiceError as error:
                self._told(error, options)
                raise

    def _does(self, tenant: Tenant, actor: Principal, options: dict[str, Any]) -> None:
        match options["does"]:
            case "show":
                self._show(tenant, short=options["short"])
            case "presets":
                self._presets(actor)
            case "diff":
                lines = policy_diff(actor, policy_read(_text(options["file"])))
                self.stdout.write("\n".join(lines) or "no difference")
            case "preview":
                self._preview(tenant, options)
            case "set":
                document = policy_read(_text(options["file"]))
                self._activated(
                    policy_activate(actor, document, options["reason"], expected=options["expect"])
                )
            case "preset":
                ready = preset(options["name"])
                self._activated(policy_activate(actor, ready, options["reason"], expected=options["expect"]))
            case "roll-back":
                number, reason = options["number"], options["reason"]
                self._activated(policy_roll_back(actor, number, reason, expected=options["expect"]))

    def _told(self, error: ServiceError, options: dict[str, Any]) -> None:
        """Every fault with its line, and what changed meanwhile: more than the one sentence of the error."""
        if isinstance(error, PolicyInvalid):
            for one in error.faults:
                place = f"{one.place}: " if one.place else ""
                self.stderr.write(f"{options.get('file', '')}:{one.line}: {place}{one.message}")
        if isinstance(error, PolicyMoved):
            for line in error.changes:
                self.stderr.write(f"  {line}")

    def _show(self, tenant: Tenant, *, short: bool) -> None:
        with tenant_context(tenant.id):
            active = active_policy()
        document = sparse(active.policy) if short else Policy.model_dump(active.policy, mode="json")
        self.stdout.write(f"# {tenant.slug}, version {active.number}")
        self.stdout.write(yaml.safe_dump(document, sort_keys=False, allow_unicode=True))

    def _presets(self, actor: Principal | None) -> None:
        for one in policy_presets.ALL:
            self.stdout.write(f"{one.name}: {one.about}")
            for line in policy_diff(actor, preset(one.name)) if actor else ():
                self.stdout.write(f"  {line}")

    def _preview(self, tenant: Tenant, options: dict[str, Any]) -> None:
        draft = Policy.model_validate(policy_read(_text(options["file"])))
        if not (0 <= options["writes"] <= MOST_WRITES and 0 <= options["reads"] <= MOST_READS):
            raise CommandError(f"at most {MOST_WRITES} writes and {MOST_READS} reads can be repeated")
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(f"preview {tenant.slug}", total=None)
            report = preview_report(
                tenant.id, draft, now=clock.now(), writes_most=options["writes"], reads_most=options["reads"],
                progress=lambda done, total: bar.update(task, completed=done, total=total),
            )  # fmt: skip
        if options["json"]:
            self.stdout.write(json.dumps(report.as_json(), indent=1, ensure_ascii=False))
        else:
            self.stdout.write("\n".join(_told(report, tenant)))

    def _activated(self, version: PolicyVersion) -> None:
        self.stdout.write(f"policy version {version.number} is active")
        for line in version.changes:
            self.stdout.write(f"  {line}")


def _told(report: PreviewReport, tenant: Tenant) -> list[str]:
    """The report in lines, the samples as ids."""
    seen = ", ".join(f"{count:,} {name}" for name, count in report.looked_at.items())
    lines = [f"{tenant.slug}: looked at {seen}; compared with version {report.against}; nothing was changed"]
    for title, parts in (("stored", report.stored), ("written", report.written), ("read", report.read)):
        for part in parts:
            labels = ", ".join(f"{label} {count:,}" for label, count in list(part["labels"].items())[:6])
            lines.append(f"{title}: {part['count']:,} {part['name'].replace('_', ' ')} ({labels})")
            for one in part["samples"][:3]:
                said = "; ".join(
                    filter(None, (one["why"], *(f"{name} {one[name]}" for name in _MARKS if name in one)))
                )
                lines.append(f"  {_PREFIX[one['kind']]}_{one['id']} {said}".rstrip())
    return [*lines, *(f"note: {note}" for note in report.notes)]


_PREFIX = {"memory": "mem", "decision": "dec", "manifest": "man"}
_MARKS = ("pinned", "restored", "uses")


def _text(name: str) -> str:
    try:
        return sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CommandError(f"{name} is not UTF-8") from None
