"""What an English text says, taken apart for comparison: content words in order, each with its part in it.

Nothing is decided here. What is dropped on the way (articles, plain copulas) is in `lexicon.STOP`; all other
small words leave a trace that `guards` compares.
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from memory.domain.similarity import lexicon as lx
from memory.domain.similarity.canonical import even_marks, rewritten
from memory.domain.similarity.language_hints import PLAIN_ENGLISH
from memory.domain.similarity.scaffolding import is_light, scaffolds, time_kind
from memory.domain.similarity.verbs import form, lemma

_TOKEN = re.compile(
    r"n't|'(?:s|re|ve|ll|d|m)\b|[a-z]+://\S+|[\w.+\-]+@[\w.\-]+\w|~?/?\w[\w.]*(?:[/\\][\w.\-*]+)+|[#@]?-?(?<=-)\d[\w.:\-%]*|"
    r"\+?\w+(?:[.:_\-+]\w+)*(?:\+\+|#|%)?|[=!<>]=|[<>^~$€£¥&*|\\]|[,;:.=?!]|[^\w\s\"'()\[\]{}`/\-]"
)
_PIECES = re.compile(r"[-./:]")
_CAPITAL = re.compile(r"(?<=[\w,:=;] )[A-Z][\w\-]*|(?<=[\w,:=;] \")[A-Z]\w*")
_MARKED = re.compile(r"\b([A-Za-z]{2,6})\.(?=,| [a-z\d(])|\b([A-Z]{2,5})s?\b")
_BREAKS = frozenset(",;:.=?!")
_SENTENCE_BREAKS = frozenset(";.?!")
_LEADING = frozenset("before after until since above below during over under than against between".split())
_TIMES = lx.WEEKDAYS | frozenset(lx.MONTHS)


@dataclass(frozen=True, slots=True)
class Unit:
    """A content word: its stem, the word as written, its role, and what was said of it."""

    stem: str
    word: str
    role: str = ""
    negated: bool = False
    time: str = (
        "now"  # past, ing, now, or progress for "is …ing"; "" where the ending says nothing about time
    )
    scaffold: bool = False
    passive: bool = False  # a participle right after a form of "be"
    single: bool = False  # after "a" or "an"
    light: bool = False  # adds nothing where the other text does without it

    @property
    def hard(self) -> bool:
        """Figures, addresses, paths and signs: these must be equal to the letter."""
        return not self.stem.isalpha()


@dataclass(frozen=True, slots=True)
class Analysis:
    units: tuple[Unit, ...]
    loaded: frozenset[str]
    modals: frozenset[str]
    persons: frozenset[str]
    names: frozenset[str]
    be_time: str
    owns: bool  # "has" as a verb of its own
    joined: bool  # there is an "and", or a comma after the first statement
    copulas: tuple[int, ...]  # before which unit (scaffolding not counted) "is", a colon or "=" stands
    content: frozenset[str]  # the stems of all units that are no scaffolding
    marked: frozenset[str]  # stems of words in capitals or with a full stop inside the sentence


@lru_cache(maxsize=16_384)
def analyse(text: str) -> Analysis:
    """Take an English text apart. Cached: in a sweep every text meets many others."""
    reading = _Reading(_tokens(rewritten(text)))
    units = _active_voice(reading.units, reading.be_before, reading.agent_at)
    names = frozenset(lemma(word.lower()) for word in _CAPITAL.findall(even_marks(text)))
    if units and _named_first(text, units[0].word):
        names |= {units[0].stem}
    return Analysis(
        units,
        frozenset(reading.loaded),
        frozenset(reading.modals),
        frozenset(reading.persons),
        names,
        "mixed" if len(reading.be) > 1 else next(iter(reading.be), ""),
        reading.owns,
        reading.joined,
        tuple(dict.fromkeys(reading.copulas)),
        frozenset(unit.stem for unit in units if not unit.scaffold),
        frozenset(lemma(word.lower()) for pair in _MARKED.findall(text) for word in pair if word),
    )


def _tokens(text: str) -> list[str]:
    found: list[str] = []
    for token in _TOKEN.findall(text):
        token = token.rstrip(".") if len(token) > 1 else token
        whole = (
            any(c.isdigit() for c in token)
            or "@" in token
            or "/" in token
            or "\\" in token
            or len(token) == 1
        )
        if whole or token.startswith("'") or token in {"n't", "==", "!=", "<=", ">="} or token[-1] in "+#":
            found.append(token)
        else:
            found += [piece for piece in _PIECES.split(token) if piece]
    return found


def _named_first(text: str, first: str) -> bool:
    """Tell whether a text starts with a name, and not with a word that any sentence may start with."""
    if not (text[:1].isupper() and text[1:2].islower() and text.lower().startswith(first)):
        return False
    common = first in PLAIN_ENGLISH or first.rstrip("s") in lx.VERBS
    return not common and not first.endswith(("ing", "ed", "ly", "s"))


class _Reading:
    """One pass over the tokens of a text, from left to right."""

    def __init__(self, tokens: list[str]) -> None:
        self.units: list[Unit] = []
        self.loaded: set[str] = set()
        self.modals: set[str] = set()
        self.persons: set[str] = set()
        self.be: set[str] = set()
        self.copulas: list[int] = []
        self.joined = False
        self.owns = False
        self.be_before: int | None = None  # the first form of "be", as a number of units before it
        self.agent_at: int | None = None  # the unit that "by" leads to
        self._role = ""
        self._negated = False
        self._after_be = False
        self._told = 0  # units so far that are no scaffolding
        self._scaffolds = scaffolds(tokens)
        for at, token in enumerate(tokens):
            self._light = is_light(tokens, at)
            self._article = at > 0 and tokens[at - 1] in {"a", "an"}
            self._read(token, tokens, at)
        if self._negated and self.units:  # "it does not": the negation belongs to what was said last
            self.units[-1] = replace(self.units[-1], negated=not self.units[-1].negated)

    def _read(self, token: str, tokens: list[str], at: int) -> None:
        following = tokens[at + 1] if at + 1 < len(tokens) else ""
        if at in self._scaffolds:
            self._add(token, scaffold=True)
        elif token in _BREAKS:
            self._break(token)
        elif token in lx.NEGATIONS:
            self._negated = not self._negated
            if token in {"hardly", "rarely", "seldom", "barely", "without", "neither"}:
                self.loaded.add(token)
        elif token == "'s":
            self._possessive(following)
        elif token in lx.BE_NOW or token in lx.BE_PAST:
            self._be(token)
        elif token in lx.HAVE:
            self._have(token, following)
        elif token == "did":
            self.be.add("past")
        elif token in lx.GET and form(following) == "past":
            return
        elif token == "too" and following and following not in _BREAKS:
            self.loaded.add(token)
        else:
            self._read_small(token, tokens, at, following)

    def _read_small(self, token: str, tokens: list[str], at: int, following: str) -> None:
        """Read the small words that leave a trace or set a role, and take the rest as content."""
        if token in lx.MODALS and not (token == "may" and self._role in {"in", "from", "of"}):
            self.modals.add(lx.MODALS[token])
            self._role = ""
        elif token in lx.PERSONS:
            self.persons.add(lx.PERSONS[token])
            self._role = self._role if token in lx.DETERMINERS or following else ""
        elif token == "every" or token == "all":
            self._every(token, tokens[at - 1] if at else "", following)
        elif token == "about" and following[:1].isdigit():
            self.loaded.add("approximately")
        elif token in lx.LOADED:
            self._load(token)
        elif at and at - 1 in self._scaffolds and lx.STATIVE.get(tokens[at - 1]) == token:
            self._role = ""
        elif token in lx.ROLES and (following or token not in {"on", "in"}):
            self._role = lx.ROLES[token]
        elif token in {"and", "but"}:
            self.joined, self._role = True, ""
        elif token in lx.STOP:
            self._after_be = self._after_be or token in {"be", "been"}
        else:
            self._add(token)

    def _break(self, token: str) -> None:
        self._role = ""
        if token == "?":
            self.loaded.add(token)
        if token == "," and any(unit.role == "" and not unit.scaffold for unit in self.units):
            self.joined = True
        if token in ":=":
            self.copulas.append(self._told)
        if token in _SENTENCE_BREAKS:
            self._negated = False

    def _be(self, token: str) -> None:
        self.be.add("past" if token in lx.BE_PAST else "now")
        self.copulas.append(self._told)
        self._after_be = True
        self._role = ""
        if self.be_before is None:
            self.be_before = len(self.units)

    def _possessive(self, following: str) -> None:
        """Read `'s`: with a thing after it, the word before is whose thing it is; otherwise it is "is"."""
        if self.units and following and following not in lx.STOP and following not in lx.NEGATIONS:
            self.units[-1] = replace(self.units[-1], role="of")
        else:
            self._be("is")

    def _have(self, token: str, following: str) -> None:
        self._role = ""
        self.be.update({"past"} if token == "had" else ())
        self.owns = self.owns or not (following in {"been", "to", "not", "n't"} or form(following) == "past")

    def _every(self, token: str, preceding: str, following: str) -> None:
        if preceding in lx.NEGATIONS:  # "not all" is not "none"
            self.loaded.add("all")
        elif token == "every" and (following.rstrip("s") in lx.TIME_NOUNS or following[:1].isdigit()):
            self.loaded.add("every")

    def _load(self, token: str) -> None:
        self.loaded.add(token)
        self._role = token if token in _LEADING else ""

    def _placed(self, token: str) -> str:
        """Return the role of a word: times and names of code can stand anywhere in a sentence."""
        if self._role in {"", "in", "on", "at"}:
            if kind := time_kind(token):
                return kind
            if "_" in token:
                return "id"
        return self._role

    def _add(self, token: str, scaffold: bool = False) -> None:
        role = self._placed(token)
        token = token.replace("_", "")
        hard = not token.isalpha()
        if token.endswith("s") and token[:-1] in lx.WEEKDAYS | {"weekend", "morning", "evening"}:
            self.loaded.add("every")
        if (
            role == "by"
            and not hard
            and token not in _TIMES
            and form(token) != "ing"
            and self.agent_at is None
        ):
            self.agent_at = len(self.units)
        negated = self._negated and not scaffold
        self._negated = self._negated and scaffold
        stem, negated = _lexical_negation(token if hard else lemma(token), negated)
        time = "" if hard else form(token)
        passive = time == "past" and self._after_be
        time = "progress" if time == "ing" and self._after_be else time
        self.units.append(
            Unit(stem, token, role, negated, time, scaffold, passive, self._article, self._light)
        )
        if not scaffold:
            self._told += 1
            self._after_be = False
        if hard or role in lx.TIME_ROLES:  # "after 14 days old builds are removed": the time ends its phrase
            self._role = ""


_NEGATED_WORDS = {"dislik": "like", "unable": "able"}


def _lexical_negation(stem: str, negated: bool) -> tuple[str, bool]:
    plain = _NEGATED_WORDS.get(stem)
    return (plain, not negated) if plain else (stem, negated)


def _active_voice(units: list[Unit], be_before: int | None, agent_at: int | None) -> tuple[Unit, ...]:
    """Turn "Falcon is led by Marta" into the order of "Marta leads Falcon".

    The participle before "by" becomes the verb, what stood before it the object.
    """
    if agent_at is None or be_before is None or not 0 < be_before <= agent_at - 1 or agent_at >= len(units):
        return tuple(units)
    verb_at = be_before if units[be_before].passive and units[agent_at - 1].time != "past" else agent_at - 1
    if units[verb_at].time != "past" or be_before > agent_at - 1:
        return tuple(replace(u, role="") if u.role == "by" and u.time != "ing" else u for u in units)
    end = agent_at
    while end < len(units) and units[end].role == "by":
        end += 1
    agents = [replace(unit, role="") for unit in units[agent_at:end]]
    if verb_at < agent_at - 1:  # "is owed forty pounds by": what stands between stays behind the verb
        verb = replace(units[verb_at], time="", passive=False)
        return (*agents, verb, *units[:verb_at], *units[verb_at + 1 : agent_at], *units[end:])
    verb = replace(units[agent_at - 1], time="", passive=False)
    return (*agents, verb, *units[: agent_at - 1], *units[end:])
