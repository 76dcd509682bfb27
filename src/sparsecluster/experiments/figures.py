"""The figures of the paper, drawn from the table of results."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from ..inspection._style import STYLES
from .contenders import title_of
from .experiment import Experiment, Row
from .runner import Results

# 95 % of a normal distribution.
NORMAL_95 = 1.96


def means(rows: Iterable[Row], x: str, y: str) -> tuple[Any, Any, Any]:
    """Average y at every x.

    Parameters
    ----------
    rows : iterable of dict
        The rows.
    x, y : str
        Keys of the rows.

    Returns
    -------
    tuple of three ndarrays
        The values of x in ascending order, the means of y, and half the widths of their 95 % confidence intervals.
    """
    by_x: dict[Any, list[float]] = {}
    for row in rows:
        by_x.setdefault(row[x], []).append(row[y])
    at = sorted(by_x)
    mean = np.array([np.mean(by_x[value]) for value in at])
    half = [NORMAL_95 * np.std(by_x[v], ddof=1) / np.sqrt(len(by_x[v])) if len(by_x[v]) > 1 else 0.0 for v in at]
    return np.array(at), mean, np.array(half)


def only(results: Results, **wanted: Any) -> list[Row]:
    """Return the rows that have the given values."""
    return [row for row in results.rows() if all(row[key] == value for key, value in wanted.items())]


def one_data_set(results: Results) -> Results:
    """Return the results on the first data set, for figures that show one typical data set."""
    first = min((record.task.seed for record in results.records), default=0)
    return results._replace(records=[each for each in results.records if each.task.seed == first])


def convergence(experiment: Experiment, results: Results) -> Any:
    """Draw Figure 1: one panel per mu, with the Rand index on the left and the symmetric difference on the right."""
    import matplotlib.pyplot as plt

    cells = experiment.cells
    figure, axes = plt.subplots(2, len(cells) // 2, figsize=(9, 6.4), layout="constrained", sharex=True)
    for ax, cell in zip(axes.ravel(), cells, strict=True):
        right = ax.twinx()
        for method, mark in zip(experiment.methods, ("o", "s"), strict=True):
            for side, measure, (color, _, line) in ((ax, "rand", STYLES[0]), (right, "difference", STYLES[1])):
                at, mean, half = means(only(results, method=method, mu=cell["mu"]), "pass", measure)
                fill = color if mark == "o" else "white"
                label = f"{ {'rand': 'Rand index', 'difference': '|S* diff S|'}[measure] }, {title_of(method)}"
                side.errorbar(at, mean, half, color=color, marker=mark, mfc=fill, ls=line, capsize=2, label=label)
        ax.set(title=f"mu = {cell['mu']}", xlabel="iteration", xticks=range(1, 11))
        ax.set_ylabel("Rand index", color=STYLES[0][0])
        right.set_ylabel("symmetric difference", color=STYLES[1][0])
    # All panels show the same curves, so the legend is made from the last one.
    entries = [each for side in (ax, right) for each in zip(*side.get_legend_handles_labels(), strict=True)]
    figure.legend(*zip(*entries, strict=True), loc="outside lower center", ncols=2, frameon=False)
    return figure


def gap(experiment: Experiment, results: Results) -> Any:
    """Draw Figure 2: the gap statistic for all s, with a band of one standard error."""
    import matplotlib.pyplot as plt

    results = one_data_set(results)
    figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
    for method, (color, _, line) in zip(experiment.methods, STYLES, strict=False):
        rows = only(results, method=method)
        if not rows:
            continue
        s, value, error = (np.array([row[key] for row in rows]) for key in ("s", "gap", "se"))
        ax.fill_between(s, value - error, value + error, color=color, alpha=0.2, lw=0)
        ax.plot(s, value, color=color, ls=line, label=f"{title_of(method)}: s = {rows[0]['chosen']}")
        ax.axvline(rows[0]["chosen"], color=color, ls=line, lw=0.8)
    ax.axvline(50, color="0.5", lw=0.8, label="useful features: 50")
    ax.set(xlabel="number of features s", ylabel="gap statistic", title="mu = 1, p = 500")
    ax.legend(frameon=False)
    return figure


def weights(experiment: Experiment, results: Results) -> Any:
    """Draw Figure 3: the weight of every feature, useful features first."""
    import matplotlib.pyplot as plt

    results = one_data_set(results)
    figure, axes = plt.subplots(len(experiment.methods), 1, figsize=(7, 5), layout="constrained", sharex=True)
    for ax, method in zip(axes, experiment.methods, strict=True):
        rows = only(results, method=method)
        for is_useful, (color, mark, _) in ((True, STYLES[0]), (False, STYLES[1])):
            part = [row for row in rows if row["useful"] == is_useful]
            at, weight = [row["feature"] for row in part], [row["weight"] for row in part]
            ax.plot(at, weight, mark, ms=3, color=color, label="useful" if is_useful else "noise")
        rand = f", Rand index {rows[0]['rand']:.3f}" if rows else ""
        n_chosen = sum(row["weight"] > 0 for row in rows)
        ax.set(title=f"{title_of(method)}: {n_chosen} features with a weight{rand}", ylabel="weight")
    axes[-1].set_xlabel("feature")
    axes[0].legend(frameon=False)
    return figure


def pca(experiment: Experiment, results: Results) -> Any:
    """Draw Figure 4: the true groups in components of useful and of all features, then the clusters of every method."""
    import matplotlib.pyplot as plt

    results = one_data_set(results)
    some = only(results, method=experiment.methods[0])
    panels: list[tuple[str, list[Row], str, str]] = [
        ("True groups, useful features", some, "useful", "truth"),
        ("True groups, all features", some, "all", "truth"),
    ]
    for method in experiment.methods:
        rows = only(results, method=method)
        rand = f", Rand {rows[0]['rand']:.3f}" if rows else ""
        panels.append((f"{title_of(method)}{rand}", matched(rows), "useful", "label"))
    n_rows = -(-len(panels) // 2)
    figure, axes = plt.subplots(n_rows, 2, figsize=(8.5, 3.1 * n_rows), layout="constrained")
    for ax in axes.ravel()[len(panels) :]:
        ax.set_visible(False)
    for ax, (title, rows, place, group) in zip(axes.ravel(), panels, strict=False):
        for g in sorted({row[group] for row in rows}):
            color, mark, _ = STYLES[g]
            at = np.array([row[place] for row in rows if row[group] == g])
            ax.plot(at[:, 0], at[:, 1], mark, color=color, ms=4)
        ax.set(title=title, xlabel="first component", ylabel="second component")
    return figure


def matched(rows: list[Row]) -> list[Row]:
    """Renumber the clusters to agree with the true groups as far as possible, so that their colors can be compared."""
    table = contingency_matrix([row["truth"] for row in rows], [row["label"] for row in rows])
    groups, labels = linear_sum_assignment(-table)
    names = dict(zip(labels.tolist(), groups.tolist(), strict=True))
    return [{**row, "label": names.get(row["label"], row["label"])} for row in rows]


def kappa(experiment: Experiment, results: Results) -> Any:
    """Draw Figure 5: the Rand index by number of clusters, with and without IF-PCA."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(9.5, 7.4), layout="constrained", sharex=True)
    for row, size in zip(axes, (30, 20), strict=True):
        for ax, left_out in zip(row, ((), ("if-pca",)), strict=True):
            for method, (color, mark, line) in zip(experiment.methods, STYLES, strict=False):
                found = only(results, method=method, **{"group size": size})
                if method not in left_out and found:
                    at, mean, half = means(found, "kappa", "rand")
                    label = title_of(method)
                    ax.errorbar(at, mean, half, color=color, marker=mark, ls=line, ms=4, capsize=2, label=label)
            without = ", without IF-PCA" if left_out else ""
            ax.set(title=f"{size} samples per group{without}", xlabel="number of clusters", ylabel="Rand index")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    return figure


FIGURES: dict[str, Callable[[Experiment, Results], Any]] = {
    "figure-convergence": convergence,
    "figure-gap": gap,
    "figure-weights": weights,
    "figure-pca": pca,
    "figure-kappa": kappa,
}


def draw(experiment: Experiment, results: Results) -> tuple[bytes, str] | None:
    """Draw the figure of an experiment.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    results : Results
        Its results.

    Returns
    -------
    tuple of bytes and str, or None
        The figure as PNG and as SVG; None if the experiment is a table or has no results yet.
    """
    if experiment.name not in FIGURES or not any(record.rows for record in results.records):
        return None
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    with mpl.rc_context({"svg.hashsalt": experiment.name, "svg.fonttype": "none"}):
        figure = FIGURES[experiment.name](experiment, results)
        png, svg = io.BytesIO(), io.StringIO()
        figure.savefig(png, format="png", dpi=150, metadata={"Software": None})
        figure.savefig(svg, format="svg", metadata={"Date": None})
        plt.close(figure)
    return png.getvalue(), svg.getvalue()
