#!/bin/sh
# Builds the site of docs/ into build/docs-site, or into the folder that is named; any warning is an error.
#
# MkDocs lives in an environment of its own (build/docs-environment), so that the product's stays small.  The list is
# written by the command in the heading of requirements/docs.txt.  Needs .venv (scripts/environment.sh).
set -eu
cd "$(dirname "$0")/.."
folder=build/docs-environment

fingerprint() {
    { .venv/bin/python --version; cat requirements/docs.txt; } | cksum
}

if [ "$(cat "$folder/.installed" 2>/dev/null)" != "$(fingerprint)" ]; then
    printf '%s\n' "memgov: installing what builds the docs; this takes some seconds the first time" >&2
    rm -rf "$folder"
    .venv/bin/python -m venv "$folder"
    "$folder/bin/python" -m pip --disable-pip-version-check --no-input --quiet \
        install --no-deps --require-hashes -r requirements/docs.txt
    fingerprint >"$folder/.installed"
fi

# The theme's makers warn of MkDocs 2 at every build; the list holds it below 2.
NO_MKDOCS_2_WARNING=1 exec "$folder/bin/python" -m mkdocs build --strict --quiet --site-dir "${1:-build/docs-site}"
