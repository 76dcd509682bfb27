"""All methods by name, with what each accepts and returns. Tests, benchmarks and documentation use this table."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple

from .._utils.text import brief
from ._base import SparseClusterer
from ._clusters import NClusters
from .cosa import COSA
from .i_if_learn import IIFLearn
from .ifpca import IFPCA
from .pairwise_fusion import PairwiseFusionMixture
from .pan_shen import PanShenMixture
from .plain import PlainClustering
from .proclus import PROCLUS
from .raftery_dean import RafteryDean
from .reduced import ReducedClustering
from .regularized import RegularizedKMeans
from .robust_sparse_kmeans import RobustSparseKMeans
from .sas import SASClustering
from .screened import ScreenedClustering
from .sparse_hierarchical import SparseHierarchical
from .sparse_kmeans import SparseKMeans
from .sparse_kmedoids import SparseKMedoids
from .spectral_gem import SpectralGem
from .varsel import VarSelMixture
from .wang_zhu import WangZhuMixture
from .xie import XieMixture

# The data that a method accepts: numbers without missing values; data with coordinates (numbers and levels, also with
# missing values); or anything with dissimilarities.
Takes = Literal["numbers", "coordinates", "anything"]


class Method(NamedTuple):
    """A published method: how to create it, and what a user needs to know to choose it.

    Attributes
    ----------
    title : str
        Name to show to people.
    make : callable
        Function that takes `n_clusters` and keyword parameters and returns the estimator, with its own tuning by
        default.
    paper : str
        Reference.
    takes : {"numbers", "coordinates", "anything"}
        Data that the method accepts.
    selects : bool
        Whether the method selects features.
    predicts : bool
        Whether the method can assign new samples to its clusters.
    soft : bool
        Whether samples belong to clusters with probabilities, which `predict_proba` returns for new samples.
    """

    title: str
    make: Callable[..., SparseClusterer]
    paper: str
    takes: Takes
    selects: bool
    predicts: bool
    soft: bool = False


SAS = "Arias-Castro and Pu (2017), A simple approach to sparse clustering"
FRAMEWORK = "Witten and Tibshirani (2010), A framework for feature selection in clustering"
WANG_ZHU = "Wang and Zhu (2008), Variable selection for model-based high-dimensional clustering"
MOMENTS = "Verzelen and Arias-Castro (2017), Detection and feature selection in sparse mixture models"

METHODS: dict[str, Method] = {
    "sas": Method("SAS clustering", SASClustering, SAS, "anything", True, True),
    "sparse-kmeans": Method("Sparse K-means", SparseKMeans, FRAMEWORK, "coordinates", True, True),
    "rskc": Method(
        "Robust sparse K-means",
        RobustSparseKMeans,
        "Kondo, Salibian-Barrera and Zamar (2016), RSKC: an R package for a robust and sparse K-means clustering "
        "algorithm",
        "numbers",
        True,
        True,
    ),
    "sparse-hierarchical": Method(
        "Sparse hierarchical clustering", SparseHierarchical, FRAMEWORK, "anything", True, False
    ),
    "sparse-kmedoids": Method("Sparse K-medoids", SparseKMedoids, f"{FRAMEWORK}; {SAS}", "anything", True, True),
    "cosa": Method(
        "COSA, a weight for every sample and feature",
        partial(COSA, weights="samples"),
        "Friedman and Meulman (2004), Clustering objects on subsets of attributes",
        "anything",
        False,
        False,
    ),
    "cosa-common": Method(
        "COSA, a weight for every feature", partial(COSA, weights="common"), SAS, "anything", False, False
    ),
    "regularized-kmeans": Method(
        "Regularized K-means",
        RegularizedKMeans,
        "Sun, Wang and Fang (2012), Regularized k-means clustering of high-dimensional data",
        "numbers",
        True,
        True,
    ),
    "pan-shen": Method(
        "Mixture, L1 penalty on the means",
        PanShenMixture,
        "Pan and Shen (2007), Penalized model-based clustering with application to variable selection",
        "numbers",
        True,
        True,
        True,
    ),
    "wang-zhu": Method(
        "Mixture, L-infinity penalty on the means of a feature",
        partial(WangZhuMixture, form="max"),
        WANG_ZHU,
        "numbers",
        True,
        True,
        True,
    ),
    "ahp-gmm": Method(
        "Mixture, adaptive hierarchical penalty (AHP-GMM)",
        partial(WangZhuMixture, form="hierarchical"),
        WANG_ZHU,
        "numbers",
        True,
        True,
        True,
    ),
    "xie": Method(
        "Mixture, penalties on means and variances",
        XieMixture,
        "Xie, Pan and Shen (2008), Penalized model-based clustering with cluster-specific diagonal covariance matrices",
        "numbers",
        True,
        True,
        True,
    ),
    "pairwise-fusion": Method(
        "Mixture, adaptive pairwise fusion of the means",
        PairwiseFusionMixture,
        "Guo, Levina, Michailidis and Zhu (2010), Pairwise variable selection for model-based clustering",
        "numbers",
        True,
        True,
        True,
    ),
    "raftery-dean": Method(
        "Mixture of Gaussians, features selected stepwise by the BIC",
        RafteryDean,
        "Raftery and Dean (2006), Variable selection for model-based clustering",
        "numbers",
        True,
        True,
        True,
    ),
    "varsel": Method(
        "Mixture with variable selection",
        VarSelMixture,
        "Marbac, Sedki and Patin (2020), Variable selection for mixed data clustering: application in human population "
        "genomics; Marbac and Sedki (2017), Variable selection for model-based clustering using the integrated "
        "complete-data likelihood",
        "coordinates",
        True,
        True,
        True,
    ),
    "if-pca": Method(
        "IF-PCA-HCT",
        IFPCA,
        "Jin and Wang (2016), Influential features PCA for high dimensional clustering",
        "numbers",
        True,
        True,
    ),
    "i-if-learn": Method(
        "i-IF-Learn",
        IIFLearn,
        "Ma, Wang and Fan (2026), i-IF-Learn, arXiv 2603.24025",
        "numbers",
        True,
        True,
    ),
    "proclus": Method(
        "PROCLUS, with features for every cluster",
        PROCLUS,
        "Aggarwal, Procopiuc, Wolf, Yu and Park (1999), Fast algorithms for projected clustering",
        "numbers",
        True,
        True,
    ),
    "reduced": Method(
        "Gaussian mixture in principal components",
        ReducedClustering,
        "Ghosh and Chinnaiyan (2002), Mixture modelling of gene expression data from microarray experiments; Liu, "
        "Zhang, Palumbo and Lawrence (2003), Bayesian clustering with variable and transformation selections",
        "numbers",
        False,
        True,
        True,
    ),
    "reduced-nmf": Method(
        "K-means on metagenes",
        partial(ReducedClustering, reduction="nmf", clusterer="kmeans"),
        "Tamayo et al. (2007), Metagene projection for cross-platform, cross-species characterization of global "
        "transcriptional states",
        "numbers",
        False,
        True,
    ),
    "spectral-gem": Method(
        "SpectralGem",
        SpectralGem,
        "Lee, Luca and Roeder (2010), A spectral graph approach to discovering genetic ancestry",
        "numbers",
        False,
        False,
    ),
    "screened-ks": Method(
        "Screening by the Kolmogorov-Smirnov test",
        partial(ScreenedClustering, test="ks"),
        "Jin and Wang (2016), Influential features PCA for high dimensional clustering",
        "numbers",
        True,
        True,
    ),
    "screened-moments": Method(
        "Screening by skewness and kurtosis",
        partial(ScreenedClustering, test="moments"),
        MOMENTS,
        "numbers",
        True,
        True,
    ),
    "screened-mode": Method(
        "Screening by the dip test",
        partial(ScreenedClustering, test="mode"),
        "Chan and Hall (2010), Using evidence of mixed populations to select variables for clustering",
        "numbers",
        True,
        True,
    ),
    "screened-variance": Method(
        "Screening by variance",
        partial(ScreenedClustering, test="variance"),
        f"Azizyan, Singh and Wasserman (2013), Minimax theory for high-dimensional Gaussian mixtures; {MOMENTS}",
        "numbers",
        True,
        True,
    ),
    "kmeans": Method(
        "K-means, random starts",
        partial(PlainClustering, algorithm="kmeans"),
        "Lloyd (1982), Least squares quantization in PCM",
        "coordinates",
        False,
        True,
    ),
    "kmeans++": Method(
        "K-means++",
        partial(PlainClustering, algorithm="kmeans++"),
        "Arthur and Vassilvitskii (2007), k-means++: the advantages of careful seeding",
        "coordinates",
        False,
        True,
    ),
    "complete": Method(
        "Hierarchical, complete linkage",
        partial(PlainClustering, algorithm="complete"),
        "Sorensen (1948), A method of establishing groups of equal amplitude in plant sociology",
        "anything",
        False,
        True,
    ),
    "ward": Method(
        "Hierarchical, Ward's linkage",
        partial(PlainClustering, algorithm="ward"),
        "Ward (1963), Hierarchical grouping to optimize an objective function",
        "coordinates",
        False,
        True,
    ),
    "spectral": Method(
        "Spectral clustering",
        partial(PlainClustering, algorithm="spectral"),
        "Ng, Jordan and Weiss (2001), On spectral clustering: analysis and an algorithm",
        "anything",
        False,
        True,
    ),
    "kmedoids": Method(
        "K-medoids",
        partial(PlainClustering, algorithm="kmedoids"),
        "Kaufman and Rousseeuw (1990), Finding groups in data; Schubert and Rousseeuw (2021), Fast and eager k-medoids",
        "anything",
        False,
        True,
    ),
}


def make_method(name: str, n_clusters: NClusters, **parameters: Any) -> SparseClusterer:
    """Create the estimator of a method from its name.

    Parameters
    ----------
    name : str
        Name of the method, a key of `METHODS`.
    n_clusters : int, sequence of int or "auto"
        Number of clusters k.
    **parameters : Any
        Other parameters of the estimator. By default, each method uses its own tuning.

    Returns
    -------
    estimator : SparseClusterer
        Estimator that is not fitted yet.

    Examples
    --------
    >>> from sparsecluster import make_method
    >>> make_method("sparse-kmeans", 4, random_state=1)
    SparseKMeans(n_clusters=4, random_state=1)
    """
    if name in METHODS:
        return METHODS[name].make(n_clusters, **parameters)
    near = difflib.get_close_matches(name, METHODS, n=1)
    hint = f" Did you mean {brief(near[0])}?" if near else ""
    raise ValueError(f"There is no method {brief(name)}; available methods are {', '.join(METHODS)}.{hint}")
