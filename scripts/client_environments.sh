#!/bin/sh
# Makes the environments in which the client's adapters meet the real frameworks: client/.venvs/agents and crewai, and
# client/.venvs/oldest with the oldest Python that the client runs on, where this machine has one (PYTHON310 names it).
# Does nothing when they are there already.  Needs .venv (scripts/environment.sh dev).
#
# The lists are written, in client/requirements, by
#   uv pip compile NAME.in --universal --python-version 3.11 --generate-hashes -o NAME.txt
# (oldest: --python-version 3.10), and that of CrewAI without what its memory never imports (the --no-emit-package in its heading): they are installed
# as they stand, without resolving anything.
set -eu
cd "$(dirname "$0")/.."

say() { printf '%s\n' "memgov: $*" >&2; }

oldest_python() {
    for candidate in "${PYTHON310:-}" python3.10 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.10.*/bin/python; do
        if [ -n "$candidate" ] && "$candidate" -c 'import sys, venv; sys.exit(sys.version_info[:2] != (3, 10))' 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
    return 1
}

python_of() {
    if [ "$1" = oldest ]; then oldest_python; else echo .venv/bin/python; fi
}

fingerprint() {
    { "$(python_of "$1")" --version; cat "client/requirements/$1.txt"; } | cksum
}

install() {
    folder="client/.venvs/$1"
    [ "$(cat "$folder/.installed" 2>/dev/null)" = "$(fingerprint "$1")" ] && return
    rm -rf "$folder"
    "$(python_of "$1")" -m venv "$folder"
    "$folder/bin/python" -m pip --disable-pip-version-check --no-input --quiet \
        install --no-deps --require-hashes -r "client/requirements/$1.txt"
    fingerprint "$1" >"$folder/.installed"
}

[ -n "${1:-}" ] && { install "$1"; exit; }
say "installing the agent frameworks that the client is tested with; this takes a minute or two the first time"
sh "$0" agents &
agents=$!
sh "$0" crewai
if oldest_python >/dev/null; then sh "$0" oldest; fi
wait "$agents"
