"""Write docs/methods.md from the registry; with --check only say whether it is up to date."""

from __future__ import annotations

import sys
from pathlib import Path

from sparsecluster.methods.registry import METHODS, PLANNED, Method

PAGE = Path(__file__).parent.parent / "docs" / "methods.md"
TAKES = {
    "numbers": "numbers, no gaps",
    "coordinates": "numbers, categories, gaps",
    "anything": "anything, gaps too",
}
HEAD = """# Methods

One API for all of them: replace one class name by another and compare. Every method has `labels_`, a mask of features
(`get_support()`), `feature_scores_`, `summary()`, scikit-learn's selector API, and its published tuning as its default.
The objective of each, its parameters and its paper are in its docstring. [Results](results/methods.md) has all of them
on one design, [speed](results/methods_speed.md) two of them against the clock.

```python
>>> from sparsecluster import SparseKMeans, rand_index
>>> from sparsecluster.datasets import shifted_groups
>>> X, truth, useful = shifted_groups(mu=0.8, n_features=200, seed=0)
>>> found = SparseKMeans(n_clusters=3).fit(X)
>>> round(rand_index(truth, found.labels_), 2), round(found.l1_bound_, 1)
(0.97, 12.7)

```

By name, as tests and benchmarks do:

```python
>>> from sparsecluster.methods.registry import METHODS, make_method
>>> METHODS["if-pca"].takes, METHODS["if-pca"].selects, METHODS["if-pca"].predicts
('numbers', True, True)
>>> make_method("if-pca", n_clusters=3).fit(X).get_support().sum() < 100
np.True_

```

"""
NOTES = """
## What differs from the published programs

- **Sparse K-means.** Weights are solved in closed form, not by bisection. The path over bounds goes from large to small
  with warm labels; the chosen bound is then searched from 20 starts and the best objective wins, so it is never below
  that of R's `sparcl` on the reference data.
- **Sparse hierarchical clustering.** Steps until the objective settles (`sparcl`: at most 15). Copies permute samples
  within features, as the paper says; `sparcl` permutes pairs of samples.
- **Sparse K-medoids.** FasterPAM in the place of K-means; weights by average dissimilarities within clusters.
- **COSA.** The mean over nearest neighbors, as in the paper (the authors' program takes the median), and each feature
  divided by its mean dissimilarity. `penalty=0.2` is the authors' value.
- **Regularized K-means.** The group lasso on centers is solved exactly for clusters of any size. The adaptive part uses
  the centers of plain K-means, as in the paper; stability selection follows the authors' code.
- **IF-PCA.** 100,000 simulated null values, kept for each n, where the authors simulate 100 p anew in every run.
- **SpectralGem.** K-means on the embedding.
- **Screening by modes.** The dip is calibrated on normal samples. Calibrated on uniform ones, as Hartigan did, most
  p-values of normal noise are near 1, and higher criticism and false discovery rates need uniform ones.
"""


def cells(name: str, method: Method) -> list[str]:
    """One row of the table."""
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
        method.paper,
    ]


def page() -> str:
    """The whole page."""
    header = ["name", "class", "what it is", "takes", "selects features", "predicts", "paper"]
    rows = [header, ["---"] * len(header), *(cells(name, method) for name, method in METHODS.items())]
    table = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    planned = "\n".join(f"- `{name}`: {paper}" for name, paper in PLANNED.items())
    return f"{HEAD}{table}\n\nNot available yet:\n\n{planned}\n{NOTES}"


def main() -> None:
    """Write or check."""
    if "--check" in sys.argv:
        if PAGE.read_text(encoding="utf-8") != page():
            sys.exit(f"{PAGE.name} does not say what the registry says; run: python tools/methods_page.py")
        return
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
