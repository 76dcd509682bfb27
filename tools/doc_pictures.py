"""Makes the pictures of the documentation, docs/pictures/*.png, from runs of the library, except those of the gallery.

The picture of a report needs Chromium or Chrome. Without one of them, the existing picture is kept.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from PIL import Image

from sparsecluster import Assessment, PairwiseFusionMixture, SASClustering, assess, compare_methods, write_report
from sparsecluster.datasets import many_groups, shifted_groups
from sparsecluster.inspection import FeatureScores, Heatmap, Projection, View, inspect

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "pictures"
# Enough for text to stay sharp on a page that is 700 points wide.
DOTS_PER_INCH = 110
# A design of the paper that is neither easy nor hopeless.
DESIGN = {"mu": 0.8, "n_features": 500}
CLUSTERS = ("#0072B2", "#E69F00", "#009E73")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def genes(**design: Any) -> pd.DataFrame:
    """Simulate a table whose columns are named gene0, gene1, ..."""
    X = shifted_groups(**{**DESIGN, **design}).X
    rows = [f"sample{i}" for i in range(len(X))]
    return pd.DataFrame(X, index=rows, columns=[f"gene{a}" for a in range(X.shape[1])])


@cache
def view(**design: Any) -> View:
    """Fit three clusters to a simulated table, and return what is drawn."""
    X = genes(**design)
    return inspect(SASClustering(n_clusters=3).fit(X), X)


@cache
def assessment(**design: Any) -> Assessment:
    """Assess three clusters of a simulated table."""
    return assess(SASClustering(n_clusters=3), genes(**design))


def evidence() -> Any:
    """Draw how sure clusters, samples and features are."""
    return assessment(mu=0.7, n_features=1000).plot()


def gap_curves() -> Any:
    """Draw the gap curves of a table with clusters and of a table without, side by side."""
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.6), sharey=True, layout="constrained")
    drawn = {"three groups": view(), "no groups": view(mu=0.0)}
    for ax, (title, each), place in zip(axes, drawn.items(), ("upper left", "upper right"), strict=True):
        curve = each.curves["gap_curve_"]
        curve.plot(ax)
        top = curve.score.argmax()
        fewest = curve.values[(curve.score >= curve.score[top] - curve.error[top]).argmax()]
        ax.axvline(fewest, color="0.4", ls=":", label=f'rule="1se": s = {fewest}')
        ax.axhline(0.0, color="0.8", lw=0.8, zorder=0)
        ax.set_title(title, fontsize="medium")
        ax.xaxis.set_major_formatter("{x:,.0f}")
        # These corners are empty: the first curve rises to a peak on the right, and the second one stays low.
        ax.legend(frameon=False, loc=place)
    axes[1].set_ylabel("")
    return figure


@cache
def five_groups() -> SASClustering:
    """Choose the number of clusters of a table with five groups."""
    return SASClustering("auto").fit(many_groups(n_groups=5, seed=0).X)


def cluster_curves() -> Any:
    """Draw the criterion over the number of clusters of a table with five groups and of a table without groups."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        without = SASClustering("auto").fit(shifted_groups(mu=0.0, n_features=100, seed=0).X)
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.6), layout="constrained")
    for ax, (title, each) in zip(axes, {"five groups": five_groups(), "no groups": without}.items(), strict=True):
        each.n_clusters_curve_.plot(ax)
        ax.axhline(0.0, color="0.8", lw=0.8, zorder=0)
        ax.set_title(title, fontsize="medium")
    return figure


def core() -> Any:
    """Draw the agreement with the clusters over the number of features."""
    return five_groups().core_curve_.plot().figure


def projection() -> Any:
    """Draw the clusters in the chosen and in all features of a table with many useless features."""
    return Projection.from_view(view(mu=0.7, n_features=1000)).plot()[0].figure


def scores() -> Any:
    """Draw the features by score."""
    return FeatureScores.from_view(view()).plot().figure


def heatmap() -> Any:
    """Draw the values of the samples in the chosen features."""
    return Heatmap.from_view(view()).plot().figure


def agreement() -> Any:
    """Draw how well several methods agree."""
    return compare_methods(genes(), 3, repeats=1, verbose=False).plot().figure


def mixture() -> Any:
    """Draw the memberships of all samples in a mixture, and the BIC over the penalties, as in the guide."""
    X = shifted_groups(mu=1.0, n_features=60, n_useful=12, group_size=30, seed=0).X
    found = PairwiseFusionMixture(n_clusters=3).fit(X)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.6), layout="constrained")
    # Samples of a cluster stand together, the most certain ones first.
    order = np.lexsort((-found.memberships_.max(axis=1), found.labels_))
    below = np.zeros(len(X))
    for cluster, shares in enumerate(found.memberships_[order].T):
        left.bar(
            np.arange(len(X)), shares, bottom=below, width=1.0, color=CLUSTERS[cluster], label=f"cluster {cluster}"
        )
        below += shares
    left.set(xlabel="samples", ylabel="probability", xlim=(-0.5, len(X) - 0.5), ylim=(0.0, 1.0))
    left.legend(loc="upper center", bbox_to_anchor=(0.5, 1.15), ncols=3, frameon=False)
    found.bic_curve_.plot(right)
    right.axhline(0.0, color="0.8", lw=0.8, zorder=0)
    return figure


PICTURES: dict[str, Callable[[], Any]] = {
    "gap": gap_curves,
    "clusters": cluster_curves,
    "core": core,
    "projection": projection,
    "scores": scores,
    "heatmap": heatmap,
    "agreement": agreement,
    "mixture": mixture,
    "evidence": evidence,
}


def small(image: Image.Image, file: Path) -> None:
    """Save an image with 256 colors, which is enough for these pictures."""
    image.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(file, optimize=True)


def draw(pictures: dict[str, Callable[[], Any]]) -> None:
    """Make pictures that matplotlib draws."""
    for name, make in pictures.items():
        figure, content = make(), io.BytesIO()
        figure.savefig(content, dpi=DOTS_PER_INCH, facecolor="white", bbox_inches="tight")
        plt.close("all")
        small(Image.open(content), FOLDER / f"{name}.png")


def photograph() -> None:
    """Take a picture of a report in a browser."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        print("report.png was not changed, because neither Chromium nor Chrome was found.")
        return
    with tempfile.TemporaryDirectory() as folder:
        page, shot = Path(folder) / "report.html", Path(folder) / "report.png"
        write_report(view(), file=page, title="Clusters in genes.csv", assessment=assessment())
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1200,1600"]
        command = [browser, *options, f"--screenshot={shot}", page.as_uri()]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        small(Image.open(shot), FOLDER / "report.png")


def main() -> None:
    """Make all pictures and show their sizes."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    draw(PICTURES)
    photograph()
    for file in sorted(FOLDER.glob("*.png")):
        print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
