"""English forms that no stemmer leads back to their word: irregular verbs and plurals, small numbers.  Tables only."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from memory.domain.text import stem

_FORMS: Final = """
become became; begin began begun; bend bent; bite bit bitten; blow blew blown; break broke broken; breed bred;
bring brought; build built; buy bought; catch caught; choose chose chosen; come came; deal dealt; dig dug;
draw drew drawn; drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen; feed fed; feel felt;
fight fought; find found; fly flew flown; forget forgot forgotten; forgive forgave forgiven; freeze froze frozen;
get got gotten; give gave given; go went gone; grow grew grown; hang hung; hear heard; hide hid hidden; hold held;
keep kept; know knew known; lead led; learn learnt; leave left; lend lent; lose lost; make made; mean meant; meet met;
overcome overcame; pay paid; ride rode ridden; ring rang rung; rise rose risen; run ran; say said; see saw seen;
seek sought; sell sold; send sent; shake shook shaken; shine shone; shoot shot; show shown; sing sang sung;
sink sank sunk; sit sat; sleep slept; speak spoke spoken; spend spent; spin spun; stand stood; steal stole stolen;
stick stuck; sting stung; strike struck; swear swore sworn; sweep swept; swim swam swum; take took taken;
teach taught; tear tore torn; tell told; think thought; throw threw thrown; understand understood; wake woke woken;
wear wore worn; weave wove woven; win won; withdraw withdrew withdrawn; write wrote written;
child children; foot feet; man men; mouse mice; person people; tooth teeth; woman women;
2 two; 3 three; 4 four; 5 five; 6 six; 7 seven; 8 eight; 9 nine; 10 ten; 11 eleven; 12 twelve
"""


def _read() -> dict[str, str]:
    groups = [group.split() for group in _FORMS.split(";")]
    return {stem(form, "en"): stem(word, "en") for word, *forms in groups for form in forms}


WORD_OF: Final = MappingProxyType(_read())
"""The term of the word, by the term of its form."""
