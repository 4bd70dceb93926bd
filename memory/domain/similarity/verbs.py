"""English inflection: the stem of a word and the form it stands in.

Only endings of inflection are cut. A stemmer for search cuts derivation as well, and then *product* and
*production*, *custom* and *customer*, *import* and *important* are one word: good for finding, wrong for
deciding that two facts are the same.
"""

import re
from functools import lru_cache

from memory.domain.similarity.lexicon import SPELLINGS, SYNONYMS

_IRREGULAR = """
lead led led; go went gone; leave left left; run ran run; write wrote written; make made made; build built
built; send sent sent; pay paid paid; buy bought bought; keep kept kept; hold held held; take took taken;
give gave given; get got gotten; meet met met; choose chose chosen; speak spoke spoken; eat ate eaten; drive
drove driven; fly flew flown; know knew known; grow grew grown; say said said; tell told told; see saw seen;
begin began begun; become became become; come came come; bring brought brought; think thought thought; teach
taught taught; sell sold sold; spend spent spent; lose lost lost; find found found; feel felt felt; mean
meant meant; sleep slept slept; stand stood stood; understand understood understood; win won won; wear wore
worn; drink drank drunk; forget forgot forgotten; break broke broken; hide hid hidden; fall fell fallen;
throw threw thrown; show showed shown; draw drew drawn; rise rose risen; lie lay lain; lend lent lent; deal
dealt dealt; rebuild rebuilt rebuilt; do did done; forbid forbade forbidden; freeze froze frozen; steal
stole stolen; swim swam swum; sing sang sung; ride rode ridden; sit sat sat; hear heard heard; withdraw
withdrew withdrawn
"""
_PAST: dict[str, str] = {}
_PARTICIPLE: dict[str, str] = {}
for _entry in _IRREGULAR.split(";"):
    _base, _past, _participle = _entry.split()
    _PAST[_past] = _base
    _PARTICIPLE[_participle] = _base
_PLURALS = {
    "children": "child",
    "people": "person",
    "men": "man",
    "women": "woman",
    "feet": "foot",
    "teeth": "tooth",
    "mice": "mouse",
    "knives": "knife",
    "wives": "wife",
    "lives": "live",
    "analyses": "analysis",
    "indices": "index",
    "criteria": "criterion",
    "does": "do",
    "goes": "go",
}
_NO_CHANGE = frozenset(
    """news always as is this his hers its us yes bus gas plus status bonus virus campus focus process access
    address kubernetes redis series species business less unless express aws macos sms dns ios analysis basis
    need bed red speed feed seed exceed proceed embed shed thread hundred indeed king thing nothing something
    anything everything string spring ring bring during morning evening sing wing swing sibling
    ceiling""".split()
)
_VOWEL = re.compile("[aeiouy]")
_SHORT = re.compile(r"[^aeiouy]*[aeiouy][^aeiouwxy]\Z")
_MEASURE = re.compile(r"[aeiouy]+[^aeiouy]+")


def form(word: str) -> str:
    """Return `past`, `ing` or `now`: what the ending says about the time, if the word is a verb."""
    if word in _NO_CHANGE:
        return "now"
    if word in _PAST and word != _PAST[word]:
        return "past"
    if word in _PARTICIPLE and word != _PARTICIPLE[word]:
        return "past"
    if word.endswith("ed") and len(word) > 3:
        return "past"
    return "ing" if word.endswith("ing") and len(word) > 5 else "now"


def _cut(word: str) -> str:
    """Cut plural and verb endings as in steps 1 and 5a of Porter's algorithm (1980)."""
    word = _without_s(word)
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    for ending in ("ing", "ed"):
        bare = word[: -len(ending)]
        if word.endswith(ending) and len(bare) > 1 and _VOWEL.search(bare):
            word = _mended(bare)
            break
    return _without_e(word)


def _without_s(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zzes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _mended(bare: str) -> str:
    """Give a stem its e back, or take the doubled letter away: hoping, planned."""
    if bare.endswith(("at", "bl", "iz", "is")) and len(bare) > 3:
        return bare + "e"
    if len(bare) > 3 and bare[-1] == bare[-2] and bare[-1] not in "aeioulsz":
        return bare[:-1]
    if _SHORT.match(bare) and len(_MEASURE.findall(bare)) == 1:
        return bare + "e"
    return bare


def _without_e(word: str) -> str:
    if not word.endswith("e"):
        return word
    bare = word[:-1]
    syllables = len(_MEASURE.findall(bare))
    return bare if syllables > 1 or (syllables == 1 and not _SHORT.match(bare)) else word


def _stem(word: str) -> str:
    return word if word in _NO_CHANGE or len(word) < 4 else _cut(word)


_SPELLED = {_stem(british): american for british, american in SPELLINGS.items()}
_SAME = {_stem(word): _stem(plain) for word, plain in SYNONYMS.items()}


@lru_cache(maxsize=32_768)
def lemma(word: str) -> str:
    """Return the inflectional stem, in American spelling, plain synonyms made one. Small letters only."""
    base = _PLURALS.get(word) or _PAST.get(word) or _PARTICIPLE.get(word) or word
    stem = _stem(base)
    stem = _stem(_SPELLED[stem]) if stem in _SPELLED else stem
    return _SAME.get(stem, stem)
