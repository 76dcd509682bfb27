"""Models that were saved by version 0.1.0 are read by this version, with the same answers."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sparsecluster import load_model

FOLDER = Path(__file__).parent / "data" / "models"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
EVERY = pytest.mark.parametrize("name", EXPECTED)


def new_samples(name):
    """The new samples that 0.1.0 was given; its ordered levels are told by the model."""
    table = pd.DataFrame(EXPECTED[name]["rows"], columns=EXPECTED[name]["columns"])
    if "grade" in table:
        table["grade"] = pd.Categorical(table["grade"], ["low", "mid", "high"], ordered=True)
    return table


@EVERY
def test_the_files_are_those_of_the_old_version(name):
    assert json.loads((FOLDER / f"{name}.json").read_text())["sparsecluster"] == "0.1.0"


@EVERY
def test_an_old_model_assigns_new_samples_as_it_did(name):
    found, known = load_model(FOLDER / f"{name}.json"), EXPECTED[name]
    np.testing.assert_array_equal(found.predict(new_samples(name)), known["labels"])
    assert found.score(new_samples(name)) == pytest.approx(known["score"], rel=1e-12)


@EVERY
def test_an_old_model_is_described_as_it_was(name):
    found = load_model(FOLDER / f"{name}.json")
    assert found.summary() == EXPECTED[name]["summary"]
    assert "clusters of" in found._repr_html_()


def test_an_old_mixture_has_the_same_probabilities():
    found = load_model(FOLDER / "pan-shen.json")
    np.testing.assert_allclose(
        found.predict_proba(new_samples("pan-shen")), EXPECTED["pan-shen"]["memberships"], rtol=1e-9, atol=1e-12
    )
