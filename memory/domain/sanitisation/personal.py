"""Personal data that has a form: addresses for mail and phone, account, card and identity numbers.

Names, postal addresses and what a sentence says about a person's health or beliefs have no form and are not
detected. Numbers count only with a valid check digit or beside a word that says what they are.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator
from typing import Final

import phonenumbers
from stdnum import iban, luhn
from stdnum.be import nn
from stdnum.br import cpf
from stdnum.ch import ssn as swiss_ssn
from stdnum.de import idnr
from stdnum.es import dni, nie
from stdnum.fi import hetu
from stdnum.fr import nir
from stdnum.gb import nhs
from stdnum.it import codicefiscale
from stdnum.nl import bsn
from stdnum.no import fodselsnummer
from stdnum.pl import pesel
from stdnum.se import personnummer

from memory.domain.sanitisation.model import Match
from memory.domain.sanitisation.secrets import merged

_EMAIL: Final = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.)+[A-Za-z]{2,24}\b")
_RESERVED_MAIL: Final = re.compile(
    r"@(?:[\w-]+\.)*(?:example\.(?:com|org|net)|example|test|invalid|localhost|local"
    r"|internal)$",
    re.IGNORECASE,
)
_DIGITS: Final = re.compile(r"\d(?:[\d\s().\-/]*\d){5,}")
_CARD: Final = re.compile(
    r"(?<![\d.-])(?:[3-6]\d{3}[ -]?\d{4}[ -]?\d{4}[ -]?\d{1,7}|3[47]\d{2}[ -]?\d{6}[ -]?\d{5})(?![\d-])"
)
_IBAN: Final = re.compile(r"\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{2,4}){3,8}\b")
_PHONE_NEAR: Final = re.compile(
    r"\b(?:phone|telephone|tel|mobile|cell|call|calls|called|reach|ring|dial|text|sms|fax|whatsapp|signal"
    r"|handy|telefon"
    r"|teléfono|téléphone|telefone|numero|hotline|number)\b",
    re.IGNORECASE,
)
_PHONE_SHAPE: Final = re.compile(
    r"(?<![\w.+-])(?:\+\d|\(\d{2,5}\)|0\d|\d{3}[ .-]\d{3,4}[ .-]?\d)[\d ().\-/]{4,18}\d(?![\w-])"
)
_REGIONS: Final = ("US", "GB", "DE", "FR")  # for numbers without a country; their lengths cover most others
_NAMED_IDS: Final = re.compile(
    r"\b(?P<name>passport|identity card|id card|driv(?:er'?s|ing) licen[cs]e|social security|ssn"
    r"|national insurance|nino"
    r"|tax id|taxpayer|national id|personal id|nhs|bsn|insurance)\b(?:\s+(?:no\.?|number|nr\.?|id|is|was"
    r"|:|#|card|of"
    r"|[A-Z][a-z]+))*[\s:#]*(?P<value>(?=[A-Z0-9 -]*\d)[A-Z0-9](?:[ -]?[A-Z0-9]){5,14})\b",
    re.IGNORECASE,
)
_US_SSN: Final = re.compile(r"(?<![\d-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])")
_IP: Final = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w]|\.\d)")
_BORN: Final = re.compile(
    r"\b(?:born(?:\s+on)?|date of birth|birth ?date|dob|geboren(?: am)?)\b[\s:is]*(?P<value>\d{1,2}(?:st"
    r"|nd|rd|th)?[ ./-]"
    r"(?:of )?[A-Za-z0-9]+[ .,/-]+\d{2,4}|\d{4}-\d\d-\d\d|[A-Z][a-z]+ \d{1,2},? \d{4})",
    re.IGNORECASE,
)
_TOKEN: Final = re.compile(r"(?<![\w.-])[A-Z0-9][A-Z0-9 .+-]{7,20}[A-Z0-9](?![\w-])")
_Check = Callable[[str], bool]
# Checked by shape first, so that an order number with lucky digits is not taken for a person's.
_NATIONAL: Final[tuple[tuple[str, re.Pattern[str], _Check], ...]] = (
    ("es_dni", re.compile(r"\d{8}-?[A-Z]"), dni.is_valid),
    ("es_nie", re.compile(r"[XYZ]-?\d{7}-?[A-Z]"), nie.is_valid),
    ("it_codice_fiscale", re.compile(r"[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]"), codicefiscale.is_valid),
    ("fr_nir", re.compile(r"[12] ?\d{2} ?\d{2} ?\d[\dAB] ?\d{3} ?\d{3} ?\d{2}"), nir.is_valid),
    ("ch_ahv", re.compile(r"756\.\d{4}\.\d{4}\.\d{2}"), swiss_ssn.is_valid),
    ("fi_hetu", re.compile(r"\d{6}[-+A]\d{3}[0-9A-Y]"), hetu.is_valid),
    ("se_personnummer", re.compile(r"(?:19|20)?\d{6}[-+]\d{4}"), personnummer.is_valid),
    ("be_national_number", re.compile(r"\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}"), nn.is_valid),
    ("br_cpf", re.compile(r"\d{3}\.\d{3}\.\d{3}-\d{2}"), cpf.is_valid),
)
# Plain digits need the word as well as the check digit.
_NATIONAL_NAMED: Final[tuple[tuple[str, re.Pattern[str], _Check], ...]] = (
    ("de_tax_id", re.compile(r"\b(?:steuer\w*|tax|idnr)\b.{0,30}?(\d{2} ?\d{3} ?\d{3} ?\d{3})\b", re.I), idnr.is_valid),
    ("pl_pesel", re.compile(r"\bpesel\b.{0,20}?(\d{11})\b", re.IGNORECASE), pesel.is_valid),
    ("nl_bsn", re.compile(r"\bbsn\b.{0,20}?(\d{9})\b", re.IGNORECASE), bsn.is_valid),
    ("gb_nhs", re.compile(r"\bnhs\b.{0,20}?(\d{3} ?\d{3} ?\d{4})\b", re.IGNORECASE), nhs.is_valid),
    ("no_identity_number", re.compile(r"\b(?:fødselsnummer|personnummer)\b.{0,20}?(\d{6} ?\d{5})\b", re.I),
     fodselsnummer.is_valid),
)  # fmt: skip
_GB_NINO: Final = re.compile(r"\b(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]\b")


def scan_personal(text: str) -> tuple[Match, ...]:
    """Personal data in `text` that has a form, in the order of the text."""
    found: list[Match] = []
    if "@" in text:
        found.extend(_addresses(text))
    if any(character.isdigit() for character in text):
        for scan in (_ibans, _cards, _identities, _phones, _networks, _births):
            found.extend(scan(text))
    return merged(found)


def _addresses(text: str) -> Iterator[Match]:
    for match in _EMAIL.finditer(text):
        before = text[: match.start()]
        if not _RESERVED_MAIL.search(match.group()) and not before.endswith(("://", "//", ":")):
            yield Match(match.span(), "email")


def _ibans(text: str) -> Iterator[Match]:
    for match in _IBAN.finditer(text):
        # The next word may look like one more group of four; take the longest valid beginning.
        value = match.group()
        while len(value) >= 15:
            if iban.is_valid(value):
                yield Match((match.start(), match.start() + len(value)), "iban")
                break
            value = value[:-1].rstrip(" -")


def _cards(text: str) -> Iterator[Match]:
    for match in _CARD.finditer(text):
        digits = re.sub(r"\D", "", match.group())
        if 13 <= len(digits) <= 19 and luhn.is_valid(digits):
            yield Match(match.span(), "card")


def _identities(text: str) -> Iterator[Match]:
    for match in _US_SSN.finditer(text):
        yield Match(match.span(), "us_ssn")
    for match in _NAMED_IDS.finditer(text):
        yield Match(match.span("value"), re.sub(r"\W+", "_", match["name"].lower()))
    for match in _GB_NINO.finditer(text):
        yield Match(match.span(), "gb_nino")
    for match in _TOKEN.finditer(text):
        for rule, shape, valid in _NATIONAL:
            for number in shape.finditer(match.group()):
                if valid(number.group()):
                    yield Match((match.start() + number.start(), match.start() + number.end()), rule)
    for rule, named, valid in _NATIONAL_NAMED:
        for match in named.finditer(text):
            if valid(match.group(1)):
                yield Match(match.span(1), rule)


def _phones(text: str) -> Iterator[Match]:
    if not _DIGITS.search(text):
        return
    near = _PHONE_NEAR.search(text) is not None
    for match in _PHONE_SHAPE.finditer(text):
        number = match.group()
        digits = sum(character.isdigit() for character in number)
        if not 7 <= digits <= 15:
            continue
        if number.startswith("+"):
            if _possible(number, None):
                yield Match(match.span(), "phone")
        elif (near or number.startswith("(")) and any(_possible(number, region) for region in _REGIONS):
            yield Match(match.span(), "phone")


def _possible(number: str, region: str | None) -> bool:
    try:
        return phonenumbers.is_possible_number(phonenumbers.parse(number, region))
    except phonenumbers.NumberParseException:
        return False


def _networks(text: str) -> Iterator[Match]:
    for match in _IP.finditer(text):
        try:
            address = ipaddress.ip_address(match.group())
        except ValueError:
            continue
        if address.is_global:
            yield Match(match.span(), "ip_address")


def _births(text: str) -> Iterator[Match]:
    for match in _BORN.finditer(text):
        yield Match(match.span("value"), "date_of_birth")
