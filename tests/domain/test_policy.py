import json

import pytest
from pydantic import ValidationError

from memory.domain.policy import Policy, diff_words, policy_schema, preset
from memory.domain.scopes import parse_scope
from memory.domain.types import Kind, Layer, Origin


def test_policy__default__has_the_numbers_of_the_product_page():
    p = Policy()
    assert [p.defaults.trust[o] for o in Origin] == [1.0, 0.9, 0.8, 0.5, 0.5, 0.4, 0.0]
    assert [p.defaults.confidence[o] for o in Origin] == [1.0, 0.9, 0.9, 0.7, 0.7, 0.5, 0.3]
    floor = p.admission.confidence_floor
    assert (floor.narrow, floor.middle, floor.wide) == (0.3, 0.6, 0.7)
    assert (p.admission.importance_floor, p.admission.min_value_length, p.defaults.importance) == (
        0.6,
        3,
        0.7,
    )
    assert (p.text.content_characters, p.reconciliation.cap, p.reconciliation.conflict_margin) == (
        8000,
        500,
        0.15,
    )
    assert (p.decay.floor, p.retention.sweep_guard, p.retention.restore_days) == (0.15, 0.20, 30)
    assert (p.freshness.bands[Kind.FACT].fresh_days, p.freshness.bands[Kind.FACT].aging_days) == (30, 90)
    assert (p.retrieval.limit, p.retrieval.max_tokens, p.retrieval.max_source_share) == (10, 1500, 0.5)
    assert (p.promotion.trigger_reproductions, p.promotion.trigger_uses) == (3, 10)
    assert p.defaults.ttl_seconds[Layer.WORKING] == 3600 and p.retention.episode_days == 14
    assert p.sanitisation.instruction_trust_floor == 0.8


def test_policy__dumped_as_json__is_read_back():
    policy = Policy(scopes={"project:*": {"decay": {"floor": 0.25}}})
    assert Policy.model_validate_json(policy.model_dump_json()) == policy


@pytest.mark.parametrize(
    ("document", "where"),
    [
        ({"decay": {"flor": 0.2}}, "flor"),
        ({"decay": {"floor": 1.2}}, "floor"),
        ({"unknown": 1}, "unknown"),
        ({"promotion": {"auto_approve_into": ["shared"]}}, "always need a person"),
        ({"scopes": {"projekt:*": {}}}, "projekt"),
        ({"scopes": {"project:*": {"decay": {"flor": 0.2}}}}, "flor"),
        ({"scopes": {"project:*": {"scopes": {}}}}, "cannot be set per scope"),
        ({"scopes": {"project:*": {"rate_limits": {}}}}, "cannot be set per scope"),
        ({"freshness": {"bands": {"fact": {"fresh_days": 9, "aging_days": 3}}}}, "aging_days"),
        ({"defaults": {"trust": {"gossip": 0.4}}}, "trust"),
    ],
)
def test_policy__wrong_document__is_refused_and_named(document: dict[str, object], where: str):
    with pytest.raises(ValidationError, match=where):
        Policy.model_validate(document)


def test_policy__table_with_one_line__keeps_the_default_of_the_others():
    policy = Policy.model_validate({"defaults": {"trust": {"external": 0.2}}})
    assert policy.defaults.trust[Origin.EXTERNAL] == 0.2
    assert policy.defaults.trust[Origin.USER_EXPLICIT] == 0.9


def test_for_scope__several_patterns_match__the_most_specific_wins():
    policy = Policy(
        scopes={
            "project:alpha": {"decay": {"floor": 0.4}},
            "*": {"decay": {"floor": 0.2}, "reconciliation": {"cap": 50}},
            "project:*": {"decay": {"floor": 0.3}},
        }
    )
    alpha = policy.for_scope(parse_scope("project:alpha"))
    assert (alpha.decay.floor, alpha.reconciliation.cap, alpha.decay.idle_days_scale) == (0.4, 50, 30)
    assert policy.for_scope(parse_scope("project:beta")).decay.floor == 0.3
    assert policy.for_scope(parse_scope("user:1")).decay.floor == 0.2
    assert Policy().for_scope(parse_scope("user:1")) == Policy()


def test_diff_words__some_changes__one_line_each():
    new = Policy.model_validate(
        {
            "decay": {"floor": 0.25},
            "admission": {"refuse_vague_text": False, "transient_predicates": ["mood", "weather"]},
            "reconciliation": {"cap": None},
            "scopes": {"project:*": {"decay": {"floor": 0.4}}},
        }
    )
    lines = diff_words(Policy(), new)
    assert "decay floor 0.15 → 0.25" in lines
    assert "admission refuse vague text on → off" in lines
    assert "reconciliation cap 500 → none" in lines
    assert "scopes project:* decay floor none → 0.4" in lines
    assert any(line.startswith("admission transient predicates −") and "+weather" in line for line in lines)
    assert len(lines) == 5
    assert diff_words(new, new) == []


def test_policy_schema__exported__is_json_and_explains_itself():
    schema = policy_schema()
    assert json.loads(json.dumps(schema))["additionalProperties"] is False
    assert "floor" in schema["$defs"]["Decay"]["properties"]


def test_preset__unknown__is_refused():
    assert preset("default") == Policy()
    with pytest.raises(ValueError, match="open"):
        preset("closed")


def test_for_scope__asked_again__is_the_same_and_a_changed_copy_is_not_what_its_model_was():
    policy = Policy.model_validate({"scopes": {"project:*": {"reconciliation": {"cap": 7}}}})
    here = parse_scope("project:alpha")
    assert policy.for_scope(here) is policy.for_scope(parse_scope("project:beta"))
    assert policy.for_scope(here).reconciliation.cap == 7
    decay = policy.decay.model_copy(update={"floor": 0.5})
    changed = policy.model_copy(update={"decay": decay})
    assert changed.for_scope(here).decay.floor == 0.5 != policy.for_scope(here).decay.floor
    same = Policy.model_validate(policy.model_dump())
    assert same == policy and same.for_scope(here) == policy.for_scope(here) and same == policy
