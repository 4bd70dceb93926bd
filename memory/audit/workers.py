"""Looking at rows in processes of their own, in order, with a bounded number under way."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.context import BaseContext
from typing import Final, TypeVar

T = TypeVar("T")
K = TypeVar("K")
R = TypeVar("R")

CHUNK: Final = 500
MOST_OF_A_CHUNK: Final = 1024 * 1024
"""What the inputs of a chunk weigh together; one that is heavier goes alone."""
MOST_WORKERS: Final = 2


def worker_count() -> int:
    """Processors that this process may use, at most two: each takes some 55 MB."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, MOST_WORKERS)


def in_order(
    work: Callable[[list[K]], list[R]],
    given: Iterable[T],
    key: Callable[[T], K],
    workers: int,
    weight: Callable[[T], int] = lambda one: 0,
) -> Iterator[tuple[T, R]]:
    """Each input with the result for its key, in the order given. With one worker in this process."""
    if workers <= 1:
        for one in given:
            yield one, work([key(one)])[0]
        return
    with ProcessPoolExecutor(workers, mp_context=_processes()) as pool:
        under_way: deque[tuple[list[T], Future[list[R]]]] = deque()
        for chunk in _chunks(given, weight):
            under_way.append((chunk, pool.submit(work, [key(one) for one in chunk])))
            if len(under_way) > 2 * workers:
                yield from _next(under_way)
        while under_way:
            yield from _next(under_way)


def _processes() -> BaseContext:
    """A server that forks: unlike a fork of this process it is safe beside the thread of a progress bar."""
    return get_context("forkserver" if "forkserver" in get_all_start_methods() else "spawn")


def _next(under_way: deque[tuple[list[T], Future[list[R]]]]) -> Iterator[tuple[T, R]]:
    chunk, future = under_way.popleft()
    yield from zip(chunk, future.result(), strict=True)


def _chunks(given: Iterable[T], weight: Callable[[T], int]) -> Iterator[list[T]]:
    chunk: list[T] = []
    weighs = 0
    for one in given:
        chunk.append(one)
        weighs += weight(one)
        if len(chunk) >= CHUNK or weighs >= MOST_OF_A_CHUNK:
            yield chunk
            chunk, weighs = [], 0
    if chunk:
        yield chunk
