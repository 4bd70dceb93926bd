"""Commands that are Django's: found by name, given servers when none run, and handed their arguments."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from memgov.cli import audit
from memgov.embedded import runtime
from memgov.embedded.datadir import default_data_dir
from memgov.embedded.errors import StartError
from memgov.processes.plan import servers_are_given

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = (ROOT / "memory" / "management" / "commands", ROOT / "tenants" / "management" / "commands")

# Django has a command of its own by the name that is typed, which must stay: it guards every start.
_TYPED = {"check_memory": "check"}


# These take the database as it is: a backup before an upgrade must not be the upgrade.
_AS_IT_IS = {"backup", "restore_backup"}


def known_commands() -> dict[str, str]:
    """Names as typed (`verify-audit`) to the names of their modules (`verify_audit`)."""
    modules = [path.stem for folder in FOLDERS for path in folder.glob("*.py") if path.stem != "__init__"]
    return {_TYPED.get(module, module.replace("_", "-")): module for module in modules}


def run(arguments: Sequence[str]) -> int:
    """One management command, with embedded servers for its duration when nothing else is there."""
    name, *rest = arguments
    if audit.only_reads(name, rest):
        return audit.run(rest)
    module = known_commands().get(name.replace("_", "-"))
    if module is None:
        raise StartError(f"no command is called {name!r}; `memgov --help` lists them")
    if not needs_servers(name, rest) or servers_are_given() or runtime.read(default_data_dir()):
        return _django("call", [module, *rest])
    from memgov.embedded.servers import EmbeddedServers  # brings psycopg, which reading a file does not need

    with EmbeddedServers(default_data_dir(), purpose=f"memgov {name}"):
        return _django("call" if module in _AS_IT_IS else "migrate_and_call", [module, *rest])


def needs_servers(name: str, rest: Sequence[str]) -> bool:
    """Everything does, except explaining itself, reading a file of its own, and testing another server."""
    if "-h" in rest or "--help" in rest:
        return False
    if name == "audit":
        return "--import" in rest
    if name in ("verify-audit", "verify_audit"):
        return not any(word.split("=")[0] == "--file" for word in rest)
    alone = {"--url", "--schema", "--list"}
    return not (name == "check" and any(word.split("=")[0] in alone for word in rest))


def doctor(*, as_json: bool) -> int:
    """`memgov doctor`: it only looks, and starts nothing."""
    code: int = _django_module("memgov.doctor").main(as_json=as_json)
    return code


def _django(function: str, arguments: list[str]) -> int:
    code: int = getattr(_django_module("memgov.cli.django_side"), function)(arguments)
    return code


def _django_module(name: str) -> ModuleType:
    """Imported when one is needed: Django takes most of a second, and `memgov status` needs none of it."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memgov.settings")
    return importlib.import_module(name)
