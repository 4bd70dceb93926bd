"""docs/reference/cli.md: every command with its arguments, as its parser knows them.

Not argparse's own help, which every version of Python lays out differently.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from django.core.management import load_command_class

from memgov.cli import _parser
from memgov.cli.delegate import known_commands
from scripts.reference import NOTE, cell

_HEAD = """# Command line

`memgov up`, `down`, `status`, `logs`, `doctor`, `run` and `bench` are about processes; the others work on data, and
start embedded servers for their duration when none are there. Each explains itself with `--help`.
"""
_OF_DJANGO = {
    "help", "version", "verbosity", "settings", "pythonpath", "traceback", "no_color", "force_color", "skip_checks",
}  # fmt: skip


def page() -> str:
    """The whole page."""
    lines = [NOTE.rstrip("\n"), "", _HEAD]
    for name, parser, words in sorted(_parsers(), key=lambda each: each[0]):
        lines += [f"## memgov {name}", "", words or parser.description or "", "", *_arguments(parser)]
        for word, inner, told in _inner(parser):
            lines += [f"### memgov {name} {word}", "", *([told, ""] if told else []), *_arguments(inner)]
    return "\n".join(lines).rstrip() + "\n"


def _parsers() -> Iterator[tuple[str, argparse.ArgumentParser, str]]:
    yield from _inner(_parser())
    for typed, module in known_commands().items():
        yield typed, load_command_class("memory", module).create_parser("memgov", typed), ""


def _inner(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser, str]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            words = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, inner in sorted(action.choices.items()):
                yield name, inner, words.get(name, "")


def _arguments(parser: argparse.ArgumentParser) -> Iterator[str]:
    shown = [action for action in parser._actions if _is_shown(action)]
    if not shown:
        return
    yield from ("| argument | meaning |", "|---|---|")
    for action in shown:
        yield f"| {_name(action)} | {cell(_words(action))} |"
    yield ""


def _is_shown(action: argparse.Action) -> bool:
    if isinstance(action, argparse._SubParsersAction):
        return False
    return action.dest not in _OF_DJANGO and action.help != argparse.SUPPRESS


def _name(action: argparse.Action) -> str:
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if not action.option_strings:
        return f"`{cell(metavar)}`"
    value = "" if action.nargs == 0 else f" {metavar}"
    text = f"`{cell(', '.join(action.option_strings) + value)}`"
    return f"{text}, required" if action.required else text


def _words(action: argparse.Action) -> str:
    text = (action.help or "") % {"default": action.default, "prog": ""} if action.help else ""
    chosen = [str(choice) for choice in action.choices or ()]
    if chosen and not any(choice in text for choice in chosen):
        text = f"{text}{': ' if text else ''}{', '.join(chosen)}"
    return text
