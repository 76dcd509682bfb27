"""The name of a long computation, under which it is continued after an interruption."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._version import __version__

# Parameters on which the answer does not depend.
WITHOUT_EFFECT = ("n_jobs", "verbose")


def name_of(command: str, parameters: Mapping[str, Any], X: Any) -> str:
    """Return a name for a computation, which is another one if the version, a parameter or the table is another one."""
    import joblib

    given = sorted((key, repr(value)) for key, value in parameters.items() if key not in WITHOUT_EFFECT)
    return f"{command}-{joblib.hash([__version__, given, X])}"
