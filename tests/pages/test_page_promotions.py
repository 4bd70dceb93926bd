"""The promotion queue: what is shown, what a decision does, and what happens when someone was faster."""

from __future__ import annotations

from django.test import Client

from memory.models import Memory, PromotionRequest
from tests.pages.staging import Full, prm

HX = {"HX-Request": "true", "HX-Target": "detail"}


def test_queue__as_reviewer__shows_the_request_and_who_will_read_it(full: Full, reviewer: Client) -> None:
    answer = reviewer.get(full.at("promotions/"))
    text = answer.content.decode()
    assert answer.status_code == 200
    assert full.memory.content in text
    assert full.stage.orchestrator.agent.name in text
    assert answer["Cache-Control"] == "no-store"
    assert "HX-Request" in answer["Vary"] and "HX-Target" in answer["Vary"]


def test_approve__by_a_reviewer__widens_the_scope(full: Full, reviewer: Client) -> None:
    at = full.at(f"promotions/{prm(full.request)}/decide/")
    answer = reviewer.post(at, {"action": "approve", "version": full.request.version})
    assert answer.status_code == 303
    with full.stage.context():
        assert Memory.objects.get(id=full.memory.id).scope == "shared"
        assert PromotionRequest.objects.get(id=full.request.id).status == "approved"
