"""The addresses of pages, worked out once for each page and id: a page of a list writes a hundred of them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from django.urls import get_script_prefix, reverse


def path_of(name: str, *args: Any) -> str:
    """The path of a page by the name of its view.  Raises NoReverseMatch as `reverse` does."""
    return _path(get_script_prefix(), name, args)


@lru_cache(maxsize=16_384, typed=True)
def _path(_prefix: str, name: str, args: tuple[Any, ...]) -> str:
    return reverse(f"pages:{name}", args=args)
