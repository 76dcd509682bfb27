"""A clustering compared with the true groups of the samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..inspection.agreement import in_clusters
from ..inspection.view import View
from ..metrics import adjusted_rand_index, error_rate, rand_index

# The largest number of groups with a row of their own. The smallest ones share the last row.
MOST_GROUPS = 60


def compared(view: View, truth: npt.ArrayLike) -> dict[str, Any]:
    """The agreement of the clusters with the true groups, and the number of samples in each of both.

    Parameters
    ----------
    view : View
        View of the fit.
    truth : array-like of shape (n_samples,)
        The true group of each sample.

    Returns
    -------
    dict
        The Rand index, the adjusted Rand index and the error rate among the samples in clusters; the names of the
        groups; and the counts, one row per group and one column per cluster, and a last column for samples in no
        cluster if there are any.
    """
    known = np.asarray(truth).astype(str)
    if known.shape != view.labels.shape:
        raise ValueError(f"truth must hold the group of each of the {view.labels.size} samples; got {known.shape}.")
    groups, place = np.unique(known, return_inverse=True)
    counts = np.zeros((groups.size, view.n_clusters + 1), np.intp)
    np.add.at(counts, (place, view.labels), 1)
    names = groups.tolist()
    if groups.size > MOST_GROUPS:
        order = np.argsort(-counts.sum(axis=1), kind="stable")
        kept, rest = np.sort(order[: MOST_GROUPS - 1]), order[MOST_GROUPS - 1 :]
        names = [*groups[kept].tolist(), f"{rest.size:,} other groups"]
        counts = np.vstack([counts[kept], counts[rest].sum(axis=0)])
    inside = in_clusters(known, view.labels)
    return {
        "rand": rand_index(*inside),
        "ari": adjusted_rand_index(*inside),
        "error": error_rate(*inside),
        "groups": names,
        "counts": counts[:, : view.n_clusters + (view.n_outliers > 0)].tolist(),
    }
