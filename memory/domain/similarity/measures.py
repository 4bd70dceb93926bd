"""English ways of writing a measured amount, made one: units, ranges, bounds, halves, rates.

Works as `formats` does, on text in small letters. A unit that can be another one ("m", "pound", "MW") stays.
"""

import re
from decimal import Context, Decimal

from memory.domain.similarity.lexicon import NUMBER_WORDS
from memory.domain.similarity.rules import Rule

_EXACT = Context(prec=400)
_NUMBER = r"\d+(?:\.\d+)?"
# The smallest unit of a kind, and how many of it the others are.
_KINDS = {
    "milligram": "mg milligram 1; g gram gramme 1000; kg kilo kilogram kilogramme 1000000; tonne 1000000000",
    "millimeter": "mm millimeter millimetre 1; cm centimeter centimetre 10; meter metre 1000; "
    "km kilometer kilometre 1000000",
    "milliliter": "ml milliliter millilitre 1; cl centiliter centilitre 10; dl deciliter decilitre 100; "
    "l liter litre 1000",
    "hertz": "hz hertz 1; khz kilohertz 1000; mhz megahertz 1000000; ghz gigahertz 1000000000",
    "watt": "w watt 1; kw kilowatt 1000",
    "watthour": "wh 1; kwh 1000",
    "foot": "ft foot feet 1",
    "inch": "inch inche 1",
    "mile": "mi mile 1",
    "ounce": "oz ounce 1",
    "gallon": "gal gallon 1",
    "tablespoon": "tbsp tablespoon 1",
    "teaspoon": "tsp teaspoon 1",
    "pixel": "px pixel 1",
    "sqmeter": "sqm 1",
    "sqfoot": "sqft 1",
    "hectare": "ha hectare 1",
    "volt": "v volt 1",
    "piece": "pc piece 1",
}
_UNITS = {
    name: (entry.split()[-1], base)
    for base, kind in _KINDS.items()
    for entry in kind.split(";")
    for name in entry.split()[:-1]
}
_UNIT = "(?:" + "|".join(sorted(_UNITS, key=len, reverse=True)) + ")"
_COUNT = r"\d+|" + "|".join(NUMBER_WORDS)
_SPAN = (
    r"(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|yrs?|thousand|million|billion"
    rf"|k|bn|usd|eur|gbp|dollars?|euros?|percent|%|[kmgt]b|{_UNIT}s?)(?![\w/])"
)
_TIME = "(?:second|minute|hour|day|week|month|quarter|year)"


def _measured(match: re.Match[str]) -> str:
    factor, base = _UNITS[match[2]]
    plain = f"{_EXACT.multiply(Decimal(match[1]), Decimal(factor)):f}"
    return (plain.rstrip("0").rstrip(".") if "." in plain else plain) + base


def _range(match: re.Match[str]) -> str:
    """Write "10-15" as "10 to 15"; 2024-25 and 2025-03 are no such ranges."""
    if match[2][0] == "0" or not Decimal(match[1]) < Decimal(match[2]):
        return match[0]
    return f"{match[1]} to {match[2]}"


def _both(match: re.Match[str]) -> str:
    """The unit that is said once counts for both ends: 3 to 5 days are not 3 to 120 hours."""
    return f"{match[1]} {match[4]} {match[2]} {match[3]} {match[4]}"


def _half_more(match: re.Match[str]) -> str:
    return f"{NUMBER_WORDS.get(match[1]) or (match[1] if match[1].isdigit() else 1)}.5 {match[2]}s"


def _longer_first(match: re.Match[str]) -> str:
    first, second = int(match[1]), int(match[2])
    return f"{first + second}msec" if first > second else match[0]


# Before number words are read; all others are tried where there is a figure.
WORD_RULES: tuple[Rule, ...] = (
    (("half a dozen",), re.compile(r"\bhalf a dozen\b"), "6"),
    (("half a",), re.compile(r"\bhalf a (?=(?:thousand|million|billion)\b)"), "0.5 "),
    (("and a half",), re.compile(rf"\b(an?|{_COUNT}) (hour|week|year)s? and a half\b"), _half_more),
    (("and a half",), re.compile(rf"\b({_COUNT}) and a half (\w+?)s?\b"), _half_more),
    (("twice", "thrice"), re.compile(r"\b(tw|thr)ice(?= (?:an?|per|each|every|daily|weekly|monthly)\b)"),
     lambda m: "2 times" if m[1] == "tw" else "3 times"),
    (("every",), re.compile(rf"\bevery (?:other|second|2nd) ({_TIME})\b(?! of)"), r"every 2 \1s"),
    (("fortnightly",), re.compile(r"\bfortnightly\b"), "every 2 weeks"),
    (("quarter",), re.compile(r"\b(?:a )?quarter of an hour\b"), "15 minutes"),
    (("clock",), re.compile(r"\ba?round[ \-]the[ \-]clock\b"), "24/7"),
    (("gmt", "zulu"), re.compile(r"\b(?:gmt|zulu)\b"), "utc"),
)  # fmt: skip
EARLY: tuple[Rule, ...] = (
    ((" out of ",), re.compile(r"\b(\d+) out of (\d+)\b"), r"\1/\2"),
    ((",",), re.compile(rf"(?<![\d,.])(\d{{1,3}}),(\d{{1,2}})(?= ?{_UNIT}s?\b)"), r"\1.\2"),
    (("'",), re.compile(r"(?<=\b(?:in|of) )'([3-9]\d)\b"), r"19\1"),
    (("-",), re.compile(r"(?<![\w\-.])([a-z])-(\d+)(?![\w.\-])"), r"\1\2"),
    (("%",), re.compile(r"(?<=\d),(?=\d{1,2} ?%)"), "."),
    (("cent", "¢"), re.compile(r"\b(\d{1,2}) ?(?:cents?\b|¢)"), lambda m: f"{int(m[1]) / 100:.2f} usd"),
    (("'", "_"), re.compile(r"(?<=\d)['_](?=\d{3}(?!\w))"), ""),
    (("minus ",), re.compile(r"(?<![^\W\d])(?<!\d )\bminus (?=\d)"), "-"),
    (("~",), re.compile(r"~\s?(?=\d)"), "approximately "),
    (("≥", ">="), re.compile(r"(?:≥|>=)\s?(?=\d)"), "minimum "),
    (("≤", "<="), re.compile(r"(?:≤|<=)\s?(?=\d)"), "maximum "),
    ((" or more",), re.compile(rf"\b({_NUMBER}) or more\b"), r"minimum \1"),
    (("+",), re.compile(rf"(?<![\w.+\-/])({_NUMBER})\+(?=\s|\Z)"), r"minimum \1"),
    (("sq", "m2", "m^2"), re.compile(r"\bsq(?:uare|\.)? ?m(?:et(?:er|re)s?)?\b|(?<=\d)\s?m\^?2\b"), " sqm"),
    (("sq",), re.compile(r"\bsq(?:uare|\.)? ?(?:ft|foot|feet)\b"), "sqft"),
    (("mph",), re.compile(r"\bmph\b"), "miles per hour"),
    (("k",), re.compile(r"\b(?:kph|kmh|km/h)\b"), "km per hour"),
    (("°", "deg", "celsius", "fahrenheit"),
     re.compile(r"(?<=\d)\s?(?:°\s?|deg(?:rees?)? ?)?(?:\b(c)(?:elsius)?|\b(f)(?:ahrenheit)?)\b"),
     lambda m: f"°{m[1] or m[2]}"),
    (("x",), re.compile(rf"\b(\d+)x(?= ?(?:an?|per|/|each|every) ?{_TIME}\b)"), r"\1 times"),
    (("x", "×"), re.compile(r"(?<=\d) ?[x×] ?(?=\d)"), "x"),
    ((":",), re.compile(r"(?<![\w:.])(\d{1,2}):(\d)(?![\d:])"), r"\1 to \2"),
    (("-",), re.compile(rf"(?<![\w\-./:+])({_NUMBER}) ?- ?({_NUMBER})(?![\w\-./:]| ?[ap]\.?m\b)"), _range),
    (("-",), re.compile(rf"(?<![\w\-./:+])({_NUMBER}) ?- ?({_NUMBER})(?=[ \-]?{_SPAN})"), _range),
    ((" to ", " or "), re.compile(rf"(?<![\w.:\-])({_NUMBER}) (to|or) ({_NUMBER})[ \-]?({_SPAN})"), _both),
    (("between ",), re.compile(rf"(?<=\bbetween )({_NUMBER}) (and) ({_NUMBER})[ \-]?({_SPAN})"), _both),
)  # fmt: skip
LATE: tuple[Rule, ...] = (
    (("from ",), re.compile(r"\bfrom (?=\d\d:\d\d to \d\d:\d\d)"), ""),
    ((), re.compile(rf"(?<![\w.])({_NUMBER})[ \-]?({_UNIT})(?:s\b|\b)"), _measured),
    (("%",), re.compile(r"(\.\d*?)0+%"), lambda m: f"{m[1].rstrip('.')}%"),
    (("msec",), re.compile(r"\b(\d+)msec(?: and|,)? (\d+)msec\b"), _longer_first),
    ((" a ", " an ", " each ", " every "), re.compile(
        rf"(\btimes|\b(?:usd|eur|gbp)|\d[\w.]* \w+s) (?:an?|each|every) (?={_TIME}\b)"), r"\1 per "),
)  # fmt: skip
