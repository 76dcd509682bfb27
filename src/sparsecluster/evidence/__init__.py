"""What speaks for a clustering: tests against tables without groups, stability, and honest lists of features."""

from ._assess import assess
from ._sigclust import SigClust, sigclust
from .assessment import Assessment
from .displays import ClusterStability, FeatureEvidence, PairDifferences, SampleStability

__all__ = [
    "Assessment",
    "ClusterStability",
    "FeatureEvidence",
    "PairDifferences",
    "SampleStability",
    "SigClust",
    "assess",
    "sigclust",
]
