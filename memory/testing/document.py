"""The shape of a file of cases: names, types and bounds, from which its JSON Schema is made."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, model_validator

from memory.domain.policy import PRESETS
from memory.domain.types import Band, OutcomeKind, Status

MAX_CASES: Final = 2000
MAX_STEPS: Final = 500
LAYERS: Final = ("write", "storage", "mounting", "consumption")

Label = Annotated[StrictStr, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,59}$")]
Name = Annotated[StrictStr, Field(min_length=1, max_length=200)]
Body = dict[str, Any]
Layer = Literal["write", "storage", "mounting", "consumption"]
Number = int | float


class _Part(BaseModel):
    """Refuses names that it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class AgentDocument(_Part):
    """An agent of the case."""

    role: Annotated[StrictStr, Field(pattern=r"^[a-z0-9][a-z0-9_.-]{0,49}$")] = "tester"
    """Its agent role: the name of its own scope `agent:ROLE`; an `orchestrator` writes shared and global."""
    grants: Annotated[list[StrictStr], Field(max_length=100)] = []
    """As on the command line: `project:alpha=rwp`."""
    trust_ceiling: Annotated[float, Field(ge=0, le=1)] = 1.0
    """The most that its key may claim."""
    tenant: Label = "main"
    """Whose agent it is; any other name than `main` is another throw-away tenant."""


class Range(_Part):
    """A figure between two bounds, both included."""

    min: Number | None = None
    max: Number | None = None


class Expected(_Part):
    """What the answer of a step has to be.  Only what is named is looked at; lists of memories are labels."""

    # Of writes and other calls.
    outcome: OutcomeKind | None = None
    reason: StrictStr | None = None
    """The reason code of an outcome."""
    rule: StrictStr | None = None
    code: StrictStr | None = None
    """The code of the problem that has to come. Without it any problem fails the case."""
    status: StrictStr | None = None
    """Of the memory, promotion or sweep in the answer."""
    replaced: list[Label] | None = None
    """Exactly these were replaced."""
    findings: list[StrictStr] | None = None
    """Exactly these kinds of findings."""
    memory: Body | None = None
    """Members of the memory in the answer."""
    answer: Body | None = None
    """Members of the whole answer."""
    # Of reads.
    injected: list[Label] | None = None
    """Exactly these were injected, in any order."""
    includes: list[Label] | None = None
    """At least these were injected."""
    omits: list[Label] | None = None
    """None of these was injected."""
    first: Label | None = None
    """Injected before all others."""
    contents: list[StrictStr] | None = None
    """Exactly these sentences were injected, in any order."""
    entries: StrictInt | Range | None = None
    """How many were injected."""
    tokens: Range | None = None
    bands: dict[Label, Band] | None = None
    channels: dict[Label, Literal["declared", "retrieved", "working"]] | None = None
    contested: list[Label] | None = None
    """These are injected and shown as contested."""
    excluded: dict[StrictStr, StrictInt | Range] | None = None
    """How many were left out for these reasons."""
    block_contains: list[StrictStr] | None = None
    """The text for the prompt contains each of these."""
    block_lacks: list[StrictStr] | None = None
    """The text for the prompt contains none of these."""
    # Of sweeps and mounts.
    changed: StrictInt | Range | None = None
    """Rows that a sweep changed."""
    added: StrictInt | None = None
    """Entries that a mount added."""
    removed: StrictInt | None = None


class UseDocument(_Part):
    """A report of use."""

    read: Label
    """The step that read."""
    used: list[Label] = []
    ignored: list[Label] = []
    harmful: list[Label] = []


class ChangeDocument(_Part):
    """A change of one memory; the version is the one it has now unless `version` says otherwise."""

    memory: Label
    set: Body = {}
    """The fields to change."""
    version: StrictInt | None = None


class OneDocument(_Part):
    """One memory, by its label."""

    memory: Label
    reason: StrictStr = "the case says so"
    cascade: StrictBool = False


class PromoteDocument(_Part):
    memory: Label
    to_scope: StrictStr
    reason: StrictStr = "the case asks for it"


class DecideDocument(_Part):
    """What a reviewer of the tenant decides on a promotion."""

    promotion: Label
    action: Literal["approve", "reject", "quarantine"]
    reason: StrictStr = "the case decides so"


class WorkingDocument(_Part):
    """A value for a key of the step's task."""

    key: StrictStr
    value: Any = None
    succeeded: StrictBool | None = None
    summary: StrictStr | None = None
    origin: StrictStr | None = None


ACTIONS: Final = (
    "write", "check", "retrieve", "digest", "use", "get", "update", "verify", "delete", "promote", "decide", "working",
    "complete", "rollback", "end", "advance", "sweep", "mount", "pause",
)  # fmt: skip


class StepDocument(_Part):
    """One step: exactly one of the actions, and who does it where."""

    agent: Label | None = None
    """The first agent of the case when not given."""
    session: Name | None = None
    task: Name | None = None
    name: Label | None = Field(default=None, alias="as")
    """The label of what this step makes: a memory, a read, a promotion."""
    expect: Expected | None = None

    write: Body | None = None
    """A candidate, with the fields of `POST memories`. Session and task are those of the step."""
    check: Body | None = None
    """The same, without storing."""
    retrieve: Body | None = None
    """A read, with the fields of `POST retrieve`."""
    digest: StrictStr | None = None
    """The digest of this scope."""
    use: UseDocument | None = None
    get: Label | None = None
    """Look at a memory by its id."""
    update: ChangeDocument | None = None
    verify: OneDocument | None = None
    delete: OneDocument | None = None
    promote: PromoteDocument | None = None
    decide: DecideDocument | None = None
    working: WorkingDocument | None = None
    complete: StrictStr | None = None
    """Ends a task, which becomes an episode."""
    rollback: StrictStr | None = None
    """Takes back what a task wrote."""
    end: StrictStr | None = None
    """Ends a session, which offers what it learned to the agent's own scope."""
    advance: StrictStr | None = None
    """Time passes: `30m`, `12h`, `40d`, `2w`."""
    sweep: StrictStr | None = None
    """A background sweep by name, over the step's agent's tenant."""
    mount: Body | None = None
    """A mount manifest is applied."""
    pause: Label | None = None
    """An agent is paused by an admin."""

    @model_validator(mode="after")
    def _one_action(self) -> StepDocument:
        given = [name for name in ACTIONS if getattr(self, name) is not None]
        if len(given) != 1:
            said = f"has {' and '.join(given)}" if given else "has none"
            raise ValueError(f"a step has exactly one action ({', '.join(ACTIONS)}); this one {said}")
        return self

    @property
    def action(self) -> str:
        """The name of the step's action."""
        return next(name for name in ACTIONS if getattr(self, name) is not None)


class StoredDocument(_Part):
    """What is stored at the end: one memory by its label, or how many memories fit."""

    memory: Label | None = None
    where: dict[StrictStr, Any] | None = None
    """Columns of memories (`scope`, `status`, `subject`, `kind`, …), and `contains` for words of the content."""
    count: StrictInt | Range | None = None
    """How many fit `where`; at least one when not given."""
    tenant: Label = "main"
    status: Status | None = None
    superseded_by: Label | None = None
    merged_into: Label | None = None
    has: Body = {}
    """Columns of the memory: `use_count`, `version`, `content`, …"""

    @model_validator(mode="after")
    def _one_of_two(self) -> StoredDocument:
        if (self.memory is None) == (self.where is None):
            raise ValueError("give either memory or where")
        return self


class EndDocument(_Part):
    """What has to hold when all steps are done. The audit chain is verified in any case."""

    stored: Annotated[list[StoredDocument], Field(max_length=MAX_STEPS)] = []
    metrics: dict[StrictStr, Number | Range] = {}
    """Figures of health, such as `live_facts`, `contradictions`, `leaks`."""
    audit: dict[StrictStr, StrictInt | Range] = {}
    """How many audit events there are of these actions."""
    alerts: dict[StrictStr, StrictInt | Range] = {}
    """How many alerts there are of these kinds."""


class CaseDocument(_Part):
    """One case. It runs in throw-away tenants of its own."""

    name: Name
    layer: Layer | None = None
    """Which layer of memory it tests, for choosing and reports."""
    about: StrictStr = ""
    skip: StrictStr | None = None
    """Why the case is not run now."""
    preset: StrictStr | None = Field(default=None, json_schema_extra={"enum": list(PRESETS)})
    """The policy to start from."""
    policy: Body = {}
    """What differs from it."""
    agents: Annotated[dict[Label, AgentDocument], Field(max_length=20)] = {}
    """Without any there is one, `agent`, that may do everything in `project:alpha`."""
    given: Annotated[list[StepDocument], Field(max_length=MAX_STEPS)] = []
    """Steps that only set the stage: a fault here is an error of the case, not of memory."""
    steps: Annotated[list[StepDocument], Field(min_length=1, max_length=MAX_STEPS)]
    expect: EndDocument = EndDocument()


class CasesDocument(_Part):
    """A file of memory tests."""

    model_config = ConfigDict(title="memgov memory tests")

    version: Literal[1] = 1
    """Of this format."""
    agents: Annotated[dict[Label, AgentDocument], Field(max_length=20)] = {}
    """For all cases that name none of their own."""
    policy: Body = {}
    """For all cases, under what they say themselves."""
    cases: Annotated[list[CaseDocument], Field(min_length=1, max_length=MAX_CASES)]


def cases_schema() -> dict[str, Any]:
    """The JSON Schema of the file, for editors and for validation outside the product."""
    return CasesDocument.model_json_schema(by_alias=True)
