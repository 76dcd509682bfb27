"""Making the report page from a summary: one HTML file that works offline, with the data as JSON and a script."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template, UndefinedError

from .._utils.text import visible
from ._numbers import percent

# These parts of a summary are written into the page; the script draws the others.
WRITTEN = ("settings", "sentences", "lead", "warnings", "notes", "core", "cluster_features")
# These parts are used by the script alone.
DRAWN = ("palette", "no_cluster", "distributions", "profiles", "outliers")
# The parts of the script, in the order in which they are written into the page.
SCRIPT = (
    *("tools", "table", "curves", "projection", "heatmap", "trust", "distributions", "profiles", "truth"),
    *("clusterings", "main"),
)


def report_page(result: dict[str, Any]) -> str:
    """Make the report page of a result.

    Parameters
    ----------
    result : dict
        Summary of a fitted estimator, as returned by `summarize` or read from `summary.json`.

    Returns
    -------
    str
        HTML of the page, which needs no other file and no network.

    Raises
    ------
    ValueError
        If the summary is incomplete.

    Examples
    --------
    >>> from sparsecluster import SASClustering
    >>> from sparsecluster.datasets import shifted_groups
    >>> from sparsecluster.inspection import inspect
    >>> from sparsecluster.report import report_page, summarize
    >>> X = shifted_groups(mu=2.0, n_features=30, n_useful=5, group_size=10).X
    >>> view = inspect(SASClustering(n_clusters=3, n_features_to_select=5).fit(X), X)
    >>> result = summarize(view, title="My data")
    >>> "<h1>My data</h1>" in report_page(result)
    True
    """
    missing = next((key for key in DRAWN if key not in result), None)
    if missing is not None:
        raise ValueError(f"The summary of the result is incomplete: {missing!r} is undefined.")
    result = _shown(result)
    own = files(__package__)
    css = own.joinpath("report.css").read_text(encoding="utf-8")
    parts = [own.joinpath("script", f"{name}.js").read_text(encoding="utf-8") for name in SCRIPT]
    script = "\n".join(['"use strict";', "(() => {", *parts, "})();"])
    # Browsers run only the script with this hash, so that no script could be slipped in by data.
    script_hash = "sha256-" + b64encode(sha256(script.encode()).digest()).decode()
    data = {key: value for key, value in result.items() if key not in WRITTEN}
    try:
        return _template().render(result, data=data, css=css, script=script, script_hash=script_hash)
    except UndefinedError as error:
        raise ValueError(f"The summary of the result is incomplete: {error}.") from error


def _shown(value: Any) -> Any:
    """Escape control characters in all texts, but for those that are only white space in a page."""
    if isinstance(value, dict):
        return {key: _shown(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(each) for each in value]
    return visible(value, keep="\n\t") if isinstance(value, str) else value


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # The filter tojson escapes all characters that could end the script element. JSON has no NaN.
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    # The conversions make an undefined value an error that names it.
    environment.filters["number"] = lambda value: f"{int(value):,}"
    environment.filters["percent"] = lambda value: percent(float(value))
    return environment.get_template("page.html.jinja")
