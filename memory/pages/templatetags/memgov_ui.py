"""Template tags and filters of the pages: icons, chips, times, sparklines, hostile text, page links.

Only presentation: no query, no permission, no rule. Whatever comes in is escaped here.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any

from django import template
from django.contrib.staticfiles.storage import staticfiles_storage
from django.templatetags.static import static
from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language, get_language_bidi, ngettext, pgettext
from django.utils.translation import gettext as _

from memory.pages.addresses import path_of
from memory.pages.templatetags import navigation
from memory.pages.templatetags.chips import look_of
from memory.pages.templatetags.plaintext import Span, reveal, reveal_spans, runs_from_the_right
from memory.pages.templatetags.wordmarks import WordDiff, word_diff
from memory.pages.wording import plain

register = template.Library()

MINUTE, HOUR, DAY = 60, 3600, 86400
LONGEST_RELATIVE = 30 * DAY

# Resolved as a template would, so that a view may give a model, a named tuple or a dict.
TENANT_SLUG = template.Variable("tenant.slug")


# Links and navigation ------------------------------------------------------------------------------


@register.simple_tag(takes_context=True)
def page(context: template.Context, name: str, *args: Any) -> str:
    """URL of a page of the tenant being viewed: `{% page "promotion" p.id_text %}`."""
    return path_of(name, TENANT_SLUG.resolve(context), *args)


@register.inclusion_tag("_nav.html", takes_context=True)
def side_nav(context: template.Context) -> dict[str, Any]:
    """The groups of the side navigation that the viewer may open."""
    groups = navigation.menu(
        TENANT_SLUG.resolve(context),
        str(context.get("nav") or ""),
        context.get("nav_counts") or {},
        context.get("can") or {},
    )
    return {"groups": groups}


@register.filter
def toast_of(message: Any) -> dict[str, str]:
    """A Django message as a toast. The extra tag `undo:<path>` gives the toast an Undo button."""
    tones = {"error": "bad", "warning": "bad", "info": "info", "debug": "info"}
    tags = (message.extra_tags or "").split()
    undo = next((tag[5:] for tag in tags if tag.startswith("undo:/")), "")
    return {"text": str(message), "tone": tones.get(message.level_tag, "ok"), "undo_url": undo}


# Icons and chips -----------------------------------------------------------------------------------


@register.simple_tag
def icon(name: str, size: str = "", label: str = "") -> SafeString:
    """One icon of the sprite. Without a label it is decoration and hidden from screen readers."""
    return _icon(_keeper(), name, size, str(label))


def _keeper() -> str:
    """Who keeps the files: it decides the sprite's address."""
    return str(staticfiles_storage.__class__.__qualname__)


@lru_cache(maxsize=1024)
def _icon(_kept_by: str, name: str, size: str, label: str) -> SafeString:
    """As `icon`; a page has a hundred, of a few dozen kinds."""
    classes = f"i {size}".strip()
    href = f"{static('icons.svg')}#{name}"
    if label:
        return format_html(
            '<svg class="{}" role="img" aria-label="{}"><use href="{}"/></svg>', classes, label, href
        )
    return format_html('<svg class="{}" aria-hidden="true"><use href="{}"/></svg>', classes, href)


@register.simple_tag
def chip(family: str, value: str, after: str = "") -> SafeString:
    """State as icon, word and colour: `{% chip "status" m.status %}`; families are in `chips.FAMILIES`."""
    return _chip(get_language(), _keeper(), family, str(value), str(after))


@lru_cache(maxsize=1024)
def _chip(_language: str | None, _kept_by: str, family: str, value: str, after: str) -> SafeString:
    look = look_of(family, value)
    text = f"{look.label} {after}".strip()
    picture = icon(look.icon, "xs") if look.icon else ""
    return format_html('<span class="chip {}">{}{}</span>', look.tone, picture, text)


@register.simple_tag
def label_of(family: str, value: str) -> str:
    """The word of a state, without the chip."""
    return str(look_of(family, value).label)


@register.simple_tag
def tone_of(family: str, value: str) -> str:
    """The tone of a state: ok, warn, bad, info or nothing."""
    return look_of(family, value).tone


# Hostile text --------------------------------------------------------------------------------------


@register.filter
def visible(text: Any) -> SafeString:
    """Memory text, escaped, with invisible and direction-turning characters drawn as escapes.

    Text that runs against the page is isolated, so that it turns nothing around it.
    """
    shown = "" if text is None else str(text)
    if get_language_bidi() or runs_from_the_right(shown):
        return format_html("<bdi>{}</bdi>", reveal(shown))
    return reveal(shown)


@register.filter
def breakable(address: str) -> SafeString:
    """An e-mail address that a narrow place may break before its domain."""
    name, at, domain = address.rpartition("@")
    return format_html("{}<wbr>{}", name, f"{at}{domain}")


@register.simple_tag
def inert(text: str, spans: Sequence[Span] = ()) -> SafeString:
    """Text held back for suspicion: every hidden character drawn, matched spans (start, end, rule) marked."""
    return reveal_spans(text, spans)


@register.simple_tag
def worddiff(old: str, new: str) -> WordDiff:
    """`{% worddiff a b as d %}` → `d.old`, `d.new` (safe), `d.marked`; plain when too different."""
    return word_diff(old, new)


# Times and numbers ---------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _instant(_language: str | None, second: datetime) -> SafeString:
    """The attributes that say an instant of UTC to the second; rows of a list are often of the same one."""
    text = date_format(second, pgettext("date format", "j M Y, H:i:s"))
    return format_html('datetime="{}" title="{} UTC"', second.isoformat(timespec="seconds"), text)


def _time(moment: datetime, text: str, mark: str = "") -> SafeString:
    instant = _instant(get_language(), moment.astimezone(UTC).replace(microsecond=0))
    return format_html("<time {}{}>{}</time>", instant, mark, text)


def _span(seconds: float) -> str:
    if seconds < HOUR:
        count, text = int(seconds // MINUTE), ngettext("%(n)d min", "%(n)d min", int(seconds // MINUTE))
    elif seconds < DAY:
        count, text = int(seconds // HOUR), ngettext("%(n)d h", "%(n)d h", int(seconds // HOUR))
    else:
        count, text = int(seconds // DAY), ngettext("%(n)d day", "%(n)d days", int(seconds // DAY))
    return text % {"n": count}


@register.filter
def lasting(minutes: int) -> str:
    """A length of time in the largest unit that says it exactly: 1440 → 1 day, 90 → 90 min."""
    seconds = minutes * MINUTE
    if minutes and seconds % DAY == 0:
        return _span(seconds)
    if minutes and seconds % HOUR == 0:
        return ngettext("%(n)d h", "%(n)d h", seconds // HOUR) % {"n": seconds // HOUR}
    return ngettext("%(n)d min", "%(n)d min", minutes) % {"n": minutes}


@register.simple_tag
def ago(moment: datetime | None, short: bool = False) -> SafeString | str:
    """Relative time with the full instant on hover; a date when it is more than 30 days away."""
    if moment is None:
        return "–"
    seconds = (timezone.now() - moment).total_seconds()
    distance = abs(seconds)
    if distance >= LONGEST_RELATIVE:
        return _time(moment, date_format(moment.astimezone(UTC), pgettext("date format", "j M Y")))
    if distance < MINUTE:
        return _time(moment, _("now") if short else _("just now"))
    span = _span(distance)
    if short:
        return _time(moment, span)
    return _time(moment, (_("%s ago") if seconds >= 0 else _("in %s")) % span)


@register.simple_tag
def when(moment: datetime | None) -> SafeString | str:
    """Absolute time in the zone of the request; app.js rewrites it to the viewer's own and keeps UTC on hover."""
    if moment is None:
        return "–"
    here = moment.astimezone(timezone.get_current_timezone())
    text = date_format(here, _when_format())
    return _time(moment, f"{text} {here.tzname()}", SafeString(" data-local"))


@register.simple_tag
def when_words() -> SafeString:
    """Attributes of <html> by which app.js writes a time as `when` does: the format, and its names of months."""
    form = _when_format()
    month = "N" if "N" in form else "M"
    names = "|".join(date_format(date(2000, number, 1), month) for number in range(1, 13))
    return format_html('data-when="{}" data-months="{}"', form, names)


def _when_format() -> str:
    """Of the letters j, M, N, Y, H and i, which app.js knows as well."""
    return pgettext("date format", "j M Y, H:i")


@register.filter
def weekday(day: Any) -> str:
    """A day with its name, as tables of figures show it."""
    return date_format(day, pgettext("date format", "D j M Y"))


@register.filter
def words(code: Any) -> str:
    """A code of the domain in words: `tool_output` → tool output."""
    return plain(str(code))


@register.filter
def sizes(number: Any) -> str:
    """A count with grouping: 10128 → 10,128, and 10,000+ where counting stopped. Nothing is shown for None."""
    if number is None:
        return "–"
    grouped = number_format(number, use_l10n=True, force_grouping=True)
    return f"{grouped}+" if getattr(number, "more", False) else grouped


@register.filter
def raw(number: Any) -> str:
    """A number for a machine (attribute or hidden field), never in the viewer's own notation."""
    return str(number)


@register.filter
def unit_score(value: float | None) -> str:
    """A score from 0 to 1 with two decimals."""
    return "–" if value is None else number_format(value, decimal_pos=2)


# Sparklines ----------------------------------------------------------------------------------------


def _runs(values: Sequence[float | None]) -> list[list[tuple[int, float]]]:
    """Stretches without a gap, as (index, value)."""
    runs: list[list[tuple[int, float]]] = [[]]
    for index, value in enumerate(values):
        if value is None:
            runs.append([])
        else:
            runs[-1].append((index, float(value)))
    return [run for run in runs if run]


@register.simple_tag
def sparkline(values: Sequence[float | None], width: int = 150, height: int = 36) -> SafeString:
    """Decorative line drawn by the server; a gap in the data is a gap in the line.

    The number beside it carries the meaning, so it is hidden from screen readers. It uses SVG attributes
    only: the content security policy allows no style attribute.
    """
    runs = _runs(values)
    known = [value for run in runs for _index, value in run]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    step = width / max(len(values) - 1, 1)
    scale = (height - 6) / ((high - low) or 1.0)

    def point(index: float, value: float) -> str:
        return f"{index * step:.1f},{height - 3 - (value - low) * scale:.1f}"

    shapes = []
    for run in runs:
        line = [point(index, value) for index, value in run]
        if len(line) == 1:  # a lone day would be a line of no length
            line.append(point(run[0][0] + 0.4, run[0][1]))
        first, last = line[0].split(",")[0], line[-1].split(",")[0]
        path = " ".join(line)
        shapes.append((f"{first},{height} {path} {last},{height}", path))
    body = format_html_join("", '<polygon points="{}"/><polyline points="{}"/>', shapes)
    return format_html(
        '<svg class="spark" viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true">{}</svg>',
        width,
        height,
        body,
    )
