"""Signals for a loop that must decide itself in which order things end."""

from __future__ import annotations

import os
import select
import signal
from types import FrameType, TracebackType

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(Exception):
    """Somebody asked us to end."""


class StopSignals:
    """While entered, signals only set a flag and wake `pause`; nothing is interrupted half-way."""

    def __enter__(self) -> StopSignals:
        self._requested = False
        self._reader, self._writer = os.pipe()
        for descriptor in (self._reader, self._writer):
            os.set_blocking(descriptor, False)
        handlers = dict.fromkeys(STOP_SIGNALS, self._on_stop) | {signal.SIGCHLD: self._on_child}
        self._before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        self._wakeup_before = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.set_wakeup_fd(self._wakeup_before)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.close(self._reader)
        os.close(self._writer)

    def pause(self, seconds: float) -> None:
        """Wait, shorter when a signal or a child's end comes; raises `Stopped` once asked to end."""
        if not self._requested and select.select([self._reader], [], [], seconds)[0]:
            os.read(self._reader, 512)
        if self._requested:
            raise Stopped

    def _on_stop(self, _number: int, _frame: FrameType | None) -> None:
        self._requested = True

    def _on_child(self, _number: int, _frame: FrameType | None) -> None:
        """Without a handler a child's end would not wake the loop."""
