"""The picture in README.md: a hard design of the paper before and after the choice of features, and the gap curve."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np

from sparsecluster import SASClustering, rand_index
from sparsecluster.datasets import shifted_groups
from sparsecluster.experiments.catalogue import components
from sparsecluster.experiments.figures import STYLES

from .report import RESULTS

mpl.use("Agg")


def main(repeats=None):
    import matplotlib.pyplot as plt

    X, truth, useful = shifted_groups(mu=0.6, n_features=1000, seed=0)
    sas = SASClustering(n_clusters=3).fit(X)
    chosen = sas.get_support()
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
    for ax, columns, title in (
        (left, np.ones(1000, bool), "all 1,000 features"),
        (middle, chosen, f"the {chosen.sum()} features found"),
    ):
        points = components(X[:, columns])
        for group, (color, shape, _) in enumerate(STYLES[:3]):
            ax.scatter(*points[truth == group].T, c=color, marker=shape, s=28, label=f"true group {group + 1}")
        ax.set(title=title, xlabel="first principal component", ylabel="second", xticks=[], yticks=[])
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower left", ncols=3, frameon=False)
    sas.gap_curve_.plot(right)
    right.set_title("how many features to choose")
    path = RESULTS / "demo.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    rand = rand_index(truth, sas.labels_)
    found = int((chosen & useful).sum())
    return "Picture", (
        f"n = 90, p = 1000, 50 useful features, mu = 0.6, seed 0: the Rand index is {rand:.3f}, and {found} of the "
        f"{chosen.sum()} chosen features are useful.\n\n"
        "![All features, the chosen features, and the gap curve](demo.png)"
    )
