"""English ways of writing the same figure, made one: times, dates, durations, sizes, money, number words.

Works on text in small letters, after `canonical` has evened out marks. What is ambiguous (03/04/2025, a
bare `m`) is left as it stands: then two wordings differ and nothing is merged.
"""

import re
from decimal import Context, Decimal, InvalidOperation

from memory.domain.similarity import measures, moments
from memory.domain.similarity.lexicon import (
    FREQUENCIES,
    MONTHS,
    NUMBER_WORDS,
    ORDINALS,
    SCALE_WORDS,
)
from memory.domain.similarity.rules import Rule, apply
from memory.domain.similarity.short_forms import SHORT_FORMS

_MONTH_NUMBER = {name[:3]: number for number, name in enumerate(MONTHS, 1)}
_MONTH = "(" + "|".join(f"{m[:3]}(?:{m[3:]})?" for m in MONTHS).replace("sep(", "sept?|sep(") + r")\.?"
_SECONDS = {"s": 1, "sec": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hr": 3600, "hour": 3600}
_SECONDS |= {"d": 86_400, "day": 86_400, "wk": 604_800, "week": 604_800, "fortnight": 1_209_600}
_KILOBYTES = {"kb": 1, "mb": 1024, "gb": 1024**2, "tb": 1024**3}
_CURRENCIES = {"$": "usd", "us$": "usd", "€": "eur", "£": "gbp", "¥": "jpy", "₹": "inr"}
_CURRENCY_WORDS = {
    "dollar": "usd",
    "euro": "eur",
    "pound": "gbp",
    "yen": "jpy",
    "usd": "usd",
    "eur": "eur",
    "gbp": "gbp",
}
_FACTORS = {
    "k": 1000,
    "m": 10**6,
    "mn": 10**6,
    "million": 10**6,
    "thousand": 1000,
    "bn": 10**9,
    "b": 10**9,
    "billion": 10**9,
}
_UNITS = r"(?:milliseconds?|seconds?|minutes?|mins?|hours?|hrs?|days?|weeks?|fortnights?|months?|years?)"

_EXACT = Context(prec=400)


def _longest_first(table: dict[str, str]) -> str:
    return "|".join(re.escape(key) for key in sorted(table, key=len, reverse=True))


_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_MONEY_BEFORE = re.compile(r"(us\$|[$€£¥₹])\s?(\d[\d.]*)(?:\s?(k|mn?|bn?|million|thousand|billion)\b)?")
_MONEY_AFTER = re.compile(
    r"\b(\d[\d.]*)\s?(k|mn|bn|million|thousand|billion)?\s?(?:(usd|eur|gbp|dollar|euro|pound|yen)s?\b|([$€£¥]))"
)
_MONEY_CODE = re.compile(r"\b(usd|eur|gbp) ?(\d[\d.]*)(?:\s?(k|mn?|bn?|million|thousand|billion)\b)?")
_MULTIPLE = re.compile(r"\b(\d+(?:\.\d+)?)\s?(k|thousand|million|bn|billion)\b")
_CLOCK_12 = re.compile(r"\b(\d{1,2})(?:[:.](\d{2}))?\s?([ap])\.?m\b\.?")
# "9 to 11 am": the half of the day that is said once counts for both.
_CLOCK_RANGE = re.compile(
    r"(?:(?<=\bbetween )(\d{1,2})((?:[:.]\d{2})?) and "
    r"|(?<![\w:.,$€£\-])(\d{1,2})((?:[:.]\d{2})?) ?(?:to|until|till|-) ?)"
    r"(\d{1,2})((?:[:.]\d{2})?)\s?([ap])\.?m\b"
)
_CLOCK_24 = re.compile(r"(?<![\d:.])(\d):(\d\d)\b(?!:)")
_OCLOCK = re.compile(r"\b(?:12 )?(noon|midday|midnight)\b")
_MONTH_DAY = re.compile(rf"\b{_MONTH} (?:the )?(\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (\d{{4}})\b)?(?![\d:%])")
_DAY_MONTH = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of| day of)?[ \-]{_MONTH}(?![a-z])(?:,?[ \-](\d{{4}})\b)?"
)
_MONTH_YEAR = re.compile(rf"\b{_MONTH},? (?:of )?((?:19|20)\d\d)\b")
_ISO_DATE = re.compile(r"\b((?:19|20)\d\d)[/.](\d\d)[/.](\d\d)\b")
_DURATION = re.compile(
    r"(?<![\w.\-])(?!(?:19|20)\d0s\b)(\d+(?:\.\d+)?)[ \-]?"
    r"(fortnight|seconds?|secs?|s|minutes?|mins?|hours?|hrs?|h|days?|d|weeks?|wks?)s?\b"
)
_MILLISECONDS = re.compile(r"(?<![\w.\-])(\d+)[ \-]?(?:ms|msecs?|milliseconds?)\b")
_LONG_DURATION = re.compile(r"(?<![\w.\-])(\d+(?:\.\d+)?)[ \-](months?|years?|yrs?)\b")
_SIZE = re.compile(r"\b(\d+(?:\.\d+)?)\s?(kb|mb|gb|tb)\b")
_PERCENT = re.compile(r"(?<=\d)\s?(?:%|percent\b|per cent\b|pct\b)")
_PHONE = re.compile(r"\+(\d[\d\- ().]{6,}\d)")
_VERSION = re.compile(r"\b(?:v(?:ersion)?|ver)\.? ?(?=\d)")
# "customer_3": a name with a number, as programs write it; a path, a file or a name of several parts stays as it is.
_NUMBERED = re.compile(r"(?<![\w/.@:\-])([a-z]{2,})[_:](\d+)(?![\w/@:\-]|\.\w)")
_NUMBER_SIGN = re.compile(r"(?:#|\bno\. ?|\bnumber )(?=\d)")
_TENS = "|".join(word for word, number in NUMBER_WORDS.items() if number >= 20)
_DIGITS = "|".join(word for word, number in NUMBER_WORDS.items() if 0 < number < 10)
_SMALL = "|".join(word for word, number in NUMBER_WORDS.items() if number < 20 and number != 1)
_WORD_NUMBER = re.compile(
    rf"\b(?:({_TENS})(?:[ -]({_DIGITS}))?|({_SMALL}))\b(?: ({'|'.join(SCALE_WORDS)})\b)?"
)
_ONE = re.compile(rf"\b(?:one|an?)(?= (?:dozen|hundred|thousand|million)\b)|\bone(?=[ -]{_UNITS}\b)")
_HALF_HOUR = re.compile(r"\bhalf an hour\b")
_HUNDREDS = re.compile(r"(?<![\d.])(\d+) (dozen|hundred|thousand|million|billion)\b")
_RATE = re.compile(
    r"(?<=[a-z])\s?/\s?(?=(?:second|sec|s|minute|min|hour|hr|h|day|week|wk|month|mo|year|yr)\b)"
)
_PER = re.compile(r"(?<=\bper )(min|sec|hr|wk|mo|yr|s|h)\b")
_FULL_UNITS = {"min": "minute", "sec": "second", "hr": "hour", "s": "second", "h": "hour"}
_FULL_UNITS |= {"wk": "week", "mo": "month", "yr": "year"}
_SHORT_FORM = re.compile(rf"(?<![\w/@.\-])({_longest_first(SHORT_FORMS)})(?![\w/@\-]|\.\w)")
_FREQUENCY = re.compile(rf"\b({_longest_first(FREQUENCIES)})\b")
_ORDINAL = re.compile(rf"\b({_longest_first(ORDINALS)})\b(?!-)")
_SWITCHED = re.compile(r"\b(is|are|was|were|=|:) (?:turned |switched )?(on|off)(?=\s*(?:[.,;]|$))")
_CONTRACTION = re.compile(r"\b(ca|wo|sha|\w+)n't\b")
_AMPERSAND = re.compile(r"(?<=\s)&(?=\s)")
_WHOLE = {"ca": "can", "wo": "will", "sha": "shall"}


def _spelled_number(match: re.Match[str]) -> str:
    number = NUMBER_WORDS[match[1] or match[3]] + NUMBER_WORDS.get(match[2] or "", 0)
    return str(number * SCALE_WORDS.get(match[4] or "", 1))


def _number(digits: str, factor: str | None) -> str:
    return _scaled(digits.rstrip("."), _FACTORS.get(factor or "", 1)) or digits + (factor or "")


def _scaled(digits: str, factor: int) -> str:
    """Return the exact product in plain digits, or "" for what is no number: 1.2.3."""
    try:
        product = _EXACT.multiply(Decimal(digits), Decimal(factor))
    except InvalidOperation:
        return ""
    plain = f"{product:f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def _clock(match: re.Match[str]) -> str:
    hour = int(match[1])
    if not 1 <= hour <= 12:
        return match[0]
    return f"{hour % 12 + (12 if match[3] == 'p' else 0):02d}:{match[2] or '00'}"


def _clock_range(match: re.Match[str]) -> str:
    """The range with the half of the day at its beginning too; one that passes noon or midnight is left alone."""
    hour, minutes, joined = (match[1], match[2], " and ") if match[1] else (match[3], match[4], " to ")
    first, last = int(hour), int(match[5])
    if not (1 <= first <= 12 and 1 <= last <= 12 and first % 12 < last % 12):
        return match[0]
    return f"{hour}{minutes} {match[7]}m{joined}{match[5]}{match[6]} {match[7]}m"


def _date(year: str | None, month: str, day: str) -> str:
    return f"{year or 'yyyy'}-{_MONTH_NUMBER[month[:3]]:02d}-{int(day):02d}"


def _seconds(match: re.Match[str]) -> str:
    unit = match[2] if match[2] in _SECONDS else match[2].rstrip("s")
    return f"{_scaled(match[1], 1000 * _SECONDS[unit])}msec"


def _money_after(match: re.Match[str]) -> str:
    return f"{_number(match[1], match[2])} {_CURRENCY_WORDS.get(match[3]) or _CURRENCIES[match[4]]}"


def _months(match: re.Match[str]) -> str:
    return f"{_scaled(match[1], 12 if match[2][0] == 'y' else 1)}month"


_MONTH_STARTS = tuple(_MONTH_NUMBER)

# In the order in which they must be applied; a rule is tried when the text holds one of its marks.
_WORD_RULES: tuple[Rule, ...] = (
    (("n't",), _CONTRACTION, lambda m: f"{_WHOLE.get(m[1], m[1])} n't"),
    ((" on", " off"), _SWITCHED, lambda m: f"{m[1]} {'enabled' if m[2] == 'on' else 'disabled'}"),
    ((" & ",), _AMPERSAND, "and"),
    (("/",), _RATE, " per "),
    (("per ",), _PER, lambda m: _FULL_UNITS[m[1]]),
    (("ly", "annual"), _FREQUENCY, lambda m: FREQUENCIES[m[1]]),
    (("half an",), _HALF_HOUR, "30 minutes"),
    (("one", "a ", "an "), _ONE, "1"),
    ((), _WORD_NUMBER, _spelled_number),
    (tuple(SCALE_WORDS), _HUNDREDS, lambda m: _scaled(m[1], SCALE_WORDS[m[2]])),
    (tuple(ORDINALS), _ORDINAL, lambda m: ORDINALS[m[1]]),
    (("noon", "midday", "midnight"), _OCLOCK, lambda m: "00:00" if m[1] == "midnight" else "12:00"),
)
_FIGURE_RULES: tuple[Rule, ...] = (
    (("+",), _PHONE, lambda m: "+" + re.sub(r"\D", "", m[1])),
    ((",",), _THOUSANDS, ""),
    (("v",), _VERSION, ""),
    (("#", "no.", "number "), _NUMBER_SIGN, ""),
    (("_", ":"), _NUMBERED, r"\1 \2"),
    (("$", "€", "£", "¥", "₹"), _MONEY_BEFORE, lambda m: f"{_number(m[2], m[3])} {_CURRENCIES[m[1]]}"),
    ((*_CURRENCY_WORDS, "$", "€", "£", "¥"), _MONEY_AFTER, _money_after),
    (("usd", "eur", "gbp"), _MONEY_CODE, lambda m: f"{_number(m[2], m[3])} {m[1]}"),
    (("k", *_FACTORS), _MULTIPLE, lambda m: _number(m[1], m[2])),
    (tuple(_KILOBYTES), _SIZE, lambda m: f"{_scaled(m[1], _KILOBYTES[m[2]])}kbyte"),
    (("%", "per", "pct"), _PERCENT, "%"),
    (("am", "pm", "a.m", "p.m", "a m", "p m"), _CLOCK_RANGE, _clock_range),
    (("am", "pm", "a.m", "p.m", "a m", "p m"), _CLOCK_12, _clock),
    ((":",), _CLOCK_24, r"0\1:\2"),
    (("/", "."), _ISO_DATE, r"\1-\2-\3"),
    (_MONTH_STARTS, _DAY_MONTH, lambda m: _date(m[3], m[2], m[1])),
    (_MONTH_STARTS, _MONTH_DAY, lambda m: _date(m[3], m[1], m[2])),
    (_MONTH_STARTS, _MONTH_YEAR, lambda m: f"{m[2]}-{_MONTH_NUMBER[m[1][:3]]:02d}"),
    (("ms", "milli"), _MILLISECONDS, lambda m: f"{_scaled(m[1], 1)}msec"),
    (("month", "y"), _LONG_DURATION, _months),
    ((), _DURATION, _seconds),
)


def even_out(text: str) -> str:
    """Rewrite the figures and the short forms of an English text to one way of writing each."""
    for rules in (measures.WORD_RULES, _WORD_RULES, moments.WORD_RULES):
        text = apply(rules, text)
    if any(character.isdigit() for character in text):
        for rules in (moments.RULES, measures.EARLY, _FIGURE_RULES, measures.LATE):
            text = apply(rules, text)
    return _SHORT_FORM.sub(lambda m: SHORT_FORMS[m[1]], text)
