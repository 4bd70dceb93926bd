"""English ways of writing a time, a date, a zone or a long number, brought to what `formats` can read.

Works on text in small letters. What is ambiguous (03/04/2025) is left as it stands.
"""

import re

from memory.domain.similarity.rules import Rule

_HALVES = {"in the morning": "am", "in the afternoon": "pm", "in the evening": "pm", "at night": "pm"}
_DAY_NAMES = {
    short: day
    for day in ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
    for short in (day, day[:3], day[:4], day[:5])
}
_DAY = "(" + "|".join(sorted(_DAY_NAMES, key=len, reverse=True)) + ")"
_DECADES = {"six": "1960s", "seven": "1970s", "eigh": "1980s", "nine": "1990s"}
_YEAR = r"((?:19|20)\d\d)"


def _past_the_hour(match: re.Match[str]) -> str:
    """Write "half past 6" as 6:30 and "quarter to 7" as 6:45."""
    minutes = {"quarter": 15, "half": 30}.get(match[1]) or int(match[1])
    hour = int(match[3])
    if not (1 <= hour <= 12 and 0 < minutes < 60):
        return match[0]
    if match[2] == "to":
        minutes, hour = 60 - minutes, hour - 1 or 12
    return f"{hour}:{minutes:02d}"


def _plain_date(match: re.Match[str]) -> str:
    """A date in figures whose order its own figures give away: 31/12/2025, 12/31/2025."""
    low, high = sorted((int(match[1]), int(match[3])))
    if match[2] == ".":  # nobody puts the month first and writes dots
        low, high = int(match[3]), int(match[1])
        return f"{match[4]}-{low:02d}-{high:02d}" if 1 <= low <= 12 and 1 <= high <= 31 else match[0]
    return f"{match[4]}-{low:02d}-{high:02d}" if 1 <= low <= 12 < high <= 31 else match[0]


def _digits(match: re.Match[str]) -> str:
    return re.sub(r"\D", "", match[0])


def _together(match: re.Match[str]) -> str:
    return match[0].replace(" ", "") if sum(c.isdigit() for c in match[0]) > 9 else match[0]


def _days(match: re.Match[str]) -> str:
    return f"{_DAY_NAMES[match[1]]} to {_DAY_NAMES[match[2]]}"


RULES: tuple[Rule, ...] = (
    ((" past ", "quarter to "),
     re.compile(r"\b(?:a )?(?:(quarter|half|\d{1,2}) (past)|(?<!\d )(quarter) (to)) (\d{1,2})\b(?![:.]\d)"),
     lambda m: _past_the_hour(re.match(r"(\w+) (\w+) (\d+)", m[0].removeprefix("a ")) or m)),
    (("o'clock",), re.compile(r"\b(\d{1,2}) ?o'clock\b"), r"\1:00"),
    (tuple(_HALVES), re.compile(rf"\b(\d{{1,2}}(?::\d\d)?) ({'|'.join(_HALVES)})\b"),
     lambda m: f"{m[1]} {_HALVES[m[2]]}"),
    (("h",), re.compile(r"\b([01]?\d|2[0-3])h([0-5]\d)\b"), r"\1:\2"),
    (("/", "."), re.compile(rf"(?<![\w./\-])(\d{{1,2}})([/.])(\d{{1,2}})\2{_YEAR}(?![\w/]|\.\d)"), _plain_date),
    (("utc",), re.compile(r"\butc ?([+\-])0?(\d{1,2})(?::00)?\b(?!:)"), r"utc\1\2"),
    (("quarter",), re.compile(r"\b([1-4])(?:st|nd|rd|th) quarter\b"), r"q\1"),
    (("q",), re.compile(rf"\b(q[1-4])(?: of|,|/)? ?{_YEAR}\b"), r"\1 \2"),
    (("q",), re.compile(rf"\b{_YEAR}[ \-/]?(q[1-4])\b"), r"\2 \1"),
    (("24 hours",), re.compile(r"\b24 hours (?:a|per|every) day,?(?: and)? 7 days (?:a|per|every) week\b"), "24/7"),
    (("0s",), re.compile(r"\bthe '?([6-9]0)s\b"), r"the 19\1s"),
    (("(", "-", ".", " "), re.compile(r"(?<![\w.+\-])\(?\d{3}\)?[ .\-]{1,2}\d{3}[ .\-]\d{4}(?![\w\-])"), _digits),
    ((" ",), re.compile(r"(?<![\w.\-])(?:[a-z]{2}\d\d|\d{4})(?: [a-z\d]{4}){3,7}(?: [a-z\d]{1,3}\b)?(?![\w\-])"),
     _together),
)  # fmt: skip
# Also where there are no figures.
WORD_RULES: tuple[Rule, ...] = (
    (("-",), re.compile(rf"\b{_DAY}s?\.? ?- ?{_DAY}s?\b(?![\w\-])"), _days),
    (("mon.", "tue", "wed.", "thu", "fri."), re.compile(r"\b(mon|tues?|wed|thu(?:rs?)?|fri)\.(?=\s)"), r"\1"),
    ((":",), re.compile(r"(?<=:\d\d) ?- ?(?=\d{1,2}:\d\d)"), " to "),
    (("/",), re.compile(rf"\b{_DAY}/(?={_DAY}\b)"), lambda m: _DAY_NAMES[m[1]] + ", "),
    (("hour and a half",), re.compile(r"\bevery hour and a half\b"), "every 90 minutes"),
    (("from ",), re.compile(rf"\bfrom (?={_DAY}s? to {_DAY})"), ""),
    (("s ",), re.compile(rf"\b{_DAY}s to {_DAY}s\b"), _days),
    (("inetie", "ightie", "eventie", "ixtie"), re.compile(r"\bthe (six|seven|eigh|nine)ties\b"),
     lambda m: f"the {_DECADES[m[1]]}"),
)  # fmt: skip
