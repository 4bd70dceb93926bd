"""Word tables of the value normalisers: other spellings of currencies, time zones, languages, truth values.

Only spellings with one meaning. `cst` and `ist` are left out: each names zones on two continents.
"""

from __future__ import annotations

from typing import Final

TRUE_WORDS: Final = frozenset({"true", "yes", "y", "on", "enabled", "1"})
FALSE_WORDS: Final = frozenset({"false", "no", "n", "off", "disabled", "0"})

CURRENCIES: Final[dict[str, str]] = {
    spelling: code
    for code, spellings in {
        "usd": "usd $ us$ dollar dollars",
        "eur": "eur € euro euros",
        "gbp": "gbp £",
        "jpy": "jpy yen",
        "chf": "chf",
        "inr": "inr ₹ rupees",
        "krw": "krw ₩ won",
        "cad": "cad ca$ c$",
        "aud": "aud au$ a$",
        "cny": "cny rmb",
        "sek": "sek",
        "nok": "nok",
        "dkk": "dkk",
        "pln": "pln zł",
        "brl": "brl r$",
    }.items()
    for spelling in spellings.split()
}

TIME_ZONES: Final[dict[str, str]] = {
    spelling: zone
    for zone, spellings in {
        "utc": "utc|gmt|z|zulu|etc/utc|etc/gmt|utc+0|gmt+0|utc+00:00|coordinated universal time",
        "america/new_york": "america/new_york|us/eastern|eastern time|eastern|est|edt|et",
        "america/chicago": "america/chicago|us/central|us central time",
        "america/denver": "america/denver|us/mountain|us mountain time",
        "america/los_angeles": "america/los_angeles|us/pacific|pacific time|pacific|pst|pdt|pt",
        "cet": "cet|cest|central european time",
        "asia/kolkata": "asia/kolkata|asia/calcutta",
        "europe/kyiv": "europe/kyiv|europe/kiev",
        "asia/ho_chi_minh": "asia/ho_chi_minh|asia/saigon",
        "asia/tokyo": "asia/tokyo|japan|jst",
        "asia/seoul": "asia/seoul|rok|kst",
    }.items()
    for spelling in spellings.split("|")
}

LANGUAGES: Final[dict[str, str]] = {
    spelling: code
    for code, spellings in {
        "en": "en english",
        "de": "de german deutsch",
        "fr": "fr french français",
        "es": "es spanish español",
        "it": "it italian italiano",
        "pt": "pt portuguese português",
        "nl": "nl dutch nederlands",
        "ja": "ja japanese 日本語",
        "ko": "ko korean 한국어",
        "zh": "zh chinese 中文",
        "ru": "ru russian русский",
        "pl": "pl polish polski",
        "sv": "sv swedish svenska",
        "tr": "tr turkish türkçe",
        "ar": "ar arabic العربية",
        "hi": "hi hindi हिन्दी",
    }.items()
    for spelling in spellings.split()
}

_MONTH_NAMES: Final = "january february march april may june july august september october november december"
MONTHS: Final[dict[str, int]] = {
    spelling: number for number, name in enumerate(_MONTH_NAMES.split(), 1) for spelling in (name, name[:3])
}
