"""A file that is not a model, or a damaged one, is refused in one line, whatever is in it."""

import contextlib
import copy
import json
import random

import numpy as np
import pytest

from sparsecluster import SASClustering
from sparsecluster._utils.files import write
from sparsecluster.datasets import shifted_groups
from sparsecluster.io.models import (
    ESTIMATORS,
    FORMAT,
    PIECES,
    ModelError,
    as_dict,
    load_model,
)
from sparsecluster.methods.registry import METHODS
from tests.helpers.cases import some
from tests.helpers.methods import CORNERS, quick
from tests.helpers.people import people

pd = pytest.importorskip("pandas")

X, TRUTH, _ = shifted_groups(mu=1.5, n_features=15, n_useful=5, group_size=10, seed=0)


@pytest.fixture(scope="module")
def entry():
    """What a file holds, of a model with names and words."""
    return json.loads(json.dumps(as_dict(SASClustering(3, n_features_to_select=6).fit(people(0)))))


@pytest.fixture(scope="module")
def plain():
    """What a file holds of numbers without names."""
    return json.loads(json.dumps(as_dict(SASClustering(3, n_features_to_select=4).fit(X))))


@pytest.fixture
def refused(tmp_path):
    """A file of some content is refused by a `ModelError` of one line that names it."""

    def check(content):
        text = content if isinstance(content, str | bytes) else json.dumps(content)
        file = write(tmp_path / "model.json", text)
        with pytest.raises(ModelError) as caught:
            load_model(file)
        assert "model.json" in str(caught.value)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    return check


def changed(entry, *path, to=None):
    """A copy in which one place has another value, or is gone."""
    made = here = copy.deepcopy(entry)
    for key in path[:-1]:
        here = here[key]
    if to is None:
        del here[path[-1]]
    else:
        here[path[-1]] = to
    return made


NOT_MODELS = {
    "nothing": "",
    "blanks": " \n ",
    "words": "hello",
    "a CSV": "a,b\n1,2\n",
    "a number": "3",
    "a list": "[1, 2]",
    "another JSON": '{"a": 1}',
    "another format": '{"format": "pickle", "version": 1}',
    "UTF-16": f'{{"format": "{FORMAT}"}}'.encode("utf-16"),
    "a pickle": b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00\x8c\x07builtin\x94.",
    "very deep": "[" * 100_000,
    "a number of 5000 digits": "1" * 5000,
}


@pytest.mark.parametrize("what", NOT_MODELS)
def test_what_is_no_model_is_refused(refused, what):
    assert "not a model" in refused(NOT_MODELS[what])


def test_a_file_that_is_not_there_a_folder_and_an_impossible_name_are_refused(tmp_path):
    for file in (tmp_path / "none.json", tmp_path, tmp_path / ("x" * 5000), "a\0b"):
        with pytest.raises(ModelError):
            load_model(file)


def test_another_version_is_told_with_what_to_do(refused, entry):
    for version in (1, 0, 99, "2", None, [2]):
        told = refused({**entry, "version": version, "sparsecluster": "9.9.9"})
        assert "9.9.9" in told
        assert "Install" in told


def test_a_part_that_is_missing_is_missed(refused, entry):
    for key in (
        "format",
        "version",
        "estimator",
        "parameters",
        "columns",
        "names",
        "has_words",
        "n_chosen",
        "clusters",
        "fitted",
    ):
        refused(changed(entry, key))
    for key in ("n_features_in_", "support_", "labels_", "feature_scores_"):
        refused(changed(entry, "fitted", key))
    for key in ("columns", "whole"):
        refused(changed(entry, "clusters", "fields", key))


FIRST = ("clusters", "fields", "columns", 0, "fields")
MEANS = (*FIRST, "measure", "fields", "means")
DAMAGES = {
    "fewer columns": (("columns", "count"), 14),
    "more columns": (("columns", "count"), 16),
    "columns without end": (("columns", "count"), 10**18),
    "infinitely many columns": (("columns", "count"), float("inf")),
    "columns that are no columns": (("columns",), [1] * 15),
    "a text of columns": (("columns",), "x" * 15),
    "a kind that there is not": (("columns", "all", "kind"), "nonsense"),
    "another number of features": (("fitted", "n_features_in_"), 14),
    "a shorter mask": (("fitted", "support_"), {"array": [True] * 14, "kind": "b"}),
    "a mask of numbers": (("fitted", "support_"), {"array": [7] * 15, "kind": "i"}),
    "a mask with another number of chosen ones": (("fitted", "support_"), {"array": [True] * 15, "kind": "b"}),
    "names for other columns": (("fitted", "feature_names_in_"), {"array": ["a"], "kind": "O"}),
    "scores of other columns": (("fitted", "feature_scores_"), {"array": [0.5], "kind": "f"}),
    "centers of another shape": (("fitted", "cluster_centers_"), {"array": [[0.5]], "kind": "f"}),
    "labels beyond all numbers": (("fitted", "labels_"), {"array": [10**30], "kind": "i"}),
    "another number of clusters": (("fitted", "n_clusters_"), 4),
    "a core of other columns": (("fitted", "core_support_"), {"array": [True], "kind": "b"}),
    "a core of numbers": (("fitted", "core_support_"), {"array": [1] * 15, "kind": "i"}),
    "a core of half a feature": (("fitted", "core_size_"), 0.5),
    "a curve that is a number": (("fitted", "core_curve_"), 3),
    "scores of other samples": (("fitted", "outlier_scores_"), {"array": [1.0], "kind": "f"}),
    "features of other clusters": (("fitted", "cluster_features_"), {"array": [[True] * 15], "kind": "b"}),
    "features of clusters that are numbers": (("fitted", "cluster_features_"), {"array": [[1] * 15] * 3, "kind": "i"}),
    "outliers among other samples": (("fitted", "is_outlier_"), {"array": [True], "kind": "b"}),
    "one medoid": (("fitted", "medoids_"), {"array": [1], "kind": "i"}),
    "labels of no kind": (("fitted", "labels_"), {"array": [0], "kind": "V"}),
    "clusters that are a list": (("clusters",), {"list": []}),
    "clusters that are another piece": (
        ("clusters",),
        {"piece": "Profile", "fields": {"measure": 1, "spread": 1.0, "weight": 1.0, "share": 1.0}},
    ),
    "fewer profiles than chosen columns": (("clusters", "fields", "columns"), []),
    "a mean for one cluster only": (MEANS, {"array": [1.0], "kind": "f"}),
    "means that are text": (MEANS, "x"),
    "a measure that is none": ((*FIRST, "measure"), 3),
    "a spread that is text": ((*FIRST, "spread"), "x"),
    "an unknown class": (("estimator",), "Nonsense"),
    "a class that is no text": (("estimator",), ["SASClustering"]),
    "an unknown piece": (("clusters", "piece"), "Nonsense"),
    "a piece that is a list": (("clusters", "piece"), ["Profiles"]),
    "a field that the piece has not": (("clusters", "fields"), {"columns": [], "whole": 1.0, "a\nb": 1}),
    "fields that are a list": (("clusters", "fields"), [1, 2]),
    "fitted that is a list": (("fitted",), [1]),
    "parameters that are a list": (("parameters",), [1]),
    "infinite means": (MEANS, {"array": [float("inf")] * 3, "kind": "f"}),
    "a unit of zero": ((*FIRST, "measure", "fields", "unit"), 0.0),
    "a spread that is no number": ((*FIRST, "spread"), {"float": "nan"}),
    "a weight beyond all floats": ((*FIRST, "weight"), 10**400),
    "labels that skip clusters": (("fitted", "labels_"), {"array": [0, 10**9], "kind": "i"}),
    "no labels": (("fitted", "labels_"), {"array": [], "kind": "i"}),
    "weights of other columns": (("fitted", "feature_weights_"), {"array": [1.0], "kind": "f"}),
    "an objective that is text": (("fitted", "objective_"), "x"),
    "more chosen features than columns": (("n_chosen",), 10**9),
    "a curve without its scores": (("fitted", "core_curve_", "fields", "score"), {"array": [], "kind": "f"}),
    "a curve whose choice is not on it": (("fitted", "core_curve_", "fields", "chosen"), 999),
    "a preset that is text": (("preset",), "expression"),
    "a preset that says nothing": (("preset",), {}),
    "a preset that centers by a number": (("preset",), {"log": True, "center": 1}),
}


@pytest.mark.parametrize("what", DAMAGES)
def test_a_model_whose_parts_do_not_fit_together_is_refused(refused, plain, what):
    path, value = DAMAGES[what]
    refused(changed({**plain, "preset": None}, *path, to=value))


def measured(metric):
    """What a file holds of a model of numbers that are compared in some way."""
    found = SASClustering(3, n_features_to_select=4, metric=metric).fit(X.round())
    return {**json.loads(json.dumps(as_dict(found))), "preset": None}


MEASURE = (*FIRST, "measure", "fields")
NUMBERS = {"array": [1.0, 2.0], "kind": "f"}


@pytest.mark.parametrize(
    ("metric", "field", "value"),
    [
        ("manhattan", "runs", 1e300),
        ("manhattan", "runs", [1.0, 2.0, 3.0]),
        ("manhattan", "runs", [NUMBERS] * 3),
        ("manhattan", "sums", [NUMBERS] * 3),
        ("manhattan", "halves", ["x"] * 3),
        ("manhattan", "halves", [1.0]),
        ("manhattan", "origin", {"float": "nan"}),
        ("ordinal", "runs", [{"array": [[1.0]], "kind": "f"}] * 3),
        ("hamming", "apart", NUMBERS),
        ("hamming", "apart", {"array": [["x"]], "kind": "O"}),
        ("hamming", "apart", 1e300),
    ],
)
def test_a_measure_of_the_wrong_type_or_shape_is_refused(refused, metric, field, value):
    assert "is damaged" in refused(changed(measured(metric), *MEASURE, field, to=value))


NASTY = (None, True, -1, 1e300, 10**400, "x", [], {}, [[1]], {"float": "inf"}, {"list": []}, {"dict": {}}, NUMBERS)


def places(value, path=()):
    """The places in nested dicts and lists, of long lists the first only."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for key, each in inner:
        yield from places(each, (*path, key))


@pytest.mark.parametrize("most", [15, pytest.param(80, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", some(name for name in METHODS if type(quick(name)).__name__ in ESTIMATORS))
def test_a_model_with_anything_in_any_place_is_refused_or_works(tmp_path, name, most):
    corners = CORNERS[:, ::3]
    entry = {**json.loads(json.dumps(as_dict(quick(name).fit(corners)))), "preset": None}
    rng, file, accepted = random.Random(name), tmp_path / "model.json", 0
    every = [path for path in places(entry) if path]
    for path in rng.sample(every, min(len(every), most)):
        made = here = copy.deepcopy(entry)
        for key in path[:-1]:
            here = here[key]
        here[path[-1]] = rng.choice(NASTY)
        file.write_text(json.dumps(made))
        with contextlib.suppress(ModelError), np.errstate(all="ignore"):
            found = load_model(file)
            accepted += 1
            assert found.predict(corners).shape == (len(corners),)
            found.score(corners)
            found.summary()
    assert accepted < min(len(every), most)


@pytest.mark.parametrize("depth", [50, 300, 600, 900, 990])
def test_lists_in_lists_in_lists_are_refused_at_any_depth(refused, plain, depth):
    text = json.dumps(changed(plain, "clusters", to="DEEP"))
    refused(text.replace('"DEEP"', "[" * depth + "]" * depth))


@pytest.mark.parametrize("where", ["estimator", "piece", "kind"])
@pytest.mark.parametrize("name", ["os.system", "__import__", "builtins.eval", "subprocess.Popen", "object", "Pickle"])
def test_a_name_of_something_dangerous_is_only_a_name(refused, plain, tmp_path, where, name):
    target = tmp_path / "hacked"
    fields = {"command": f"touch {target}", "name": "os", "args": ["touch", str(target)]}
    if where == "estimator":
        refused(changed(plain, "estimator", to=name))
    elif where == "piece":
        assert name not in PIECES
        refused(changed(plain, "clusters", to={"piece": name, "fields": fields}))
    else:
        refused(changed(plain, "fitted", "labels_", to={"array": [f"touch {target}"], "kind": name}))
    assert not target.exists()


def test_a_truncated_file_is_refused_wherever_it_ends(refused, entry):
    raw = json.dumps(entry).encode()
    for end in np.linspace(0, len(raw) - 1, 150).astype(int).tolist():
        refused(raw[:end])


def test_flipped_bytes_are_refused_or_harmless_and_never_another_error(tmp_path, entry):
    raw, rng, file = json.dumps(entry, ensure_ascii=False).encode(), random.Random(0), tmp_path / "model.json"
    told = []
    for _ in range(300):
        damaged = bytearray(raw)
        for _ in range(rng.choice([1, 2, 5, 30])):
            damaged[rng.randrange(len(raw))] = rng.randrange(256)
        file.write_bytes(damaged)
        try:
            assert type(load_model(file)).__name__ in ESTIMATORS
        except ModelError as error:
            told.append(str(error))
    assert len(told) > 250
    assert not any("\n" in each for each in told)
