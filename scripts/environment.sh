#!/bin/sh
# Makes .venv and installs the locked dependencies into it; does nothing when they are there already.
#
#   scripts/environment.sh base     what the product needs
#   scripts/environment.sh dev      and what its tests need
set -eu
level=$1
cd "$(dirname "$0")/.."

say() { printf '%s\n' "memgov: $*" >&2; }

find_python() {
    for candidate in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
        if command -v "$candidate" >/dev/null 2>&1 &&
            "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            command -v "$candidate"
            return
        fi
    done
    say "Python 3.11 or newer is needed and none was found (python3 is $(python3 --version 2>&1 || echo missing));"
    say "install one, or name it: make up PYTHON=/path/to/python3.12"
    exit 1
}

make_venv() {
    python=$(find_python)
    if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        say "this Python cannot make virtual environments; on Debian or Ubuntu: apt install python$version-venv"
        exit 1
    fi
    say "making .venv with $("$python" --version)"
    rm -rf .venv
    "$python" -m venv .venv || { rm -rf .venv; say ".venv could not be made"; exit 1; }
}

# A moved or copied environment still points to its old place.
is_made_here() {
    .venv/bin/python -c '' >/dev/null 2>&1 && head -n 3 .venv/bin/pip 2>/dev/null | grep -qF "$(pwd -P)/.venv/bin/"
}

fingerprint() {
    { .venv/bin/python --version; cat pyproject.toml requirements/build.txt "requirements/$1.txt"; } | cksum
}

is_current() {
    [ "$(cat ".venv/.installed-$1" 2>/dev/null)" = "$(fingerprint "$1")" ]
}

install() {
    say "installing the locked dependencies ($level); this takes a minute the first time"
    pip=".venv/bin/python -m pip --disable-pip-version-check --no-input --quiet"
    lists="-r requirements/$level.txt"
    [ "$level" = dev ] || lists="-r requirements/build.txt $lists"
    rm -f .venv/.installed-*
    $pip install --require-hashes $lists || {
        say "the dependencies could not be installed (see above); nothing else was changed"
        exit 1
    }
    $pip install --no-deps --no-build-isolation -e . >.venv/install.log 2>&1 || {
        cat .venv/install.log >&2
        exit 1
    }
    fingerprint "$level" >".venv/.installed-$level"
    if [ "$level" = dev ]; then fingerprint base >.venv/.installed-base; fi
}

is_made_here || make_venv
is_current "$level" || install
