"""The result of a fit in a notebook: a few lines of text, and bars for the clusters and for the best features.

There is no script in it, and text has the color of the notebook, so that it can be read on light and on dark pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np
from sklearn import get_config
from sklearn.utils import estimator_html_repr

from .._utils.colors import color_of
from .._utils.text import LONGEST_NAME, shortened, visible
from ._result import OUTLIER
from ._summary import features_by_score, outside_of, summary_lines
from ._validation import names_of

# The most clusters, features and lines that are shown, and the longest line.
MOST_CLUSTERS, MOST_FEATURES, MOST_LINES, LONGEST_LINE = 10, 8, 8, 300
# The length of the longest bar, and the height of all, in pixels.
LENGTH, HEIGHT = 130, 12
# Core features are drawn almost in the color of the text, others fainter, and the whole scale fainter still.
CORE, OTHER, SCALE = 0.75, 0.35, 0.1
STYLE = (
    ".sparsecluster-fit{font:13px/1.5 system-ui,sans-serif;color:inherit;margin:0 0 .6em}"
    ".sparsecluster-fit p{margin:0 0 .6em}"
    ".sparsecluster-fit>div{display:flex;flex-wrap:wrap;gap:.6em 3em;align-items:flex-start}"
    ".sparsecluster-fit section{display:grid;grid-template-columns:auto auto auto;gap:.1em .7em;align-items:center}"
    ".sparsecluster-fit section>*{white-space:nowrap;min-width:0}"
    ".sparsecluster-fit section>b,.sparsecluster-fit section>i{grid-column:1/-1}"
    # Notes do not make the columns wider.
    ".sparsecluster-fit section>i{white-space:normal;width:0;min-width:100%}"
    ".sparsecluster-fit svg+span{text-align:right;font-variant-numeric:tabular-nums}"
    ".sparsecluster-fit svg{display:block}"
    ".sparsecluster-fit+details>summary{font:13px/1.5 system-ui,sans-serif;color:inherit;cursor:pointer}"
)


class Bar(NamedTuple):
    """A bar with its name and its value as text; its length is a share of the longest possible one."""

    name: str
    share: float
    value: str
    color: str = "currentColor"
    opacity: float = 1.0


class ShownInNotebooks:
    """Mixin for estimators whose result is shown in notebooks, above scikit-learn's diagram of the estimator."""

    def _html_repr(self) -> str:
        # The diagram has the names of the features as they are.
        diagram = visible(estimator_html_repr(self), keep="\n\t")
        return notebook_page(self, diagram) if "_kept" in vars(self) else diagram

    # Up to version 1.6, scikit-learn calls its own function in the place of `_html_repr`.
    def _repr_html_inner(self) -> str:
        return self._html_repr()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown = {"text/plain": repr(self)}
        return shown | {"text/html": self._html_repr()} if get_config()["display"] == "diagram" else shown


def notebook_page(estimator: Any, diagram: str) -> str:
    """Return the HTML that notebooks show for a fitted estimator.

    Parameters
    ----------
    estimator : SparseClusterer
        Fitted estimator.
    diagram : str
        The HTML of scikit-learn's diagram, which is put below the result and is closed at first.

    Returns
    -------
    str
        The HTML.
    """
    # The bars below have the highest scores.
    lines = [line for line in summary_lines(estimator) if not line.startswith("highest scores")]
    left_out = len(lines) - MOST_LINES
    shown = [escape(shortened(line, LONGEST_LINE)) for line in lines[:MOST_LINES]]
    if left_out > 0:
        shown.append(f"and {left_out} more lines in summary()")
    parts = (_section(*_clusters(estimator)), _section(*_features(estimator)))
    return (
        f"<style>{STYLE}</style><div class='sparsecluster-fit'><p>{'<br>'.join(shown)}</p>"
        f"<div>{''.join(parts)}</div></div>"
        f"<details><summary>Parameters of {escape(type(estimator).__name__)}</summary>{diagram}</details>"
    )


def _clusters(estimator: Any) -> tuple[str, list[Bar], str]:
    sizes, outside = estimator._kept.sizes, outside_of(estimator)
    most = max(*sizes, outside, 1)
    counted = [(f"cluster {c}", c, size) for c, size in enumerate(sizes[:MOST_CLUSTERS])]
    counted += [("no cluster", OUTLIER, outside)] if outside else []
    bars = [Bar(name, size / most, f"{size:,}", color_of(c)) for name, c, size in counted]
    rest = sizes[MOST_CLUSTERS:]
    return "Samples", bars, f"and {len(rest)} smaller clusters with {sum(rest):,} samples" if rest else ""


def _features(estimator: Any) -> tuple[str, list[Bar], str]:
    names, scores = names_of(estimator), np.clip(np.nan_to_num(estimator.feature_scores_), 0.0, 1.0)
    ranked = features_by_score(estimator)
    core = getattr(estimator, "core_support_", estimator.support_)
    bars = [
        Bar(shortened(str(names[a]), LONGEST_NAME), scores[a], f"{scores[a]:.2f}", opacity=CORE if core[a] else OTHER)
        for a in ranked[:MOST_FEATURES].tolist()
    ]
    has_others = not core[ranked[:MOST_FEATURES]].all()
    notes = [f"and {ranked.size - MOST_FEATURES:,} more features"] * (ranked.size > MOST_FEATURES)
    notes += ["faint bars: not needed to find the clusters again"] * has_others
    return "Scores of features", bars, "; ".join(notes)


def _section(title: str, bars: Sequence[Bar], note: str) -> str:
    rows = (
        f"<span>{escape(bar.name)}</span><svg width='{LENGTH}' height='{HEIGHT}' aria-hidden='true'>"
        f"<rect width='{LENGTH}' height='{HEIGHT}' rx='2' fill='currentColor' fill-opacity='{SCALE}'/>"
        f"<rect width='{max(1.0, LENGTH * bar.share):.1f}' height='{HEIGHT}' rx='2' fill='{bar.color}' "
        f"fill-opacity='{bar.opacity}'/></svg><span>{bar.value}</span>"
        for bar in bars
    )
    return f"<section><b>{title}</b>{''.join(rows)}{f'<i>{escape(note)}</i>' if note else ''}</section>"
