"""A table, whole and in parts, and the results of commands on both."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from sparsecluster.cli import app
from sparsecluster.datasets import shifted_groups

FEATURES = [f"f{a}" for a in range(6)]
QUICK = ("-k", "3", "-s", "2")


def made_table():
    """A table of more rows than are searched at once, with text, missing values, ids and true groups."""
    X, truth, _ = shifted_groups(mu=4.0, n_features=6, n_useful=2, group_size=800, seed=0)
    table = pd.DataFrame(X, columns=FEATURES)
    rng = np.random.default_rng(0)
    table.loc[rng.random(len(table)) < 0.1, "f1"] = np.nan
    table["color"] = rng.choice(np.array(["red", "blue", None], dtype=object), len(table))
    table.insert(0, "name", [f"s{i}" for i in range(len(table))])
    table["group"] = np.array(["a", "b", "c"])[truth]
    return table.sample(frac=1, random_state=0).reset_index(drop=True)


def cut(table, n_parts=4):
    """The rows of a table in parts of different lengths."""
    edges = np.linspace(0, len(table) ** 0.5, n_parts + 1) ** 2
    return [
        table.iloc[int(first) : int(last)] for first, last in zip(edges[:-1], [*edges[1:-1], len(table)], strict=True)
    ]


def ran(*words):
    """The outcome of a command that succeeds."""
    result = CliRunner().invoke(app, [*map(str, words)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


def refused(*words):
    """The one line that a command prints when it refuses its input."""
    result = CliRunner().invoke(app, [*map(str, words)])
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


def labels_in(folder):
    """All labels that were written in parts, one below the other."""
    files = sorted(folder.iterdir())
    assert [file.name for file in files] == [f"part-{number:05d}.parquet" for number in range(len(files))]
    return pd.concat([pd.read_parquet(file) for file in files], ignore_index=True)


def same_result(parts, whole):
    """Check that a fit in parts has the features, labels and agreement of a fit in memory."""
    for name in ("features.csv", "core.csv"):
        assert (parts / name).read_text() == (whole / name).read_text()
    labels, known = labels_in(parts / "labels"), pd.read_csv(whole / "labels.csv")
    assert labels["cluster"].tolist() == known["cluster"].tolist()
    if "id" in labels:
        assert labels["id"].tolist() == known["id"].tolist()
    summaries = [json.loads((folder / "summary.json").read_text()) for folder in (parts, whole)]
    for key in ("n_samples", "sizes", "n_chosen", "explained"):
        assert summaries[0].get(key) == pytest.approx(summaries[1].get(key)), key
    assert ("truth" in summaries[0]) == ("truth" in summaries[1])
    for key in ("rand", "ari", "error") if "truth" in summaries[0] else ():
        assert summaries[0]["truth"][key] == pytest.approx(summaries[1]["truth"][key]), key
