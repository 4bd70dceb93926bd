"""Finds the sentences of refusals in a module: in `raise`, and where an error is made to be raised elsewhere."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Final

# Errors of services and rules, and what they carry beside their detail; classes of one module are found by their bases.
ERRORS: Final = frozenset(
    {
        *("ServiceError", "Invalid", "TooLarge", "Denied", "NotFound", "Conflict", "VersionConflict"),
        *("Refused", "Stale", "PolicyInvalid", "PolicyMoved", "MountRefused", "Placed", "Fault", "Problem"),
        *("ValueError", "BadSeed", "BadLine", "BadText", "TooLong", "IllegalTransition", "ValidationError"),
    }
)
_WORDS: Final = re.compile(r"[A-Za-z']{2,} [A-Za-z'{-]{1,}")
_FUNCTION: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
Assigned = Mapping[str, list[ast.expr]]


def pattern_of(node: ast.expr) -> str | None:
    """A text with `{0}`, `{1}`… where values stand; None for anything that is not a text."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if not isinstance(node, ast.JoinedStr):
        return None
    parts, count = [], 0
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(str(part.value).replace("{", "(").replace("}", ")"))
        else:
            parts.append(f"{{{count}}}")
            count += 1
    return "".join(parts)


def raised(tree: ast.AST) -> Iterator[str]:
    """Every text with words that is given to an error, there or by a name that holds it."""
    bodies = [node for node in ast.walk(tree) if isinstance(node, _FUNCTION)]
    inside = {id(part) for body in bodies for part in ast.walk(body)}
    shared = _assigned(node for node in ast.walk(tree) if id(node) not in inside)
    seen: set[int] = set()
    # Inner functions come after the outer ones, whose names they see.
    for body in (*bodies, tree):
        known = {**shared, **_assigned(ast.walk(body))}
        for call in _errors(body):
            if id(call) not in seen:
                seen.add(id(call))
                for given in (*call.args, *(one.value for one in call.keywords)):
                    yield from _texts(given, known, set())


def _errors(body: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(body):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            yield node.exc
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ERRORS:
            yield node


def _assigned(nodes: Iterator[ast.AST]) -> dict[str, list[ast.expr]]:
    """Names with everything that is assigned to them."""
    found: dict[str, list[ast.expr]] = {}
    for node in nodes:
        value = getattr(node, "value", None)
        if value is None or not isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, ast.Name):
                found.setdefault(target.id, []).append(value)
    return found


def _texts(node: ast.expr, known: Assigned, names: set[str]) -> Iterator[str]:
    """The texts that an expression may be: itself, those of its choices, of its name, and of names within it."""
    text = pattern_of(node)
    if text and _WORDS.search(text):
        yield text
    if isinstance(node, ast.Name) and node.id not in names:
        for value in known.get(node.id, ()):
            yield from _texts(value, known, names | {node.id})
    elif isinstance(node, ast.IfExp):
        yield from _texts(node.body, known, names)
        yield from _texts(node.orelse, known, names)
    elif isinstance(node, ast.JoinedStr):
        for part in node.values:
            if isinstance(part, ast.FormattedValue) and isinstance(part.value, ast.Name | ast.IfExp):
                yield from _texts(part.value, known, names)
    elif isinstance(node, ast.BoolOp):
        for one in node.values:
            yield from _texts(one, known, names)
    elif isinstance(node, ast.List | ast.Tuple):
        for one in node.elts:
            yield from _texts(one, known, names)
