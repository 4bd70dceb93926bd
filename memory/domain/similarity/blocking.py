"""Which texts are worth comparing: a sweep over n memories must not compare n × n of them.

Texts that share no key are never compared. Keys are hashes, so that they can be stored beside a text without
repeating it.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from hashlib import blake2b
from itertools import combinations
from typing import TypeVar

from memory.domain.similarity.analysis import analyse
from memory.domain.similarity.canonical import canonical
from memory.domain.similarity.language import guess_language, short_code
from memory.domain.text import terms

T = TypeVar("T", bound=Hashable)

_CHOSEN = 7  # words per text: 21 pairs of them
_MAX_CHARACTERS = 2_000


def block_keys(text: str, language: str | None = None) -> frozenset[str]:
    """Return at most 23 short keys; two texts are candidates when they share one.

    A key stands for two content words together (for a text of one word: for that word), chosen by what looks
    rarest, and one for the canonical writing. Texts judged `same` share a key, but for rare spellings.
    """
    found = {_key("=" + canonical(text))}
    words = _chosen(text[:_MAX_CHARACTERS], short_code(language))
    if len(words) == 1:
        found.add(_key(words[0]))
    found.update(_key(f"{first} {second}") for first, second in combinations(sorted(words), 2))
    return frozenset(found)


def candidate_pairs(keys: Mapping[T, Iterable[str]], largest_block: int = 64) -> Iterator[tuple[T, T]]:
    """Yield each pair that shares a key once, in the order of `keys`.

    A key shared by more than `largest_block` texts tells nothing and is passed over, unless those texts have
    no rarer key in common: then their pairs are not found. Equal writings are the caller's to find by
    `canonical`, in one step.
    """
    blocks: dict[str, list[T]] = {}
    for member, own in keys.items():
        for key in own:
            blocks.setdefault(key, []).append(member)
    seen: set[tuple[T, T]] = set()
    for members in blocks.values():
        if 1 < len(members) <= largest_block:
            for pair in combinations(members, 2):
                if pair not in seen:
                    seen.add(pair)
                    yield pair


def _chosen(text: str, language: str | None) -> list[str]:
    """Return the content words that look rarest: figures first, then long words."""
    code = language or guess_language(text)
    if code == "en" or (code is None and text.isascii()):
        words: Iterable[str] = analyse(text).content
    else:
        words = set(terms(canonical(text), language=None))
    return sorted(words, key=lambda word: (-_rarity(word), word))[:_CHOSEN]


def _rarity(word: str) -> int:
    return len(word) if word.isalpha() else 50 + len(word)


def _key(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def cluster(pairs: Iterable[tuple[T, T]]) -> list[list[T]]:
    """Join pairs that share a member into groups, in the order in which their members first appear."""
    leader: dict[T, T] = {}

    def find(member: T) -> T:
        root = member
        while leader[root] != root:
            root = leader[root]
        while leader[member] != root:
            leader[member], member = root, leader[member]
        return root

    for a, b in pairs:
        leader.setdefault(a, a)
        leader.setdefault(b, b)
        leader[find(b)] = find(a)
    groups: dict[T, list[T]] = {}
    for member in leader:
        groups.setdefault(find(member), []).append(member)
    return list(groups.values())
