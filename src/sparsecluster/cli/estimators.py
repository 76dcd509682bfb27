"""The estimator that the options of a command ask for, which is checked before the table is read."""

from __future__ import annotations

from typing import Any, NamedTuple

from .._utils.text import brief
from .tables import PRESETS
from .words import OPTIONS

# The largest number of numbers of clusters to choose from.
MOST_NUMBERS = 1000
# The values of options that were not given.
NOTHING = ("auto", None)


class Wanted(NamedTuple):
    """The parameters that options ask for. Most names are those of the parameters of estimators."""

    n_clusters: int | list[int] | str = "auto"
    max_clusters: int | None = None
    cluster_criterion: str | None = None
    n_features_to_select: int | float | str = "auto"
    trim: float | None = None
    metric: Any = "auto"
    standardize: bool | None = None
    criterion: str | None = None
    null: str | None = None
    rule: str | None = None
    preset: str | None = None

    def check(self) -> None:
        """Refuse what does not depend on the method."""
        if self.n_clusters != "auto" and self.max_clusters is not None:
            raise ValueError(
                "--max-clusters is the largest number of clusters that -k auto tries. Leave out -k, or this."
            )

    def parameters(self) -> dict[str, Any]:
        """The parameters that were asked for, apart from the number of clusters."""
        asked = self._asdict()
        del asked["n_clusters"], asked["preset"]
        return {name: value for name, value in asked.items() if isinstance(value, dict) or value not in NOTHING}

    def named_columns(self) -> tuple[str, ...]:
        """The columns for which a dissimilarity was given."""
        return tuple(self.metric) if isinstance(self.metric, dict) else ()


def made(method: str, wanted: Wanted, **given: Any) -> Any:
    """Return the estimator of a method, with the parameters of the preset and those that were asked for.

    Parameters that the method does not have are left out; see `estimator_of`.
    """
    from .. import preprocessing
    from ..methods.registry import make_method

    estimator = make_method(method, wanted.n_clusters)
    takes = estimator.get_params()
    usual = {} if wanted.preset is None else dict(getattr(preprocessing, PRESETS[wanted.preset]))
    if "n_features_to_select" not in takes:
        # Other methods have a rule as well, but no core.
        usual.pop("rule", None)
    every = {**usual, **given, **wanted.parameters()}
    return estimator.set_params(**{name: value for name, value in every.items() if name in takes})


def estimator_of(method: str, wanted: Wanted, **given: Any) -> Any:
    """Return the estimator of a method; an option that the method does not have is an error."""
    wanted.check()
    estimator = made(method, wanted, **given)
    takes = estimator.get_params()
    strange = next((name for name in wanted.parameters() if name not in takes), None)
    if strange is not None:
        raise ValueError(f"The method {brief(method)} has no option {OPTIONS[strange]}. Leave this option out.")
    estimator._check()
    return estimator


def clusters_of(text: str) -> int | list[int] | str:
    """Return the number of clusters that an option asks for, several of them to choose from, or "auto".

    >>> clusters_of("3"), clusters_of("2-5"), clusters_of("2,4,8"), clusters_of("auto")
    (3, [2, 3, 4, 5], [2, 4, 8], 'auto')
    """
    if text == "auto":
        return text
    first, dash, last = text.partition("-")
    try:
        asked = range(int(first), int(last) + 1) if dash else [int(each) for each in text.split(",")]
    except ValueError:
        asked = []
    numbers = list(asked[: MOST_NUMBERS + 1])
    if len(numbers) > MOST_NUMBERS:
        raise ValueError(f"-k must be at most {MOST_NUMBERS} numbers; got {brief(text)}. Use a smaller range.")
    if not numbers or min(numbers) < 2:
        raise ValueError(
            "-k must be a whole number of at least 2, several such as 2,4,8, a range such as 2-6, with the smaller "
            f'number first, or "auto"; got {brief(text)}.'
        )
    return numbers if len(numbers) > 1 else numbers[0]


def size_of(text: str) -> int | float | str:
    """Return the number of features that an option asks for.

    >>> size_of("12"), size_of("0.1"), size_of("core"), size_of("auto")
    (12, 0.1, 'core', 'auto')
    """
    if text in ("core", "auto"):
        return text
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise ValueError(f'--size must be a number of features, a share such as 0.1, "core" or "auto"; got {brief(text)}.')
