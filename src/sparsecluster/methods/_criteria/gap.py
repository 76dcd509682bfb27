"""The gap statistic for the number of clusters (Tibshirani, Walther and Hastie, 2001), and one with determinants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._data.centers import means
from ..._data.reading import Reading
from ..._features.features import Features, Rows
from ..._search.curve import TuningCurve
from ..._utils.arrays import Floats, Labels
from ..._utils.parameters import rng_of
from .choice import Choice, at_least_two
from .refit import Refit, fit_each, quietly, workers_of
from .tables import NumberTable, numbers_of

# The number of reference tables B. The standard error of the mean of 20 tables is a fifth of the spread that the rule
# allows for, so more tables would change little.
N_REFERENCES = 20
# Dispersions below this share of the largest one, with all samples in one cluster, are considered rounding errors.
NONZERO = 1e-14


# ---------------------------------------------------------------- references


def column_box(table: Floats, rng: np.random.Generator) -> Floats:
    """Draw a reference table (a): every column is uniform on its range, independently of the others."""
    return rng.uniform(table.min(axis=0), table.max(axis=0), table.shape)


def component_box(table: Floats, rng: np.random.Generator) -> Floats:
    """Draw a reference table (b): uniform on the ranges of the principal components.

    With the singular value decomposition X = U D V' of the centered table, every column of X V is drawn uniformly on
    its range, and the result is rotated back by V'.
    """
    *_, right = np.linalg.svd(table, full_matrices=False)
    return column_box(table @ right.T, rng) @ right


def fitting_box(table: Floats, rng: np.random.Generator) -> Floats:
    """Draw a reference table (b) if the samples could have more principal components than they have, else (a).

    n samples have at most n - 1 components. If they have so many, there are more columns than the samples can tell, and
    a table drawn in the space of the components would have a far smaller determinant than the data.
    """
    spreads = np.linalg.svd(table, compute_uv=False) ** 2
    rank = int((spreads > NONZERO * spreads[0]).sum())
    return (component_box if rank < len(table) - 1 else column_box)(table, rng)


# ---------------------------------------------------------------- dispersions


def sum_of_squares(features: Features, labels: Labels, k: int) -> Floats:
    """Return W_k = sum_a Delta_a[C] over all features, as an array of shape (1,)."""
    return np.array([features.total.sum() - features.explained(labels, k).sum()])


def residuals(features: Features, labels: Labels, k: int) -> Floats:
    """Return the table after subtracting the center of its cluster from each sample."""
    rows = features.rows(np.arange(features.n_features))
    assert isinstance(rows, Rows)
    table = rows.table * np.sqrt(rows.weights)
    return np.asarray(table - means(table, labels, k)[labels])


def eigenvalues(features: Features, labels: Labels, k: int) -> Floats:
    """Return the eigenvalues of the pooled within-cluster scatter matrix in descending order.

    They are the squared singular values of the residuals, so there are min(n_samples, n_columns) of them, at most
    n_samples - k of which are not zero.
    """
    return np.asarray(np.linalg.svd(residuals(features, labels, k), compute_uv=False) ** 2)


# ---------------------------------------------------------------- the criterion


@dataclass(frozen=True)
class Gap:
    """Chooses the number of clusters by a gap statistic.

    The gap compares the dispersion within k clusters with that in B reference tables, which have no clusters:

        Gap(k) = mean_b log W*_kb - log W_k,   s_k = sd_b(log W*_kb) sqrt(1 + 1/B),

    where W_k = sum_a Delta_a[C] is the within-cluster sum of squares over all features, in the units in which the
    method clusters, and the standard deviation has the divisor B. The smallest k with Gap(k) >= Gap(k + 1) - s_(k+1) is
    chosen, where k = 1 is always compared and k + 1 stands for the next candidate. A single cluster is not available:
    if the rule prefers it, a warning is issued and the k >= 2 with the largest gap is used.

    With determinants, log W_k is replaced by the log determinant of the pooled within-cluster scatter matrix, that is,
    by the sum of the logarithms of its eigenvalues. This follows the idea of Kou (2014), but it is not the GUD
    statistic of that paper, whose exact formula was not available. If n - k is smaller than the number of columns for
    some k, or if columns depend on each other linearly, some eigenvalues are zero. The sum is then over the same number
    of leading eigenvalues for all k and all tables: as many as are not zero in any of them.

    Parameters
    ----------
    name : str
        Name of the criterion.
    draw : callable
        Function of the table and a random number generator that returns a reference table of the same shape.
    dispersions : callable
        Function of features, labels and k that returns the values whose logarithms are added up.

    References
    ----------
    R. Tibshirani, G. Walther and T. Hastie, "Estimating the number of clusters in a data set via the gap statistic",
    Journal of the Royal Statistical Society B 63 (2001), 411-423. J. Kou, "Estimating the number of clusters via the
    GUD statistic", Journal of Computational and Graphical Statistics 23 (2014), 403-417.
    """

    name: str
    draw: Callable[[Floats, np.random.Generator], Floats]
    dispersions: Callable[[Features, Labels, int], Floats]

    def __call__(self, estimator: Any, reading: Reading, ks: Sequence[int]) -> Choice:
        """Choose among the candidates `ks`. The curve also has k = 1."""
        table = numbers_of(reading, self.name)
        rng = rng_of(vars(estimator).get("random_state"))
        with quietly():
            found = fit_each(estimator, reading, ks)
            observed = self._of_all(reading, {k: each.labels for k, each in found.items()})
            refits = {k: Refit.like(estimator, each, few_starts=True) for k, each in found.items()}

            def one_reference(own: np.random.Generator) -> Floats:
                return self._of_reference(table, refits, own)

            tables = workers_of(estimator, reading).map(one_reference, rng.spawn(N_REFERENCES), "reference tables")
            reference = np.array(list(tables))
        curve = self._curve([1, *ks], *log_dispersions(observed, reference))
        return Choice(int(curve.chosen), curve, found[curve.chosen].labels)

    def _of_reference(self, table: NumberTable, refits: dict[int, Refit], rng: np.random.Generator) -> Floats:
        """Draw a reference table, and return its dispersions, of shape (1 + n_ks, n_dispersions)."""
        reading = table.read(self.draw(table.values, rng), max(refits))
        assert reading is not None
        found = {k: refit(reading, k, rng) for k, refit in refits.items()}
        return self._of_all(reading, {k: None if each is None else each.labels for k, each in found.items()})

    def _of_all(self, reading: Reading, labels: dict[int, Labels | None]) -> Floats:
        """Return the dispersions with one cluster, and those for every k; with no clusters, they are those of one."""
        features = reading.source.features()
        single = self.dispersions(features, np.zeros(features.n_samples, np.int32), 1)
        others = [single if own is None else self.dispersions(features, own, k) for k, own in labels.items()]
        return np.array([single, *others])

    def _curve(self, ks: list[int], observed: Floats, reference: Floats) -> TuningCurve:
        """The curve over k, from the log dispersions of the data (n_ks,) and of the references (B, n_ks)."""
        mean, spread = reference.mean(axis=0), reference.std(axis=0)
        gap, error = mean - observed, spread * np.sqrt(1.0 + 1.0 / len(reference))
        chosen = at_least_two("The gap statistic", ks, gap, ks[first_high(gap, error)])
        details = {"observed": observed, "reference": mean, "spread": spread}
        return TuningCurve("k", np.array(ks), self.name, gap, chosen, error, details)


def log_dispersions(observed: Floats, reference: Floats) -> tuple[Floats, Floats]:
    """Add up the logarithms of the dispersions, of which there are the same number for all k and all tables.

    Parameters
    ----------
    observed : ndarray of shape (n_ks, n_dispersions)
        Dispersions of the data, in descending order for every k. The first k is 1.
    reference : ndarray of shape (B, n_ks, n_dispersions)
        Dispersions of the reference tables.

    Returns
    -------
    observed : ndarray of shape (n_ks,)
        Log dispersion of the data.
    reference : ndarray of shape (B, n_ks)
        Log dispersions of the reference tables.
    """
    tables = np.concatenate([observed[None], reference])
    tables = tables / tables[:, :1, :1]
    count = max(1, int((tables > NONZERO).sum(axis=2).min()))
    # Clusters that explain the data completely have a dispersion of 0, but its logarithm must still be finite.
    scale = np.log(np.concatenate([observed[None], reference])[:, :1, 0])
    logs = np.log(np.maximum(tables[:, :, :count], NONZERO)).sum(axis=2) + count * scale
    return logs[0], logs[1:]


def first_high(gap: Floats, error: Floats) -> int:
    """Return the first place whose gap is at least the next one minus its error; the last place if there is none."""
    return int(np.argmax(np.append(gap[:-1] >= gap[1:] - error[1:], True)))


gap = Gap("gap", component_box, sum_of_squares)
gap_uniform = Gap("gap_uniform", column_box, sum_of_squares)
logdet_gap = Gap("logdet_gap", fitting_box, eigenvalues)
