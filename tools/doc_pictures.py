"""Make the pictures of the guide, docs/pictures/*.png: each is a run of the library, none is drawn by hand.

The picture of a report needs Chromium or Chrome; without one it is left as it is.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd
from PIL import Image

from sparsecluster import GapCurve, SASClustering, compare_methods, write_report
from sparsecluster.datasets import shifted_groups
from sparsecluster.inspection import FeatureScores, Heatmap, Projection

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "pictures"
# Enough for text to stay sharp on a page 700 points wide.
DOTS_AN_INCH = 110
# The design of the paper that is neither easy nor hopeless.
DESIGN = {"mu": 0.8, "n_features": 500}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def genes(**design: Any) -> pd.DataFrame:
    """A simulated table whose columns are called gene0, gene1, ..."""
    X = shifted_groups(**{**DESIGN, **design}).X
    rows = [f"sample{i}" for i in range(len(X))]
    return pd.DataFrame(X, index=rows, columns=[f"gene{a}" for a in range(X.shape[1])])


def gap_curves() -> Any:
    """A table with groups beside one without."""
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.6), sharey=True, layout="constrained")
    for ax, mu, title in zip(axes, (DESIGN["mu"], 0.0), ("three groups", "no groups"), strict=True):
        curve = SASClustering(n_clusters=3).fit(genes(mu=mu)).gap_curve_
        assert isinstance(curve, GapCurve)
        curve.plot(ax)
        ax.set_title(title, fontsize="medium")
        within = curve.gap >= curve.gap.max() - curve.error[curve.gap.argmax()]
        sparsest = int(curve.sizes[within.argmax()])
        ax.axvline(sparsest, color="0.4", ls=":", label=f'rule="1se": s = {sparsest}')
        ax.axhline(0.0, color="0.8", lw=0.8, zorder=0)
        ax.xaxis.set_major_formatter("{x:,.0f}")
        # Where the curve is not: it rises on the left of a peak, and is low everywhere else.
        ax.legend(frameon=False, loc="upper left" if mu else "upper right")
    axes[1].set_ylabel("")
    return figure


def projection() -> Any:
    """Clusters in the chosen and in all features, of a table in which those that tell nothing are many."""
    X = genes(mu=0.7, n_features=1000)
    return Projection.from_estimator(SASClustering(n_clusters=3).fit(X), X).plot()[0].figure


def scores() -> Any:
    """Features by score."""
    return FeatureScores.from_estimator(SASClustering(n_clusters=3).fit(genes())).plot().figure


def heatmap() -> Any:
    """Samples and chosen features."""
    X = genes()
    drawn = Heatmap.from_estimator(SASClustering(n_clusters=3).fit(X), X).plot()
    return getattr(drawn, "figure", None) or drawn[0].figure


def agreement() -> Any:
    """What several methods agree on."""
    return compare_methods(genes(), 3, repeats=1, verbose=False).plot().figure


PICTURES: dict[str, Callable[[], Any]] = {
    "gap": gap_curves,
    "projection": projection,
    "scores": scores,
    "heatmap": heatmap,
    "agreement": agreement,
}


def small(image: Image.Image, file: Path) -> None:
    """Written with 256 colors, which is all that these pictures need."""
    image.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(file, optimize=True)


def draw() -> None:
    """All pictures that matplotlib makes."""
    for name, make in PICTURES.items():
        figure, content = make(), io.BytesIO()
        figure.savefig(content, dpi=DOTS_AN_INCH, facecolor="white", bbox_inches="tight")
        plt.close("all")
        small(Image.open(content), FOLDER / f"{name}.png")


def photograph() -> None:
    """A report as a browser shows it."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        print("report.png is left as it is: no Chromium or Chrome found.")
        return
    X = genes()
    with tempfile.TemporaryDirectory() as folder:
        page, shot = Path(folder) / "report.html", Path(folder) / "report.png"
        write_report(SASClustering(n_clusters=3).fit(X), X, page, title="Clusters in genes.csv")
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1200,1600"]
        command = [browser, *options, f"--screenshot={shot}", page.as_uri()]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        small(Image.open(shot), FOLDER / "report.png")


def main() -> None:
    """Make them all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    draw()
    photograph()
    for file in sorted(FOLDER.glob("*.png")):
        print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
