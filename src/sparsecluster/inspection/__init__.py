"""Displays of a result: each has its data behind `.frame()` and draws them with `.plot()`."""

from .agreement import Agreement
from .contributions import Contributions
from .distributions import Distributions
from .heatmap import Heatmap
from .history import History
from .projection import Projection
from .scores import FeatureScores

__all__ = ["Agreement", "Contributions", "Distributions", "FeatureScores", "Heatmap", "History", "Projection"]
