"""A value made on first use and made anew after a fork: model sessions and sockets must not be shared."""

import os
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class PerProcess(Generic[T]):
    """Calls `make` once per process, when first asked; safe to ask from many threads."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: tuple[T] | None = None
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        # The lock is replaced too: a thread of the parent may have held it at the moment of the fork.
        self._made = None
        self._lock = threading.Lock()

    def get(self) -> T:
        made = self._made
        if made is None:
            with self._lock:
                made = self._made
                if made is None:
                    made = self._made = (self._make(),)
        return made[0]
