"""Embedders in the process: meaning, determinism, order, forks, and the cache in front of them."""

import multiprocessing
import threading
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pytest

from memory.clients.embeddings import (
    CachedEmbedder,
    EmbedderError,
    EmbedderSpecInvalid,
    EmbedderUnavailable,
    NoEmbedder,
    TextRefused,
    Vectors,
    embed_each,
    get_embedder,
)

LOCAL = ["minilm", "hash"]
TEXTS = [
    f"service {n} runs on port {8000 + n}" + " and is watched by the night shift" * (n % 5) for n in range(40)
]


class CountingEmbedder:
    """An embedder that tells how many texts it was asked for, and refuses those that contain `bad`."""

    model_id = "counting"
    dim = 2

    def __init__(self, error: type[EmbedderError] = TextRefused) -> None:
        self.asked: list[str] = []
        self.error = error

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked.extend(texts)
        if any("bad" in text for text in texts):
            raise self.error("refused")
        return np.array([[float(len(text)), 1.0] for text in texts], np.float32)


class DictCache:
    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}

    def get_many(self, keys: Iterable[str]) -> Mapping[str, bytes]:
        return {key: self.values[key] for key in keys if key in self.values}

    def set_many(self, values: dict[str, bytes]) -> None:
        self.values.update(values)


def _embed_in_child(spec: str, text: str, answer: "multiprocessing.SimpleQueue[bytes]") -> None:
    answer.put(get_embedder(spec).embed([text]).tobytes())


@pytest.mark.parametrize("spec", LOCAL)
def test_embed__a_batch__gives_unit_rows_in_the_order_of_the_texts(spec: str) -> None:
    embedder = get_embedder(spec)
    rows = embedder.embed(TEXTS)
    assert rows.shape == (40, 384) and rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    backwards = embedder.embed(TEXTS[::-1])[::-1]
    alone = np.vstack([embedder.embed([text]) for text in TEXTS[:5]])
    assert np.allclose(rows, backwards, atol=1e-5)
    assert np.allclose(rows[:5], alone, atol=1e-5)


@pytest.mark.parametrize("spec", LOCAL)
@pytest.mark.parametrize(
    "text", ["", "!?", "word " * 12_000, "x" * 60_000, "lone \ud83d half", "猫が好き", "\x00"]
)
def test_embed__odd_text__still_gives_a_unit_vector(spec: str, text: str) -> None:
    rows = get_embedder(spec).embed([text])
    assert np.isclose(np.linalg.norm(rows[0]), 1, atol=1e-5)


@pytest.mark.parametrize("spec", LOCAL)
def test_embed__no_texts__gives_no_rows(spec: str) -> None:
    assert get_embedder(spec).embed([]).shape == (0, 384)


def test_minilm__paraphrase_and_stranger__are_told_apart() -> None:
    fact, paraphrase, stranger = get_embedder("minilm").embed(
        ["Dogs are great pets", "A puppy is a lovely animal", "The database listens on port 5432"]
    )
    assert fact @ paraphrase > 0.45
    assert fact @ stranger < 0.2


def test_hash__shared_words__are_nearer_than_none() -> None:
    fact, near, stranger = get_embedder("hash").embed(["deploy on friday", "deploys on monday", "green tea"])
    assert fact @ near > 0.3 > fact @ stranger


@pytest.mark.parametrize("spec", LOCAL)
def test_embed__after_a_fork__gives_the_same_vector(spec: str) -> None:
    expected = get_embedder(spec).embed(["forked"]).tobytes()  # the parent has its session before the fork
    fork = multiprocessing.get_context("fork")
    answer: multiprocessing.SimpleQueue[bytes] = fork.SimpleQueue()
    child = fork.Process(target=_embed_in_child, args=(spec, "forked", answer))
    child.start()
    child.join(timeout=30)
    assert child.exitcode == 0
    assert answer.get() == expected


def test_minilm__eight_threads_at_once__agree() -> None:
    embedder = get_embedder("minilm")
    expected = embedder.embed(TEXTS[:4])
    seen: list[Vectors] = []
    threads = [threading.Thread(target=lambda: seen.append(embedder.embed(TEXTS[:4]))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8 and all(np.array_equal(rows, expected) for rows in seen)


def test_none__asked_for_a_vector__says_that_search_is_by_text() -> None:
    embedder = get_embedder("none")
    assert embedder.model_id == "none"
    with pytest.raises(NoEmbedder, match="by text only"):
        embedder.embed(["x"])


def test_get_embedder__same_spec__is_one_object() -> None:
    assert get_embedder("minilm") is get_embedder("minilm")


@pytest.mark.parametrize(
    "spec", ["", "bert", "minilm:x", "openai", "openai:", "openai:ftp://h/v1?model=m", "openai:http://h/v1"]
)
def test_get_embedder__unknown_spec__is_refused_by_name(spec: str) -> None:
    with pytest.raises(EmbedderSpecInvalid):
        get_embedder(spec)


def test_cached__text_seen_before__is_not_asked_again() -> None:
    inner = CountingEmbedder()
    cached = CachedEmbedder(inner)
    first = cached.embed(["a", "bbb", "a"])
    again = cached.embed(["bbb", "cc"])
    assert inner.asked == ["a", "bbb", "cc"]
    assert first[:, 0].tolist() == [1, 3, 1] and again[:, 0].tolist() == [3, 2]
    assert cached.embed([]).shape == (0, 2)


def test_cached__more_texts_than_room__forgets_the_oldest_and_answers_all() -> None:
    inner = CountingEmbedder()
    cached = CachedEmbedder(inner, size=2)
    assert len(cached.embed(["a", "bb", "ccc"])) == 3
    cached.embed(["ccc"])
    cached.embed(["a"])
    assert inner.asked == ["a", "bb", "ccc", "a"]


def test_cached__changed_answer__does_not_change_the_cache() -> None:
    cached = CachedEmbedder(CountingEmbedder())
    cached.embed(["a"])[:] = 9
    assert cached.embed(["a"])[0].tolist() == [1, 1]


def test_cached__shared_cache__serves_a_second_process_and_ignores_wrong_lengths() -> None:
    shared, inner = DictCache(), CountingEmbedder()
    CachedEmbedder(inner, shared=shared).embed(["a"])
    second = CountingEmbedder()
    assert CachedEmbedder(second, shared=shared).embed(["a"])[0].tolist() == [1, 1]
    assert second.asked == []
    shared.values = dict.fromkeys(shared.values, b"\0\0\0\0")
    CachedEmbedder(second, shared=shared).embed(["a"])
    assert second.asked == ["a"]


def test_embed_each__one_refused_text__costs_no_other() -> None:
    texts = [f"t{n}" for n in range(63)] + ["bad"]
    results = embed_each(CountingEmbedder(), texts)
    assert [isinstance(result, EmbedderError) for result in results] == [False] * 63 + [True]


def test_embed_each__embedder_down__is_asked_once() -> None:
    inner = CountingEmbedder(error=EmbedderUnavailable)
    results = embed_each(inner, ["bad", "b", "c"])
    assert len(results) == 3 and all(isinstance(result, EmbedderUnavailable) for result in results)
    assert len(inner.asked) == 3
