"""What is too long to be a request is refused in the product's own shapes."""

from __future__ import annotations

import http.client
import json

import pytest

from memgov.web_worker import HEADER_BYTES, HEADERS, REQUEST_LINE_BYTES
from tests.launcher.launched import Launched


def _get(product: Launched, path: str, headers: dict[str, str]) -> tuple[int, str, str]:
    connection = http.client.HTTPConnection("127.0.0.1", product.port, timeout=20)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.headers.get_content_type(), answer.read().decode()


@pytest.mark.parametrize(
    ("extra", "headers", "status", "code", "limit"),
    [
        (REQUEST_LINE_BYTES, {}, 414, "request_line_too_long", REQUEST_LINE_BYTES),
        (500_000, {}, 414, "request_line_too_long", REQUEST_LINE_BYTES),
        (0, {"X-Long": "x" * (HEADER_BYTES + 1)}, 431, "headers_too_large", HEADER_BYTES),
        (0, {f"X-{number}": "x" for number in range(HEADERS + 1)}, 431, "headers_too_large", HEADERS),
    ],
)
def test_request__too_long__problem_for_calls_and_page_for_people(
    running_product: tuple[Launched, str],
    extra: int,
    headers: dict[str, str],
    status: int,
    code: str,
    limit: int,
) -> None:
    product, query = running_product[0], f"?q={'q' * extra}"
    got, kind, body = _get(product, f"/api/v1/memories{query}", headers)
    assert (got, kind) == (status, "application/problem+json")
    problem = json.loads(body)
    assert (problem["code"], problem["status"]) == (code, status) and f"{limit:,}" in problem["detail"]
    got, kind, body = _get(product, f"/accounts/login/{query}", headers)
    assert (got, kind) == (status, "text/html") and "<h1>" in body and f"{limit:,}" in body


def test_request__line_within_the_limit__reaches_the_product(running_product: tuple[Launched, str]) -> None:
    path = f"/api/v1/memories?q={'q' * (REQUEST_LINE_BYTES - 100)}"
    status, kind, body = _get(running_product[0], path, {})
    assert (status, kind) == (401, "application/problem+json") and json.loads(body)[
        "code"
    ] == "not_authenticated"
