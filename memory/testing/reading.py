"""From the bytes of a file to its cases, or to everything that is wrong with it, line by line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from memory.domain.health import METRICS
from memory.domain.mount import Problem
from memory.domain.mount.yaml_lines import Located, Path, read_yaml
from memory.domain.normalise import parse_ttl
from memory.domain.policy import Policy, overlay, preset
from memory.domain.scopes import parse_grant
from memory.services.sweeps import SWEEPS
from memory.testing.document import ACTIONS, AgentDocument, CaseDocument, CasesDocument, StepDocument

DEFAULT_AGENTS: Final = {"agent": AgentDocument(grants=["project:alpha=rwp"])}
_WORDS: Final = {
    "extra_forbidden": "there is no such field here",
    "missing": "is missing",
    "string_type": "must be text (put it in quotes)",
    "int_type": "must be a whole number",
    "list_type": "must be a list",
    "dict_type": "must be names with values",
    "model_type": "must be names with values",
    "model_attributes_type": "must be names with values",
}


@dataclass(frozen=True, slots=True)
class Case:
    """A case that can be run, with the lines of its file."""

    file: str
    line: int
    document: CaseDocument
    policy: Policy
    agents: Mapping[str, AgentDocument]
    step_lines: tuple[int, ...]
    """Of `given` and then `steps`."""

    @property
    def name(self) -> str:
        return self.document.name


@dataclass(frozen=True, slots=True)
class CaseFile:
    """A file as it was read.  With any problem none of its cases may be run."""

    name: str
    cases: tuple[Case, ...]
    problems: tuple[Problem, ...]


def read_cases(document: bytes, name: str) -> CaseFile:
    """Read the file.  Every problem is found at once: syntax, fields, labels, agents, policies."""
    located = read_yaml(document)
    problems = list(located.problems)
    if not isinstance(located.value, Mapping):
        if not problems:
            problems.append(Problem(1, "unreadable", "holds no memory tests: expected names with values"))
        return CaseFile(name, (), tuple(problems))
    try:
        whole = CasesDocument.model_validate(located.value)
    except ValidationError as error:
        problems += [_told(one, located) for one in error.errors(include_url=False)]
        return CaseFile(name, (), tuple(sorted(set(problems))))
    cases = []
    for at, one in enumerate(whole.cases):
        found = list(_problems(whole, one, located, ("cases", at)))
        problems += found
        if not found:
            cases.append(_case(whole, one, located, at, name))
    problems += _repeated(whole, located)
    return CaseFile(name, tuple(cases), tuple(sorted(set(problems))))


def _told(error: ErrorDetails, located: Located) -> Problem:
    path: Path = tuple(part for part in error["loc"] if isinstance(part, int | str))
    message = _WORDS.get(error["type"]) or error["msg"].removeprefix("Value error, ")
    place = ".".join(f"{part + 1}" if isinstance(part, int) else part[:80] for part in path)
    code = {"extra_forbidden": "unknown_field", "missing": "missing_field"}.get(error["type"], "invalid")
    return Problem(located.line_of(path), code, f"{place}: {message}" if place else message)


def _case(whole: CasesDocument, one: CaseDocument, located: Located, at: int, name: str) -> Case:
    lines = [
        located.line_of(("cases", at, part, number))
        for part in ("given", "steps")
        for number in range(len(getattr(one, part)))
    ]
    return Case(
        name, located.line_of(("cases", at)), one, _policy(whole, one), _agents(whole, one), tuple(lines)
    )


def _agents(whole: CasesDocument, one: CaseDocument) -> Mapping[str, AgentDocument]:
    return one.agents or whole.agents or DEFAULT_AGENTS


def _policy(whole: CasesDocument, one: CaseDocument) -> Policy:
    start = preset(one.preset) if one.preset else Policy()
    document = overlay(overlay(start.model_dump(mode="json"), whole.policy), one.policy)
    return Policy.model_validate(document)


def _repeated(whole: CasesDocument, located: Located) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    for at, one in enumerate(whole.cases):
        line = located.line_of(("cases", at))
        if one.name in seen:
            yield Problem(line, "duplicate", f"the case {one.name!r} stands in line {seen[one.name]} already")
        seen.setdefault(one.name, line)


def _problems(whole: CasesDocument, one: CaseDocument, located: Located, at: Path) -> Iterator[Problem]:
    """What the shape cannot say: policies, grants, agents and labels that must be there."""

    def problem(message: str, *path: str | int, code: str = "invalid") -> Problem:
        return Problem(located.line_of((*at, *path)), code, f"{one.name}: {message}")

    try:
        _policy(whole, one)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        yield problem(f"policy {'.'.join(map(str, first['loc']))}: {first['msg']}", "policy")
    except ValueError as error:
        yield problem(str(error), "preset")
    agents = _agents(whole, one)
    for label, agent in agents.items():
        for grant in agent.grants:
            try:
                parse_grant(grant)
            except ValueError as error:
                yield problem(str(error), "agents", label)
    labels: set[str] = set()
    for part in ("given", "steps"):
        for number, step in enumerate(getattr(one, part)):
            for message in _step_problems(step, agents, labels):
                yield problem(message, part, number, code="unknown_name")
            if step.name:
                labels.add(step.name)
    for number, stored in enumerate(one.expect.stored):
        for used in (stored.memory, stored.superseded_by, stored.merged_into):
            if used and used not in labels:
                yield problem(f"no step is called {used!r}", "expect", "stored", number, code="unknown_name")
    for metric in one.expect.metrics.keys() - METRICS.keys():
        yield problem(f"there is no metric {metric!r}; there are {', '.join(METRICS)}", "expect", "metrics")


def _step_problems(
    step: StepDocument, agents: Mapping[str, AgentDocument], labels: set[str]
) -> Iterator[str]:
    for name in (step.agent, step.pause):
        if name and name not in agents:
            yield f"there is no agent {name!r}; there are {', '.join(agents)}"
    for label in labels_used(step):
        if label not in labels:
            yield f"no step before this one is called {label!r}"
    if step.sweep is not None and step.sweep not in SWEEPS:
        yield f"there is no sweep {step.sweep!r}; there are {', '.join(SWEEPS)}"
    if step.advance is not None:
        try:
            parse_ttl(step.advance)
        except ValueError:
            yield "advance is a number with w, d, h, m or s, such as 40d"


def labels_used(step: StepDocument) -> Iterator[str]:
    """The labels of earlier steps that a step speaks of; its own, in what it expects, is known too."""
    if step.get:
        yield step.get
    for one in (step.update, step.verify, step.delete, step.promote):
        if one is not None:
            yield one.memory
    if step.decide:
        yield step.decide.promotion
    if step.use:
        yield from (step.use.read, *step.use.used, *step.use.ignored, *step.use.harmful)
    for body in (step.write, step.check):
        derived = body.get("derived_from", []) if body else []
        yield from (one for one in derived if isinstance(one, str) and not one.startswith("mem_"))
    if (expect := step.expect) is not None:
        for named in (expect.replaced, expect.injected, expect.includes, expect.omits, expect.contested):
            yield from named or ()
        yield from (
            *(expect.bands or ()),
            *(expect.channels or ()),
            *([expect.first] if expect.first else ()),
        )


__all__ = ["ACTIONS", "Case", "CaseFile", "labels_used", "read_cases"]
