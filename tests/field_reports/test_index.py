"""Which test covers which fault that users of other stores reported, for the sections about writing.

The numbers are those of the project's list of field reports.  Every line has at least one test, and every named
test is there; what a line is about stands beside it in a few words.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
WRITING = "field_reports/test_writing.py"
ONE_PATH = "services/test_one_path.py"
CLAIMS = "services/test_claims.py"
WRITE = "services/test_memory_write.py"
RACES = "services/test_write_races.py"

# (section, number, what): the tests, as file and name.
COVERED: dict[tuple[str, int, str], list[tuple[str, str]]] = {
    ("admission", 1, "own output comes back"): [
        (WRITING, "test_admission__own_digest_imported__every_line_recognised_and_nothing_new"),
    ],
    ("admission", 2, "transient state"): [
        (WRITING, "test_admission__durable_rule_about_the_same_thing__admitted"),
        (WRITE, "test_write__junk__rejected_logged_and_audited"),
    ],
    ("admission", 3, "trivial turns"): [(WRITING, "test_admission__twenty_trivial_turns__store_nothing")],
    ("admission", 4, "one gate for every writer"): [
        (ONE_PATH, "test_bad_text__by_every_writer__same_reason_one_event_nothing_to_read"),
        (ONE_PATH, "test_writers__all_callers__are_walked"),
        (ONE_PATH, "test_rows__are_built_in_one_place_only"),
    ],
    ("concurrency", 13, "two values at once"): [
        (RACES, "test_races__two_values_of_one_key__never_two_live"),
        (CLAIMS, "test_claim__rivals_at_once__never_two_live"),
    ],
    ("concurrency", 14, "session of the request"): [
        (WRITING, "test_concurrency__interleaved_agents__each_row_in_its_own_session"),
    ],
    ("concurrency", 15, "fifty identical writes"): [(RACES, "test_races__fifty_identical_writes__one_live_row")],
    ("contradiction", 16, "link and state together"): [
        (WRITING, "test_contradiction__killed_between_link_and_state__neither_or_both"),
    ],
    ("contradiction", 17, "unrelated facts stay"): [
        (CLAIMS, "test_claim__of_another_subject_or_attribute__left_alone"),
    ],
    ("contradiction", 18, "loves, hates"): [(CLAIMS, "test_claim__another_value__supersedes")],
    ("contradiction", 19, "equal sources are contested"): [
        (WRITING, "test_contradiction__two_sources_of_equal_trust__contested_with_both_values"),
    ],
    ("contradiction", 20, "there and back"): [
        (WRITE, "test_write__single_valued_key__newer_value_supersedes_and_history_stays"),
        (CLAIMS, "test_claim__back_and_forth__one_live_and_a_chain"),
    ],
    ("contradiction", 21, "any attribute"): [(CLAIMS, "test_claim__another_value__supersedes")],
    ("dedupe", 25, "rivals in other words"): [(CLAIMS, "test_claim__another_value__supersedes")],
    ("dedupe", 26, "promotion merges"): [
        ("services/test_promotion.py", "test_promotion__same_fact_in_target__merged_into_it"),
    ],
    ("dedupe", 27, "paraphrases suggested, dated facts apart"): [
        (CLAIMS, "test_merge_queue__one_wording_kept__other_merged_and_undone"),
        (CLAIMS, "test_dated_facts__kept_apart"),
    ],
    ("dedupe", 28, "spellings of one entity"): [
        ("services/test_vocabulary.py", "test_alias__spellings_of_one_entity__one_row"),
        (WRITING, "test_dedupe__spellings_of_one_entity__one_row_and_no_duplicate_group"),
    ],
    ("long_text", 62, "row kept without vector"): [
        (WRITING, "test_long_text__embedder_fails__row_kept_and_counted_as_unindexed"),
    ],
    ("long_text", 63, "one long item in a batch"): [
        (WRITING, "test_long_text__above_the_limit__413_names_the_limit__and_harms_no_other_item"),
    ],
    ("long_text", 64, "failure is visible"): [
        (WRITING, "test_long_text__embedder_fails__row_kept_and_counted_as_unindexed"),
    ],
    ("metadata", 66, "an edit resets nothing"): [
        (WRITING, "test_metadata__content_edited__kind_pin_ttl_and_trust_stay"),
        (WRITING, "test_metadata__sixty_kilobytes_and_too_deep"),
    ],
    ("poisoning", 71, "a poisoned file and its disguises"): [
        (WRITING, "test_poisoning__readme_line_and_its_disguises__quarantined"),
    ],
    ("poisoning", 72, "held, not readable; a quoted note not lost"): [
        (WRITING, "test_poisoning__override_from_a_tool__held__the_admins_note_about_it_is_not_lost"),
        (WRITE, "test_write__directive_from_low_trust__quarantined_and_never_read"),
    ],
    ("secrets", 89, "personal data"): [
        ("domain/sanitisation/test_pipeline.py", "test_personal_data__by_policy"),
        ("domain/sanitisation/test_recognition.py", "test_personal_data__with_a_form__is_found"),
    ],
    ("secrets", 90, "pasted keys"): [
        (WRITE, "test_write__secret__redacted_everywhere"),
        (ONE_PATH, "test_secret__by_every_writer__in_no_table"),
    ],
    ("secrets", 91, "no writer passes the scanner by"): [
        (ONE_PATH, "test_writers__all_callers__are_walked"),
        (ONE_PATH, "test_rows__are_built_in_one_place_only"),
    ],
    ("ttl", 95, "zones"): [(WRITING, "test_ttl__zoned_expiry__visible_until_that_instant_in_every_zone")],
    ("ttl", 96, "the sweep looks at expired rows only"): [
        ("sweeps/test_expiry.py", "test_expiry__25000_rows_3_expired__three_queries"),
    ],
    ("ttl", 97, "it is told whether a memory ends"): [
        (WRITING, "test_ttl__answer__says_when_it_ends_or_that_it_does_not"),
        ("pages/test_page_memories.py", "test_memory__shows_its_readers_manifests_and_expiry"),
    ],
    ("ttl", 98, "two weeks, and nonsense"): [(WRITING, "test_ttl__two_weeks__exact__and_nonsense_refused")],
    ("unicode", 99, "emoji at the cut"): [
        (WRITING, "test_unicode__emoji_at_the_cut__list_digest_and_block_are_whole"),
    ],
    ("unicode", 100, "a digest is whole JSON"): [
        (WRITING, "test_unicode__emoji_at_the_cut__list_digest_and_block_are_whole"),
    ],
}  # fmt: skip

NUMBERS = {
    "admission": range(1, 5), "concurrency": range(13, 16), "contradiction": range(16, 22), "dedupe": range(25, 29),
    "long_text": range(62, 65), "metadata": range(66, 67), "poisoning": range(71, 73), "secrets": range(89, 92),
    "ttl": range(95, 99), "unicode": range(99, 101),
}  # fmt: skip


@lru_cache
def _tests_of(file: str) -> frozenset[str]:
    tree = ast.parse((TESTS / file).read_text())
    return frozenset(
        node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    )


def test_index__every_line_of_its_sections__has_a_test() -> None:
    listed = {(section, number) for section, number, _ in COVERED}
    assert listed == {(section, number) for section, numbers in NUMBERS.items() for number in numbers}


@pytest.mark.parametrize(("line", "named"), COVERED.items(), ids=[f"{s}-{n}" for s, n, _ in COVERED])
def test_index__named_tests__are_there(line: tuple[str, int, str], named: list[tuple[str, str]]) -> None:
    assert named
    for file, name in named:
        assert name in _tests_of(file), f"{line}: {file} has no {name!r}"
