"""The product's settings with one language more: marked texts, written from right to left."""

from __future__ import annotations

import os

from memgov.settings import *  # noqa: F403
from memgov.settings import BASE_DIR

LANGUAGES = [("en", "English"), ("de", "Deutsch"), ("ar", "Marked")]
LOCALE_PATHS = [os.environ["MEMGOV_TEST_LOCALE"], BASE_DIR / "locale"]
