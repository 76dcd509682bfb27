"""What may occur in a model file: estimators, the parts that they need to assign new samples, and fitted attributes."""

from __future__ import annotations

from typing import Any

from .._data.profiles import Profile, Profiles
from .._search.curve import TuningCurve
from ..methods._components import Components
from ..methods._penalized import GaussianClusters
from ..methods._reduction import ReducedClusters, Reduction
from ..methods.i_if_learn import IIFLearn
from ..methods.ifpca import IFPCA, Projected
from ..methods.pairwise_fusion import PairwiseFusionMixture
from ..methods.pan_shen import PanShenMixture
from ..methods.plain import PlainClustering
from ..methods.proclus import PROCLUS, ProjectedMedoids
from ..methods.raftery_dean import GaussianComponents, RafteryDean
from ..methods.reduced import ReducedClustering
from ..methods.regularized import RegularizedKMeans, ShrunkenCenters
from ..methods.robust_sparse_kmeans import RobustSparseKMeans
from ..methods.sas import SASClustering
from ..methods.screened import ScreenedClustering
from ..methods.sparse_kmeans import SparseKMeans
from ..methods.sparse_kmedoids import SparseKMedoids
from ..methods.varsel import VarSelMixture
from ..methods.wang_zhu import WangZhuMixture
from ..methods.xie import XieMixture

# Estimators that assign new samples, and the class that does it for them.
CLUSTERS: dict[type, Any] = {
    SASClustering: Profiles,
    SparseKMeans: Profiles,
    SparseKMedoids: Profiles,
    ScreenedClustering: Profiles,
    PlainClustering: Profiles,
    RegularizedKMeans: ShrunkenCenters,
    RobustSparseKMeans: ShrunkenCenters,
    IFPCA: Projected,
    IIFLearn: Profiles,
    PanShenMixture: GaussianClusters,
    WangZhuMixture: GaussianClusters,
    XieMixture: GaussianClusters,
    PairwiseFusionMixture: GaussianClusters,
    PROCLUS: ProjectedMedoids,
    RafteryDean: GaussianComponents,
    ReducedClustering: ReducedClusters,
    VarSelMixture: Components,
}
# Other classes that do it for some of them, depending on their parameters.
OTHER_CLUSTERS: dict[type, tuple[Any, ...]] = {ScreenedClustering: (Projected,)}
ESTIMATORS: dict[str, Any] = {each.__name__: each for each in CLUSTERS}
# Classes other than estimators and dissimilarities.
PIECES: dict[str, Any] = {each.__name__: each for each in (*CLUSTERS.values(), Profile, TuningCurve, Reduction)}
# Fitted attributes that are saved, with their forms: what they are, or for arrays the kinds of NumPy's types and the
# shape, where n is the number of columns, k of clusters and m of samples.
FITTED = {
    "n_features_in_": "count",
    "feature_names_in_": "O n",
    "labels_": "i m",
    "support_": "b n",
    **dict.fromkeys(("feature_scores_", "feature_weights_", "feature_gains_", "p_values_", "statistics_"), "f n"),
    **dict.fromkeys(("f_p_values_", "ks_p_values_"), "f n"),
    "cluster_centers_": "fO k,n",
    **dict.fromkeys(("means_", "trimmed_centers_"), "f k,n"),
    "variances_": "f n or k,n",
    "mixture_weights_": "f k",
    "memberships_": "f m,k",
    "components_": "f *,n",
    "outlier_scores_": "f m",
    **dict.fromkeys(("weighted_outliers_", "unweighted_outliers_", "is_outlier_"), "b m"),
    "core_support_": "b n",
    "cluster_features_": "b k,n",
    "separates_": "b n,k,k",
    "medoids_": "i k",
    **dict.fromkeys(("n_iter_", "n_clusters_", "core_size_", "n_components_"), "count"),
    **dict.fromkeys(("objective_", "l1_bound_", "penalty_", "variance_penalty_", "alpha_", "n_dimensions_"), "number"),
    **dict.fromkeys(("bic_", "loglik_", "evidence_", "one_cluster_bic_", "micl_", "one_cluster_micl_"), "number"),
    "covariance_model_": "text",
    **dict.fromkeys(("gap_curve_", "bic_curve_", "instability_curve_", "n_clusters_curve_", "core_curve_"), "curve"),
    "components_curve_": "curve",
}
# Those without which there is no model.
REQUIRED = ("n_features_in_", "labels_", "support_", "feature_scores_")
# Those that are not None if there are any; other attributes are None where a method has no use for them.
NEVER_NONE = (*REQUIRED, "n_clusters_", "core_size_")
