"""Finding what is to be erased in texts that nothing else ties to it: names, given words, and whole texts.

Only what stands there word for word is found; a paraphrase is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

ERASED: Final = "[erased]"
_LEAST: Final = 16
"""A shorter text is not looked for as such: it may be anybody's word."""


class Needles:
    """What is looked for; upper and lower case are one."""

    def __init__(self, words: Iterable[str], texts: Iterable[str] = ()) -> None:
        """`words` stand alone, so that `user:4` is not found in `user:42`; `texts` may stand inside longer ones."""
        folded = sorted({word.casefold() for word in words if word}, key=len, reverse=True)
        any_word = "|".join(map(re.escape, folded))
        self._words = re.compile(rf"(?<![\w/-])(?:{any_word})(?!\w|[-:/.]\w)") if folded else None
        self._texts: dict[str, set[str]] = {}
        for text in texts:
            whole = text.casefold()
            if len(whole) >= _LEAST:
                self._texts.setdefault(whole[:_LEAST], set()).add(whole)

    def found_in(self, text: str) -> bool:
        """Whether any of it stands in the text.  Takes time by the text's length only, however much is looked for."""
        folded = text.casefold()
        if self._words is not None and self._words.search(folded):
            return True
        if not self._texts:
            return False
        for at in range(len(folded) - _LEAST + 1):
            known = self._texts.get(folded[at : at + _LEAST])
            if known and any(folded.startswith(whole, at) for whole in known):
                return True
        return False

    def taken_out(self, value: Any) -> Any:
        """A JSON value with each text that holds any of it replaced by `ERASED`, names of fields too."""
        if isinstance(value, str):
            return ERASED if self.found_in(value) else value
        if isinstance(value, dict):
            return {self.taken_out(name): self.taken_out(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.taken_out(inner) for inner in value]
        return value
