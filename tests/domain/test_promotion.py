from dataclasses import replace

import pytest

from memory.domain.policy import Policy
from memory.domain.promotion import PromotionFacts, may_decide, route, stale, triggered
from memory.domain.scopes import parse_scope
from memory.domain.types import Kind, Layer, Status

DEFAULT = Policy()
AGENT, PROJECT, SHARED, GLOBAL = map(parse_scope, ("agent:a", "project:p", "shared", "global"))
SOUND = PromotionFacts(trust=0.9, confidence=0.9)


def test_route__low_risk_into_a_project__is_approved_by_policy():
    tier = route(DEFAULT, AGENT, PROJECT, SOUND)
    assert (tier.auto_approve, tier.approvals_needed, tier.risk) == (True, 0, "low")
    assert tier.why


@pytest.mark.parametrize("target", [SHARED, GLOBAL])
def test_route__shared_and_global__always_need_a_person(target):
    tier = route(DEFAULT, PROJECT, target, SOUND)
    assert not tier.auto_approve and tier.approvals_needed >= 1
    assert any("person" in reason for reason in tier.why)


@pytest.mark.parametrize(
    ("changed", "risk"),
    [
        ({"trust": 0.5}, "medium"),
        ({"confidence": 0.7}, "medium"),
        ({"contradictions": 1}, "high"),
        ({"findings": 2}, "high"),
        ({"status": Status.CONTESTED}, "high"),
        ({"kind": Kind.PROCEDURE, "trust": 0.5}, "high"),
        ({"kind": Kind.PROCEDURE}, "low"),
        ({"layer": Layer.WORKING}, "medium"),
    ],
)
def test_route__facts__decide_the_risk(changed: dict[str, object], risk: str):
    tier = route(DEFAULT, AGENT, PROJECT, replace(SOUND, **changed))  # type: ignore[arg-type]
    assert tier.risk == risk and tier.auto_approve == (risk == "low")


def test_route__policy_asks_for_two__needs_two():
    policy = Policy.model_validate(
        {"promotion": {"approvals": {"global": 2}, "high_risk_approvals": 3, "auto_approve_into": []}}
    )
    assert route(policy, PROJECT, GLOBAL, SOUND).approvals_needed == 2
    assert route(policy, PROJECT, SHARED, SOUND).approvals_needed == 1
    assert route(policy, AGENT, PROJECT, replace(SOUND, contradictions=1)).approvals_needed == 3
    assert not route(policy, AGENT, PROJECT, SOUND).auto_approve


@pytest.mark.parametrize("pair", [(PROJECT, PROJECT), (SHARED, PROJECT), (PROJECT, AGENT)])
def test_route__target_not_wider__is_refused(pair):
    with pytest.raises(ValueError, match="not wider"):
        route(DEFAULT, *pair, SOUND)


def test_may_decide__proposer_or_machine__may_not():
    assert may_decide("user:1", "agent:7")
    assert not may_decide("user:1", "user:1")
    assert not may_decide("agent:8", "agent:7", actor_is_person=False)


@pytest.mark.parametrize(
    ("reproductions", "uses", "confirmed", "expected"),
    [
        (0, 0, True, "user_confirmation"),
        (3, 0, False, "reproductions"),
        (2, 10, False, "uses"),
        (2, 9, False, None),
    ],
)
def test_triggered__thresholds__open_a_request(
    reproductions: int, uses: int, confirmed: bool, expected: str | None
):
    assert triggered(DEFAULT, reproductions, uses, confirmed) == expected


def test_stale__memory_changed_since__yes():
    assert stale(1, 2) and not stale(2, 2)
