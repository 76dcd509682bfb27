"""For users of scanpy: cluster the cells of an AnnData object and find the genes that make the clusters.

    import sparsecluster.scanpy as ssc

    ssc.sas(adata, n_clusters=5)  # adata.obs["sas"], adata.var["sas_chosen"] and ["sas_score"], adata.uns["sas"]
    ssc.plot(adata)  # clusters in the chosen and in all genes

Only the package anndata is needed, not scanpy itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._version import __version__
from .methods.sas import SASClustering


def sas(
    adata: Any,
    n_clusters: int,
    *,
    layer: str | None = None,
    use_highly_variable: bool | None = None,
    key_added: str = "sas",
    copy: bool = False,
    **parameters: Any,
) -> Any:
    """SAS clustering of the cells of `adata`.

    Parameters
    ----------
    adata : AnnData, cells x genes; a sparse X stays sparse.
    n_clusters : number of clusters.
    layer : layer to use in the place of X.
    use_highly_variable : look at the genes in `adata.var["highly_variable"]` only; by default if there is such a
        column.
    key_added : name under which results are written.
    copy : return a changed copy and leave `adata` as it is.
    parameters : passed on to `SASClustering`.

    Returns
    -------
    None, or the copy. Writes

    - obs[key_added] : cluster of every cell, a category of "0", "1", ... from the largest,
    - var[key_added + "_chosen"], var[key_added + "_score"] : whether a gene was chosen, and its score,
    - uns[key_added] : parameters, number of genes, objective and the gap curve.

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

    adata = adata.copy() if copy else adata
    genes = _genes(adata, use_highly_variable)
    X = _values(adata, layer)
    found = SASClustering(n_clusters, **parameters).fit(X if genes.all() else X[:, genes])
    names = [str(c) for c in range(int(n_clusters))]
    adata.obs[key_added] = pd.Categorical.from_codes(found.labels_, pd.Index(names))
    chosen, scores = np.zeros(adata.n_vars, bool), np.zeros(adata.n_vars)
    chosen[genes], scores[genes] = found.support_, found.feature_scores_
    adata.var[f"{key_added}_chosen"], adata.var[f"{key_added}_score"] = chosen, scores
    curve = found.gap_curve_
    adata.uns[key_added] = {
        "params": {key: repr(value) for key, value in found.get_params(deep=False).items()},
        "version": __version__,
        "n_chosen": int(chosen.sum()),
        "objective": float(found.objective_),
        "gap": {} if curve is None else {"s": curve.sizes, "gap": curve.gap, "error": curve.error},
    }
    return adata if copy else None


def _values(adata: Any, layer: str | None) -> Any:
    if layer is not None and layer not in adata.layers:
        raise ValueError(f"adata has no layer {layer!r}; it has {', '.join(map(repr, adata.layers)) or 'none'}.")
    return adata.X if layer is None else adata.layers[layer]


def _genes(adata: Any, use_highly_variable: bool | None) -> Any:
    has = "highly_variable" in adata.var
    if use_highly_variable and not has:
        raise ValueError('adata.var has no column "highly_variable"; run scanpy.pp.highly_variable_genes first.')
    if use_highly_variable is False or not has:
        return np.ones(adata.n_vars, bool)
    return adata.var["highly_variable"].to_numpy(dtype=bool)


def plot(adata: Any, key: str = "sas", layer: str | None = None, axes: Any = None) -> Any:
    """Clusters in the first two principal components of the chosen and of all genes, side by side; returns the axes.

    Run `sas` first.
    """
    import matplotlib.pyplot as plt

    from .inspection._style import style_of
    from .report.columns import two_components

    if key not in adata.obs or f"{key}_chosen" not in adata.var:
        raise ValueError(f"adata has no result {key!r}. Run sparsecluster.scanpy.sas first, or name its key_added.")
    X = _values(adata, layer)
    chosen = adata.var[f"{key}_chosen"].to_numpy(dtype=bool)
    if axes is None:
        _, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    groups = adata.obs[key].astype(str).to_numpy()
    for ax, genes, title in ((axes[0], chosen, "chosen genes"), (axes[1], np.ones_like(chosen), "all genes")):
        part = X[:, genes]
        places, shares = two_components(np.asarray(part.toarray() if hasattr(part, "toarray") else part, np.float64))
        for c, group in enumerate(sorted(set(groups), key=lambda name: (len(name), name))):
            at = places[groups == group]
            color, mark, _ = style_of(c)
            ax.plot(at[:, 0], at[:, 1], mark, color=color, ms=4, label=f"cluster {group} ({len(at)})")
        ax.set(title=f"{genes.sum():,} {title}", xlabel=f"component 1, {shares[0]:.0%}")
        ax.set_ylabel(f"component 2, {shares[1]:.0%}")
    axes[0].legend(frameon=False)
    return axes
