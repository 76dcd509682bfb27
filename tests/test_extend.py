"""A dissimilarity added from outside the package is used, drawn, described and saved like the built-in ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from sparsecluster import SASClustering, load_model, rand_index, save_model
from sparsecluster._data.kinds import KINDS
from sparsecluster.extend import Block, Numbers, coordinate_features, register
from tests import naive

TURN = 2 * np.pi / 24


@pytest.fixture(autouse=True)
def outside():
    """Two dissimilarities of hours, known while a test runs."""

    @register("clock")
    @dataclass(frozen=True)
    class Clock(Numbers):
        """The shorter way around the clock."""

        words = "distance on a clock"

        def pairs(self, left, right):
            apart = np.abs(left[:, None] - right[None, :]) % 24
            return np.minimum(apart, 24 - apart)

    @register("chord")
    @dataclass(frozen=True)
    class Chord(Numbers):
        """The squared chord on the clock face."""

        words = "squared chord on a clock"
        features = staticmethod(coordinate_features)

        def coordinates(self, codes):
            return np.column_stack([np.cos(codes * TURN), np.sin(codes * TURN)])

        def block(self, codes):
            return Block(self.coordinates(codes))

        def pairs(self, left, right):
            return 2 - 2 * np.cos((left[:, None] - right[None, :]) * TURN)

    yield
    del KINDS["clock"], KINDS["chord"]


def table(seed=0, n=30, p=8, useful=3):
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1], n // 2)
    hours = rng.uniform(0, 24, size=(n, p))
    hours[:, :useful] = (np.where(truth, 0, 12)[:, None] + rng.normal(0, 2, size=(n, useful))) % 24
    return pd.DataFrame(hours, columns=[f"hour{a}" for a in range(p)]), truth


@pytest.mark.parametrize("metric", ["clock", "chord"])
def test_it_finds_clusters_across_midnight_that_no_built_in_one_finds(metric):
    X, truth = table()
    sas = SASClustering(2, metric=metric).fit(X)
    assert rand_index(truth, sas.labels_) == 1.0
    assert list(sas.get_feature_names_out()) == ["hour0", "hour1", "hour2"]
    assert rand_index(truth, SASClustering(2, n_features_to_select=3).fit(X).labels_) < 1.0


@pytest.mark.parametrize("metric", ["clock", "chord"])
def test_what_the_search_computes_is_what_pairs_says(metric):
    X, truth = table(n=12)
    reading = SASClustering(metric=metric).read(X)
    features, source = reading.source.features(), reading.source
    kind, labels = KINDS[metric](), truth[source.samples].astype(np.int32)
    for place, column in enumerate(source.columns.tolist()):
        codes = X.to_numpy()[source.samples, column]
        delta = kind.pairs(codes, codes)
        expected = 1 - naive.delta_within(delta, labels) / naive.delta_total(delta)
        assert features.scores(labels, 2)[place] == pytest.approx(expected)


@pytest.mark.parametrize("metric", ["clock", "chord"])
def test_a_permuted_copy_keeps_what_can_be_had_from_a_feature_alone(metric):
    X, _ = table(n=14)
    features = SASClustering(metric=metric).read(X).source.features()
    copy = features.permuted(3)
    np.testing.assert_allclose(copy.univariate(2), features.univariate(2))
    for a in range(features.n_features):
        labels = copy.univariate_labels(a, 2)
        assert copy.scores(labels, 2)[a] == pytest.approx(features.univariate(2)[a])


@pytest.mark.parametrize("metric", ["clock", "chord"])
def test_it_predicts_with_missing_values_and_is_saved(metric, tmp_path):
    X, _ = table()
    X = X.mask(np.random.default_rng(1).random(X.shape) < 0.1)
    sas = SASClustering(2, metric=metric, n_features_to_select=3).fit(X)
    np.testing.assert_array_equal(sas.predict(X), sas.labels_)
    again = load_model(save_model(sas, tmp_path / "model.json"))
    np.testing.assert_array_equal(again.predict(X), sas.predict(X))
    assert again.score(X) == pytest.approx(sas.score(X))


def test_it_may_stand_beside_columns_of_other_kinds():
    X, truth = table()
    X["color"] = np.where(truth, "red", "blue")
    sas = SASClustering(2, metric={"hour0": "clock", "hour1": "chord"}, n_features_to_select=3).fit(X)
    assert rand_index(truth, sas.labels_) == 1.0


def test_its_name_is_offered_where_a_metric_is_misspelled():
    with pytest.raises(ValueError, match='Did you mean "clock"'):
        SASClustering(2, metric="clok").fit(table()[0])


def test_text_is_refused_by_a_dissimilarity_of_numbers():
    with pytest.raises(ValueError, match='metric="clock" compares numbers'):
        SASClustering(2, metric="clock").fit(pd.DataFrame({"x": list("abab"), "y": list("aabb")}))
