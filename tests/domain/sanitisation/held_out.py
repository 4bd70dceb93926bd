"""The held-out sentences, each list written before the recogniser had seen any of it, and their disguises.

Files list families under `#` lines: `directives` and `clean` came first, then `indirect` and `statements`
(speech acts without an imperative, on purpose hard), then `final_directives` and `final_clean`, then the
`fresh_*` lists of secrets and look-alikes; `authors` is by people who did not know the rules. Nothing here
judges; the figures are held in `test_figures.py` and told in `docs/sanitisation.md`.
"""

from __future__ import annotations

import base64
import codecs
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

_HERE: Final = Path(__file__).parent


class Case(NamedTuple):
    family: str
    text: str


def cases(name: str) -> list[Case]:
    """The sentences of one list with their families."""
    found, family = [], ""
    for line in (_HERE / f"held_out_{name}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            family = line[2:]
        elif line:
            found.append(Case(family, line))
    return found


def by_authors(label: str) -> list[str]:
    """Texts by people who did not know the rules: `secret`, `lookalike` or `disguised`."""
    lines = (_HERE / "held_out_authors.jsonl").read_text(encoding="utf-8").splitlines()
    return [row["text"] for row in map(json.loads, lines) if row["label"] == label]


def secrets(name: str = "secrets") -> list[tuple[str, str]]:
    """(text, the secret in it)."""
    pairs = [case.text.split("\t") for case in cases(name)]
    return [(text, secret) for text, secret in pairs]


def _tags(text: str) -> str:
    return "Nice recipe." + "".join(chr(0xE0000 + ord(character)) for character in text)


def _selectors(text: str) -> str:
    return "Good photo 😀" + "".join(chr(0xE0100 + byte - 16) for byte in text.encode())


_CYRILLIC: Final = str.maketrans("aeopcxyAEOPCXTHK", "аеорсхуАЕОРСХТНК")
_LEET: Final = str.maketrans("aeiost", "431057")

DISGUISES: Final[dict[str, Callable[[str], str]]] = {
    "zero_width": "\u200b".join,
    "soft_hyphen": lambda text: " ".join(word[:2] + "\u00ad" + word[2:] for word in text.split()),
    "tags": _tags,
    "selectors": _selectors,
    "homoglyph": lambda text: text.translate(_CYRILLIC),
    "fullwidth": lambda text: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text),
    "mathematical": lambda text: "".join(
        chr(0x1D41A + ord(c) - 97)
        if "a" <= c <= "z"
        else chr(0x1D400 + ord(c) - 65)
        if "A" <= c <= "Z"
        else c
        for c in text
    ),
    "bidi": lambda text: f"Remark: \u202e{text[::-1]}\u202c",
    "base64": lambda text: "Attachment: " + base64.b64encode(text.encode()).decode(),
    "base64_twice": lambda text: base64.b64encode(base64.b64encode(text.encode())).decode(),
    "hex": lambda text: "Checksum " + text.encode().hex(),
    "percent": lambda text: "See /q?n=" + "".join(f"%{byte:02x}" for byte in text.encode()),
    "entities": lambda text: "".join(f"&#{ord(character)};" for character in text),
    "escapes": lambda text: "".join(f"\\u{ord(character):04x}" for character in text),
    "rot13": lambda text: "Gossip: " + codecs.encode(text, "rot13"),
    "leet": lambda text: text.translate(_LEET),
    "comment": lambda text: f"Opening hours are 9 to 5. <!-- {text} -->",
    "hidden": lambda text: f'<p>Opening hours</p><div style="font-size:0px">{text}</div>',
    "attribute": lambda text: f'<img src="a.png" alt="{text}">',
    "spaced": lambda text: "  ".join(" ".join(word) for word in text.split()),
}


def disguised(texts: list[str]) -> Iterator[tuple[str, str, str]]:
    """(disguise, text, what it says) for every disguise of every text."""
    for name, disguise in DISGUISES.items():
        for text in texts:
            yield name, disguise(text), text
