"""Running cases: each in a world of its own, several at a time, with a result for each."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from time import perf_counter
from typing import Literal

from django.db import connections

from memory.testing.document import StepDocument
from memory.testing.expectations import differences, end_differences, stage_differences
from memory.testing.reading import Case
from memory.testing.remote import RemoteWorld, Server
from memory.testing.steps import perform
from memory.testing.world import World

log = logging.getLogger(__name__)

Verdict = Literal["passed", "failed", "error", "skipped"]


@dataclass(frozen=True, slots=True)
class Failure:
    """One difference, with the line of the file that it belongs to."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a case.  An `error` is a fault of its stage or of ours, not an expectation that failed."""

    case: Case
    verdict: Verdict
    seconds: float
    failures: Sequence[Failure] = field(default_factory=tuple)
    reason: str = ""


def run_case(case: Case, *, keep: bool = False, server: Server | None = None) -> Result:
    """Run one case from its stage to its end, in this installation or on a server.  Never raises."""
    began = perf_counter()
    skip = case.document.skip or (server.why_not(case) if server else None)
    if skip is not None:
        return Result(case, "skipped", 0.0, reason=skip)
    try:
        with _world(case, server, keep=keep) as world:
            verdict, failures = _lived(case, world)
    except Exception as error:
        log.exception("case %s could not be run", case.name)
        verdict, failures = (
            "error",
            [Failure(case.line, f"could not be run: {type(error).__name__}: {error}")],
        )
    return Result(case, verdict, perf_counter() - began, tuple(failures))


def _world(case: Case, server: Server | None, *, keep: bool) -> World:
    if server is not None:
        return RemoteWorld(case.agents, keep=keep, server=server)
    return World(case.agents, case.policy, keep=keep)


def _lived(case: Case, world: World) -> tuple[Verdict, list[Failure]]:
    stage = len(case.document.given)
    failures: list[Failure] = []
    for at, (step, line) in enumerate(zip(_steps(case), case.step_lines, strict=True)):
        done = perform(world, step)
        if at < stage:
            found = [Failure(line, text) for text in stage_differences(world, step, done)]
            if found:
                return "error", found
        else:
            failures += [Failure(line, text) for text in differences(world, step.expect, done)]
    failures += [Failure(case.line, text) for text in _at_the_end(case, world)]
    return ("failed" if failures else "passed"), failures


def _at_the_end(case: Case, world: World) -> Iterator[str]:
    if not isinstance(world, RemoteWorld):
        yield from end_differences(world, case.document.expect)
        return
    for stored in case.document.expect.stored:
        yield from world.stored_differences(stored)


def _steps(case: Case) -> Iterator[StepDocument]:
    yield from case.document.given
    yield from case.document.steps


def run_cases(
    cases: Sequence[Case],
    *,
    jobs: int = 4,
    keep: bool = False,
    server: Server | None = None,
    told: Callable[[Result], None] = lambda _: None,
) -> list[Result]:
    """Run them all, `jobs` at a time; results in the order of the cases, `told` of each as it comes."""

    def one(case: Case) -> Result:
        try:
            result = run_case(case, keep=keep, server=server)
        finally:
            connections.close_all()
        told(result)
        return result

    if jobs <= 1:
        return [one(case) for case in cases]
    with ThreadPoolExecutor(jobs, thread_name_prefix="check") as pool:
        return list(pool.map(lambda case: copy_context().run(one, case), cases))
