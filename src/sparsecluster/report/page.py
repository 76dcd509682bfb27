"""dict -> one HTML file that works offline: the data as JSON, and a few lines of script that draw it."""

from __future__ import annotations

import html
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from .._utils.files import write

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{css}</style>
</head>
<body>
<a class="skip" href="#main">To the result</a>
<header>
<h1>{title}</h1>
{sentences}
<nav aria-label="Sections">{links}</nav>
</header>
<main id="main">
<ul class="tiles">{tiles}</ul>
{warnings}
<section aria-labeledby="h-projection"><h2 id="h-projection">The groups in two pictures</h2>
<p class="quiet">Left, the first two principal components of the chosen features; right, of all features. Point at an
sample for its name, draw a rectangle to select samples, press a button to show one group.</p>
<div id="projection"></div><p id="picked" class="quiet" role="status"></p></section>
<section aria-labeledby="h-profiles"><h2 id="h-profiles">What makes each group</h2>
<p class="quiet">Features in which a group stands out most from the others, with their middle in the table's units.</p>
<div id="profiles" class="profiles"></div></section>
<section aria-labeledby="h-heatmap"><h2 id="h-heatmap">Samples and chosen features</h2>
<p class="quiet">Rows are samples, group after group (strip on the left); columns are features. Orange is above the mean
of the feature, blue below, in standard deviations.{heatmap_note}</p>
<div id="heatmap"></div></section>
<section aria-labeledby="h-features"><h2 id="h-features">Features</h2>
<p class="quiet">The score is the share of a feature's spread that the groups explain; the last columns are its middle
in each group.{feature_note}</p><div id="features"></div></section>
<section aria-labeledby="h-samples"><h2 id="h-samples">Samples</h2>
<p class="quiet">The silhouette is near 1 for samples well inside their group, near 0 between two, below 0 nearer to
another.{sample_note}</p><div id="samples"></div></section>
<section aria-labeledby="h-gap"><h2 id="h-gap">How the number of features was chosen</h2>
<p class="quiet">The gap statistic compares with copies of the data in which every feature is shuffled; the band is one
standard error.</p><div id="gap"></div><p id="gap-read" class="quiet" role="status"></p></section>
<section aria-labeledby="h-settings"><h2 id="h-settings">To get this again</h2>
{settings}</section>
</main>
<footer><p>Made by sparsecluster {version}. This page is one file and needs no network.</p></footer>
<div id="tip" role="tooltip"></div>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""
# Nothing is loaded from anywhere, whatever the data say.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
SECTIONS = {
    "h-projection": "Groups",
    "h-profiles": "What makes them",
    "h-heatmap": "Heatmap",
    "h-features": "Features",
    "h-samples": "Samples",
    "h-gap": "Gap",
    "h-settings": "Settings",
}


def report_page(result: dict[str, Any]) -> str:
    """The page of a result as `summarize` gives it."""
    text = html.escape
    own = files(__package__)
    settings = result["settings"]
    return PAGE.format(
        policy=POLICY,
        title=text(result["title"]),
        css=own.joinpath("report.css").read_text(encoding="utf-8"),
        sentences="".join(f'<p class="lead">{text(each)}</p>' for each in result["sentences"]),
        links=" ".join(f'<a href="#{key}">{text(word)}</a>' for key, word in SECTIONS.items()),
        tiles="".join(f"<li>{text(word)}<strong>{text(value)}</strong></li>" for word, value in _tiles(result)),
        warnings=_warnings(result),
        heatmap_note=text(_left_out(*result["heatmap"]["left_out"])),
        feature_note=text(_more(result["features"]["left_out"], "features, those of lowest score,")),
        sample_note=text(_more(result["samples"]["left_out"], "samples")),
        settings=_settings(settings),
        version=text(settings["versions"]["sparsecluster"]),
        data=_embedded(result),
        script=own.joinpath("report.js").read_text(encoding="utf-8"),
    )


def write_report(result: dict[str, Any], file: str | Path) -> Path:
    """Write the page, whole or not at all."""
    return write(Path(file), report_page(result))


def _embedded(result: dict[str, Any]) -> str:
    """JSON that cannot end the element it stands in."""
    shown = {key: result[key] for key in result if key not in ("settings", "sentences", "warnings", "notes")}
    text = json.dumps(shown, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026").replace("\u2028", "\\u2028")


def _tiles(result: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        ("samples", f"{result['n_samples']:,}"),
        ("groups", f"{len(result['sizes'])}"),
        ("features chosen", f"{result['n_chosen']:,} of {result['n_features']:,}"),
        ("of their spread explained", f"{result['explained']:.0%}"),
    ]


def _warnings(result: dict[str, Any]) -> str:
    found = [*result["warnings"], *result["notes"]]
    if not found:
        return ""
    samples = "".join(f"<li>{html.escape(each)}</li>" for each in found)
    return f'<section class="warnings" aria-label="Checks"><h2>Worth knowing first</h2><ul>{samples}</ul></section>'


def _more(count: int, what: str) -> str:
    return f" {count:,} more {what} are not in this page; the files have them all." if count else ""


def _left_out(samples: int, features: int) -> str:
    parts = [f"{samples:,} samples" if samples else "", f"{features:,} features" if features else ""]
    told = " and ".join(part for part in parts if part)
    return f" {told} are left out, evenly over the groups and by score." if told else ""


def _settings(settings: dict[str, Any]) -> str:
    text = html.escape
    parts = []
    if settings["command"]:
        parts.append(f"<p>On the command line:</p><pre>{text(settings['command'])}</pre>")
    parts.append(f"<p>In Python:</p><pre>{text(settings['python'])}</pre>")
    for heading, pairs in (("Parameters", settings["parameters"]), ("Versions", settings["versions"])):
        rows = "".join(f"<dt>{text(key)}</dt><dd>{text(str(value))}</dd>" for key, value in pairs.items())
        parts.append(f"<details><summary>{heading}</summary><dl>{rows}</dl></details>")
    return "".join(parts)
