"""Which test covers which fault that users of other stores reported, for the sections about writing,
reading and removing.

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
TEXTS = "field_reports/test_writing_texts.py"
ONE_PATH = "services/test_one_path.py"
CLAIMS = "services/test_claims.py"
WRITE = "services/test_memory_write.py"
RACES = "services/test_write_races.py"
READING = "field_reports/test_reading.py"
WATCHING = "field_reports/test_watching.py"
APART = "api/test_isolation.py"
REMOVING = "field_reports/test_removing.py"
DELETING = "field_reports/test_deleting.py"
TRACELESS = ("services/test_read_isolation.py", "test_reads__of_what_may_not_be_read__leave_no_trace")

# (section, number, what): the tests, as file and name.
COVERED: dict[tuple[str, int, str], list[tuple[str, str]]] = {
    ("admission", 1, "own output comes back"): [
        (WRITING, "test_admission__own_digest_imported__every_line_recognised_and_nothing_new"),
        ("field_reports/test_own_output.py", "test_admission__own_block_written_back__whole_or_by_line__nothing_new"),
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
        (TEXTS, "test_long_text__embedder_refuses__row_kept_found_and_counted_until_it_was_embedded"),
    ],
    ("long_text", 63, "one long item in a batch"): [
        (TEXTS, "test_long_text__above_the_limit__413_names_the_limit__and_harms_no_other_item"),
    ],
    ("long_text", 64, "failure is visible"): [
        (TEXTS, "test_long_text__embedder_refuses__row_kept_found_and_counted_until_it_was_embedded"),
    ],
    ("metadata", 66, "an edit resets nothing"): [
        (TEXTS, "test_metadata__content_edited__kind_pin_ttl_and_trust_stay"),
        (TEXTS, "test_metadata__sixty_kilobytes_and_too_deep"),
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
    ("ttl", 95, "zones"): [(TEXTS, "test_ttl__zoned_expiry__visible_until_that_instant_in_every_zone")],
    ("ttl", 96, "the sweep looks at expired rows only"): [
        ("sweeps/test_expiry.py", "test_expiry__25000_rows_3_expired__four_queries"),
    ],
    ("ttl", 97, "it is told whether a memory ends"): [
        (TEXTS, "test_ttl__answer__says_when_it_ends_or_that_it_does_not"),
        ("pages/test_page_memories.py", "test_memory__shows_its_readers_manifests_and_expiry"),
    ],
    ("ttl", 98, "two weeks, and nonsense"): [(TEXTS, "test_ttl__two_weeks__exact__and_nonsense_refused")],
    ("unicode", 99, "emoji at the cut"): [
        (TEXTS, "test_unicode__emoji_at_the_cut__list_digest_and_block_are_whole"),
    ],
    ("unicode", 100, "a digest is whole JSON"): [
        (TEXTS, "test_unicode__emoji_at_the_cut__list_digest_and_block_are_whole"),
    ],
    ("embedding", 34, "vectors of another size"): [
        (READING, "test_embedding__vector_of_another_size__refused_by_the_database_not_stored"),
    ],
    ("embedding", 35, "state changes need no embedder"): [
        (READING, "test_embedding__embedder_down__state_changes_and_reads_go_on"),
    ],
    ("embedding", 36, "another model"): [
        (READING, "test_embedding__another_model__writes_go_on_and_words_find"),
        ("services/test_reindexing.py", "test_reindex__mends_what_is_not_as_it_would_be_made_now"),
    ],
    ("export_import", 42, "formulas, formats, nothing overwritten"): [
        ("exports/test_faults.py", "test_csv__formulas_are_text_and_every_memory_is_a_row"),
        ("exports/test_faults.py", "test_slug_of_another_tenant__is_refused"),
        ("audit/test_import_choices.py", "test_conflict__skipped_on_request__left_out_and_named"),
        ("audit/test_import_choices.py", "test_undo__what_waits_goes_and_comes_in_again"),
    ],
    ("export_import", 43, "streams, and names a broken line"): [
        ("exports/test_scale.py", "test_many_rows__go_out_within_bounded_memory"),
        ("exports/test_faults.py", "test_broken_line__skipped_on_request__the_rest_is_imported"),
        ("exports/test_round_trip.py", "test_round_trip__into_a_new_tenant__every_row_is_the_same"),
    ],
    ("export_import", 44, "secrets are scanned at the border"): [
        ("exports/test_faults.py", "test_secret_older_than_the_scanner__leaves_blanked_out"),
        ("exports/test_faults.py", "test_secret_in_a_file__is_blanked_out_on_the_way_in"),
        ("exports/test_faults.py", "test_dry_runs__change_nothing"),
    ],
    ("export_import", 45, "again adds nothing"): [
        ("exports/test_faults.py", "test_the_same_file_again__adds_nothing"),
        ("audit/test_import.py", "test_import__four_rows_one_empty_twice__three_then_none"),
    ],
    ("freshness", 46, "age is shown, edges are exact"): [
        (READING, "test_freshness__every_entry_shows_its_age_and_band"),
        ("domain/test_ageing.py", "test_band__edges__are_exact"),
    ],
    ("freshness", 47, "what was true once is looked at again"): [
        (WATCHING, "test_freshness__version_of_45_days__is_on_the_list_until_it_is_confirmed"),
        ("domain/test_ageing.py", "test_band__birthday_and_version__age_differently"),
    ],
    ("freshness", 48, "reading does not refresh"): [
        (READING, "test_freshness__read_fifty_times__still_old__verified__fresh"),
        ("services/test_recall.py", "test_retrieve__read_again_and_again__freshness_does_not_move"),
    ],
    ("dashboard", 22, "a tile counts the store"): [
        (WATCHING, "test_dashboard__tile_counts_the_store_and_not_a_page"),
    ],
    ("dashboard", 23, "an error is shown as one"): [
        (WATCHING, "test_dashboard__list_that_fails__is_an_error_and_not_nothing"),
        (WATCHING, "test_dashboard__ten_thousand_rows__page_costs_little_more_than_an_empty_one"),
    ],
    ("health", 49, "looking changes nothing"): [
        (WATCHING, "test_health__looked_at_a_hundred_times__measures_the_same_and_buckets_add_up"),
    ],
    ("health", 50, "told once, cleared with hysteresis"): [
        (WATCHING, "test_health__cold_share__alerts_once_and_clears_with_hysteresis"),
        ("alerts/test_metric_alerts.py", "test_stale_share__81_percent__alerts_once_and_ends_at_79"),
    ],
    ("health", 51, "a burst names its agent"): [
        (WATCHING, "test_health__burst_of_junk__names_the_agent_whose_keys_are_paused_from_the_alert"),
        ("services/test_alerts.py", "test_burst__twenty_one_refusals__one_alert_that_names_the_agent"),
    ],
    ("injection_trace", 52, "what was given, later"): [
        ("api/test_reading.py", "test_manifest__after_edit_and_delete__still_shows_the_same_bytes"),
    ],
    ("injection_trace", 53, "why it was given"): [
        (READING, "test_trace__candidate_scores__only_when_asked_for"),
        ("services/test_manifests.py", "test_manifest__says_who_what_why_and_how"),
    ],
    ("isolation", 54, "keys belong to a tenant"): [
        (READING, "test_isolation__same_key_in_two_tenants__two_rows"),
        (APART, "test_same_subject_in_two_tenants__are_two_memories"),
    ],
    ("isolation", 55, "one rule of identity"): [
        (READING, "test_isolation__agent_writes_for_a_person__the_persons_next_session_finds_it"),
    ],
    ("isolation", 56, "own and shared"): [
        (READING, "test_isolation__two_agents__each_sees_its_own_and_what_is_shared"),
    ],
    ("isolation", 57, "every read filters"): [
        TRACELESS, (APART, "test_list_of_another_tenant__shows_none_of_its_rows"),
    ],
    ("isolation", 58, "background work is bounded"): [
        (READING, "test_isolation__merging_and_contradicting__never_across_tenants"),
    ],
    ("isolation", 59, "failure falls back to nobody"): [
        (READING, "test_isolation__failed_write__the_next_read_falls_back_to_nobody"),
    ],
    ("isolation", 60, "no key without a tenant"): [
        (READING, "test_isolation__no_key_that_names_no_tenant__opens_nothing"),
    ],
    ("isolation", 61, "one choke point"): [
        TRACELESS, (APART, "test_id_of_another_tenant__is_not_there_and_nothing_changes"),
    ],
    ("pagination", 67, "nonsense"): [(READING, "test_pagination__nonsense__is_400_and_never_500")],
    ("mcp", 65, "one address, both transports, and a wrong one helps"): [
        ("mcp/test_story.py", "test_story__over_http__ends_in_the_state_of_rest"),
        ("mcp/test_story.py", "test_story__over_stdio__ends_in_the_same_state"),
        ("mcp/test_front.py", "test_address__wrong__404_names_the_right_one"),
        ("mcp/test_front.py", "test_address__of_the_web_process__404_says_where_mcp_is"),
    ],
    ("persistence", 70, "killed after the answer"): [
        ("e2e/test_kill.py", "test_kill__web_and_worker_after_a_hundred_answers__a_hundred_rows"),
        ("mcp/test_faults.py", "test_killed_in_the_middle_of_calls__what_was_answered_is_there"),
    ],
    ("pagination", 68, "a walk while others write"): [
        (READING, "test_pagination__walked_while_others_write__every_row_exactly_once"),
    ],
    ("pagination", 69, "unknown parameters"): [
        (READING, "test_pagination__nonsense__is_400_and_never_500"),
        ("api/test_lists.py", "test_unknown_parameter__is_refused_by_name"),
    ],
    ("provenance", 77, "how it was learned"): [
        (READING, "test_provenance__how_it_was_learned__is_told_with_every_entry"),
        ("pages/test_page_memories.py", "test_memory__shows_its_readers_manifests_and_expiry"),
    ],
    ("review", 88, "what is not sure waits for a person"): [
        (WRITING, "test_review__unsure_write__waits_is_not_found_and_is_there_when_released"),
    ],
    ("decay_pin", 24, "use and pins count"): [
        (REMOVING, "test_decay_pin__pinned_rule_and_its_twin__only_the_twin_goes_and_can_come_back"),
        ("sweeps/test_decay.py", "test_decay__idle_counts_from_the_last_use_or_confirmation"),
    ],
    ("delete", 29, "a session's and no other's"): [(DELETING, "test_delete__by_session__rows_of_other_sessions_stay")],
    ("delete", 30, "a user's and nobody else's"): [
        (DELETING, "test_delete__all_of_a_user__nobody_else_loses_anything__and_an_empty_filter_is_refused"),
        ("deletions/test_api.py", "test_filter__takes_what_the_list_shows__and_nothing_else"),
    ],
    ("delete", 31, "never a success with nothing"): [
        (DELETING, "test_delete__unknown__is_never_a_success_with_nothing"),
        ("deletions/test_api.py", "test_ids__valid_unknown_and_gone__each_is_told"),
    ],
    ("delete", 32, "index and row together"): [(DELETING, "test_delete__index_and_row__go_together_or_not_at_all")],
    ("delete", 33, "counts at once"): [(DELETING, "test_delete__one_of_five__every_count_says_four_at_once")],
    ("erasure", 37, "raw, derived and history"): [
        ("erasure/test_erase.py", "test_erase__phrase_in_every_table__is_nowhere_afterwards"),
        ("erasure/test_erase.py", "test_erase__audit__holds_a_receipt_without_a_name_and_the_chain_holds"),
        ("erasure/test_columns.py", "test_columns__of_every_table__are_decided"),
    ],
    ("erasure", 39, "proved by the bytes on the disk"): [
        ("erasure/test_bytes.py", "test_disk__after_an_erasure_and_vacuum__holds_no_byte_of_the_phrase"),
    ],
    ("erasure", 40, "one request, progress visible"): [
        ("erasure/test_bytes.py", "test_many__one_request__goes_in_batches_and_tells_how_far_it_is"),
        ("pages/test_page_erasure.py", "test_erasure__looked_at_typed_and_done__leaves_a_receipt"),
    ],
    ("erasure", 38, "of a session, but not what others learned"): [
        (DELETING, "test_delete__of_a_session__what_others_learned_as_well_stays_and_is_listed"),
    ],
    ("erasure", 41, "of a subject, in one call"): [
        (DELETING, "test_delete__of_a_subject__is_one_call_with_a_count_and_one_event_for_the_batch"),
    ],
    ("restore", 78, "mass removal stops"): [
        (REMOVING, "test_restore__job_wants_to_take_most_of_a_scope__stops_tells_and_asks"),
        ("sweeps/test_dedup.py", "test_dedup__more_than_a_fifth__stops_and_tells"),
    ],
    ("restore", 79, "no hole between source and merged"): [
        (REMOVING, "test_restore__merge_of_two__one_of_them_is_found_at_every_moment"),
    ],
    ("restore", 80, "no hard delete by automation"): [
        (REMOVING, "test_restore__eviction_over_148_rows__spares_the_used_and_pinned_and_loses_nothing"),
        (REMOVING, "test_restore__over_the_cap__archived_not_deleted"),
    ],
    ("restore", 81, "links and history come back"): [
        (REMOVING, "test_restore__with_links_and_history__brings_them_along"),
    ],
    ("restore", 82, "four ways out, each with its reason"): [
        (REMOVING, "test_restore__every_way_out__has_its_reason_is_never_found_and_leads_back"),
    ],
}  # fmt: skip

NUMBERS = {
    "admission": range(1, 5), "concurrency": range(13, 16), "contradiction": range(16, 22), "dedupe": range(25, 29),
    "long_text": range(62, 65), "metadata": range(66, 67), "poisoning": range(71, 73), "secrets": range(89, 92),
    "ttl": range(95, 99), "unicode": range(99, 101),
    "embedding": range(34, 37), "export_import": range(42, 46), "freshness": range(46, 49),
    "injection_trace": range(52, 54),
    "dashboard": range(22, 24), "health": range(49, 52),
    "isolation": range(54, 62), "pagination": range(67, 70), "provenance": range(77, 78),
    "review": (88,), "decay_pin": range(24, 25), "delete": range(29, 34),
    "erasure": range(37, 42), "restore": range(78, 83),
    "mcp": range(65, 66), "persistence": range(70, 71),
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
