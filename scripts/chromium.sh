#!/bin/sh
# Makes sure that the tests find a Chromium: one that is there, else the system's, else Playwright's.
set -eu
cd "$(dirname "$0")/.."

say() { printf '%s\n' "memgov: $*" >&2; }

is_there() {
    for name in "${MEMGOV_CHROMIUM:-chromium}" chromium chromium-browser google-chrome google-chrome-stable; do
        command -v "$name" >/dev/null 2>&1 && return
    done
    .venv/bin/python - <<'PYTHON' >/dev/null 2>&1
import pathlib, sys
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    sys.exit(not pathlib.Path(playwright.chromium.executable_path).exists())
PYTHON
}

is_there && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    say "installing Chromium with apt-get"
    apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-liberation >/dev/null && exit 0
fi
say "installing Chromium with Playwright"
.venv/bin/python -m playwright install chromium && exit 0
say "no Chromium could be installed; install one (Debian: apt install chromium) and run this again"
exit 1
