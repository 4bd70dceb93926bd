"""Secrets in a text, by the shape of the value and not by mention.

Own shapes first, then the detectors of detect-secrets that work by shape (its entropy and keyword plugins
stay out: with them nearly every harmless text was flagged), then values named by their surroundings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Final

from detect_secrets.plugins.artifactory import ArtifactoryDetector
from detect_secrets.plugins.cloudant import CloudantDetector
from detect_secrets.plugins.ibm_cloud_iam import IbmCloudIamDetector
from detect_secrets.plugins.ibm_cos_hmac import IbmCosHmacDetector
from detect_secrets.plugins.softlayer import SoftlayerDetector

from memory.domain.sanitisation.model import Match
from memory.domain.sanitisation.secret_context import context_secrets
from memory.domain.sanitisation.secret_sentences import sentence_secrets
from memory.domain.sanitisation.secret_shapes import LONG_RUN, SHAPES

# Only their patterns are used. Going through the library's scanner needs process-wide settings, which two
# threads cannot share; for the other services our own shapes are at least as wide.
_LIBRARY: Final = tuple(
    (detector.secret_type.lower().replace(" ", "_"), pattern)
    for detector in (
        ArtifactoryDetector(), CloudantDetector(), IbmCloudIamDetector(), IbmCosHmacDetector(), SoftlayerDetector(),
    )
    for pattern in detector.denylist
)  # fmt: skip
_AWS_NEAR: Final = re.compile(r"\baws\b|AKIA|ASIA|secret", re.IGNORECASE)
_FORTY: Final = re.compile(
    r"(?<![A-Za-z0-9+/_-])(?=[A-Za-z0-9+/]*[a-z])(?=[A-Za-z0-9+/]*[A-Z])[A-Za-z0-9+/]{40}"
    r"(?![A-Za-z0-9+/=_-])"
)
# What examples have in the place of a secret.
_WORDS_FOR_ONE: Final = frozenset(
    ["password", "passwd", "pass", "pwd", "pw", "secret", "token", "user", "xxx", "xxxx", "xxxxx", "changeme"]
)
_SHORTEST_TAIL: Final = 10
_ALREADY: Final = re.compile(r"\[REDACTED:[a-z_0-9]+\]")


# What documentation prints in the place of a secret: runs of one letter, the vendor's own examples, "password".
_FILLED_IN: Final = re.compile(
    r"([xX0*.#])\1{7}|EXAMPLE(?:KEY)?$|^(?:password|passwd|pass|pwd|pw|secret|changeme|your[_-]?password|[xX*.]{3,}"
    r"|[<{$%\[].*[>}%\])]|\$\w+)$",
    re.IGNORECASE,
)


def scan_secrets(text: str) -> tuple[Match, ...]:
    """The secrets in `text`, widest first where they overlap, in the order of the text."""
    if len(text) < 4:
        return ()
    shaped = list(_by_shape(text)) if LONG_RUN.search(text) else []
    shaped = [match for match in shaped if not _FILLED_IN.search(text[slice(*match.span)])]
    covered = [match.span for match in shaped]
    # a shape knows its own end better than the words around it do
    told = chain(context_secrets(text), sentence_secrets(text))
    found = [*shaped, *(match for match in told if not _inside(match.span, covered))]
    if not found:
        return ()
    redacted = [match.span() for match in _ALREADY.finditer(text)]
    return merged([match for match in found if not _inside(match.span, redacted)])


def _by_shape(text: str) -> Iterator[Match]:
    for rule, pattern in SHAPES:
        for match in pattern.finditer(text):
            span = match.span("secret") if "secret" in pattern.groupindex else match.span()
            if not _stands_for_one(text[slice(*span)], rule):
                yield Match(span, rule)
    if _AWS_NEAR.search(text):
        for match in _FORTY.finditer(text):
            yield Match(match.span(), "aws_secret_key")
    for rule, pattern in _LIBRARY:
        for match in pattern.finditer(text):
            yield Match(match.span(), rule)


def _stands_for_one(value: str, rule: str) -> bool:
    """Whether it only shows where a secret would stand: "AKIAXXXXXXXXXXXXXXXX", "USER:PASSWORD@HOST"."""
    if rule == "url_password":
        return value.lower() in _WORDS_FOR_ONE
    tail = value.rstrip("=")[-_SHORTEST_TAIL:].lower()
    return len(tail) == _SHORTEST_TAIL and len(set(tail)) <= 2


def _inside(span: tuple[int, int], spans: list[tuple[int, int]]) -> bool:
    return any(start < span[1] and span[0] < end for start, end in spans)


def merged(found: list[Match]) -> tuple[Match, ...]:
    """Overlapping matches joined; the rule listed first, the more telling one, names the whole."""
    result: list[Match] = []
    for match in found:
        overlapping = [
            other for other in result if other.span[0] < match.span[1] and match.span[0] < other.span[1]
        ]
        if overlapping:
            result = [other for other in result if other not in overlapping]
            start = min(match.span[0], *(other.span[0] for other in overlapping))
            end = max(match.span[1], *(other.span[1] for other in overlapping))
            match = Match((start, end), overlapping[0].rule)
        result.append(match)
    return tuple(sorted(result, key=lambda each: each.span))
