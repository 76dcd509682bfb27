"""Sparse clustering: find the clusters in a table and the few features that distinguish them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._version import __version__

__all__ = [
    "COSA",
    "IFPCA",
    "METHODS",
    "PROCLUS",
    "Assessment",
    "Comparison",
    "ExpressionScaler",
    "IIFLearn",
    "PairwiseFusionMixture",
    "PanShenMixture",
    "PlainClustering",
    "RafteryDean",
    "ReducedClustering",
    "RegularizedKMeans",
    "RobustSparseKMeans",
    "SASClustering",
    "ScreenedClustering",
    "SparseHierarchical",
    "SparseKMeans",
    "SparseKMedoids",
    "SpectralGem",
    "TuningCurve",
    "VarSelMixture",
    "WangZhuMixture",
    "XieMixture",
    "__version__",
    "adjusted_rand_index",
    "assess",
    "compare_methods",
    "error_rate",
    "expression_clustering",
    "load_model",
    "make_method",
    "rand_index",
    "save_model",
    "symmetric_difference",
    "write_report",
]

if TYPE_CHECKING:
    from ._search.curve import TuningCurve
    from .evidence import Assessment, assess
    from .inspection.compare import Comparison, compare_methods
    from .io.models import load_model, save_model
    from .methods.cosa import COSA
    from .methods.i_if_learn import IIFLearn
    from .methods.ifpca import IFPCA
    from .methods.pairwise_fusion import PairwiseFusionMixture
    from .methods.pan_shen import PanShenMixture
    from .methods.plain import PlainClustering
    from .methods.proclus import PROCLUS
    from .methods.raftery_dean import RafteryDean
    from .methods.reduced import ReducedClustering
    from .methods.registry import METHODS, make_method
    from .methods.regularized import RegularizedKMeans
    from .methods.robust_sparse_kmeans import RobustSparseKMeans
    from .methods.sas import SASClustering
    from .methods.screened import ScreenedClustering
    from .methods.sparse_hierarchical import SparseHierarchical
    from .methods.sparse_kmeans import SparseKMeans
    from .methods.sparse_kmedoids import SparseKMedoids
    from .methods.spectral_gem import SpectralGem
    from .methods.varsel import VarSelMixture
    from .methods.wang_zhu import WangZhuMixture
    from .methods.xie import XieMixture
    from .metrics import adjusted_rand_index, error_rate, rand_index, symmetric_difference
    from .preprocessing import ExpressionScaler, expression_clustering
    from .report import write_report

# The modules of the public names. They are imported at first use, because scikit-learn and Numba take a second.
_HOMES = {
    "Assessment": "evidence",
    "assess": "evidence",
    "Comparison": "inspection.compare",
    "ExpressionScaler": "preprocessing",
    "TuningCurve": "_search.curve",
    "COSA": "methods.cosa",
    "IFPCA": "methods.ifpca",
    "IIFLearn": "methods.i_if_learn",
    "METHODS": "methods.registry",
    "PairwiseFusionMixture": "methods.pairwise_fusion",
    "PanShenMixture": "methods.pan_shen",
    "PROCLUS": "methods.proclus",
    "PlainClustering": "methods.plain",
    "RafteryDean": "methods.raftery_dean",
    "ReducedClustering": "methods.reduced",
    "RegularizedKMeans": "methods.regularized",
    "RobustSparseKMeans": "methods.robust_sparse_kmeans",
    "SASClustering": "methods.sas",
    "ScreenedClustering": "methods.screened",
    "SparseHierarchical": "methods.sparse_hierarchical",
    "SparseKMeans": "methods.sparse_kmeans",
    "SparseKMedoids": "methods.sparse_kmedoids",
    "SpectralGem": "methods.spectral_gem",
    "VarSelMixture": "methods.varsel",
    "WangZhuMixture": "methods.wang_zhu",
    "XieMixture": "methods.xie",
    "adjusted_rand_index": "metrics",
    "compare_methods": "inspection.compare",
    "error_rate": "metrics",
    "expression_clustering": "preprocessing",
    "load_model": "io.models",
    "make_method": "methods.registry",
    "save_model": "io.models",
    "rand_index": "metrics",
    "symmetric_difference": "metrics",
    "write_report": "report",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
