"""Writing the report of a fit in one call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt

from .._utils.files import write
from ..evidence import Assessment
from ..inspection._fitted import Fitted, inspect
from ..inspection.view import View
from .page import report_page
from .summary import summarize


def write_report(
    estimator: Fitted | View,
    X: Any = None,
    file: str | Path = "report.html",
    *,
    ids: Sequence[Any] | None = None,
    names: Sequence[Any] | None = None,
    title: str = "Sparse clustering",
    notes: Sequence[str] = (),
    command: str | None = None,
    assessment: Assessment | None = None,
    truth: npt.ArrayLike | None = None,
    python: str | None = None,
) -> Path:
    """Write a report of a fit: one HTML file that works offline.

    Parameters
    ----------
    estimator : estimator of this package or View
        Fitted estimator, or a view of it. If it is a view, leave out `X`, `ids` and `names`.
    X : table of shape (n_samples, n_features), sparse matrix, or precomputed dissimilarities
        The data that `fit` was given.
    file : str or Path, default="report.html"
        File to write. An existing file is replaced.
    ids, names : sequence of str, default=None
        Names of the samples and of the features, as in `sparsecluster.inspection.inspect`.
    title : str, default="Sparse clustering"
        Title of the page.
    notes : sequence of str, default=()
        Other information for the reader, in full sentences, such as how the table was prepared.
    command : str, default=None
        Command line that produced the result.
    assessment : Assessment, default=None
        The evidence for the fit, as returned by `assess`, which is then shown below the summary.
    truth : array-like of shape (n_samples,), default=None
        The true group of each sample, if it is known, with which the clusters are compared.
    python : str, default=None
        Python code that produced the result. By default, it is made from the parameters of the estimator.

    Returns
    -------
    Path
        The file that was written.

    Examples
    --------
    >>> import tempfile
    >>> from sparsecluster import SASClustering, write_report
    >>> from sparsecluster.datasets import shifted_groups
    >>> X, *_ = shifted_groups(mu=2.0, n_features=30, n_useful=5, group_size=10)
    >>> found = SASClustering(n_clusters=3, n_features_to_select=5).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(found, X, f"{folder}/report.html", title="Three clusters").name
    'report.html'
    """
    if isinstance(estimator, View):
        if X is not None or ids is not None or names is not None:
            raise ValueError("X, ids and names must be left out if a View is given, because the view contains them.")
        view = estimator
    elif X is None:
        raise ValueError("X must be the data that fit was given; got None.")
    else:
        view = inspect(estimator, X, ids, names)
    result = summarize(
        view, title=title, notes=notes, command=command, assessment=assessment, truth=truth, python=python
    )
    return write(Path(file), report_page(result))
