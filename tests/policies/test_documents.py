"""The document as text and as single settings: faults at their place and line, and values from form fields."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from memory.domain.policy import PRESETS, Policy, diff_words, preset, sparse
from memory.domain.policy_faults import faults
from memory.domain.policy_fields import (
    NOTHING,
    Setting,
    as_text,
    at,
    effective,
    from_text,
    settings,
    settings_of_scopes,
    with_value,
)
from memory.services.policies import PolicyInvalid, policy_read

FAULTY = """\
# what we keep
decay:
  flor: 0.2
  use_weight: 1.4
scopes:
  project:*:
    reconciliation:
      cap: none
    rate_limits: {}
  projekt:alpha: {}
"""


def lines_of(text: str) -> list[tuple[int, str]]:
    with pytest.raises(PolicyInvalid) as caught:
        policy_read(text)
    return [(one.line, one.place) for one in caught.value.faults]


def test_read__several_faults__each_with_line_and_place() -> None:
    assert lines_of(FAULTY) == [
        (3, "decay.flor"),
        (4, "decay.use_weight"),
        (8, "scopes.project:*.reconciliation.cap"),
        (9, "scopes.project:*.rate_limits"),
        (10, "scopes.projekt:alpha"),
    ]


def test_read__name_nearly_right__is_suggested() -> None:
    with pytest.raises(PolicyInvalid, match=r"policy decay.flor: line 1: .*did you mean floor\?"):
        policy_read("decay: {flor: 0.2}")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("decay:\n  floor: 0.2\n  floor: 0.3\n", 3),
        ("a: &a {b: 1}\nc: *a\n", 2),
        ("decay: [1, 2\n", 2),
        ("- decay\n", 1),
        ("just words", 1),
        ("decay:\n  floor: !!python/object:os.system {}\n", 2),
        ("a: " + "[" * 200, 1),
        ('admission:\n  transient_predicates:\n  - ok\n  - "\\ud800"\n', 4),
        ("decay: {floor: .nan}", 1),
        ("decay: {idle_days_scale: 1.0e+300}", 1),
        ("reconciliation: {cap: 99999999999999999999}", 1),
        ("x" * 200_001, 1),
    ],
)
def test_read__what_is_no_policy__is_refused_with_a_line(text: str, line: int) -> None:
    assert [found for found, _place in lines_of(text)] == [line]


@pytest.mark.parametrize("text", ["", "# nothing differs\n", "{}", "decay: {}"])
def test_read__nothing_that_differs__is_the_default(text: str) -> None:
    assert Policy.model_validate(policy_read(text)) == Policy()


def test_read__json__is_yaml_as_well() -> None:
    assert policy_read('{"decay": {"floor": 0.2}, "scopes": {"*": {"decay": {"floor": 0.1}}}}') == {
        "decay": {"floor": 0.2},
        "scopes": {"*": {"decay": {"floor": 0.1}}},
    }


def test_faults__agree_with_the_policy_itself() -> None:
    bad: list[dict[str, object]] = [
        {"decay": {"flor": 0.2}}, {"decay": {"floor": 1.2}}, {"unknown": 1}, {"scopes": {"projekt:*": {}}},
        {"promotion": {"auto_approve_into": ["shared"]}}, {"scopes": {"project:*": {"decay": {"flor": 0.2}}}},
        {"scopes": {"project:*": {"scopes": {}}}}, {"defaults": {"trust": {"gossip": 0.4}}}, {"scopes": []},
        {"scopes": {"*": 3}}, {"decay": 3},
        {"freshness": {"volatile": {"fresh_days": 50, "aging_days": 40}}},
        # Each is right alone; together the override is wrong.
        {"freshness": {"volatile": {"fresh_days": 40, "aging_days": 50}},
         "scopes": {"shared": {"freshness": {"volatile": {"aging_days": 20}}}}},
    ]  # fmt: skip
    for document in bad:
        assert faults(document), document
        with pytest.raises(ValidationError):
            Policy.model_validate(document)
    for name in PRESETS:
        assert faults(preset(name).model_dump(mode="json")) == []


def test_sparse__of_every_preset__is_the_same_policy_and_short() -> None:
    for name in PRESETS:
        policy = preset(name)
        short = sparse(policy)
        assert Policy.model_validate(short) == policy
        assert bool(short) == bool(diff_words(Policy(), policy))
    overridden = Policy(scopes={"project:*": {"decay": {"floor": 0.2}}})
    assert sparse(overridden) == {"scopes": {"project:*": {"decay": {"floor": 0.2}}}}


def test_preset__partly_named_table__keeps_its_other_lines() -> None:
    policy = Policy.model_validate({"admission": {"confidence_floor": {"wide": 0.8}}})
    floor = policy.admission.confidence_floor
    assert (floor.narrow, floor.middle, floor.wide) == (0.3, 0.6, 0.8)


def test_settings__cover_the_whole_document() -> None:
    def leaves(part: object) -> int:
        return sum(map(leaves, part.values())) if isinstance(part, dict) else 1

    document = Policy().model_dump(mode="json")
    del document["scopes"], document["schema_version"]
    assert len(settings()) == leaves(document)
    assert all(at(document, one.path) is not NOTHING for one in settings())
    scoped = {one.path[0] for one in settings_of_scopes()}
    assert "decay" in scoped and not scoped & {"rate_limits", "text", "working", "manifests"}


def test_settings__every_value_as_text__is_read_back_as_it_was() -> None:
    for name in PRESETS:
        document = preset(name).model_dump(mode="json")
        for one in settings():
            value = at(document, one.path)
            given = value if one.kind == "several" else [as_text(one, value)]
            assert from_text(one, given) == value, one.name


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("decay.floor", "1.01"), ("decay.floor", "-0.1"), ("decay.floor", ""), ("decay.floor", "a"),
        ("decay.floor", "nan"), ("decay.floor", "inf"), ("decay.floor", "٠.٢"), ("decay.floor", "1_0"),
        ("decay.idle_days_scale", "0"), ("reconciliation.cap", "0"), ("reconciliation.cap", "1.5"),
        ("reconciliation.cap", "9" * 40), ("reconciliation.echoes", "perhaps"), ("admission.refuse_vague_text", ""),
        ("retention.restore_days", "36501"),
    ],
)  # fmt: skip
def test_from_text__not_allowed__says_what_is_expected(name: str, text: str) -> None:
    with pytest.raises(ValueError, match=r"write|has to be|choose"):
        from_text(setting(name), [text])


def test_from_text__optional_and_lists__are_read() -> None:
    assert from_text(setting("reconciliation.cap"), [" "]) is None
    assert from_text(setting("admission.transient_predicates"), ["mood \r\n\r\n mood\nlast_seen"]) == [
        "mood",
        "last_seen",
    ]
    assert from_text(setting("sanitisation.hold_untrusted_kinds"), ["event", "fact"]) == ["fact", "event"]
    with pytest.raises(ValueError, match="choose"):
        from_text(setting("sanitisation.hold_untrusted_kinds"), ["rumour"])


def setting(name: str) -> Setting:
    return next(one for one in settings() if one.name == name)


def test_with_value__taken_away__leaves_no_empty_part() -> None:
    document = with_value({}, ("scopes", "project:*", "decay", "floor"), 0.3)
    assert document == {"scopes": {"project:*": {"decay": {"floor": 0.3}}}}
    assert with_value(document, ("scopes", "project:*", "decay", "floor"), NOTHING) == {}


def test_effective__below_a_wider_pattern__holds_what_that_says() -> None:
    scopes = {
        "*": {"decay": {"floor": 0.2}},
        "project:*": {"reconciliation": {"cap": 9}},
        "project:a": {"digest": {"max_tokens": 7}},
    }
    document = {"decay": {"floor": 0.1}, "scopes": scopes}
    found = effective(document, "project:a")
    assert (found["decay"]["floor"], found["reconciliation"]["cap"], found["digest"]["max_tokens"]) == (
        0.2,
        9,
        7,
    )
    assert effective(document, "project:*")["digest"]["max_tokens"] == 1500
    assert effective(document, "shared")["decay"]["floor"] == 0.2
    assert effective(document)["decay"]["floor"] == 0.1
