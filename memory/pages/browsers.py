"""What a browser says of itself, cut down to what a person knows it by."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext as _

# The first that occurs is it: most browsers name the others as well.
BROWSERS: Final = (
    ("Edg/", "Edge"),
    ("EdgA/", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
SYSTEMS: Final = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


def browser_text(agent: str) -> str:
    """`Firefox on Linux`; the first 80 characters of what is not known, "" for nothing."""
    browser = next((name for mark, name in BROWSERS if mark in agent), "")
    system = next((name for mark, name in SYSTEMS if mark in agent), "")
    if not browser:
        return agent[:80]
    return _("%(browser)s on %(system)s") % {"browser": browser, "system": system} if system else browser
