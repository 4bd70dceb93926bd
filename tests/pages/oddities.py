"""Values that no field, parameter or address expects, and how they are dealt out over forms and pages.

Every field meets every value that could matter to it, and what many forms read by one function is not met in each
of them with each value: the values are dealt among those forms, as cards are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar
from urllib.parse import urlencode

from django.test import Client
from django.urls import resolve

from tests.pages.rendered_forms import Field, Form, forms

T = TypeVar("T")

NUL = "before\x00after"
LONG = "x" * 20_000
NOT_UTF8 = b"\xed\xa0\x80\xff"  # a lone surrogate, and no letter at all
HUGE = "9" * 5000
ODD: tuple[str | bytes, ...] = (
    "", "-1", HUGE, "99999999999999999999", "\u0663", "\u00b2", "1e999", "nan", "2030-13-45", "99999-01-01",
    "9999-12-31", "0001-01-01", "mem_" + "z" * 32, "prm_0", "[]", "{}", "' OR 1=1 --", "{{7*7}}", "\u202e\u200b", LONG,
    NOT_UTF8,
)  # fmt: skip
# Places in a list that are written as one is, and lie where no row can be.
NO_ROW = "0" * 32
PLACES: tuple[str | bytes, ...] = (
    NO_ROW, f"<{NO_ROW}", f"99999999999999999999~{NO_ROW}", f"-1~{NO_ROW}", f"9999-12-31T23:59:59-14:00~{NO_ROW}",
    f"0001-01-01T00:00:00+14:00~{NO_ROW}", f"{HUGE}~{NO_ROW}", f"2030-01-01~{NO_ROW}", "~", "<", "<~",
)  # fmt: skip
# For what is typed; what is refused comes first, because what is taken may end what the form is about.
TEXTS: tuple[str | bytes, ...] = (LONG, NOT_UTF8, "9999-12-31", "\u202e{{7*7}}")
# For numbers and days, and for one word out of several, which is compared and never counted with.
COUNTS: tuple[str | bytes, ...] = (
    "", HUGE, "99999999999999999999", "nan", "9999-12-31", "\u0663", NOT_UTF8,
)  # fmt: skip
WORDS: tuple[str | bytes, ...] = ("", HUGE, NOT_UTF8)
# Read by one function wherever they stand.
SHARED = ("version", "reason", "active", "networks")


def found_forms(browser: Client, paths: Iterable[str]) -> list[Form]:
    """Every form of the pages, each once."""
    found: dict[tuple[str, tuple[str, ...]], Form] = {}
    for path in paths:
        answer = browser.get(path, follow=True)
        if answer.status_code == 200 and answer["Content-Type"].startswith("text/html"):
            for form in forms(path, answer.content.decode()):
                if not form.path.endswith("/logout/"):
                    found.setdefault((name_of(form), tuple(form.names)), form)
    return list(found.values())


def name_of(form: Form) -> str:
    """The view that takes the form."""
    return str(resolve(form.path).view_name)


def send(browser: Client, form: Form, changed: dict[str, str | bytes]) -> int:
    """Send the form as it is filled in, with these fields changed; the status."""
    given = [(one, changed.get(one, text)) for one, text in form.filled()]
    given += [(name, value) for name, value in changed.items() if name not in dict(given)]
    return browser.post(
        form.action, urlencode(given), content_type="application/x-www-form-urlencoded"
    ).status_code


def meant_for(one: Field) -> tuple[str | bytes, ...]:
    """The values that could matter to a field of its kind."""
    if one.free:
        return TEXTS
    return COUNTS if not one.value or one.value[0].isdigit() else WORDS


def tries(found: Sequence[Form]) -> Iterator[tuple[Form, str, str | bytes]]:
    """Which form is sent with which field changed to what: first one value in every field, then the next."""
    hands: dict[tuple[str, str], list[tuple[Form, str, tuple[str | bytes, ...]]]] = {}
    for form in found:
        for one in {one.name: one for one in reversed(form.fields)}.values():
            reader = "" if one.name in SHARED else name_of(form)
            hands.setdefault((reader, one.name), []).append((form, one.name, meant_for(one)))
    dealt = [
        (form, name, hand)
        for players in hands.values()
        for form, name, hand in ((form, name, share(values, at, len(players)))
                                 for at, (form, name, values) in enumerate(players))
    ]  # fmt: skip
    for turn in range(max(len(hand) for *_, hand in dealt)):
        yield from ((form, name, hand[turn]) for form, name, hand in dealt if turn < len(hand))


def share(values: Sequence[T], at: int, players: int) -> list[T]:
    """What the player at this place is dealt: all values go round, and nobody goes without."""
    return list(values[at % players :: players]) or [values[at % len(values)]]


def mixed(names: Sequence[str], values: Sequence[str | bytes]) -> Iterator[dict[str, str | bytes]]:
    """As many forms as values, each with a value in every field: after all of them each field had each value."""
    for turn in range(len(values)):
        yield {name: values[(turn + at) % len(values)] for at, name in enumerate(names)}
