"""Sanitising one candidate: what is redacted, what is held, and what was found.

The order follows the product: secrets at every trust, then personal data by policy, then directives in text
that is not trusted to direct. Nothing is logged or stored here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from secrets import token_hex
from typing import Final

from memory.domain.sanitisation.directives import directives_in
from memory.domain.sanitisation.disguises import hidden_payloads
from memory.domain.sanitisation.field_secrets import (
    named_by_field,
    named_by_key,
    secrets_in,
)
from memory.domain.sanitisation.model import (
    Match,
    Reason,
    Sanitised,
    SanitiseRules,
    Verdict,
    View,
)
from memory.domain.sanitisation.personal import scan_personal
from memory.domain.sanitisation.redaction import redact, replaced, replaced_outside_marks, strings
from memory.domain.sanitisation.secrets import merged
from memory.domain.sanitisation.success_stories import success_story
from memory.domain.sanitisation.views import views
from memory.domain.types import Finding

METADATA: Final = "metadata"
_SHORTEST_REPEATED_SECRET: Final = 6
# The triple in one line, as content would be derived from it: "assistant must" + "always recommend X".
_TRIPLE: Final = ("subject", "predicate", "value")

_Hit = tuple[str, str, Match]

# Names of sessions, tools and predicates come again with every write.  Kept is a number for each that holds nothing: no
# text outlives its erasure here, and without the salt nobody can think of a text that has the number of another.
_harmless: set[int] = set()
_SALT: Final = token_hex()
_MOST_HARMLESS: Final = 8192
_LONGEST_HARMLESS: Final = 64


def sanitise(
    fields: Mapping[str, str],
    metadata: Mapping[str, object],
    *,
    trust: float,
    kind: str,
    layer: str,
    rules: SanitiseRules,
) -> Sanitised:
    """What of a candidate may be stored. `trust` is 0 to 1; `kind` and `layer` are the words of the contract.

    Spans in the findings count characters of the texts as given, before redaction. No findings means that no
    rule matched, not that the text is safe.
    """
    places = [*fields.items(), *strings(metadata, METADATA)]
    new = [(place, text) for place, text in places if _number(text) not in _harmless]
    suspected = trust < rules.instruction_trust
    readings = {text: views(text) for _, text in (places if suspected else new)}
    secrets = _secrets(fields, metadata, new, readings)
    personal = [(place, text, match) for place, text in new for match in scan_personal(text)]
    # Text that no reader can see is held at every trust: nobody can have meant to vouch for it.
    hidden = [(place, text, match) for place, text in new for match in hidden_payloads(text)]
    _remember(new, {text for _, text, _ in (*secrets, *personal, *hidden)})
    held = [
        *_named("disguise", hidden),
        *(_directing(fields, places, readings) if suspected else ()),
        *_recipes(fields, kind, layer, trust, rules),
    ]
    verdict, reason = _judged(bool(secrets), bool(personal), held, rules)
    exchanged = _exchanged(places, secrets, personal if rules.personal == "redact" else [])
    return Sanitised(
        fields={name: exchanged.get(text, text) for name, text in fields.items()},
        metadata={exchanged.get(key, key): replaced(value, exchanged) for key, value in metadata.items()},
        verdict=verdict,
        reason=reason,
        findings=(*_named("secret", secrets), *_named("personal", personal), *held),
    )


def _remember(places: Sequence[tuple[str, str]], telling: Set[str]) -> None:
    """Keep which short texts hold neither secrets nor personal data nor anything hidden, whatever the policy."""
    if len(_harmless) >= _MOST_HARMLESS:
        _harmless.clear()
    short = (text for _, text in places if len(text) <= _LONGEST_HARMLESS and text not in telling)
    _harmless.update(map(_number, short))


def _number(text: str) -> int:
    return hash(_SALT + text)


def _secrets(
    fields: Mapping[str, str],
    metadata: Mapping[str, object],
    places: Sequence[tuple[str, str]],
    readings: Mapping[str, tuple[View, ...]],
) -> list[_Hit]:
    found = [(place, text, match) for place, text in places for match in secrets_in(text, readings[text])]
    known = {(place, match.span) for place, _, match in found}
    for place, match in named_by_field(fields):
        if not any(place == other and _overlap(match.span, span) for other, span in known):
            found.append((place, fields[place], match))
    for place, text, match in named_by_key(metadata, METADATA):
        if not any(place == other and _overlap(match.span, span) for other, span in known):
            found.append((place, text, match))
    return found


def _overlap(one: tuple[int, int], two: tuple[int, int]) -> bool:
    return one[0] < two[1] and two[0] < one[1]


def _directing(
    fields: Mapping[str, str], places: Sequence[tuple[str, str]], readings: Mapping[str, tuple[View, ...]]
) -> Iterator[Finding]:
    seen = False
    for place, text in places:
        for found in directives_in(readings[text]):
            seen = True
            kind = "instruction" if found.view == "original" and found.reason != "disguise" else "disguise"
            yield Finding(kind, place, found.span, found.rule)
    if not seen and fields.get("value") and fields.get("predicate"):
        line = " ".join(fields.get(name, "").replace("_", " ") for name in _TRIPLE)
        # put together like this it is nobody's wording
        forms = (each for each in directives_in((View("original", line),)) if each.rule != "wording")
        for found in forms:
            yield Finding("instruction", "value", (0, len(fields["value"])), found.rule)


def _recipes(
    fields: Mapping[str, str], kind: str, layer: str, trust: float, rules: SanitiseRules
) -> Iterator[Finding]:
    if trust >= rules.instruction_trust:
        return
    stories = ((place, success_story(text)) for place, text in fields.items() if rules.hold_procedures)
    for place, story in stories:
        if story is not None:
            yield Finding("procedure", place, story, "success_story")
            return
    place = "content" if "content" in fields else next(iter(fields), "content")
    whole = (0, len(fields.get(place, "")))
    if rules.hold_procedures and (kind == "procedure" or layer == "procedural"):
        yield Finding("procedure", place, whole, "untrusted_procedure")
    elif kind in rules.hold_kinds:
        yield Finding("held_kind", place, whole, "untrusted_kind")


def _judged(
    secret: bool, personal: bool, held: Sequence[Finding], rules: SanitiseRules
) -> tuple[Verdict, Reason | None]:
    directing = [finding for finding in held if finding.kind not in ("procedure", "held_kind")]
    if secret and rules.secrets == "reject":
        return "reject", "contains_secret"
    if directing and rules.instructions == "reject":
        return "reject", "contains_instruction"
    if (directing and rules.instructions == "quarantine") or len(held) > len(directing):
        return "quarantine", "contains_instruction"
    if personal and rules.personal == "quarantine":
        return "quarantine", "contains_pii"
    return "pass", None


def _named(kind: str, hits: Sequence[_Hit]) -> list[Finding]:
    return [Finding(kind, place, match.span, match.rule) for place, _, match in hits]


def _exchanged(
    places: Sequence[tuple[str, str]], secrets: Sequence[_Hit], personal: Sequence[_Hit]
) -> dict[str, str]:
    """Each text that must change, with what is stored instead."""
    if not secrets and not personal:
        return {}
    by_text: dict[str, list[Match]] = {}
    for _, text, match in [*secrets, *personal]:
        by_text.setdefault(text, []).append(match)
    repeated = {text[slice(*match.span)]: match.rule for _, text, match in secrets}
    exchanged = {}
    for _, text in places:
        new = redact(text, merged(by_text.get(text, [])))
        for secret, rule in repeated.items():
            if len(secret) >= _SHORTEST_REPEATED_SECRET:
                # what one field gave away must not survive in another that has no context of its own
                new = replaced_outside_marks(new, secret, f"[REDACTED:{rule}]")
        if new != text:
            exchanged[text] = new
    return exchanged
