"""What a thread has computed last, from which the next result follows with less work."""

from __future__ import annotations

import threading
from typing import Any


class Last(threading.local):
    """Labels or a subset, and the exact sums that belong to them; None if nothing has been computed yet.

    It belongs to one thread of one process, and only saves work: exact sums do not depend on how they were reached.
    """

    state: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Last, ()
