"""Doing the steps of a case: each action is one call of the API, one service or one move of the clock."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from memory.api.direct import Answer, Call
from memory.domain.normalise import parse_ttl
from memory.models import PromotionRequest
from memory.services.errors import ServiceError
from memory.services.mount_types import MountRefused
from memory.services.mounts import mount_apply
from memory.services.promotion_decide import promotion_decide
from memory.services.sweeps import SWEEPS
from memory.services.tenancy import agent_pause
from memory.testing.document import StepDocument
from memory.testing.world import STEP, World, shown_uuid
from tenants.context import tenant_context


@dataclass(frozen=True, slots=True)
class Done:
    """What a step came to.  `code` is that of a problem; `manifest` is what a read left behind."""

    body: Mapping[str, Any] = field(default_factory=dict)
    code: str | None = None
    detail: str = ""
    manifest: Mapping[str, Any] | None = None


def perform(world: World, step: StepDocument) -> Done:
    """Do the step, and remember what its label stands for."""
    done = _ACTIONS[step.action](world, step)
    if step.name:
        made = _made(step, done)
        if made is not None:
            world.ids[step.name] = made
    return done


def _made(step: StepDocument, done: Done) -> str | None:
    memory = done.body.get("memory")
    if step.action == "write":
        return memory["id"] if isinstance(memory, Mapping) else None
    if step.action in ("retrieve", "digest"):
        return done.body.get("manifest")
    found = done.body.get("id")
    return found if isinstance(found, str) else None


def _done(answer: Answer) -> Done:
    body = answer.body if isinstance(answer.body, dict) else {}
    if answer.ok or "outcome" in body:
        return Done(body)
    return Done(body, body.get("code", str(answer.status)), body.get("detail", ""))


def _call(world: World, step: StepDocument, *call: Any, **more: Any) -> Done:
    return _done(world.call(step.agent, Call(*call, **more)))


def _candidate(world: World, step: StepDocument, body: Mapping[str, Any]) -> dict[str, Any]:
    given = {"session": step.session, "task": step.task, **body}
    derived = given.get("derived_from")
    if isinstance(derived, list):
        given["derived_from"] = [world.id_of(one) if isinstance(one, str) else one for one in derived]
    return given


def _write(world: World, step: StepDocument) -> Done:
    return _call(world, step, "POST", "memories", body=_candidate(world, step, step.write or {}))


def _check(world: World, step: StepDocument) -> Done:
    return _call(world, step, "POST", "memories-check", body=_candidate(world, step, step.check or {}))


def _retrieve(world: World, step: StepDocument) -> Done:
    body = {"session": step.session, "task": step.task, **(step.retrieve or {})}
    return _with_manifest(world, step, _call(world, step, "POST", "retrieve", body=body))


def _digest(world: World, step: StepDocument) -> Done:
    query = {"scope": step.digest, "session": step.session}
    return _with_manifest(world, step, _call(world, step, "GET", "digest", query=query))


def _with_manifest(world: World, step: StepDocument, done: Done) -> Done:
    """The manifest is what is compared: it is what an auditor will find, whatever the answer said."""
    if done.code is not None:
        return done
    kept = world.call(step.agent, Call("GET", "manifest", {"manifest_id": done.body["manifest"]}))
    return Done(done.body, manifest=kept.body)


def _use(world: World, step: StepDocument) -> Done:
    assert step.use is not None
    said = {
        name: [world.id_of(one) for one in getattr(step.use, name)] for name in ("used", "ignored", "harmful")
    }
    path = {"manifest_id": world.id_of(step.use.read)}
    return _call(world, step, "POST", "usage", path, body=said)


def _get(world: World, step: StepDocument) -> Done:
    return _one(_call(world, step, "GET", "memory", {"memory_id": world.id_of(step.get or "")}))


def _one(done: Done) -> Done:
    """A memory as an answer, under the name that it has in the others."""
    return done if done.code is not None else Done({**done.body, "memory": done.body})


def _update(world: World, step: StepDocument) -> Done:
    assert step.update is not None
    path = {"memory_id": world.id_of(step.update.memory)}
    version = step.update.version
    if version is None:
        seen = _call(world, step, "GET", "memory", path)
        if seen.code is not None:
            return seen
        version = seen.body["version"]
    headers = {"If-Match": f'"{version}"'}
    return _one(_call(world, step, "PATCH", "memory", path, body=dict(step.update.set), headers=headers))


def _verify(world: World, step: StepDocument) -> Done:
    assert step.verify is not None
    path = {"memory_id": world.id_of(step.verify.memory)}
    return _one(_call(world, step, "POST", "verify", path, body={"reason": step.verify.reason}))


def _delete(world: World, step: StepDocument) -> Done:
    assert step.delete is not None
    query = {"reason": step.delete.reason, "cascade": step.delete.cascade}
    return _call(world, step, "DELETE", "memory", {"memory_id": world.id_of(step.delete.memory)}, query=query)


def _promote(world: World, step: StepDocument) -> Done:
    assert step.promote is not None
    said = {
        "memory": world.id_of(step.promote.memory),
        "to_scope": step.promote.to_scope,
        "reason": step.promote.reason,
    }
    return _call(world, step, "POST", "promotions", body=said)


def _decide(world: World, step: StepDocument) -> Done:
    assert step.decide is not None
    tenant, wanted = world.actor(step.agent).tenant, step.decide

    def work() -> Done:
        shown = world.id_of(wanted.promotion)
        with tenant_context(tenant.id):
            request = PromotionRequest.objects.filter(id=shown_uuid(shown)).first() if "_" in shown else None
        if request is None:
            return Done(code="not_found", detail="there is no such promotion")
        promotion_decide(
            world.reviewer(tenant), request.id, wanted.action, reason=wanted.reason, version=request.version
        )
        with tenant_context(tenant.id):
            request = PromotionRequest.objects.get(id=request.id)
        return Done({"id": shown, "status": request.status})

    return _by_service(world, work)


def _working(world: World, step: StepDocument) -> Done:
    assert step.working is not None
    said = step.working.model_dump(exclude={"key"}, exclude_none=True)
    path = {"task": step.task or "task", "key": step.working.key}
    return _call(
        world, step, "PUT", "working-value", path, body={"value": None, "session": step.session, **said}
    )


def _complete(world: World, step: StepDocument) -> Done:
    return _call(world, step, "POST", "task-complete", {"task": step.complete}, body={})


def _rollback(world: World, step: StepDocument) -> Done:
    return _call(world, step, "POST", "task-rollback", {"task": step.rollback}, body={})


def _end(world: World, step: StepDocument) -> Done:
    return _call(world, step, "POST", "session-end", {"session": step.end}, body={})


def _advance(world: World, step: StepDocument) -> Done:
    span = parse_ttl(step.advance)
    assert span is not None
    world.advance(span)
    return Done()


def _sweep(world: World, step: StepDocument) -> Done:
    assert step.sweep is not None
    tenant, sweep = world.actor(step.agent).tenant, SWEEPS[step.sweep]

    def work() -> Done:
        run = sweep(tenant.id, now=world.now)
        return Done({"changed": run.changed, "scanned": run.scanned, "status": run.status, "note": run.note})

    return _by_service(world, work)


def _mount(world: World, step: StepDocument) -> Done:
    tenant = world.actor(step.agent).tenant
    text = yaml.safe_dump(json.loads(json.dumps(step.mount)), allow_unicode=True).encode()

    def work() -> Done:
        try:
            result = mount_apply(world.reviewer(tenant), text)
        except MountRefused as refused:
            return Done(code=refused.code, detail="; ".join(one.message for one in refused.problems))
        return Done(
            {"added": result.count("add"), "removed": result.count("remove"), "entries": result.entries}
        )

    return _by_service(world, work)


def _pause(world: World, step: StepDocument) -> Done:
    actor = world.actors[step.pause or ""]
    return _by_service(
        world, lambda: Done({"id": str(agent_pause(world.reviewer(actor.tenant), actor.agent, True).id)})
    )


def _by_service(world: World, work: Callable[[], Done]) -> Done:
    """What a person or the product itself does, at the case's present."""
    world.now += STEP
    try:
        return world.at_present(work)
    except ServiceError as error:
        return Done(code=error.code, detail=error.detail)


_ACTIONS: Final[dict[str, Callable[[World, StepDocument], Done]]] = {
    "write": _write, "check": _check, "retrieve": _retrieve, "digest": _digest, "use": _use, "get": _get,
    "update": _update, "verify": _verify, "delete": _delete, "promote": _promote, "decide": _decide,
    "working": _working, "complete": _complete, "rollback": _rollback, "end": _end, "advance": _advance,
    "sweep": _sweep, "mount": _mount, "pause": _pause,
}  # fmt: skip
