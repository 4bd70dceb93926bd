"""A fresh tenant, as for the page tests, whose plain static files they share."""

from __future__ import annotations

from tests.pages.conftest import _plain_static_files, full, owner, reviewer, stage

__all__ = ["_plain_static_files", "full", "owner", "reviewer", "stage"]
