"""Functions for scanpy users: cluster the cells of an AnnData object and find the genes that distinguish the clusters.

    import sparsecluster.scanpy as ssc

    ssc.sas(adata)  # adds obs["sas"], var["sas_chosen"], var["sas_core"], var["sas_score"] and uns["sas"] to adata
    ssc.plot(adata)  # the clusters in the chosen genes and in all genes

Only the package anndata is required, not scanpy itself.
"""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ._blocks.collections import is_collection
from ._search.curve import TuningCurve
from ._utils.checks import check_choice, frames_in_package
from ._utils.text import brief
from ._version import __version__
from .io.backed import in_blocks
from .methods._clusters import NClusters
from .methods._result import OUTLIER
from .methods.sas import SASClustering
from .preprocessing import EXPRESSION, ExpressionScaler

if TYPE_CHECKING:
    from .evidence import Assessment

# The category of cells in no cluster.
NO_CLUSTER = "outlier"
# The most cells that are loaded from a file to be drawn.
MOST_SHOWN = 10_000
# The columns of genes, by the attributes that they hold.
COLUMNS = {"support_": "chosen", "core_support_": "core", "feature_scores_": "score"}


def sas(
    adata: Any,
    n_clusters: NClusters = "auto",
    *,
    layer: str | None = None,
    use_highly_variable: bool | None = None,
    preset: Literal["expression"] | None = None,
    key_added: str = "sas",
    copy: bool = False,
    assess: bool = False,
    **parameters: Any,
) -> Any:
    """Cluster the cells of `adata` by SAS clustering, and select the genes that distinguish the clusters.

    Parameters
    ----------
    adata : AnnData of shape (n_cells, n_genes)
        Cells to cluster. A sparse matrix stays sparse. If the matrix is in a file (`backed="r"`) or a Dask array, it is
        read in blocks of cells and never loaded as a whole.
    n_clusters : int, sequence of int or "auto", default="auto"
        Number of clusters. With several numbers, one of them is chosen; "auto" chooses among 2 to 10.
    layer : str, default=None
        Layer to use instead of `adata.X`.
    use_highly_variable : bool, default=None
        Whether to use only the genes marked in `adata.var["highly_variable"]`. By default, they are used if this column
        exists.
    preset : "expression" or None, default=None
        With "expression", the counts are normalized by `ExpressionScaler`, and the parameters of
        `expression_clustering` are the default. `adata` keeps its counts.
    key_added : str, default="sas"
        Name under which the results are stored.
    copy : bool, default=False
        Whether to return a copy with the results instead of adding them to `adata`.
    assess : bool, default=False
        Whether to test if there are groups, and how sure each cell is; see `sparsecluster.assess`. It needs a matrix in
        memory.
    **parameters
        Other parameters of `SASClustering`.

    Returns
    -------
    AnnData or None
        The copy if `copy=True`, and None otherwise. The following results are added:

        - `obs[key_added]`: the cluster of each cell, as a category "0", "1", ..., where "0" is the largest cluster, and
          "outlier" for cells in no cluster, of which there are some only if `trim` is given;
        - `var[key_added + "_chosen"]`, `var[key_added + "_core"]` and `var[key_added + "_score"]`: whether each gene
          was chosen, whether it is one of those that are enough to find the clusters again, and its score;
        - `uns[key_added]`: the parameters, the objective, the numbers of clusters, of chosen genes, of core genes and
          of cells in no cluster, and the curves by which the numbers of clusters and of genes were chosen;
        - with `assess=True`, `obs[key_added + "_confidence"]`: how often each cell keeps its cluster in random parts of
          the cells; and `uns[key_added]["assessment"]`: the answers in words and numbers.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> import sparsecluster.scanpy as ssc
    >>> from sparsecluster.datasets import shifted_groups
    >>> X, truth, useful = shifted_groups(mu=2.0, n_features=50, n_useful=10)
    >>> adata = anndata.AnnData(X)
    >>> ssc.sas(adata, n_clusters=3)
    >>> adata.obs["sas"].cat.categories.tolist(), int(adata.var["sas_chosen"].sum())
    (['0', '1', '2'], 10)
    """
    import pandas as pd

    _check_place(adata, copy)
    if preset is not None:
        check_choice("preset", preset, ["expression"], " or None")
    adata = adata.copy() if copy else adata
    genes = _genes(adata, use_highly_variable)
    with _opened(_values(adata, layer)) as (X, notes):
        for note in notes:
            warnings.warn(note, UserWarning, stacklevel=frames_in_package())
        if assess and is_collection(X):
            raise ValueError(
                "assess=True needs a matrix in memory; this one is read in blocks. Use assess=False, or load some of "
                "the cells by adata[cells].to_memory()."
            )
        X = X if genes.all() else X[:, np.flatnonzero(genes)]
        if preset is not None:
            X, parameters = ExpressionScaler().fit_transform(X), {**EXPRESSION, **parameters}
        found = SASClustering(n_clusters, **parameters).fit(X)
        labels = np.asarray(found.labels_)
        evidence = _evidence(found, X) if assess else None
    outside = labels == OUTLIER
    names = [*map(str, range(found.n_clusters_)), *([NO_CLUSTER] if outside.any() else [])]
    codes = np.where(outside, found.n_clusters_, labels)
    adata.obs[key_added] = pd.Categorical.from_codes(codes, pd.Index(names))
    for name, what in COLUMNS.items():
        column = f"{key_added}_{what}"
        if hasattr(found, name):
            values = np.zeros(adata.n_vars, getattr(found, name).dtype)
            values[genes] = getattr(found, name)
            adata.var[column] = values
        elif column in adata.var:
            # It is left from an earlier result.
            del adata.var[column]
    adata.uns[key_added] = {
        "params": {key: repr(value) for key, value in found.get_params(deep=False).items()},
        "version": __version__,
        "n_clusters": int(found.n_clusters_),
        "n_chosen": int(found.support_.sum()),
        "n_outliers": int(outside.sum()),
        "objective": float(found.objective_),
        "gap": _as_arrays(found.gap_curve_),
        "bic": _as_arrays(found.bic_curve_),
        "n_clusters_curve": _as_arrays(found.n_clusters_curve_),
    }
    if hasattr(found, "core_size_"):
        adata.uns[key_added]["core_size"] = int(found.core_size_)
    confidence = f"{key_added}_confidence"
    if evidence is not None:
        adata.obs[confidence] = evidence.samples.confidence
        adata.uns[key_added]["assessment"] = _as_plain(evidence)
    elif confidence in adata.obs:
        del adata.obs[confidence]
    return adata if copy else None


def _evidence(found: SASClustering, X: Any) -> Assessment:
    """Assess a fit with the seed of the fit."""
    from .evidence import assess

    return assess(found, X, random_state=found.random_state)


def _as_plain(evidence: Assessment) -> dict[str, Any]:
    """Return the answers of an assessment as values that can be written to a file."""
    return {
        "summary": evidence.summary(),
        "verdict": evidence.verdict,
        "n_clusters": evidence.n_clusters,
        "p_independent": evidence.p_independent,
        # A file has no None.
        "p_one_group": np.nan if evidence.p_one_group is None else evidence.p_one_group,
        "agreement": evidence.agreement,
        "stability": evidence.clusters.stability,
    }


def _as_arrays(curve: TuningCurve | None) -> dict[str, Any]:
    """Return a curve as arrays by name, which can be written to a file; nothing if there is no curve."""
    if curve is None:
        return {}
    arrays = {curve.parameter: curve.values, curve.criterion: curve.score}
    return arrays if curve.error is None else {**arrays, "error": curve.error}


def _values(adata: Any, layer: str | None) -> Any:
    if layer is not None and layer not in adata.layers:
        raise ValueError(f"adata has no layer {brief(layer)}; it has {', '.join(map(brief, adata.layers)) or 'none'}.")
    return adata.X if layer is None else adata.layers[layer]


def _check_place(adata: Any, copy: bool) -> None:
    """Refuse cells in a file to which results cannot be added, before the work begins."""
    if getattr(adata, "isbacked", False) and adata.is_view:
        raise ValueError(
            "adata is a part of a file, to which no results can be added. Pass all cells of the file, load the part by "
            "adata.to_memory(), or write it to a file of its own by adata.copy(filename)."
        )
    if copy and getattr(adata, "isbacked", False):
        raise ValueError(
            "copy=True needs cells in memory; adata is in a file. Use copy=False, which leaves the file as it is: the "
            "results are added to obs, var and uns, which are in memory."
        )


def _opened(X: Any) -> AbstractContextManager[tuple[Any, list[str]]]:
    """Open a matrix in a file as a Dask array, with notes; other matrices stay as they are."""
    part = getattr(X, "group", X)
    is_stored = type(part).__module__.partition(".")[0] == "h5py"
    return in_blocks(part.file.filename, part.name) if is_stored else nullcontext((X, []))


def _genes(adata: Any, use_highly_variable: bool | None) -> Any:
    has = "highly_variable" in adata.var
    if use_highly_variable and not has:
        raise ValueError('adata.var has no column "highly_variable"; run scanpy.pp.highly_variable_genes first.')
    if use_highly_variable is False or not has:
        return np.ones(adata.n_vars, bool)
    return adata.var["highly_variable"].to_numpy(dtype=bool)


def plot(adata: Any, key: str = "sas", layer: str | None = None, axes: Any = None) -> Any:
    """Draw the cells in the first two principal components of the chosen genes and of all genes, side by side.

    Parameters
    ----------
    adata : AnnData of shape (n_cells, n_genes)
        Cells with the results of `sas`. Of cells in a file or in a Dask array, at most 10,000 are drawn, which are
        chosen at random.
    key : str, default="sas"
        Name under which the results are stored, which was given as `key_added` to `sas`.
    layer : str, default=None
        Layer to use instead of `adata.X`.
    axes : sequence of two matplotlib Axes, default=None
        Where to draw; by default, in a new figure.

    Returns
    -------
    ndarray of two matplotlib Axes

    Examples
    --------
    >>> import anndata
    >>> import sparsecluster.scanpy as ssc
    >>> from sparsecluster.datasets import shifted_groups
    >>> adata = anndata.AnnData(shifted_groups(mu=2.0, n_features=50, n_useful=10).X)
    >>> ssc.sas(adata, n_clusters=3)
    >>> [ax.get_title() for ax in ssc.plot(adata)]
    ['10 chosen features', 'all 50 features']
    """
    from .inspection.projection import Projection
    from .inspection.view import view_of_numbers

    if key not in adata.obs or f"{key}_chosen" not in adata.var:
        raise ValueError(
            f"adata has no result {brief(key)}. Run sparsecluster.scanpy.sas first, or pass its key_added as key."
        )
    clusters = adata.obs[key].astype(str)
    # Clusters are sorted as numbers, not as text.
    order = {name: c for c, name in enumerate(sorted({*clusters} - {NO_CLUSTER}, key=lambda name: (len(name), name)))}
    order[NO_CLUSTER] = OUTLIER
    parameters = adata.uns.get(key, {}).get("params", {})
    labels = np.array([order[name] for name in clusters], dtype=np.intp)
    with _opened(_values(adata, layer)) as (X, _):
        if is_collection(X):
            shown = np.sort(np.random.default_rng(0).permutation(adata.n_obs)[:MOST_SHOWN])
            X, labels = X[shown].compute(), labels[shown]
    view = view_of_numbers(
        X,
        labels,
        adata.var[f"{key}_chosen"].to_numpy(dtype=bool),
        standardize=parameters.get("standardize") != "False",
    )
    return Projection.from_view(view).plot(axes)
