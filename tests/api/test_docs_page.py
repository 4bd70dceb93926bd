"""The page to try the API, in a real browser under the product's content security policy."""

from __future__ import annotations

from tests.browser import OpenAs
from tests.factories import Stage


def test_docs_page__with_a_key__tries_a_call(open_as: OpenAs, stage: Stage) -> None:
    page = open_as(None).go("/api/v1/docs/")
    page.click(".btn.authorize")
    page.fill(".auth-container input", stage.coder.key_text)
    page.click(".auth-btn-wrapper .authorize")
    page.click(".btn-done")
    call = page.locator("#operations-looking_on-whoami")
    call.locator(".opblock-summary-control").click()
    call.locator("button.execute").click()
    answer = call.locator(".live-responses-table .response").first
    answer.wait_for()
    assert "200" in answer.inner_text() and stage.tenant.slug in answer.inner_text()
    # `open_as` fails the test on anything in the console, so on any breach of the policy.
