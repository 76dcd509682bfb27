"""A line on the terminal that shows what is being computed and how long it will take."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Literal, TypeVar

from .text import visible

T = TypeVar("T")

Verbosity = bool | Literal["auto"]

# Work that takes less time than this does not need a progress line.
PATIENCE_SECONDS = 2.0
REFRESH_SECONDS = 0.2


def is_watched() -> bool:
    """Whether standard error is a terminal; it may be closed."""
    return sys.stderr is not None and not sys.stderr.closed and sys.stderr.isatty()


def whisper(text: str, end: str = "\n") -> None:
    """Print on standard error, and go on with the work if nobody listens any more."""
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            print(text, end=end, file=sys.stderr, flush=True)


class Progress:
    """Counts the steps of named stages on standard error.

    `verbose="auto"` shows progress after two seconds, and only on a terminal. True shows it immediately, wherever
    standard error goes. False never shows it.
    """

    def __init__(self, verbose: Verbosity = "auto") -> None:
        self._silent = verbose is False or (verbose == "auto" and not is_watched())
        self._begin = time.monotonic() + (0.0 if verbose is True else PATIENCE_SECONDS)
        self._shown = 0.0
        self._width = 0

    def track(self, steps: Iterable[T], what: str, total: int) -> Iterator[T]:
        """Pass on `steps` while counting them."""
        start = time.monotonic()
        try:
            for done, step in enumerate(steps, 1):
                self.show(what, done, total, time.monotonic() - start)
                yield step
        finally:
            self.clear()

    def show(self, what: str, done: int, total: int, elapsed: float) -> None:
        """Show that so many of all steps are done after so many seconds, unless it is too early or too soon again."""
        now = time.monotonic()
        if self._silent or now < self._begin or now < self._shown + REFRESH_SECONDS:
            return
        left = elapsed / max(done, 1) * (total - done)
        line = f"{visible(what)}: {done} of {total}" + (f", about {left:.0f} s left" if left >= 1 else "")
        whisper("\r" + line.ljust(self._width), end="")
        self._shown, self._width = now, len(line)

    def clear(self) -> None:
        """Remove what is shown."""
        if self._width:
            whisper("\r" + " " * self._width, end="\r")
            self._width = 0
