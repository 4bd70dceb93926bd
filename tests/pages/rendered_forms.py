"""The forms and links of a page, read out of its HTML as a browser would."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urljoin, urlsplit

_FREE = ("text", "search", "password", "email", "textarea")


@dataclass(frozen=True, slots=True)
class Field:
    """One field as the page filled it in; `free` where a person types what they like."""

    name: str
    value: str
    free: bool = False
    sent: bool = True  # an unticked box is not sent


@dataclass(slots=True)
class Form:
    """A form, its address and its fields."""

    page: str
    action: str
    method: str
    fields: list[Field] = field(default_factory=list)

    @property
    def path(self) -> str:
        return urlsplit(self.action).path

    @property
    def names(self) -> list[str]:
        """The names of the fields, each once."""
        return list(dict.fromkeys(one.name for one in self.fields))

    def filled(self) -> list[tuple[str, str]]:
        """What would be sent: as it is, with something in every empty text; of buttons and boxes of one name the
        first."""
        once: dict[str, str] = {}
        for one in self.fields:
            if one.sent and one.name not in once:
                typed = "because it is so" if one.free and not one.value else one.value
                once[one.name] = typed
        return list(once.items())


class _Reader(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.page = page
        self.forms: list[Form] = []
        self.links: list[str] = []
        self._open: Form | None = None
        self._named: dict[str, Form] = {}
        self._waiting: list[tuple[str, Field]] = []  # fields that name their form, which may come later
        self._area: tuple[str, str] | None = None
        self._select: tuple[str, str, list[str]] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "a":
            self.links.append(urljoin(self.page, given.get("href", "")))
        elif tag == "form":
            action = urljoin(self.page, given.get("action", "") or self.page)
            self._open = Form(self.page, action, given.get("method", "get").lower())
            self.forms.append(self._open)
            self._named[given.get("id", "")] = self._open
        elif tag == "textarea" and "name" in given:
            self._area = (given["name"], "")
        elif tag == "select" and "name" in given:
            self._select = (given["name"], "", [])
        elif tag == "option" and self._select:
            name, chosen, offered = self._select
            value = given.get("value", "")
            self._select = (name, value if "selected" in given else chosen, [*offered, value])
        elif tag in ("input", "button") and given.get("name") and given.get("type") != "file":
            kind = given.get("type", "text" if tag == "input" else "submit")
            ticked = kind not in ("checkbox", "radio") or "checked" in given
            self._add(
                Field(given["name"], given.get("value", ""), kind in _FREE, ticked), given.get("form", "")
            )

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = None
        elif tag == "textarea" and self._area:
            self._add(Field(*self._area, free=True))
            self._area = None
        elif tag == "select" and self._select:
            name, chosen, offered = self._select
            self._add(Field(name, chosen or next(iter(offered), "")))
            self._select = None

    def handle_data(self, data: str) -> None:
        if self._area:
            self._area = (self._area[0], self._area[1] + data)

    def _add(self, one: Field, owner: str = "") -> None:
        if owner:
            self._waiting.append((owner, one))
        elif self._open is not None:
            self._open.fields.append(one)

    def end(self) -> None:
        for owner, one in self._waiting:
            if owner in self._named:
                self._named[owner].fields.append(one)


def read(page: str, html: str) -> _Reader:
    """The page's forms and links; `page` is its address."""
    reader = _Reader(page)
    reader.feed(html)
    reader.close()
    reader.end()
    return reader


def forms(page: str, html: str, method: str = "post") -> Iterator[Form]:
    """Its forms of a method, without the token that Django adds."""
    for form in read(page, html).forms:
        if form.method == method:
            kept = [one for one in form.fields if one.name != "csrfmiddlewaretoken"]
            yield replace(form, fields=kept)


def parameters(page: str, html: str) -> set[str]:
    """Names of what the page's own address takes: of its search forms and of links back to itself."""
    reader, here = read(page, html), urlsplit(page).path
    found = {
        one.name for form in reader.forms if form.method == "get" and form.path == here for one in form.fields
    }
    for link in reader.links:
        if urlsplit(link).path == here:
            found |= {name for name, _value in parse_qsl(urlsplit(link).query, keep_blank_values=True)}
    return found | {name for name, _value in parse_qsl(urlsplit(page).query)}
