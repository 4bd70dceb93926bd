#!/bin/sh
# Makes sure that there is a Chromium where the tests look (scripts/chromium.py): one that is there, else the system's,
# else Playwright's.
set -eu
cd "$(dirname "$0")/.."

say() { printf '%s\n' "memgov: $*" >&2; }

if [ -n "${MEMGOV_CHROMIUM:-}" ]; then
    .venv/bin/python scripts/chromium.py >/dev/null && exit 0
    exit 1
fi
.venv/bin/python scripts/chromium.py >/dev/null 2>&1 && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    say "installing Chromium with apt-get"
    apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-liberation >/dev/null && exit 0
fi
say "installing Chromium with Playwright"
.venv/bin/python -m playwright install chromium && exit 0
say "no Chromium could be installed; install one (Debian: apt install chromium), or name it (MEMGOV_CHROMIUM=/its/path)"
exit 1
