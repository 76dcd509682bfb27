"""A line on the terminal that shows what is being computed and how long it will take."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
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


# What is being done, how many of its steps are done, of how many (0 if they are not counted), and seconds left.
Listener = Callable[[str, int, int, float | None], None]


class _Ear:
    """The function of this process that is told of progress, a few times per second."""

    def __init__(self) -> None:
        self.listener: Listener | None = None
        self._what, self._told = "", 0.0

    def hear(self, what: str, done: int = 0, total: int = 0, left: float | None = None) -> None:
        """Pass on what is being done, unless it is too soon again; the beginning of a stage is always passed on."""
        if self.listener is None:
            return
        now = time.monotonic()
        if what != self._what or now >= self._told + REFRESH_SECONDS:
            self._what, self._told = what, now
            self.listener(what, done, total, left)


_EAR = _Ear()


def listen(listener: Listener | None) -> None:
    """Have a function told of all progress in this process, whether or not there is a terminal; None ends this.

    Parameters
    ----------
    listener : callable or None
        Called as ``listener(what, done, total, seconds_left)`` from the start of each stage on, a few times per second.
        `total` is 0, and `seconds_left` is None, for a stage whose steps are not counted.
    """
    _EAR.listener = listener


def announce(what: str) -> None:
    """Tell the listener of this process, if there is one, that a stage begins whose steps are not counted."""
    _EAR.hear(what)


class Progress:
    """Counts the steps of named stages on standard error.

    `verbose="auto"` shows progress after two seconds, and only on a terminal. True shows it immediately, wherever
    standard error goes. False never shows it. What is not silenced by False is also told to the listener, if there is
    one (see `listen`).
    """

    def __init__(self, verbose: Verbosity = "auto") -> None:
        self._is_heard = verbose is not False
        self._silent = verbose is False or (verbose == "auto" and not is_watched())
        self._begin = time.monotonic() + (0.0 if verbose is True else PATIENCE_SECONDS)
        self._shown = 0.0
        self._width = 0

    def track(self, steps: Iterable[T], what: str, total: int) -> Iterator[T]:
        """Pass on `steps` while counting them."""
        if self._silent and not self._is_heard:
            yield from steps
            return
        start = time.monotonic()
        if self._is_heard:
            _EAR.hear(what, 0, total)
        try:
            for done, step in enumerate(steps, 1):
                self.show(what, done, total, time.monotonic() - start)
                yield step
        finally:
            self.clear()

    def show(self, what: str, done: int, total: int, elapsed: float) -> None:
        """Show that so many of all steps are done after so many seconds, unless it is too early or too soon again."""
        left = elapsed / max(done, 1) * (total - done)
        if self._is_heard:
            _EAR.hear(what, done, total, left)
        now = time.monotonic()
        if self._silent or now < self._begin or now < self._shown + REFRESH_SECONDS:
            return
        line = f"{visible(what)}: {done} of {total}" + (f", about {left:.0f} s left" if left >= 1 else "")
        whisper("\r" + line.ljust(self._width), end="")
        self._shown, self._width = now, len(line)

    def clear(self) -> None:
        """Remove what is shown."""
        if self._width:
            whisper("\r" + " " * self._width, end="\r")
            self._width = 0
