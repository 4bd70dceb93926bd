"""LangGraph's rules for filters and namespaces."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

_COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


def matches(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    """Whether a value has what a filter wants: equal members, or `{"$gt": 3}` and the like."""
    return all(_fits(value.get(name), condition) for name, condition in (wanted or {}).items())


def _fits(found: Any, condition: Any) -> bool:
    if isinstance(condition, Mapping) and any(str(name).startswith("$") for name in condition):
        return all(_compared(found, str(name), bound) for name, bound in condition.items())
    if isinstance(condition, Mapping):
        return isinstance(found, Mapping) and matches(found, condition)
    return bool(found == condition)


def _compared(found: Any, name: str, bound: Any) -> bool:
    if name not in _COMPARE:
        raise ValueError(f"{name} is not an operator of a filter; there are {', '.join(_COMPARE)}")
    if name in ("$eq", "$ne"):
        return _COMPARE[name](found, bound)
    try:
        return found is not None and bool(_COMPARE[name](found, bound))
    except TypeError:
        return False


def namespaces(op: Any, present: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The namespaces that fit all conditions, cut to the depth, in order, each once."""
    conditions = op.match_conditions or ()
    found = {one for one in present if all(_matched(one, condition) for condition in conditions)}
    if op.max_depth is not None:
        found = {one[: op.max_depth] for one in found}
    return sorted(found)[op.offset : op.offset + op.limit]


def _matched(namespace: tuple[str, ...], condition: Any) -> bool:
    path = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    if condition.match_type == "prefix":
        part = namespace[: len(path)]
    elif condition.match_type == "suffix":
        part = namespace[len(namespace) - len(path) :]
    else:
        raise ValueError(f"Unsupported match type: {condition.match_type}")
    return all(wanted in ("*", label) for label, wanted in zip(part, path, strict=True))
