"""Where the Chromium of the tests and the pictures is: the one search of all who need it.

Run as a program it prints the path, and ends with 1 where there is none.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Final

from playwright.sync_api import sync_playwright

VARIABLE: Final = "MEMGOV_CHROMIUM"
NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium_path() -> str:
    """What MEMGOV_CHROMIUM names (a path, or a name on the path), else the system's, else Playwright's own.

    Raises `LookupError`; also when the variable names something that is not there, which is no wish for another.
    """
    named = os.environ.get(VARIABLE, "")
    for name in (named,) if named else NAMES:
        if found := shutil.which(name):
            return found
    if named:
        raise LookupError(f"{VARIABLE} names {named}, and there is no such program")
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    if Path(own).exists():
        return own
    raise LookupError(
        f"there is no Chromium; `make chromium` installs one, and {VARIABLE} names one of yours"
    )


if __name__ == "__main__":
    try:
        print(chromium_path())
    except LookupError as error:
        sys.exit(f"memgov: {error}")
