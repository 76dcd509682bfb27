"""Makes the pictures of the gallery, docs/pictures/gallery-*.png, from the same fits as its pages."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from doc_pictures import FOLDER, draw, plt
from palmerpenguins import load_penguins
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine

from sparsecluster import SASClustering
from sparsecluster.inspection import Projection, inspect
from sparsecluster.inspection._style import EDGE, cluster_names, style_of

SIZE = (5.2, 3.8)
WIDE = (8.4, 3.6)


def scatter(ax: Any, places: Any, labels: Any, names: Mapping[int, str] | None = None) -> None:
    """Draw samples with the colors and markers of their clusters."""
    for cluster, name in (names or cluster_names(np.bincount(labels))).items():
        color, mark, _ = style_of(cluster)
        ax.plot(*np.asarray(places)[labels == cluster].T, mark, color=color, ms=4.5, label=name, **EDGE)


def legend(ax: Any, columns: int = 2) -> None:
    """Add a legend above the axes, where it hides nothing."""
    place = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "columnspacing": 1.0, "handletextpad": 0.4}
    ax.legend(ncols=columns, fontsize="small", frameon=False, **place)


def plane(ax: Any, X: pd.DataFrame, found: SASClustering) -> Any:
    """Draw samples by the first two principal components of the chosen features, and return their places."""
    chosen = Projection.from_view(inspect(found, X)).chosen
    scatter(ax, chosen.places, found.labels_)
    for axis, share, number in zip((ax.xaxis, ax.yaxis), chosen.shares, (1, 2), strict=True):
        axis.set_label_text(f"component {number} ({share:.0%} of the variation)")
    return np.asarray(chosen.places)


def wine() -> Any:
    """Draw the wines in their clusters, with rings around those that are with another cultivar."""
    table = load_wine(as_frame=True)
    found = SASClustering(n_clusters=3).fit(table.data)
    figure, ax = plt.subplots(figsize=SIZE, layout="constrained")
    places = plane(ax, table.data, found)
    usual = pd.crosstab(found.labels_, table.target).idxmax(axis=1).to_numpy()
    elsewhere = places[usual[found.labels_] != table.target]
    ax.plot(*elsewhere.T, "o", mfc="none", mec="black", ms=11, mew=1.2, label="another cultivar")
    legend(ax)
    return figure


def penguins() -> Any:
    """Draw two measurements of the penguins in their six clusters."""
    table = load_penguins()
    X = table.drop(columns=["species", "year"])
    found = SASClustering(n_clusters="auto").fit(X)
    figure, ax = plt.subplots(figsize=SIZE, layout="constrained")
    sexes = found.cluster_centers_[:, X.columns.get_loc("sex")]
    names = {c: f"cluster {c}, mostly {sex}" for c, sex in enumerate(sexes)}
    scatter(ax, X[["flipper_length_mm", "bill_length_mm"]], found.labels_, names)
    legend(ax)
    ax.set(xlabel="flipper length in mm", ylabel="bill length in mm")
    return figure


def digits() -> Any:
    """Draw the mean image of each cluster, with the core pixels outlined."""
    table = load_digits(as_frame=True)
    data = table.data[table.target.isin([0, 4, 6])]
    X = data.loc[:, data.std() > 0]
    found = SASClustering(n_clusters=3, standardize=False).fit(X)
    core = [tuple(map(int, name.split("_")[1:])) for name in X.columns[found.core_support_]]
    figure, axes = plt.subplots(1, 3, figsize=(7.2, 2.7), layout="constrained")
    for cluster, ax in enumerate(axes):
        ax.imshow(data[found.labels_ == cluster].mean().to_numpy().reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
        for row, column in core:
            ax.add_patch(plt.Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, ec=style_of(1)[0], lw=2.5))
        ax.set(xticks=[], yticks=[])
        ax.set_title(cluster_names(np.bincount(found.labels_))[cluster], fontsize="medium")
    return figure


def cancer() -> Any:
    """Draw the agreement over the number of features, and the best feature in both clusters."""
    X = load_breast_cancer(as_frame=True).data
    found = SASClustering(n_clusters=2).fit(X)
    figure, (left, right) = plt.subplots(1, 2, figsize=WIDE, layout="constrained")
    found.core_curve_.plot(left)
    left.xaxis.set_major_formatter("{x:.0f}")
    best = X.columns[found.feature_scores_.argmax()]
    bins = np.linspace(X[best].min(), X[best].max(), 31)
    for cluster, name in cluster_names(np.bincount(found.labels_)).items():
        values = X.loc[found.labels_ == cluster, best]
        right.hist(values, bins, color=style_of(cluster)[0], alpha=0.7, label=name)
    right.set(xlabel=best, ylabel="tumors")
    legend(right)
    return figure


def diabetes() -> Any:
    """Draw the patients, who form one cloud, beside the wines, which form three."""
    patients, wines = load_diabetes(as_frame=True).data, load_wine(as_frame=True).data
    figure, axes = plt.subplots(1, 2, figsize=WIDE, layout="constrained")
    for ax, title, X, k in zip(axes, ("patients", "wines"), (patients, wines), (2, 3), strict=True):
        plane(ax, X, SASClustering(n_clusters=k).fit(X))
        ax.set_title(title, fontsize="medium", pad=38)
        legend(ax)
    return figure


PICTURES = {f"gallery-{make.__name__}": make for make in (wine, penguins, digits, cancer, diabetes)}


def main() -> None:
    """Make all pictures and show their sizes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        draw(PICTURES)
    for name in PICTURES:
        print(f"{name}.png: {(FOLDER / f'{name}.png').stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
