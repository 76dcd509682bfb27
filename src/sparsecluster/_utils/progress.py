"""A line on the terminal that shows what is being computed and how long it will take."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Literal, TypeVar

T = TypeVar("T")

Verbosity = bool | Literal["auto"]

# Work that takes less time than this does not need a progress line.
PATIENCE_SECONDS = 2.0
REFRESH_SECONDS = 0.2


class Progress:
    """Counts the steps of named stages on standard error.

    `verbose="auto"` shows progress after two seconds, and only on a terminal. True shows it immediately, wherever
    standard error goes. False never shows it.
    """

    def __init__(self, verbose: Verbosity = "auto") -> None:
        self._silent = verbose is False or (verbose == "auto" and not sys.stderr.isatty())
        self._begin = time.monotonic() + (0.0 if verbose is True else PATIENCE_SECONDS)
        self._shown = 0.0
        self._width = 0

    def track(self, steps: Iterable[T], what: str, total: int) -> Iterator[T]:
        """Pass on `steps` while counting them."""
        start = time.monotonic()
        try:
            for done, step in enumerate(steps, 1):
                self._show(what, done, total, time.monotonic() - start)
                yield step
        finally:
            self._clear()

    def _show(self, what: str, done: int, total: int, elapsed: float) -> None:
        now = time.monotonic()
        if self._silent or now < self._begin or now < self._shown + REFRESH_SECONDS:
            return
        left = elapsed / done * (total - done)
        line = f"{what}: {done} of {total}" + (f", about {left:.0f} s left" if left >= 1 else "")
        print("\r" + line.ljust(self._width), end="", file=sys.stderr, flush=True)
        self._shown, self._width = now, len(line)

    def _clear(self) -> None:
        if self._width:
            print("\r" + " " * self._width, end="\r", file=sys.stderr, flush=True)
            self._width = 0
