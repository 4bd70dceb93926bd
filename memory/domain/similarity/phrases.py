"""Wordy English phrases and what they say in plain words. Works on text in small letters, before `formats`.

A phrase is here when the plain words say the same in any sentence; a hedge ("as far as we know"), a plan or a
wish is none. Frames that turn a whole sentence round are only for texts of one clause.
"""

import re

from memory.domain.similarity.lexicon import pairs
from memory.domain.similarity.rules import Rule, apply

_BE = "(is|are|was|were)"
_TIMES = r"\d|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b"
_PHRASES = pairs("""
at the moment = currently; at present = currently; right now = currently; as of now = currently; as of today
= currently; at this point in time = currently; at the present time = currently; these days = currently;
nowadays = currently; the fact that = that; by means of = via; with the help of = via; with the aid of =
via; makes use of = uses; make use of = use; in the event that = if; in the event of = if; in the course of
= during; for the purpose of = for; for the duration of = during; on the grounds that = because; owing to =
because; on account of = because; as a result of = because; in spite of = despite; subsequent to = after; in
the vicinity of = near; in excess of = over; is in possession of = has; are in possession of = have; has a
preference for = prefers; have a preference for = prefer; has an allergy to = is allergic to; suffers from
an allergy to = is allergic to; has a dislike of = dislikes; has a dislike for = dislikes; is fond of =
likes; comes from = is from; hails from = is from; has his home in = lives in; has her home in = lives in;
has their home in = lives in; makes his home in = lives in; makes her home in = lives in; is employed by =
works for; is employed at = works at; is employed as = is; are employed as = are; works as = is; work as =
are; serves as = is; serve as = are; acts as = is; act as = are; with regard to = for; with respect to =
for; when it comes to = for; in terms of = for; is in charge of = is responsible for; are in charge of = are
responsible for; is required to = must; are required to = must; is obliged to = must; are obliged to = must;
is allowed to = may; are allowed to = may; is permitted to = may; are permitted to = may; is priced at =
costs; are priced at = cost; a total of = ; to be found = ; can be found = is; takes place = is held; take
place = are held; took place = was held; in possession of = has; on foot = walking; out of order = broken;
is home to = has; is called = is; is named = is; are called = are; are named = are; was named = was; goes by
the name of = is; in passing = ; a value of = ; has been set to = is set to; that applies to = for; that
apply to = for; happens to have = has; happens to be = is; comes to an end = ends; come to an end = end;
came to an end = ended; in question = ; each and every = every; too early = too soon; as soon as possible =
asap
""")
_PHRASE = re.compile(
    r"\b(" + "|".join(re.escape(p) for p in sorted(_PHRASES, key=len, reverse=True)) + r")\b(?!-)"
)
_PHRASE_MARKS = tuple({phrase.rsplit(" ", 1)[-1] for phrase in _PHRASES})
_POST = "(?:position|role|post|job|title|function)"
_SOMEBODY = "(?:person|one|individual|people|ones|man|woman)"
_BORN = {"my": "i", "his": "he", "her": "she", "their": "they"}
_AGENTS = pairs("""
owner = owns; leader = leads; manager = manages; founder = founded; author = wrote; maintainer = maintains; organizer =
organizes; organiser = organizes; coach = coaches; sponsor = sponsors; designer = designed; supplier = supplies;
producer = produces; director = directs; supervisor = supervises
""")
_AGENT = "(" + "|".join(_AGENTS) + ")"
_HEARER = "us|me|you|the \\w+|our \\w+"
_SAID = (
    rf"explained|mentioned|said|stated|noted|reported|confirmed|pointed out|(?:told|informed) (?:{_HEARER})"
)
_CHOSEN = "chosen|selected|picked|used|assigned|given|running|in use|in place|set"
_WHOLE = r"[^,;:?!]{1,80}?"  # bounded, so that no text makes the search slow

_RULES: tuple[Rule, ...] = (
    (("note", "aware", "mind", "advised", "remember"), re.compile(
        r"^(?:please )?(?:note|be aware|keep in mind|bear in mind|be advised|remember)(?: that\b|:) ?"), ""),
    ((":", ","), re.compile(
        r"^(?:for the record|for (?:your )?information|for (?:future )?reference|just so (?:you|we) know"
        r"|as a (?:quick )?(?:reminder|note)|fyi|nb|(?:quick )?(?:reminder|note)|by the way|to be clear)(?:[:,]| -) ?"),
     ""),
    (("it ",), re.compile(
        r"\bit (?:should be|is|was|has been) (?:worth )?"
        r"(?:noted|noting|mentioned|mentioning|confirmed|established|known|clear)(?: in (?:the|our) \w+)? that "),
     ""),
    ((" know that",), re.compile(
        rf"^((?:the|our|my|a) \w+) (?:has |have )?let (?:{_HEARER}) know that (?:he|she|they) "), r"\1 "),
    ((" that ",), re.compile(
        rf"^((?:the|our|my|a) \w+) (?:has |have )?(?:{_SAID}) that (?:he|she|they) "), r"\1 "),
    ((" that ",), re.compile(
        rf" that (?:has been|have been|was|were|is|are|we have|they have) (?:{_CHOSEN})"
        r"(?= (?:is|are|was|were)\b)"), ""),
    ((" which ", " when "), re.compile(
        rf"^the (?:time|day|date|month|season|moment)(?: of (?:the )?(?:year|day|week|month))? "
        rf"(?:(?:at|on|in) which|when) ({_WHOLE}) is ({_WHOLE})\.?$"), r"\1 in \2"),
    (("we ", "i "), re.compile(
        r"\b(?:we|i) (?:know|(?:have )?learned|(?:were|have been) told|should (?:note|remember|know)) that "),
     ""),
    ((" basis",), re.compile(r"\bon an? (\w+ly|annual) basis\b"), r"\1"),
    ((" of ",), re.compile(
        rf"\bthe {_SOMEBODY} (?:who|that) (?:is|holds|fills|has) (?:in )?(?:the )?{_POST} of "), "the "),
    ((" of ",), re.compile(rf"\b(?:holds?|has|fills?) the {_POST} of "), "is "),
    ((" who ", " that "), re.compile(rf"\b(?:is|are) the {_SOMEBODY} (?:who|that) "), ""),
    (("compulsory", "mandatory", "obligatory", "required", "necessary"), re.compile(
        r"\bit is (?:compulsory|mandatory|obligatory|required|necessary) for ([\w '-]+?) to "), r"\1 must "),
    (("anyone", "everyone", "anybody", "everybody"), re.compile(
        r"\b(?:any|every)(?:one|body) who (\w+s)\b"), r"whoever \1"),
    ((" located", " situated", " found"), re.compile(
        rf"\b{_BE} (?:located|situated|found)(?= (?:in|on|at|near|under|behind|next)\b)"), r"\1"),
    (("scheduled", "planned", "set for"), re.compile(
        rf"\b{_BE} (?:scheduled|planned|set) for (?={_TIMES})"), r"\1 on "),
    ((" to ",), re.compile(r"\b(?:amounts?|comes?|adds up|add up) to (?=\d)"), "is "),
    (("price", "cost"), re.compile(rf"^(?:the )?(?:price|cost) of ({_WHOLE}) is (?=\S*\d)"), r"\1 costs "),
    (("price",), re.compile(rf"^(the {_WHOLE}|{_WHOLE}'s) price is (?=\S*\d)"),
     lambda m: m[1].removesuffix("'s") + " costs "),
    (("weight",), re.compile(rf"^(?:the )?weight of ({_WHOLE}) is (?=\S*\d)"), r"\1 weighs "),
    (("birthday", "birth", "dob"), re.compile(
        rf"('s|\b(?:my|his|her|their)) (?:birthday|date of birth|birth date|dob)(?: is| falls|:)(?: on)? (?={_TIMES})"),
     lambda m: ("" if m[1] == "'s" else _BORN[m[1]]) + " was born on "),
    (("deadline",), re.compile(rf"^({_WHOLE}) is the deadline for ({_WHOLE})\.?$"), r"\2 is due \1"),
    (("deadline",), re.compile(rf"^(?:the )?deadline (?:for|of) ({_WHOLE}) is ({_WHOLE})\.?$"), r"\1 is due \2"),
    (("deadline",), re.compile(rf"^(the {_WHOLE}|{_WHOLE}'s) deadline is ({_WHOLE})\.?$"),
     lambda m: m[1].removesuffix("'s") + f" is due {m[2]}"),
    (("retention",), re.compile(rf"^(?:the )?({_WHOLE}) retention(?: period| time)? is (?=\d)"), r"\1s are kept for "),
    (("retained",), re.compile(r"\bretained\b"), "kept"),
    (("expire", "valid"), re.compile(
        r"\b(?:expires? after|(?:is|are) valid for) "
        r"(?=\d|an? (?:hour|day|week|month|year)|[a-z]{3,9} (?:second|minute|hour|day|week|month|year)s)"),
     "has a ttl of "),
    ((" ttl is",), re.compile(r"\bttl is\b"), "has a ttl of"),
    (tuple(_AGENTS), re.compile(rf"^(?:the )?{_AGENT} of ({_WHOLE}) is ({_WHOLE})\.?$"),
     lambda m: f"{m[3]} {_AGENTS[m[1]]} {m[2]}"),
    (tuple(_AGENTS), re.compile(rf"^({_WHOLE}) is the {_AGENT} of ({_WHOLE})\.?$"),
     lambda m: f"{m[1]} {_AGENTS[m[2]]} {m[3]}"),
    (tuple(_AGENTS), re.compile(rf"^({_WHOLE})'s {_AGENT} is ({_WHOLE})\.?$"),
     lambda m: f"{m[3]} {_AGENTS[m[2]]} {m[1]}"),
    ((" sold to",), re.compile(rf"^({_WHOLE}) (?:was|were) sold to ({_WHOLE})\.?$"), r"\2 bought \1"),
    ((" borrowed ",), re.compile(rf"^({_WHOLE}) borrowed ({_WHOLE}) from ({_WHOLE})\.?$"), r"\3 lent \2 to \1"),
    (("belong",), re.compile(rf"^({_WHOLE}) belongs? to ({_WHOLE})\.?$"), r"\2 owns \1"),
    (("reports to",), re.compile(rf"^({_WHOLE}) reports to ({_WHOLE})\.?$"), r"\2 manages \1"),
    (("holds", "stores", "houses"), re.compile(rf"^({_WHOLE}) (?:holds|stores|houses) (the {_WHOLE})\.?$"),
     r"\2 is stored in \1"),
    ((" kept ", " held ", " housed "), re.compile(rf"\b{_BE} (?:kept|held|housed) (?=in|on)"), r"\1 stored "),
    (("looking for",), re.compile(r"^if (?:you|anyone) (?:are|is) looking for (the [\w \-]+), it "), r"\1 "),
    ((" written down",), re.compile(r" written down(?= (?:on|in|at)\b)"), ""),
    (("there ",), re.compile(rf"^there (?:is|are) ({_WHOLE}) (?:in|at) (the [\w ]+?)\.?$"), r"\2 has \1"),
    (_PHRASE_MARKS, _PHRASE, lambda m: _PHRASES[m[1]]),
    (("'s name is",), re.compile(r"'s name is\b"), " is"),
    (("name of ",), re.compile(rf"^(?:the )?name of ({_WHOLE}) is "), r"\1 is "),
    ((" diet",), re.compile(r"\b(?:follows|is on|keeps to) an? (\w+) diet\b"), r"is \1"),
    ((" person", " individual"), re.compile(r"\bis an? ([\w\-]+) (?:person|individual)\b"), r"is \1"),
    (("both ",), re.compile(r"\bboth (?=\w+ and \w)"), ""),
    (("every week",), re.compile(r"\bevery week on (?:an? )?(?=\w+day\b)"), "every "),
    ((" of ",), re.compile(r"\bthe (?:city|town|village) of (?=\w)"), ""),
    ((" is is ",), re.compile(r"\bis is\b"), "is"),
    ((" held",), re.compile(rf"\b{_BE} (?:being )?held(?= (?:in|on|at|every|each)\b)"), r"\1"),
)  # fmt: skip


def plain_words(text: str) -> str:
    """Rewrite the phrases of an English text in plain words."""
    return " ".join(apply(_RULES, text).split(" ")) if text else text
