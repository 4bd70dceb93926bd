"""Comparing what came with what was expected; every difference is one sentence with both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from django.core.exceptions import FieldError

from memory.models import Alert, AuditEvent, Memory
from memory.services.audit_verify import audit_verify
from memory.services.health import health_now
from memory.testing.document import EndDocument, Expected, Range, StepDocument, StoredDocument
from memory.testing.steps import Done
from memory.testing.world import World, shown_uuid
from tenants.context import tenant_context

_SHOWN: Final = 300
Check = Callable[[World, Any, Done], Iterator[str]]


def differences(world: World, expected: Expected | None, done: Done) -> Iterator[str]:
    """What is not as expected.  A problem that nobody expected is one."""
    if (expected is None or expected.code is None) and done.code is not None:
        yield f"the call failed with {done.code}: {done.detail}"
    elif expected is not None:
        yield from _compared(world, expected, done)


def stage_differences(world: World, step: StepDocument, done: Done) -> Iterator[str]:
    """The same for a step that sets the stage: its write has to be stored unless it says otherwise."""
    yield from differences(world, step.expect, done)
    outcome = done.body.get("outcome") if step.action == "write" else None
    if step.expect is None and outcome not in (None, "stored", "superseded"):
        yield f"the stage could not be set: {outcome} ({done.body.get('reason')})"


def _compared(world: World, expected: Expected, done: Done) -> Iterator[str]:
    for name, check in _CHECKS.items():
        wanted = getattr(expected, name)
        if wanted is not None:
            yield from check(world, wanted, done)


def _equal(what: str, wanted: Any, found: Any) -> Iterator[str]:
    if wanted != found:
        yield f"{what} is {_short(found)}, expected {_short(wanted)}"


def _short(value: Any) -> str:
    text = str(value) if isinstance(value, str) else repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def within(wanted: Any, found: Any) -> bool:
    """Whether a figure is the one that is wanted, or between its bounds."""
    if not isinstance(wanted, Range):
        return bool(wanted == found)
    if found is None:
        return False
    return (wanted.min is None or found >= wanted.min) and (wanted.max is None or found <= wanted.max)


def _figure(what: str, wanted: Any, found: Any) -> Iterator[str]:
    if not within(wanted, found):
        bounds = f"{wanted.min}–{wanted.max}" if isinstance(wanted, Range) else wanted
        yield f"{what} is {found}, expected {bounds}"


def members(what: str, wanted: Mapping[str, Any], found: Any) -> Iterator[str]:
    """Members that have to be there; those of an inner object likewise."""
    for name, value in wanted.items():
        inner = found.get(name) if isinstance(found, Mapping) else None
        if isinstance(value, Mapping):
            yield from members(f"{what}.{name}", value, inner)
        else:
            yield from _equal(f"{what}.{name}", value, inner)


def _member(name: str) -> Check:
    def check(world: World, wanted: Any, done: Done) -> Iterator[str]:
        yield from _equal(name, str(wanted), done.body.get(name))

    return check


def _reason(world: World, wanted: str, done: Done) -> Iterator[str]:
    found = done.body.get("reason")
    if found != wanted:
        said = f" ({done.body['explanation']})" if done.body.get("explanation") else ""
        yield f"reason is {found}{said}, expected {wanted}"


def _code(world: World, wanted: str, done: Done) -> Iterator[str]:
    if done.code != wanted:
        yield f"the call {f'failed with {done.code}' if done.code else 'succeeded'}, expected the problem {wanted}"


def _status(world: World, wanted: str, done: Done) -> Iterator[str]:
    memory = done.body.get("memory")
    found = memory.get("status") if isinstance(memory, Mapping) else done.body.get("status")
    yield from _equal("status", wanted, found)


def _replaced(world: World, wanted: list[str], done: Done) -> Iterator[str]:
    yield from _same(world, "replaced", wanted, done.body.get("replaced", []))


def _findings(world: World, wanted: list[str], done: Done) -> Iterator[str]:
    found = sorted({one["kind"] for one in done.body.get("findings", [])})
    yield from _equal("findings", sorted(set(wanted)), found)


def _memory(world: World, wanted: Mapping[str, Any], done: Done) -> Iterator[str]:
    yield from members("memory", wanted, done.body.get("memory"))


def _answer(world: World, wanted: Mapping[str, Any], done: Done) -> Iterator[str]:
    yield from members("answer", wanted, done.body)


def _number(name: str) -> Check:
    def check(world: World, wanted: Any, done: Done) -> Iterator[str]:
        yield from _figure(name, wanted, done.body.get(name))

    return check


def _entries(done: Done) -> list[Mapping[str, Any]]:
    """What the manifest of a read says was injected, by rank."""
    return sorted((done.manifest or {}).get("entries", []), key=lambda entry: entry["rank"])


def _same(world: World, what: str, wanted: list[str], found: list[str]) -> Iterator[str]:
    missing = [one for one in wanted if world.id_of(one) not in found]
    more = [one for one in found if one not in {world.id_of(label) for label in wanted}]
    if missing:
        yield f"{what}: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
    if more:
        yield f"{what}: {', '.join(world.named(more))} should not be there"


def _injected(world: World, wanted: list[str], done: Done) -> Iterator[str]:
    yield from _same(world, "injected", wanted, [entry["id"] for entry in _entries(done)])


def _includes(world: World, wanted: list[str], done: Done) -> Iterator[str]:
    found = {entry["id"] for entry in _entries(done)}
    for label in wanted:
        if world.id_of(label) not in found:
            yield f"{label} was not injected; left out: {dict((done.manifest or {}).get('excluded', {}))}"


def _omits(world: World, wanted: list[str], done: Done) -> Iterator[str]:
    found = {entry["id"] for entry in _entries(done)}
    for label in wanted:
        if world.id_of(label) in found:
            yield f"{label} was injected"


def _first(world: World, wanted: str, done: Done) -> Iterator[str]:
    order = [world.labelled(entry["id"]) for entry in _entries(done)]
    if not order or world.id_of(wanted) != _entries(done)[0]["id"]:
        yield f"the order is {', '.join(order) or 'empty'}, expected {wanted} first"


def _contents(world: World, wanted: list[str], done: Done) -> Iterator[str]:
    found = Counter(entry["content"] for entry in _entries(done))
    for text in (Counter(wanted) - found).elements():
        yield f"injected: {_short(text)!r} is missing"
    for text in (found - Counter(wanted)).elements():
        yield f"injected: {_short(text)!r} should not be there"


def _count(world: World, wanted: Any, done: Done) -> Iterator[str]:
    yield from _figure("the number of entries", wanted, len(_entries(done)))


def _by_label(name: str) -> Check:
    def check(world: World, wanted: Mapping[str, Any], done: Done) -> Iterator[str]:
        entries = {entry["id"]: entry for entry in _entries(done)}
        for label, value in wanted.items():
            entry = entries.get(world.id_of(label))
            yield from _equal(f"{name} of {label}", str(value), entry[name] if entry else "not injected")

    return check


def _contested(world: World, wanted: list[str], done: Done) -> Iterator[str]:
    statuses = {entry["id"]: entry["status"] for entry in done.body.get("entries", [])}
    for label in wanted:
        yield from _equal(f"status of {label}", "contested", statuses.get(world.id_of(label), "not injected"))


def _excluded(world: World, wanted: Mapping[str, Any], done: Done) -> Iterator[str]:
    found = (done.manifest or {}).get("excluded", {})
    for reason, count in wanted.items():
        yield from _figure(f"left out as {reason}", count, found.get(reason, 0))


def _block(done: Done) -> str:
    return str(done.body.get("block", done.body.get("text", "")))


def _block_contains(world: World, wanted: list[str], done: Done) -> Iterator[str]:
    yield from (f"the block lacks {_short(text)!r}" for text in wanted if text not in _block(done))


def _block_lacks(world: World, wanted: list[str], done: Done) -> Iterator[str]:
    yield from (f"the block contains {_short(text)!r}" for text in wanted if text in _block(done))


_CHECKS: Final[dict[str, Check]] = {
    "code": _code, "outcome": _member("outcome"), "reason": _reason, "rule": _member("rule"), "status": _status,
    "replaced": _replaced, "findings": _findings, "memory": _memory, "answer": _answer, "injected": _injected,
    "includes": _includes, "omits": _omits, "first": _first, "contents": _contents, "entries": _count,
    "tokens": _number("tokens"), "bands": _by_label("band"), "channels": _by_label("channel"),
    "contested": _contested, "excluded": _excluded, "block_contains": _block_contains,
    "block_lacks": _block_lacks, "changed": _number("changed"), "added": _number("added"),
    "removed": _number("removed"),
}  # fmt: skip


def end_differences(world: World, expected: EndDocument) -> Iterator[str]:
    """What is stored, measured and recorded at the end."""
    for stored in expected.stored:
        yield from _stored(world, stored)
    main = world.tenant()
    if expected.metrics:
        figures = world.at_present(lambda: health_now(main.id))
        for name, wanted in expected.metrics.items():
            yield from _figure(f"metric {name}", wanted, figures.get(name))
    with tenant_context(main.id):
        actions = Counter(
            AuditEvent.objects.filter(action__in=expected.audit).values_list("action", flat=True)
        )
        kinds = Counter(Alert.objects.filter(kind__in=expected.alerts).values_list("kind", flat=True))
    for action, wanted in expected.audit.items():
        yield from _figure(f"audit events {action}", wanted, actions[action])
    for kind, wanted in expected.alerts.items():
        yield from _figure(f"alerts {kind}", wanted, kinds[kind])
    for label, tenant in world.tenants.items():
        report = audit_verify(tenant.id).report
        if not report.ok:
            yield f"the audit chain of {label} does not verify: {report}"


def _stored(world: World, stored: StoredDocument) -> Iterator[str]:
    tenant = world.tenant(stored.tenant)
    with tenant_context(tenant.id):
        if stored.where is not None:
            yield from _counted(stored)
            return
        shown = world.id_of(stored.memory or "")
        row = Memory.objects.filter(id=shown_uuid(shown)).first() if shown.startswith("mem_") else None
    if row is None:
        yield f"{stored.memory} is not stored"
        return
    found = {
        "superseded_by": f"mem_{row.superseded_by.hex}" if row.superseded_by else None,
        "merged_into": f"mem_{row.merged_into.hex}" if row.merged_into else None,
    }
    if stored.status is not None:
        yield from _equal(f"status of {stored.memory}", str(stored.status), row.status)
    for name in ("superseded_by", "merged_into"):
        wanted = getattr(stored, name)
        if wanted is not None and found[name] != world.id_of(wanted):
            yield f"{name} of {stored.memory} is {world.labelled(found[name] or 'nothing')}, expected {wanted}"
    for name, value in stored.has.items():
        yield from _equal(f"{name} of {stored.memory}", value, getattr(row, name, "no such column"))


def _counted(stored: StoredDocument) -> Iterator[str]:
    where = dict(stored.where or {})
    words = where.pop("contains", None)
    if words is not None:
        where["content__contains"] = words
    try:
        count = Memory.objects.filter(**where).count()
    except (FieldError, ValueError, TypeError) as error:
        yield f"where: {error}"
        return
    wanted = stored.count if stored.count is not None else Range(min=1)
    yield from _figure(f"the number of memories where {stored.where}", wanted, count)
