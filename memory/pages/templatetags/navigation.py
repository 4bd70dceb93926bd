"""The entries of the side navigation. A page whose URL is not installed is left out, not linked dead."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.urls import NoReverseMatch
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from memory.pages.addresses import path_of


class Entry(NamedTuple):
    """One link: `slug` is both the URL name in `pages:` and the key of its count."""

    slug: str
    icon: str
    label: str | Promise
    hot: bool = False


class Group(NamedTuple):
    """A titled part of the navigation. `needs` is a key of the template variable `can`, or ""."""

    title: str | Promise
    entries: tuple[Entry, ...]
    needs: str = ""


GROUPS = (
    Group("", (Entry("start", "home", _("Start")),)),
    Group(
        _("Review"),
        (
            Entry("promotions", "inbox", _("Promotions")),
            Entry("contradictions", "git-merge", _("Contradictions")),
            Entry("quarantine", "shield-x", _("Quarantine"), hot=True),
            Entry("evictions", "archive", _("Evictions")),
            Entry("blast", "sitemap", _("Blast radius")),
        ),
    ),
    Group(
        _("Observe"),
        (
            Entry("health", "activity-heartbeat", _("Health")),
            Entry("alerts", "bell", _("Alerts"), hot=True),
            Entry("sweeps", "refresh", _("Sweeps")),
            Entry("memories", "topology-star-3", _("Memories")),
            Entry("manifests", "eye", _("Reads")),
            Entry("audit", "history", _("Audit log")),
        ),
    ),
    Group(
        _("Manage"),
        (
            Entry("agents", "robot", _("Agents and keys")),
            Entry("members", "users", _("Members")),
            Entry("scopes", "sitemap", _("Scopes")),
            Entry("mounts", "file-diff", _("Mounts")),
            Entry("policies", "adjustments", _("Policies")),
            Entry("vocabulary", "selector", _("Vocabulary")),
            Entry("settings", "settings", _("Settings")),
        ),
    ),
    Group(
        _("Data"),
        (
            Entry("imports", "archive", _("Imports")),
            Entry("exports", "download", _("Exports")),
            Entry("erasures", "eraser", _("Erasure")),
        ),
        needs="admin",
    ),
)


def _link(entry: Entry, tenant_slug: str, active: str, counts: Mapping[str, int]) -> dict[str, Any] | None:
    try:
        url = path_of(entry.slug, tenant_slug)
    except NoReverseMatch:
        return None
    return {
        "slug": entry.slug,
        "url": url,
        "icon": entry.icon,
        "label": entry.label,
        "hot": entry.hot,
        "count": counts.get(entry.slug),
        "on": entry.slug == active,
    }


def menu(
    tenant_slug: str, active: str, counts: Mapping[str, int], can: Mapping[str, bool]
) -> list[dict[str, Any]]:
    """Groups with their links, for one viewer of one tenant."""
    shown = []
    for group in GROUPS:
        if group.needs and not can.get(group.needs):
            continue
        links = [link for e in group.entries if (link := _link(e, tenant_slug, active, counts))]
        if links:
            shown.append({"title": group.title, "links": links})
    return shown
