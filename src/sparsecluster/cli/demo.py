"""`sparsecluster demo`: SAS clustering and plain K-means on a difficult design of the paper."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from .errors import plainly


@plainly
def demo(
    seed: Annotated[int, typer.Option(help="Seed of the simulated table.")] = 0,
    features: Annotated[int, typer.Option(help="Number of features p; 50 of them are useful.", min=51)] = 1000,
    mu: Annotated[
        float, typer.Option(help="Difference between consecutive group means in the useful features.", min=0.0)
    ] = 0.6,
    jobs: Annotated[
        int, typer.Option(help="Number of threads; the result does not depend on it. -1: all cores.", min=-1)
    ] = 1,
) -> None:
    """Simulate a difficult design of the paper, and compare SAS clustering with plain K-means.

    SAS clustering chooses the number of clusters and of features, and its result is assessed without the true groups.
    K-means is told that there are three groups.

    Example: sparsecluster demo --mu 0.7 --seed 3
    """
    from rich.panel import Panel
    from rich.table import Table
    from sklearn.cluster import KMeans
    from sklearn.preprocessing import StandardScaler

    from ..datasets import shifted_groups
    from ..evidence import assess
    from ..methods.sas import SASClustering
    from ..metrics import rand_index
    from .assess import SHORT_PLAN
    from .shared import console
    from .textplot import curve_plot

    printer = console()
    X, truth, useful = shifted_groups(mu=mu, n_features=features, seed=seed)
    printer.print(
        Panel.fit(
            f"{len(X)} samples, {features} features. Three groups differ in 50 of the features,\n"
            f"by {mu} standard deviations; the other {features - 50} features are noise.",
            title="sparsecluster demo",
        )
    )
    # A small fit compiles the kernels first, so that the time shown does not include the compilation.
    SASClustering(n_clusters=[2, 3], n_permutations=1).fit(X[:, :60])
    began = time.perf_counter()
    sas = SASClustering(n_clusters="auto", n_jobs=jobs, random_state=seed).fit(X)
    seconds = time.perf_counter() - began
    clusters, curve, chosen = sas.n_clusters_curve_, sas.gap_curve_, sas.get_support()
    assert clusters is not None
    assert curve is not None

    tried = sorted([*clusters.values.tolist(), *clusters.unusable])
    printer.print(f"Number of clusters: {clusters.chosen}, chosen among {tried[0]} to {tried[-1]} by the BIC.")
    printer.print(sas.summary() + "\n")
    printer.print(f"Gap statistic for each number of features, largest at {curve.chosen}:")
    printer.print(curve_plot(curve.values, curve.score, mark=curve.chosen) + "\n")

    found = int((chosen & useful).sum())
    plain = KMeans(3, n_init=20, random_state=seed)
    standard = StandardScaler().fit_transform(X)
    table = Table("method", "features", "Rand index")
    table.add_row("K-means, 20 starts", f"all {features}", f"{rand_index(truth, plain.fit_predict(standard)):.3f}")
    table.add_row("SAS clustering", f"{chosen.sum()}, {found} of them useful", f"{rand_index(truth, sas.labels_):.3f}")
    told = rand_index(truth, plain.fit_predict(standard[:, useful]))
    table.add_row("K-means on the useful features", "the 50 useful ones", f"{told:.3f}")
    printer.print(table)
    printer.print(f"Choosing the numbers of clusters and features and fitting took {seconds:.1f} s.\n")

    printer.print("Can you trust it? Without the true groups, the table itself says:")
    for sentence in assess(sas, X, **SHORT_PLAN, random_state=seed).sentences():
        printer.print(f"- {sentence}")
