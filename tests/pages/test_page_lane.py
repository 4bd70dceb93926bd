"""Pages keep the whole lane of middleware, also the one page below the API's address."""

from __future__ import annotations

import pytest
from django.test import Client

pytestmark = pytest.mark.usefixtures("database")


@pytest.mark.parametrize("path", ["/", "/api/v1/docs/"])
def test_page__keeps_its_policy_with_a_nonce(path: str) -> None:
    answer = Client().get(path)
    assert answer.status_code == 200 and "'strict-dynamic'" in answer["Content-Security-Policy"]
    assert answer["X-Frame-Options"] == "DENY"


def test_page__form_without_a_token__is_refused() -> None:
    assert Client(enforce_csrf_checks=True).post("/theme/", {"theme": "dark"}).status_code == 403
