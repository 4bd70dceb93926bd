"""What the tests of deleting and of erasing in the browser share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory.models import Memory
    from tests.pages.staging import Full


def form_of(page: str) -> dict[str, str]:
    """The hidden fields of the page's form."""
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page)
    return {name: value for name, value in found if name != "csrfmiddlewaretoken"}


def statuses(full: Full, rows: list[Memory]) -> list[str]:
    """By what the rows are by now."""
    from memory.models import Memory

    with full.stage.context():
        return [Memory.objects.get(id=row.id).status for row in rows]
