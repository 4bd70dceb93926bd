"""What a reader sees of a page: its texts, without what people or agents wrote."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Final

READ: Final = ("title", "placeholder", "aria-label", "alt", "data-text", "data-label", "label")
# Code, instants, keys to press and names of zones are the same in every language.
SAME: Final = {"code", "script", "style", "time", "kbd", "pre"}
# Classes under which the words of agents and people, ids and marks of the product stand.
WORDS_OF_OTHERS: Final = {"mem", "id", "brand"}
EMPTY: Final = {
    "meta",
    "link",
    "input",
    "br",
    "use",
    "img",
    "hr",
    "path",
    "rect",
    "col",
    "wbr",
    "circle",
    "line",
}


class Texts(HTMLParser):
    """Collects the texts of a page, and of the attributes that are read out or shown."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._open: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        quiet = any(hidden for _tag, hidden in self._open)
        if tag not in SAME and not quiet:
            self.found += [value for name in READ if (value := given.get(name))]
        if tag not in EMPTY:
            words = set((given.get("class") or "").split())
            zone = given.get("lang") is not None and tag != "html"
            self._open.append((tag, tag in SAME or bool(words & WORDS_OF_OTHERS) or zone))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not any(hidden for _tag, hidden in self._open):
            self.found.append(data)


def texts_of(page: str) -> list[str]:
    """The texts of a page."""
    reader = Texts()
    reader.feed(page)
    return [" ".join(text.split()) for text in reader.found if text.strip()]


def plain_words(text: str) -> list[str]:
    """Runs of two letters and more without a mark, as a text that was never translated has them."""
    return re.findall(r"[A-Za-z]{2,}", text)
