"""Candidates for comparison, and groups of duplicates."""

from memory.domain.similarity import block_keys, candidate_pairs, cluster


def test_block_keys__equal_facts__share_a_key_and_strangers_do_not() -> None:
    fact = block_keys("The user's timezone is Europe/Berlin")
    assert fact & block_keys("timezone = Europe/Berlin")
    assert not fact & block_keys("Invoices are sent every month")


def test_block_keys__one_word__has_a_key() -> None:
    assert block_keys("vegetarian") & block_keys("The user is a vegetarian")


def test_block_keys__text_itself__is_not_in_the_keys() -> None:
    assert all(len(key) == 16 and set(key) <= set("0123456789abcdef") for key in block_keys("secret garden"))


def test_block_keys__long_text__has_few_keys() -> None:
    assert len(block_keys(" ".join(f"word{n}" for n in range(5_000)))) <= 23


def test_candidate_pairs__duplicates_among_many__are_found_with_few_pairs() -> None:
    services = ["billing", "search", "login", "export", "report", "queue", "mail", "audit"]
    facts = [f"The {services[n % 8]} service runs on port {8000 + n}" for n in range(800)]
    facts += [f"Please note that the {services[n % 8]} service runs on port {8000 + n}" for n in range(50)]
    found = set(candidate_pairs({at: block_keys(text) for at, text in enumerate(facts)}))
    assert {(n, 800 + n) for n in range(50)} <= found
    assert len(found) < 0.05 * len(facts) ** 2 / 2


def test_candidate_pairs__key_of_too_many__is_passed_over() -> None:
    keys = {n: ["common", f"own{n // 2}"] for n in range(10)}
    assert list(candidate_pairs(keys, largest_block=3)) == [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)]


def test_cluster__chains_of_pairs__become_one_group() -> None:
    assert cluster([(1, 2), (5, 6), (3, 2), (6, 7)]) == [[1, 2, 3], [5, 6, 7]]
    assert cluster([]) == []


def test_cluster__long_chain__does_not_recurse() -> None:
    assert len(cluster((n, n + 1) for n in range(20_000))[0]) == 20_001
