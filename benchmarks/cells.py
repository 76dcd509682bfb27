"""Simulated counts of single cells and of bulk samples, whose totals differ: the preset, beside what others do."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from sparsecluster import SASClustering, adjusted_rand_index, expression_clustering
from sparsecluster._data.amounts import scaled_samples
from sparsecluster._utils.markdown import markdown_table
from sparsecluster.preprocessing import EXPRESSION, LARGEST_LOG

STARTS, COMPONENTS = 10, 30
# The bounds within which scanpy looks for highly variable genes by default, and its number of bins.
LEAST_MEAN, MOST_MEAN, LEAST_DISPERSION, BINS = 0.0125, 3.0, 0.5, 20


class Design(NamedTuple):
    """How counts are simulated: negative binomial, with zeros in addition, and types of very different sizes."""

    name: str
    n: int = 400
    p: int = 1000
    types: int = 4
    markers: int = 80
    fold: float = 4.0
    depth: float = 0.6
    mean: float = 1.0
    overdispersion: float = 0.5
    dropout: float = 0.2


DESIGNS = (
    Design("cells, similar totals", depth=0.3),
    Design("cells", depth=0.6),
    Design("cells, very different totals", depth=1.0),
    Design("cells with few counts", mean=0.3, markers=120, overdispersion=0.2),
    Design("cells with few markers", markers=20, fold=8.0, types=3, depth=0.8),
    Design("cells with many counts", mean=4.0, markers=40),
    Design("cells with weak markers", 600, 2000, 3, 118, 2.0, 0.8, 3.4, 0.5, 0.0),
    Design("bulk samples", 60, 2000, 3, 80, 3.0, 0.7, 500.0, 0.2, 0.0),
)


def simulated(design, seed):
    """Return counts, the types of the samples, and which genes are markers of a type."""
    rng = np.random.default_rng(seed)
    sizes = 1.0 / np.arange(1, design.types + 1)
    types = rng.choice(design.types, design.n, p=sizes / sizes.sum())
    level = rng.lognormal(0, 1.2, design.p)
    levels = np.tile(level * design.mean / level.mean(), (design.types, 1))
    markers = rng.choice(design.p, design.markers, replace=False)
    levels[np.arange(design.markers) % design.types, markers] *= design.fold
    depth = rng.lognormal(-(design.depth**2) / 2, design.depth, (design.n, 1))
    expected = levels[types] * depth
    counts = rng.poisson(rng.gamma(1 / design.overdispersion, expected * design.overdispersion))
    counts[rng.random(counts.shape) < design.dropout * np.exp(-expected)] = 0
    return counts, types, np.isin(np.arange(design.p), markers)


def normalized(counts):
    """Return log(1 + x) of counts that are divided by size factors."""
    totals = counts.sum(axis=1, keepdims=True)
    return np.log1p(counts * np.median(totals) / np.maximum(totals, 1))


def highly_variable(logs):
    """Return which genes scanpy would call highly variable: of large dispersion among genes of a similar mean."""
    values = np.expm1(logs)
    mean = values.mean(axis=0)
    with np.errstate(all="ignore"):
        dispersion = np.log(values.var(axis=0, ddof=1) / mean)
    mean = np.log1p(mean)
    edges = np.linspace(mean.min(), mean.max(), BINS + 1)[1:-1]
    place = np.digitize(mean, edges)
    kept = np.zeros(len(mean), bool)
    for each in np.unique(place):
        inside = (place == each) & np.isfinite(dispersion)
        if inside.sum() > 1:
            spread = dispersion[inside].std(ddof=1)
            kept[inside] = dispersion[inside] - dispersion[inside].mean() > LEAST_DISPERSION * spread
    return kept & (mean > LEAST_MEAN) & (mean < MOST_MEAN)


def one_table(design, seed):
    """Return the adjusted Rand indices of four ways on one table, and how many of the genes they name are markers."""
    counts, types, markers = simulated(design, seed)
    k, logs = design.types, normalized(counts)
    preset = expression_clustering(k, random_state=seed).fit(counts)[-1]
    taken = np.log2(1.0 + counts) if counts.max() > LARGEST_LOG else counts.astype(float)
    unsized = SASClustering(k, **EXPRESSION, random_state=seed).fit(scaled_samples(taken))
    plain = KMeans(k, n_init=STARTS, random_state=seed).fit_predict(logs)
    variable = highly_variable(logs)
    # Bulk samples have means that scanpy's bounds exclude.
    variable = variable if variable.sum() >= COMPONENTS else logs.var(axis=0) >= np.quantile(logs.var(axis=0), 0.9)
    reduced = PCA(COMPONENTS, random_state=seed).fit_transform(logs[:, variable])
    common = KMeans(k, n_init=STARTS, random_state=seed).fit_predict(reduced)
    labels = (preset.labels_, unsized.labels_, plain, common)
    named = (preset.full_support_, preset.support_, unsized.full_support_, variable)
    return (
        [adjusted_rand_index(types, each) for each in labels],
        [number for each in named for number in (int(markers[each].sum()), int(each.sum()))],
        float((counts == 0).mean()),
    )


def row_of(design, found):
    """Return a row of the table, with the best adjusted Rand index in bold."""
    aris, genes, zeros = (np.mean(each, axis=0) for each in zip(*found, strict=True))
    cells = [f"**{each:.2f}**" if round(each, 2) == round(max(aris), 2) else f"{each:.2f}" for each in aris]
    named = [f"{genes[a]:.0f} of {genes[a + 1]:.0f}" for a in range(0, len(genes), 2)]
    about = [design.name, f"{design.n} x {design.p}", f"{design.depth:g}", f"{zeros:.0%}", f"{design.markers}"]
    return [*about, *cells, *named]


def main(repeats=5):
    rows, every = [], []
    for design in DESIGNS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = [one_table(design, seed) for seed in range(repeats)]
        every.append(np.mean([each[0] for each in found], axis=0))
        rows.append(row_of(design, found))
    rows.append(["mean", *[""] * 4, *(f"{each:.2f}" for each in np.mean(every, axis=0)), *[""] * 4])
    header = [
        "data", "size", "depth", "zeros", "markers", "preset", "without size factors", "K-means",
        "K-means on PCA of HVG", "markers in the preset's genes", "in its core", "without size factors", "in HVG",
    ]  # fmt: skip
    return "Single cells", (
        "Adjusted Rand index with the true types, and how many of the genes that each way names are markers; means "
        f"over {repeats} simulated tables (seeds 0 to {repeats - 1}). The counts are negative binomial, the types have "
        "sizes in proportion to 1, 1/2, 1/3, ..., and each marker is expressed 2 to 8 times as strongly in one type. "
        "Depth is the standard deviation of the logarithm of the sequencing depth. The number of clusters is given.\n\n"
        "The preset divides each sample by its size factor and takes logarithms of 1 + x / c, where c grows with the "
        "spread of the size factors (see `ExpressionScaler`); samples of which less than half of the counts are zero "
        "are also centered and scaled. Without size factors, samples are treated as raw "
        "intensities, as in earlier versions: log2(1 + x) if some value is above 50, and each sample centered and "
        f"scaled. K-means sees all genes after size factors and logarithms, with {STARTS} starts; or {COMPONENTS} "
        "principal components of the highly variable genes (HVG), chosen by scanpy's default rule (of bulk "
        "samples, the tenth of the genes with the largest variance).\n\n" + markdown_table(header, rows)
    )
