"""Write docs/methods.md from the registry, or with --check verify that it is up to date."""

from __future__ import annotations

from pathlib import Path

from pages import write_or_check

from sparsecluster._utils.markdown import markdown_table
from sparsecluster.methods.registry import METHODS, Method

PAGE = Path(__file__).parent.parent / "docs" / "methods.md"
TAKES = {
    "numbers": "numbers without missing values",
    "coordinates": "numbers and categories, with missing values",
    "anything": "any features, with missing values",
}
HEAD = """# Methods

All methods have the same API, so that one class can be replaced by another for comparison. Every method has `labels_`,
a mask of features (`get_support()`), `feature_scores_`, `summary()` and the selector API of scikit-learn. The defaults
of the methods other than `SASClustering` are those of their publications. The [reference](api/methods.md) gives the
objective, the parameters and the paper of each. [Results](results/methods.md) compares all methods on one design, and
[Speed](results/speed.md) measures three of them.

```python
>>> from sparsecluster import SparseKMeans, rand_index
>>> from sparsecluster.datasets import shifted_groups
>>> X, truth, useful = shifted_groups(mu=0.8, n_features=200, seed=0)
>>> found = SparseKMeans(n_clusters=3).fit(X)
>>> round(rand_index(truth, found.labels_), 2), round(found.l1_bound_, 1)
(0.97, 12.7)

```

Methods can also be created by name:

```python
>>> from sparsecluster import METHODS, make_method
>>> METHODS["if-pca"].takes, METHODS["if-pca"].selects, METHODS["if-pca"].predicts
('numbers', True, True)
>>> found = make_method("if-pca", n_clusters=3).fit(X)
>>> int(found.get_support().sum())
24

```

"""
NOTES = """
## Differences from the published programs

- **Sparse K-means.** The weights are computed in closed form instead of by bisection. The path over the bounds goes
  from large to small, and each bound starts from the labels of the one before. At the chosen bound there are 20 starts,
  and the best objective wins; on the reference data it is never below that of R's `sparcl`.
- **RSKC.** Every start is followed through all alternations, and two solutions are compared on the samples that both of
  them keep, whereas R's `RSKC` follows the best of 200 starts of trimmed K-means. The bound is tuned as for sparse
  K-means; R leaves it to the user. Missing values, which R accepts, are refused.
- **Sparse hierarchical clustering.** The iteration continues until the objective converges, whereas `sparcl` stops
  after 15 steps. The permuted copies permute samples within features, as the paper describes, whereas `sparcl` permutes
  pairs of samples.
- **Sparse K-medoids.** FasterPAM replaces K-means, and the weights follow from average dissimilarities within clusters.
- **COSA.** It uses the mean over nearest neighbors, as in the paper, whereas the authors' program uses the median, and
  it divides every feature by its mean dissimilarity. `penalty=0.2` is the authors' value.
- **Regularized K-means.** The group lasso on the centers is solved exactly for clusters of any size. The adaptive
  weights use the centers of plain K-means, as in the paper; stability selection follows the authors' code.
- **Penalized mixtures** (`pan-shen`, `wang-zhu`, `ahp-gmm`, `xie`, `pairwise-fusion`). One EM algorithm serves all of
  them, and every M-step is solved exactly, also under pairwise fusion, where the paper and R's `PARSE` approximate
  absolute values. With many more features than samples EM hardly leaves its start, so it starts from K-means, K-means
  on random subsets of the features, SAS clustering and annealed EM. The penalty is chosen by the BIC of the mixture as
  in the papers. Adaptive weights come from the mixture without a penalty that the same start leads to, and starts are
  compared by the BIC.
- **Raftery and Dean.** Six of mclust's fourteen covariance models are available. EM starts from Ward's method, K-means
  and the clusters before the step, whereas R's `clustvarsel` starts from model-based hierarchical clustering. Several
  numbers of clusters are searched separately and compared by their evidence, whereas `clustvarsel` takes the best
  number in every step. One feature always remains.
- **Mixture with variable selection.** The model and both criteria are those of VarSelLCM, without the Poisson
  distribution for integers. Starts are of several kinds, and moves of single samples by the integrated likelihood help
  EM out of local maxima, which matters if there are many features. Variances have a lower bound, whereas VarSelLCM
  discards runs in which a standard deviation falls below 0.0001. No cluster is empty, and at least one feature is
  relevant.
- **IF-PCA.** The null distribution has 100,000 simulated values and is kept for each n, whereas the authors simulate
  100 p values in every run.
- **i-IF-Learn.** It follows the authors' program, including two details that its docstring explains. Higher criticism
  and the null distribution are those of `IFPCA`, so that the start is always the same, and K-means has 100 starts.
- **PROCLUS.** Columns are standardized, and the best of ten runs is returned. The number of features per cluster, which
  the paper assumes to be known, is chosen by a BIC unless it is given. Outliers are marked, and have the label -1 only
  with `outliers=True`. As in the paper, bad medoids are replaced until 20 replacements in a row have failed, and the
  best set is refined, whereas `pyproclus` stops at the first failure and refines the last set.
- **Reduction before clustering.** The mixture is started from hierarchical clustering and K-means. Its covariance model
  and the number of principal components are chosen by the BIC, which replaces the sampler of Liu et al.; there are no
  transformations of components. On the design of Table 1a with p = 500, the Rand index is 0.98 if the components are
  chosen in this way, with a mixture or with K-means, and below 0.9 with those that have 80 % of the variance. Metagenes
  are found by the updates of the authors' program. Features are shifted to be nonnegative rather than ranked
  (`nonnegative="ranks"` is theirs), and the number of metagenes is chosen without looking at the curve.
- **SpectralGem.** The embedding is clustered by K-means.
- **Screening by moments.** The tests of Verzelen and Arias-Castro are used for single features, with simulated
  p-values instead of the thresholds of the paper, whose constants could not be verified. `test="skewness"`,
  `"kurtosis"` and `"absolute"` are the single tests, of which `"moments"` combines the first two.
- **Screening by variance.** The noise variance is estimated by the median. With `threshold="azizyan"`, the smallest
  variance is used instead, as by Azizyan et al., which takes about 10 log(np) samples.
- **Screening by modes.** The dip statistic is calibrated on normal samples. If it were calibrated on uniform samples,
  as by Hartigan, most p-values of normal noise would be close to 1, but higher criticism and false discovery rates need
  uniform p-values. `test="dip"` is Hartigan's, and `test="bandwidth"` is that of Silverman. As far as we
  know, Chan and Hall prefer the excess mass; how they calibrate it and how many features they keep could not be
  verified.
"""


def cells(name: str, method: Method) -> list[str]:
    """Return one row of the table."""
    make = getattr(method.make, "func", method.make).__name__
    options = ", ".join(f'{key}="{value}"' for key, value in getattr(method.make, "keywords", {}).items())
    yes = {True: "yes", False: "no"}
    return [
        f"`{name}`",
        f"`{make}({options})`" if options else f"`{make}`",
        method.title,
        TAKES[method.takes],
        yes[method.selects],
        yes[method.predicts],
        yes[method.soft],
        method.paper,
    ]


def page() -> str:
    """Return the whole page."""
    header = ["name", "class", "what it is", "takes", "selects features", "predicts", "probabilities", "paper"]
    table = markdown_table(header, [cells(name, method) for name, method in METHODS.items()])
    return f"{HEAD}{table}\n{NOTES}"


if __name__ == "__main__":
    write_or_check(PAGE, page(), "tools/methods_page.py")
