"""Path globs of `applies_to` in SQL."""

from __future__ import annotations

# The column `glob` as a LIKE pattern: `*` any run, `?` one character, everything else itself.
AS_LIKE = r"translate(replace(replace(replace(glob, '\', '\\'), '%%', '\%%'), '_', '\_'), '*?', '%%_')"
