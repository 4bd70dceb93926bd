"""The shape of a mount manifest: names, types and bounds, from which its JSON Schema is made."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictInt, StrictStr, model_validator

from memory.domain.defaults import MAX_ITEMS
from memory.domain.normalise import NAME_LIMIT, BadText, TooLong, normalise_text
from memory.domain.policy_write_rules import TextLimits
from memory.domain.scopes import OWNED_KINDS, ScopeKind, parse_pattern, parse_scope
from memory.domain.types import Kind
from memory.domain.zero_characters import ZERO

MAX_ENTRIES: Final = 500
"""Most entries of one file."""
MAX_ORDER: Final = 1_000_000

_OWNED: Final = " and ".join(sorted(OWNED_KINDS))


def _scope(text: str) -> str:
    scope = parse_scope(text)
    if scope.kind in OWNED_KINDS:
        raise ValueError(f"nothing can be mounted into {scope}: {_OWNED} belong to one agent and end")
    return str(scope)


def _pattern(text: str) -> str:
    pattern = parse_pattern(text)
    if pattern.partition(":")[0] in {str(kind) for kind in OWNED_KINDS}:
        raise ValueError(f"nothing can be mounted into {pattern}: {_OWNED} belong to one agent and end")
    return pattern


def _text(text: str) -> str:
    """The text as a write would keep it; one that it would change on the way is to be mended in the file."""
    if ZERO in text:
        raise ValueError("holds a zero character (NUL), which no text can keep: take it out of the file")
    try:
        clean = normalise_text(text, "text", TextLimits().content_characters)
    except (BadText, TooLong) as error:
        raise ValueError(str(error).partition(": ")[2]) from None
    if not clean:
        raise ValueError("is empty")
    return clean


_KINDS: Final = "|".join(kind for kind in ScopeKind if kind not in OWNED_KINDS)
Name = Annotated[StrictStr, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$")]
ScopeText = Annotated[
    StrictStr, AfterValidator(_scope), Field(json_schema_extra={"pattern": f"^({_KINDS})(:.+)?$"})
]
Pattern = Annotated[
    StrictStr, AfterValidator(_pattern), Field(json_schema_extra={"pattern": rf"^(\*|({_KINDS})(:.+)?)$"})
]
Word = Annotated[StrictStr, AfterValidator(_text), Field(min_length=1, max_length=NAME_LIMIT)]
Content = Annotated[
    StrictStr, AfterValidator(_text), Field(min_length=1, max_length=TextLimits().content_characters)
]


class _Part(BaseModel):
    """Refuses names that it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class AppliesTo(_Part):
    """Where an entry is declared: for a matching path or a shared tag of the reader; everywhere when empty."""

    paths: Annotated[list[Word], Field(max_length=MAX_ITEMS)] = []
    """Path globs: `*` stands for any run of characters, `?` for one."""
    tags: Annotated[list[Word], Field(max_length=MAX_ITEMS)] = []


class MountEntryDocument(_Part):
    """One declared entry: a memory by its id, or a sentence."""

    id: Annotated[StrictStr, Field(pattern=r"^mem_[0-9a-f]{32}$")] | None = None
    """A memory that is live already."""
    content: Content | None = None
    """A sentence of its own; it passes the same gates as any write."""
    scope: ScopeText | None = None
    """Where it lives. Needed with `content`, unless `scopes` names exactly one; with `id` it is checked."""
    kind: Kind | None = None
    """Of a `content`; `fact` when not given."""
    applies_to: AppliesTo = AppliesTo()
    order: Annotated[StrictInt, Field(ge=-MAX_ORDER, le=MAX_ORDER)] = 0
    """Lower comes first; entries of the same order keep the order of the file."""

    @model_validator(mode="after")
    def _one_of_two(self) -> MountEntryDocument:
        if (self.id is None) == (self.content is None):
            raise ValueError("give either id or content")
        if self.id is not None and self.kind is not None:
            raise ValueError("kind goes with content; a memory has its own")
        return self


class MountDocument(_Part):
    """The file `memgov.mount.yaml`."""

    model_config = ConfigDict(title="memgov mount manifest")

    version: Literal[1] = 1
    """Of this format."""
    name: Name
    """Names the mount in its tenant; applying a file replaces the entries of the mount of its name, no others."""
    scopes: Annotated[list[Pattern], Field(min_length=1, max_length=MAX_ITEMS)] | None = None
    """What the file may speak for, such as `project:alpha` or `user:*`; an entry elsewhere is refused."""
    entries: Annotated[list[MountEntryDocument], Field(max_length=MAX_ENTRIES)]


def mount_schema() -> dict[str, Any]:
    """The JSON Schema of the file, for editors and for validation outside the product."""
    return MountDocument.model_json_schema()
