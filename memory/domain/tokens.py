"""How large a text is for a prompt, by a rule with a name, since every model counts differently."""

from __future__ import annotations

import re
from typing import Final

TOKEN_RULE: Final = "words-and-punctuation/1"

_CHARACTERS_PER_TOKEN: Final = 6
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff"
)
_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]{{1,{_CHARACTERS_PER_TOKEN}}}|[^\w\s]")
# The same for ASCII, which most texts are, at a sixth of the time: each read counts its whole block.
_WORD_CHARACTERS = re.compile(r"\w", re.ASCII)
_WORDS_ONLY = bytes(at if _WORD_CHARACTERS.match(chr(at)) else 32 for at in range(256))
_NO_MARK = bytes(at for at in range(128) if chr(at).isspace() or _WORD_CHARACTERS.match(chr(at)))


def count_tokens(text: str) -> int:
    """Tokens by the rule `words-and-punctuation/1`.

    A word counts one per six characters begun; a character of a script without spaces, a mark or a symbol
    counts one. Common tokenizers count about as much for English and less for the rest.
    """
    if not text.isascii():
        return len(_TOKEN.findall(text))
    letters = text.encode()
    words = letters.translate(_WORDS_ONLY).split()
    long = [(len(word) - 1) // _CHARACTERS_PER_TOKEN for word in words if len(word) > _CHARACTERS_PER_TOKEN]
    return len(letters.translate(None, _NO_MARK)) + len(words) + sum(long)
