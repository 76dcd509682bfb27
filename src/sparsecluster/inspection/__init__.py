"""Views of fitted clusterings, and displays of them: `.frame()` returns the data of a display, `.plot()` draws it."""

from ._fitted import inspect
from .agreement import Agreement
from .compare import Comparison, compare_methods
from .contributions import Contributions
from .distributions import Distributions
from .heatmap import Heatmap
from .history import History
from .places import Places, place_samples
from .projection import Projection
from .scores import FeatureScores
from .view import View

__all__ = [
    "Agreement",
    "Comparison",
    "Contributions",
    "Distributions",
    "FeatureScores",
    "Heatmap",
    "History",
    "Places",
    "Projection",
    "View",
    "compare_methods",
    "inspect",
    "place_samples",
]
