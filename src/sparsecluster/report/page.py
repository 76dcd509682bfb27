"""From the summary of a fit to a page: one HTML file that works offline, with the data as JSON and a script."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template, UndefinedError

from .._utils.files import write

# These parts of a summary are written into the page; the script draws the others.
WRITTEN = ("settings", "sentences", "warnings", "notes")


def report_page(result: dict[str, Any]) -> str:
    """Make the page of a result.

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
    >>> from sparsecluster.report import report_page, summarize
    >>> X = shifted_groups(mu=2.0, n_features=30, n_useful=5, group_size=10).X
    >>> result = summarize(SASClustering(n_clusters=3, n_features_to_select=5).fit(X), X, title="My data")
    >>> "<h1>My data</h1>" in report_page(result)
    True
    """
    own = files(__package__)
    css, script = (own.joinpath(name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    data = {key: value for key, value in result.items() if key not in WRITTEN}
    try:
        return _template().render(result, data=data, css=css, script=script)
    except UndefinedError as error:
        raise ValueError(f"The summary of the result is incomplete: {error}.") from error


def write_report(result: dict[str, Any], file: str | Path) -> Path:
    """Write the page of a result to a file, replacing an existing file only when the new one is complete.

    Parameters
    ----------
    result : dict
        Summary of a fitted estimator, as returned by `summarize` or read from `summary.json`.
    file : str or Path
        File to write.

    Returns
    -------
    Path
        The file.
    """
    return write(Path(file), report_page(result))


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
    environment.filters["percent"] = lambda value: f"{float(value):.0%}"
    return environment.get_template("page.html.jinja")
