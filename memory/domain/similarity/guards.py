"""Why two English texts that share words are not the same fact: each guard returns its reason, or nothing.

`HARD` reasons say that these are two facts. The others only say that nobody but a person should merge them.
The rule behind all of them: whatever the analysis leaves out or makes equal must be covered by a guard here.
"""

from itertools import pairwise

from memory.domain.similarity.alignment import Alignment
from memory.domain.similarity.analysis import Analysis, Unit
from memory.domain.similarity.lexicon import (
    ACTORS,
    ANTONYM_PREFIXES,
    EXCLUSIVE,
    PEOPLE,
    PLACES,
    PLACES_IN,
    PLACING,
    TIME_ROLES,
    VERBS,
)
from memory.domain.similarity.verbs import lemma

_WINDOW_FROM = {"between", "from"}
_WINDOW_TO = {"clock", "to"}
HARD = frozenset({"number", "negation", "antonym", "exclusive", "name", "role", "person"})

_EXCLUSIVE = tuple(frozenset(lemma(word) for word in words) for words in EXCLUSIVE)
_SUBJECTS = frozenset(lemma(word) for word in ACTORS | PEOPLE | PLACES)
_VERBS = frozenset(lemma(word) for word in VERBS)
_OF = {"of", "to", "for", "in"}
_FREE = TIME_ROLES | {"id"}  # may stand anywhere
_UNCLEAR_MODALS = frozenset({"leave", "chance", "future", "wish"})


def reasons(a: Analysis, b: Analysis, aligned: Alignment) -> tuple[str, ...]:
    """Return the names of all guards that object, in a fixed order."""
    objections = {
        "number": _number(aligned),
        "negation": _negation(aligned),
        "antonym": _antonym(aligned),
        "exclusive": _exclusive(a, b),
        "name": _name(a, b, aligned),
        "role": _role(aligned),
        "person": _person(a, b),
        "order": _order(a, b, aligned),
        "qualifier": a.loaded != b.loaded,
        "modal": _modal(a, b) and not _dated(a, b, aligned),
        "tense": _tense(a, b, aligned),
        "voice": _voice(aligned),
        "form": _form(aligned),
        "possession": (a.owns and bool(b.be_time) and not b.owns)
        or (b.owns and bool(a.be_time) and not a.owns),
        "preposition": any(_placed_otherwise(x, y) for x, y in aligned.pairs),
        "subject": _subject(aligned),
        "speaker": bool(a.persons and b.persons and _speakers(a) != _speakers(b)),
    }
    return tuple(reason for reason, objects in objections.items() if objects)


def _number(aligned: Alignment) -> bool:
    """Figures, addresses and paths must be the same ones."""
    return any(unit.hard for unit in (*aligned.left_a, *aligned.left_b))


def _negation(aligned: Alignment) -> bool:
    if any(x.negated != y.negated for x, y in aligned.pairs):
        return True
    left = sum(u.negated for u in aligned.left_a), sum(u.negated for u in aligned.left_b)
    return left[0] % 2 != left[1] % 2


def _antonym(aligned: Alignment) -> bool:
    """Find "encrypted" against "unencrypted"."""
    left_a = {unit.word for unit in aligned.left_a}
    left_b = {unit.word for unit in aligned.left_b}
    return any(
        prefix + word in other
        for word, other in [*((w, left_b) for w in left_a), *((w, left_a) for w in left_b)]
        for prefix in ANTONYM_PREFIXES
    )


def _exclusive(a: Analysis, b: Analysis) -> bool:
    stems_a, stems_b = a.content | a.loaded, b.content | b.loaded
    return any(
        (in_a := stems_a & words) and (in_b := stems_b & words) and not in_a <= in_b and not in_b <= in_a
        for words in _EXCLUSIVE
    )


def _name(a: Analysis, b: Analysis, aligned: Alignment) -> bool:
    """Both sides have a name that the other lacks."""
    left_a = {unit.stem for unit in aligned.left_a} & a.names
    left_b = {unit.stem for unit in aligned.left_b} & b.names
    return bool(left_a and left_b)


def _role(aligned: Alignment) -> bool:
    """A shared word comes "from" on one side and "to" on the other.  "Between 9:00 and 11:00" may mean "from 9:00 to
    11:00", or not: a person is asked."""
    differing = [(x, y) for x, y in aligned.pairs if x.role != y.role and not {x.role, y.role} & PLACING]
    begins = any({x.role, y.role} == _WINDOW_FROM and ":" in x.stem for x, y in differing)
    return any(
        not (begins and ":" in x.stem and {x.role, y.role} in (_WINDOW_FROM, _WINDOW_TO))
        for x, y in differing
    )


def _person(a: Analysis, b: Analysis) -> bool:
    """He is not she."""
    in_a, in_b = a.persons & {"he", "she"}, b.persons & {"he", "she"}
    return bool(in_a and in_b and in_a != in_b)


def _speakers(analysis: Analysis) -> frozenset[str]:
    return frozenset("we" if person == "us" else person for person in analysis.persons)


def _order(a: Analysis, b: Analysis, aligned: Alignment) -> bool:
    """Words of the same role must keep their order, unless the two sides of one "is" have changed places."""
    if all(x < y for x, y in pairwise(j for _, j in aligned.shared)):
        return bool(_crossed(aligned))
    if _turned_round(a, b, aligned) or _made_active(aligned, a, b) or _made_active(_mirrored(aligned), b, a):
        return False
    if a.joined or b.joined:
        if _only_nouns_turned(aligned):
            return _crossed(aligned) or _strong_roles_differ(aligned)
        # what belongs to which statement is then told by the order alone
        return True
    last: dict[tuple[str, str], int] = {}
    for i, j in aligned.shared:
        key = aligned.a[i].role, aligned.b[j].role
        if j < last.get(key, -1):
            return True
        last[key] = j
    return _crossed(aligned) or _strong_roles_differ(aligned)


def _crossed(aligned: Alignment) -> bool:
    """One word has a role here and none there, another one the other way round: they were swapped."""
    roles = [
        (x.role if x.role not in _FREE else "", y.role if y.role not in _FREE else "")
        for x, y in aligned.pairs
    ]
    return any(x and not y for x, y in roles) and any(y and not x for x, y in roles)


def _strong_roles_differ(aligned: Alignment) -> bool:
    return any(x.role != y.role and {x.role, y.role} - PLACING for x, y in aligned.pairs)


def _turned_round(a: Analysis, b: Analysis, aligned: Alignment) -> bool:
    """Tell whether one side reads "X is Y" and the other "Y is X", or "Y X" as in "40 seats"."""
    if _crossed(aligned) or _strong_roles_differ(aligned):
        return False
    if len(aligned.a) != len(a.units) or len(aligned.b) != len(b.units):
        return False
    told = [
        (_told(aligned.a, i), _told(aligned.b, j)) for i, j in aligned.shared if not aligned.a[i].scaffold
    ]
    return _rotated(told, a.copulas, b.copulas) or _rotated([(j, i) for i, j in told], b.copulas, a.copulas)


def _only_nouns_turned(aligned: Alignment) -> bool:
    """Tell whether nothing but neighbours have changed places: "penicillin allergy", "allergy to penicillin"."""
    places = [j for _, j in aligned.shared]
    pairs = aligned.pairs
    at = 0
    while at + 1 < len(places):
        roles = {pairs[at][0].role, pairs[at][1].role, pairs[at + 1][0].role, pairs[at + 1][1].role} - {""}
        if places[at] == places[at + 1] + 1 and len(roles) == 1 and roles <= _OF:
            places[at], places[at + 1] = places[at + 1], places[at]
            at += 1
        at += 1
    return all(x < y for x, y in pairwise(places))


def _made_active(aligned: Alignment, a: Analysis, b: Analysis) -> bool:
    """Tell whether the first reads "X is used for Y" and the second "we use X for Y", or "use X for Y"."""
    if _strong_roles_differ(aligned) or a.joined or b.joined or b.be_time:
        return False
    first = next((j for j, unit in enumerate(aligned.b) if not unit.scaffold), None)
    verb = next((i for i, j in aligned.shared if j == first and aligned.a[i].passive), None)
    if verb is None or first is None or b.persons - {"us", "we"}:
        return False
    x, y = aligned.a[verb], aligned.b[first]
    if x.role or y.role or y.time != ("past" if a.be_time == "past" else "now"):
        return False
    moved = sorted((i if i != verb else -1, j) for i, j in aligned.shared if not aligned.a[i].scaffold)
    return all(one < other for (_, one), (_, other) in pairwise(moved))


def _mirrored(aligned: Alignment) -> Alignment:
    turned = tuple((j, i) for i, j in aligned.shared)
    return Alignment(aligned.b, aligned.a, turned, aligned.left_b, aligned.left_a)


def _told(units: tuple[Unit, ...], at: int) -> int:
    """Return the place of a unit when scaffolding is not counted, as `Analysis.copulas` does."""
    return sum(not unit.scaffold for unit in units[:at])


def _rotated(told: list[tuple[int, int]], copulas_a: tuple[int, ...], copulas_b: tuple[int, ...]) -> bool:
    """Tell whether what stands before and after the one copula of the first text has changed places."""
    if len(copulas_a) != 1 or len(copulas_b) > 1:
        return False
    cut = copulas_a[0]
    before = [j for i, j in sorted(told) if i < cut]
    after = [j for i, j in sorted(told) if i >= cut]
    if not before or not after or before != sorted(before) or after != sorted(after):
        return False
    parts_b = (0, min(before), len(told))
    return max(after) < min(before) and all(copula in parts_b for copula in copulas_b)


def _modal(a: Analysis, b: Analysis) -> bool:
    """What may, might or will be is not what is; what must be and what is done can be one rule."""
    if a.modals and b.modals:
        return a.modals != b.modals
    if (a.modals | b.modals) & _UNCLEAR_MODALS:
        return True
    return (bool(a.modals) and _describes(b)) or (bool(b.modals) and _describes(a))


def states_nothing(analysis: Analysis) -> bool:
    """Tell whether a text is a mere note, "head chef: Kim": no verb that more words could change the sense of."""
    verbs = any(not u.scaffold and u.word != u.stem and u.stem in _VERBS for u in analysis.units)
    return not (verbs or analysis.be_time or analysis.owns or analysis.modals)


def _dated(a: Analysis, b: Analysis, aligned: Alignment) -> bool:
    """Tell whether one text says that something will be, the other that it is, and both on one and the same day."""
    later, now = (a, b) if a.modals else (b, a)
    if later.modals != {"future"} or now.modals or now.be_time in {"past", "mixed"}:
        return False
    verbs = {y.time for x, y in aligned.pairs} | {x.time for x, y in aligned.pairs}
    return "past" not in verbs and any(x.role == y.role == "date" for x, y in aligned.pairs)


def _describes(analysis: Analysis) -> bool:
    """Tell whether a text says how things are, and not how they have to be: "is", or a verb with an s."""
    verbs = (unit for unit in analysis.units if not unit.scaffold)
    return bool(analysis.be_time) or any(
        u.word != u.stem and u.word.endswith("s") and u.stem in _VERBS for u in verbs
    )


def _tense(a: Analysis, b: Analysis, aligned: Alignment) -> bool:
    """What was is not what is. A participle after "is" says nothing about time: only clear cases count."""
    if a.be_time and b.be_time and a.be_time != b.be_time:
        return True
    return any(_past_and_now(x, y, a, b) or _past_and_now(y, x, b, a) for x, y in aligned.pairs)


def _past_and_now(x: Unit, y: Unit, a: Analysis, b: Analysis) -> bool:
    """Tell whether x is in the past, in a text without "is", and y in the present."""
    if x.time != "past" or a.be_time == "now" or x.word == y.word:
        return False
    return y.time in {"now", "ing", "progress"} and b.be_time != "past"


def _voice(aligned: Alignment) -> bool:
    """Who is paid does not pay: a passive verb here and an active one there, after the same subject."""
    for i, j in aligned.shared:
        x, y = aligned.a[i], aligned.b[j]
        if x.passive != y.passive and (y.time if x.passive else x.time) != "past":
            earlier_a = {unit.stem for unit in aligned.a[:i]}
            if earlier_a & {unit.stem for unit in aligned.b[:j]}:
                return True
    return False


def _form(aligned: Alignment) -> bool:
    """Marketing is not a market, and "a child" is not "children"."""
    return any(
        (x.word != y.word and "ing" in (x.time, y.time))
        or x.single > (not _plural(y))
        or y.single > (not _plural(x))
        for x, y in aligned.pairs
    )


def _plural(unit: Unit) -> bool:
    return unit.word != unit.stem and (unit.word.endswith("s") or unit.word in {"children", "people"})


def _placed_otherwise(x: Unit, y: Unit) -> bool:
    """Work "for" somebody is not work "with" somebody; "in" and "on" are left to taste."""
    return x.role != y.role and "" not in (x.role, y.role) and not {x.role, y.role} <= PLACES_IN


def _subject(aligned: Alignment) -> bool:
    """The scaffolding names two different subjects: the user here, the customer there."""
    left_a = {unit.stem for unit in aligned.left_a if unit.scaffold} & _SUBJECTS
    left_b = {unit.stem for unit in aligned.left_b if unit.scaffold} & _SUBJECTS
    return bool(left_a and left_b)
