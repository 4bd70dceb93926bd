"""Documents by address, kept as memories: what the adapters for files and key-value stores have in common.

A document is one memory with a subject made from its address and a predicate that has one value, so that the next
text replaces the one before, in a chain that people can follow. The exact text or value is in the metadata. All
goes through the same gates as any write: a text can be refused, held, or come back with a secret blanked out.
"""

from __future__ import annotations

import hashlib
import logging
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from memgov_client.call import Call
from memgov_client.calls import memories, writing
from memgov_client.calls.memories import Changes
from memgov_client.calls.writing import CandidateFields
from memgov_client.errors import NotFoundError, RefusedError, VersionConflictError
from memgov_client.models import Memory, Outcome
from memgov_client.plans import Plan, every

log = logging.getLogger("memgov_client")

MAX_TEXT: Final = 8_000
"""Characters of a memory's content."""
PAGE: Final = 200
_SLUG_LENGTH: Final = 80
_NOT_SLUG = re.compile(r"[^a-z0-9/_.-]+")


@dataclass(frozen=True)
class Origin:
    """Where an adapter writes and what it can vouch for; see the table of origins in the API's documentation.

    ``scope`` is one scope of memgov, such as `agent:support` or `project:alpha`: grants and promotions decide who
    reads it. ``origin`` is the origin of what is written.
    """

    scope: str
    origin: str
    session: str | None = None
    tool: str | None = None

    def fields(self) -> CandidateFields:
        """As fields of a candidate."""
        return {"scope": self.scope, "origin": self.origin, "session": self.session, "tool": self.tool}


@dataclass(frozen=True)
class Shelf:
    """The documents of one adapter in one scope.  ``name`` keeps the adapters apart."""

    name: str
    place: Origin

    @property
    def predicate(self) -> str:
        """By its beginning memgov knows that it has one value."""
        return f"current_{self.name}"

    def subject(self, address: str) -> str:
        """The subject of a document: readable, and another one for every address."""
        digest = hashlib.sha256(address.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        slug = _NOT_SLUG.sub("-", address.lower()).strip("-/")[-_SLUG_LENGTH:].strip("-/.")
        return f"{self.name}:{slug or 'root'}~{digest}"

    def find(self, address: str) -> Plan[Memory | None]:
        """The memory of a document, None when there is none that can be read now."""
        page = yield memories.memories_page(
            scope=self.place.scope, subject=self.subject(address), predicate=self.predicate, page_size=2
        )
        return next((row for row in page.results if self.kept(row).get("address") == address), None)

    def all(self) -> Plan[list[Memory]]:
        """The memories of all documents, newest first."""
        rows = yield from every(
            lambda cursor: memories.memories_page(
                scope=self.place.scope, predicate=self.predicate, page_size=PAGE, cursor=cursor
            )
        )
        return [row for row in rows if "address" in self.kept(row)]

    def kept(self, memory: Memory) -> Mapping[str, Any]:
        """What the adapter keeps beside the text."""
        found = memory.metadata.get(self.name)
        return found if isinstance(found, Mapping) else {}

    def put(
        self, address: str, text: str, kept: Mapping[str, Any], *, ttl: timedelta | None = None
    ) -> Plan[Outcome]:
        """Write a document, whatever stood there.  A refused change is an outcome too, and leaves what stood there.

        What others vouched for otherwise is not edited but written against, so that the policy weighs the two.
        """
        refused = yield from self.refused(text)
        if refused is not None:
            return refused
        for last in (False, True):
            known = yield from self.find(address)
            if known is None or known.origin != self.place.origin:
                outcome: Outcome = yield self.write(address, text, kept, ttl=ttl)
                return outcome
            try:
                changed: Memory = yield self.change(known, text, kept, ttl=ttl)
            except RefusedError as error:
                return Outcome(
                    outcome="rejected", reason=error.code, explanation=error.detail, http_status=422
                )
            except VersionConflictError:
                if last:
                    raise
                continue
            return Outcome(outcome="stored", memory=changed, http_status=200)
        raise AssertionError("the second time either returns or raises")

    def refused(self, text: str) -> Plan[Outcome | None]:
        """The refusal that this text would get as a plain sentence; None when it would be taken.

        As the value of a document anything longer than a few letters counts as said; small talk is still nothing
        to remember.
        """
        outcome: Outcome = yield writing.check(text, **self.place.fields())
        return outcome if outcome.rejected else None

    def write(
        self, address: str, text: str, kept: Mapping[str, Any], *, ttl: timedelta | None = None
    ) -> Call[Outcome]:
        """Write a document that is new."""
        fields: CandidateFields = {
            **self.place.fields(),
            "subject": self.subject(address),
            "predicate": self.predicate,
            "value": text,
            "metadata": {self.name: {**kept, "address": address}},
            "ttl": ttl,
        }
        return writing.write(text, **fields)

    def change(
        self, memory: Memory, text: str, kept: Mapping[str, Any], *, ttl: timedelta | None = None
    ) -> Call[Memory]:
        """Change the document that was read; VersionConflictError when somebody was faster."""
        address = self.kept(memory).get("address")
        changes: Changes = {"metadata": {**memory.metadata, self.name: {**kept, "address": address}}}
        if text != memory.content:
            changes |= {"content": text, "value": text}
        if ttl is not None or memory.expires_at is not None:
            changes["ttl"] = ttl
        return memories.edit(memory.id or "", version=memory.version, **changes)

    def remove(self, memory: Memory, reason: str) -> Plan[None]:
        """Delete it; gone already is gone as well."""
        try:
            yield memories.delete(memory.id or "", reason)
        except NotFoundError:
            return


def same_words(one: str, other: str) -> bool:
    """Whether two texts differ in white space and composition only, as memgov's own cleaning may leave them."""
    return _squashed(one) == _squashed(other)


def _squashed(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text.replace("\x00", "")).split())


def why_not(error: RefusedError | VersionConflictError | Outcome) -> str:
    """Why a text was not kept, in words for an agent."""
    if isinstance(error, VersionConflictError):
        return "Somebody changed it meanwhile; nothing was changed. Look at it again and repeat the change."
    if isinstance(error, Outcome):
        said = error.explanation or (error.reason or "")
        return f"The memory policy refused this text ({error.reason}): {said}. Nothing was stored."
    return f"The memory policy refused this text ({error.code}): {error.detail}."


HELD = (
    "This text is held for review: a person has to look at it before anyone is shown it, you included. "
    "Go on without it, and do not write it again in other words."
)


def on_refusal_raise(outcome: Outcome) -> None:
    """What an adapter does with outcomes where its framework has no answer for them: a refusal is an error.

    Held texts are only logged, because they are kept, and a person will decide.
    """
    outcome.or_raise()
    if outcome.held:
        log.warning("held for review (%s): %s", outcome.reason, outcome.memory.id if outcome.memory else "")


def on_refusal_log(outcome: Outcome) -> None:
    """The same for what is taken in by the way, such as a whole conversation: there refusals are usual."""
    if outcome.rejected:
        log.info("refused (%s): nothing was stored", outcome.reason)
    elif outcome.held:
        log.warning("held for review (%s): %s", outcome.reason, outcome.memory.id if outcome.memory else "")
