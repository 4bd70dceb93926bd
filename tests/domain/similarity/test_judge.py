"""Single decisions of the judge, one rule each."""

import random
import time

import pytest

from memory.domain.similarity import canonical, judge, same_canonical, stronger_wording


def verdict(a: str, b: str, cosine: float | None = 0.95) -> str:
    return judge(a, b, cosine).verdict


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("user:42 plan = enterprise", "user:42 plan: Enterprise"),
        ("Prefers dark mode", "prefers dark-mode"),
        ("Acme Corp", "ACME Corp."),
        ("“Quiet hours” start late", '"Quiet hours" start late'),
        ("Ｗｏｒｋｓ from Lyon", "Works from Lyon"),
        ("zero\u200bwidth", "zerowidth"),
        ("new_checkout is live", "new-checkout is live"),
        ("ユーザーは 東京", "ユーザーは東京。"),
    ],
)
def test_canonical__marks_case_width_and_spaces__do_not_count(a: str, b: str) -> None:
    assert same_canonical(a, b)
    assert judge(a, b, None).verdict == "same"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("a == b", "a != b"),
        ("x >= 5", "x > 5"),
        ("-5 °C", "5 °C"),
        ("10⁶ rows", "106 rows"),
        ("€5", "$5"),
        ("1.5", "15"),
        ("10,000", "10000"),
        ("C++", "C"),
        ("✅ done", "❌ done"),
        ("Maße", "Masse"),
        ("100 Mbps", "100 MBps"),
        ("token aB9xKq2Lm4", "token Ab9XkQ2lM4"),
        (".env", "env"),
        ("!!!", "???"),
    ],
)
def test_canonical__marks_that_carry_meaning__are_kept(a: str, b: str) -> None:
    assert not same_canonical(a, b)
    assert judge(a, b, 1.0).verdict != "same"


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("3pm on March 1, 2025", "15:00 on 2025-03-01"),
        ("1st of March 2025", "2025-03-01"),
        ("half an hour", "1800000msec"),
        ("2 weeks", "14 days"),
        ("1.5 TB", "1536 GB"),
        ("$2.5M", "2,500,000 USD"),
        ("two dozen servers", "24 servers"),
        ("500 requests/min", "500 requests per minute"),
        ("12am", "midnight"),
        ("pinned to v2.3.0", "pinned to 2.3.0"),
        ("customer_3 pays late", "Customer 3 pays late"),
        ("open from 9 to 11 am", "open from 9am to 11:00"),
        ("open between 9:30 and 11 p.m.", "open between 21:30 and 23:00"),
        ("open 12-2 pm", "open 12:00 to 14:00"),
        ("+1 415-555-0100", "+14155550100"),
        ("12345678901234567891 USD", "$12345678901234567891"),
    ],
)
def test_canonical__english_figures__have_one_writing(written: str, plain: str) -> None:
    assert canonical(written, "en") == canonical(plain, "en")


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("customer_3 pays late", "Customer 30 pays late"),
        ("The sheet is report_3.pdf", "The sheet is report 3.pdf"),
        ("The limit is max_retry_3", "The limit is max retry 3"),
        ("Open from 9 to 11 am", "Open from 21:00 to 11:00"),
        ("The shift runs from 10 to 12 pm", "The shift runs from 10am to 12:00"),  # which ten is not said
        ("Trains run between 9:00 and 11:00", "Trains run from 11:00 to 9:00"),
        ("Ships go between Bern and Oslo", "Ships go from Bern to Oslo"),
    ],
)
def test_judge__figures_that_only_look_alike__are_two_facts(a: str, b: str) -> None:
    assert verdict(a, b) == "different"


def test_judge__a_window_said_in_two_ways__is_asked_about() -> None:
    assert verdict("The gate opens between 9:00 and 11:00", "The gate opens from 9 to 11 am") == "review"
    # A window, or a change of the hour: a person sees which.
    assert verdict("The call moved between 9:00 and 11:00", "The call moved from 9:00 to 11:00") == "review"


def test_canonical__long_figures__are_not_rounded_together() -> None:
    assert verdict("Price is $12345678901234567890", "Price is $12345678901234567891") == "different"


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ("Retry 3 times", "Retry 5 times", "number"),
        ("Use tabs, not spaces", "Use spaces, not tabs", "negation"),
        ("Backups are encrypted", "Backups are unencrypted", "antonym"),
        ("Theme is dark", "Theme is light", "exclusive"),
        ("Lives with Anna in Rome", "Lives with Peter in Rome", "name"),
        ("Traffic flows from gateway to mesh", "Traffic flows from mesh to gateway", "role"),
        ("He works at Initrode", "She works at Initrode", "person"),
        ("Anna manages Peter", "Peter manages Anna", "order"),
        ("Anna manages Peter", "Anna is managed by Peter", "order"),
        ("Only admins can merge", "Admins can merge", "qualifier"),
        ("The job fails", "The job can fail", "modal"),
        ("She lives in Rome", "She lived in Rome", "tense"),
        ("The user is paid weekly", "The user pays weekly", "voice"),
        ("Marketing wants a report", "Market wants a report", "form"),
        ("The user has a manager", "The user is a manager", "possession"),
        ("Works for Acme", "Works with Acme", "preposition"),
        ("The user has a dog", "The customer has a dog", "subject"),
        ("My sister is called Kay", "Your sister is called Kay", "speaker"),
    ],
)
def test_judge__each_guard__objects_by_its_name(a: str, b: str, reason: str) -> None:
    judgement = judge(a, b, 0.99)
    assert judgement.verdict != "same"
    assert reason in judgement.reasons


def test_judge__paraphrase_with_equal_figures__is_only_proposed() -> None:
    assert verdict("Deploy window is Tuesday 14:00 UTC", "We deploy on Tuesdays at 2pm UTC", 0.75) == "review"
    assert verdict("Latency 40 ms on 1 May", "Latency 55 ms on 9 May", 0.86) == "different"


def test_judge__same_vector_other_words__is_never_merged() -> None:
    assert verdict("The report is finished", "The essay is complete", 1.0) == "review"


def test_judge__no_embedder__proposes_by_words() -> None:
    assert verdict("Audit logs are kept safe in Oslo", "Logs are kept safe in Oslo", None) == "review"
    assert verdict("Likes tea", "Owns a boat", None) == "different"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Der Nutzer mag Tee", "Der Nutzer mag keinen Tee"),
        ("Il préfère le thé au café", "Il préfère le café au thé"),
        ("koffie of thee", "koffie thee"),
        ("Он любит чай", "Он не любит чай"),
        ("用户喜欢茶", "用户不喜欢茶"),
        ("Preis: 10,000 Euro", "Preis: 10000 Euro"),
        ("Il loue un appartement", "Il loue des appartements"),
    ],
)
def test_judge__other_language__merges_on_equal_writing_only(a: str, b: str) -> None:
    assert verdict(a, b, 1.0) != "same"
    assert verdict(a, a.upper() + "!", None) == "same"


def test_judge__language_given__overrules_the_guess() -> None:
    a, b = "The user has two kids", "has 2 children"
    assert judge(a, b, None).verdict == "same"
    assert judge(a, b, None, language_a="de", language_b="de").verdict != "same"
    assert judge(a, b, None, language_a="en-GB", language_b="EN").verdict == "same"


def test_judge__two_languages__have_no_rules_in_common() -> None:
    assert judge("The plan is ten seats", "Der Plan hat zehn Plätze", 0.9).verdict == "review"


def test_judge__very_long_texts__merge_on_equal_writing_only() -> None:
    long = "The user likes tea and cake. " * 2_000
    assert judge(long, long + " ", None).verdict == "same"
    assert judge(long, "Please note that " + long, 1.0).verdict == "review"


def test_judge__any_code_points__never_fail() -> None:
    rng = random.Random(11)
    words = (
        "the user has not 3pm $5 is by led 's every a I : = ? 1.2.3 €9m dozen https://x /a/b c++ n't".split()
    )
    for _ in range(2_000):
        noise = "".join(chr(rng.randrange(1, 0x2FFF)) for _ in range(3))
        a = " ".join(rng.choices([*words, noise], k=rng.randrange(0, 9)))
        b = " ".join(rng.choices(words, k=rng.randrange(0, 9)))
        first = judge(a, b, 0.9, language_a="en", language_b="en")
        assert 0 <= first.jaccard <= first.containment <= 1
        assert judge(b, a, 0.9, language_a="en", language_b="en").verdict == first.verdict


@pytest.mark.parametrize(
    "piece", ["borrowed from ", "a's owner is ", " to 5 or 6", "1 ", "half past ", "aa11 aaaa "]
)
def test_judge__text_made_to_be_slow__is_answered_at_once(piece: str) -> None:
    text = (piece * 2_000)[:1_990]
    began = time.process_time()
    judge(text, text + "x y", 0.9, language_a="en", language_b="en")
    assert time.process_time() - began < 1.0


def test_judge__two_short_texts__show_together_that_they_are_english() -> None:
    assert verdict("Width is 30cm", "Width is 30 centimetres") == "same"
    assert verdict("Deposit: 1500 euros", "The deposit is 1,500 €") == "same"
    assert verdict("Breite: 30cm", "Breite: 30 centimetres") != "same"


@pytest.mark.parametrize(
    "hostile", ["", " ", "!", "1" * 60_000, "1," * 20_000, "'s " * 5_000, "9" * 5_000 + " years"]
)
def test_judge__hostile_text__is_answered(hostile: str) -> None:
    assert judge(hostile, "The user likes tea", 0.9).verdict != "same"
    assert canonical(hostile, "en") == canonical(hostile, "en")


def test_stronger_wording__clear_lead_in_confidence__wins() -> None:
    assert stronger_wording("Likes tea", 0.9, "The user likes tea from Assam", 0.6) == "a"


def test_stronger_wording__equal_confidence__keeps_what_tells_more_then_the_shorter() -> None:
    assert stronger_wording("Likes tea", 0.8, "Likes tea from Assam", 0.8) == "b"
    assert stronger_wording("The user told us that they like tea", 0.8, "Likes tea", 0.8) == "b"
    assert stronger_wording("Likes tea", 0.8, "Likes tea", 0.8) == "a"
