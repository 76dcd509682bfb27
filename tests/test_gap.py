"""The gap curve by hand, and the choice of s where the answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from sparsecluster._kernels.select import largest
from sparsecluster._search.curve import gap_curve
from sparsecluster._search.search import search_sizes
from sparsecluster._search.sizes import FIXED_RATIO, FIXED_STARTS, Effort, NestedSubsets, choose_size, golden_section
from sparsecluster._search.starts import ladder
from sparsecluster._utils.parallel import Workers
from sparsecluster.datasets import shifted_groups
from tests import naive

SIZES = [1, 2, 4]
OBSERVED = np.array([0.5, 1.5, 2.0])
REFERENCE = np.array([[0.5, 1.0, 1.5], [0.5, 1.2, 1.9]])


@pytest.fixture(scope="module")
def easy(problem_of):
    """Ten useful features of sixty, and groups far apart."""
    return problem_of(shifted_groups(mu=1.5, n_features=60, n_useful=10, group_size=15).X, 3)


# ---------------------------------------------------------------- by hand


def test_the_between_gap_by_hand():
    curve = gap_curve(SIZES, OBSERVED, REFERENCE, "between")
    log = np.log
    gap = [
        0.0,
        log(1.5) - (log(1.0) + log(1.2)) / 2,
        log(2.0) - (log(1.5) + log(1.9)) / 2,
    ]
    # With two copies the standard deviation is their distance over the square root of 2.
    spread = np.array([0.0, log(1.2 / 1.0), log(1.9 / 1.5)]) / np.sqrt(2)
    np.testing.assert_allclose(curve.score, gap, atol=1e-15)
    np.testing.assert_allclose(curve.details["observed"], log(OBSERVED))
    np.testing.assert_allclose(curve.details["reference"], curve.details["observed"] - gap)
    np.testing.assert_allclose(curve.details["spread"], spread, atol=1e-15)
    np.testing.assert_allclose(curve.error, spread * np.sqrt(1.5), atol=1e-15)
    assert (curve.chosen, curve.parameter, curve.criterion) == (2, "s", "gap")


def test_the_within_gap_by_hand():
    curve = gap_curve(SIZES, OBSERVED, REFERENCE, "within")
    log = np.log
    gap = [
        0.0,
        (log(1.0) + log(0.8)) / 2 - log(0.5),
        (log(2.5) + log(2.1)) / 2 - log(2.0),
    ]
    np.testing.assert_allclose(curve.score, gap, atol=1e-15)
    np.testing.assert_allclose(
        curve.details["spread"], np.array([0.0, log(1.0 / 0.8), log(2.5 / 2.1)]) / np.sqrt(2), atol=1e-15
    )
    assert curve.chosen == 2


@pytest.mark.parametrize(("spread", "chosen"), [(0.0, 8), (0.02, 8), (0.06, 4), (0.25, 2), (5.0, 1)])
def test_the_smallest_size_within_one_standard_error(spread, chosen):
    """The error that counts is the one where the gap is largest, spread * sqrt(2) * sqrt(1.5), not at the others."""
    gap = np.array([0.0, 0.3, 0.6, 0.65, 0.5])
    reference = np.exp(np.array([-1.0, 1.0])[:, None] * [3.0, 3.0, 3.0, spread, 3.0])
    sizes = [1, 2, 4, 8, 16]
    assert gap_curve(sizes, np.exp(gap), reference, rule="1se").chosen == chosen
    assert gap_curve(sizes, np.exp(gap), reference, rule="max").chosen == 8


def test_one_copy_has_no_spread():
    curve = gap_curve(SIZES, OBSERVED, REFERENCE[:1], rule="1se")
    assert not curve.details["spread"].any()
    assert not curve.error.any()
    assert curve.chosen == 2


def test_a_subset_that_is_explained_completely_has_a_finite_within_gap():
    curve = gap_curve(SIZES, np.array([1.0, 2.0, 4.0]), REFERENCE, "within")
    assert np.isfinite(curve.score).all()
    assert curve.score.min() > 10


# ---------------------------------------------------------------- golden section


@pytest.mark.parametrize("low", [0, 1, 7])
def test_golden_section_finds_the_top_wherever_it_is(low):
    missed = [
        (low, high, top)
        for high in range(low, low + 40)
        for top in range(low, high + 1)
        for slope in (0.01, 1.0, 100.0)
        if golden_section(lambda i, t=top, m=slope: min(i - t, m * (t - i)), low, high) != top
    ]
    assert missed == []


def test_golden_section_looks_at_few_sizes():
    seen = set()

    def value(size):
        seen.add(size)
        return -((size - 700) ** 2)

    assert golden_section(value, 1, 1000) == 700
    # Each look shrinks the interval by the golden ratio: log(1000) / log(1.618) = 14.4, and a few at its end.
    assert len(seen) <= 20


# ---------------------------------------------------------------- the choice


@pytest.mark.parametrize("search", ["path", "grid", "golden"])
@pytest.mark.parametrize("null", ["refit", "fixed"])
def test_the_number_of_useful_features_is_found(easy, search, null):
    curve, known, _ = choose_size(easy, np.random.default_rng(0), search=search, step=3, effort=Effort(null=null))
    assert 9 <= curve.chosen <= 11
    assert curve.score[curve.values == curve.chosen][0] == curve.score.max()
    expected = {"path": list(range(1, 61)), "grid": list(range(1, 61, 3))}
    assert np.all(np.diff(curve.values) > 0)
    if search in expected:
        assert curve.values.tolist() == expected[search]
    # The labels that come with it reach the observed objective at the chosen size.
    reached = naive.objective(easy.features.source.values, known[0], curve.chosen)
    assert np.log(reached) == pytest.approx(curve.details["observed"][curve.values == curve.chosen][0], rel=1e-9)


def test_the_cautious_rule_and_the_within_gap_choose_no_more(problem_of):
    rng = np.random.default_rng(0)
    problem = problem_of(shifted_groups(mu=0.8, n_features=60, n_useful=20, group_size=15).X, 3)
    envelope = search_sizes(problem, rng)
    copies = [search_sizes(problem._replace(features=problem.features.permuted(b)), rng, n_init=1) for b in range(10)]
    reference = np.array([copy.objective for copy in copies])
    chosen = {
        (kind, rule): gap_curve(range(1, 61), envelope.objective, reference, kind, rule).chosen
        for kind in ("between", "within")
        for rule in ("max", "1se")
    }
    assert chosen["between", "1se"] < chosen["between", "max"]
    assert chosen["within", "1se"] < chosen["within", "max"]
    assert chosen["within", "max"] < chosen["between", "max"]


@pytest.mark.parametrize("seed", [0, 1])
def test_one_feature_alone_has_no_gap(problem_of, seed):
    """Permuting a column does not change how well it clusters on its own."""
    rng = np.random.default_rng(seed)
    problem = problem_of(rng.standard_normal((30, 12)), 3)
    curve = choose_size(problem, rng, effort=Effort(n_permutations=5)).curve
    assert curve.score[0] == pytest.approx(0.0, abs=1e-12)
    assert curve.details["spread"][0] == pytest.approx(0.0, abs=1e-12)
    assert curve.details["observed"][0] == pytest.approx(np.log(problem.features.univariate(3).max()), abs=1e-12)


def test_two_threads_choose_what_one_chooses(easy):
    for search in ("path", "grid"):
        first, second = (
            choose_size(
                easy,
                np.random.default_rng(0),
                search=search,
                step=20,
                effort=Effort(n_init=2, n_permutations=4),
                workers=Workers(n_jobs),
            ).curve
            for n_jobs in (1, 2)
        )
        np.testing.assert_array_equal(first.score, second.score)


# ---------------------------------------------------------------- fixed subsets


@pytest.fixture(scope="module")
def nested(problem_of):
    rng = np.random.default_rng(0)
    problem = problem_of(rng.standard_normal((30, 25)), 3)
    envelope = search_sizes(problem, rng)
    assert len(envelope.stretches()) > 2
    return problem, envelope, NestedSubsets(problem, envelope)


def test_the_subset_of_a_size_is_the_best_for_its_owner(nested):
    problem, envelope, subsets = nested
    for size in range(1, 26):
        best = largest(problem.scores(envelope.labels(size)), size)
        np.testing.assert_array_equal(subsets.subset(size), best)


def test_fixed_subsets_of_a_copy_get_at_least_a_plain_clustering(nested):
    problem, _, subsets = nested
    copy = problem._replace(features=problem.features.permuted(3))
    best = subsets.best_objective(copy, np.random.default_rng(0))
    rng = np.random.default_rng(0)
    for size in ladder(25, ratio=FIXED_RATIO):
        subset = subsets.subset(size)
        labels = copy.cluster(subset, rng, n_starts=FIXED_STARTS)
        assert best[size - 1] >= naive.scores(copy.features.table[:, subset], labels).sum() - 1e-12


def test_a_copy_is_clustered_as_often_as_the_data_are_searched_or_twice_by_default():
    starts = {n_init: Effort(n_init=n_init).copy_starts(FIXED_STARTS) for n_init in ("auto", 0, 1, 4)}
    assert starts == {"auto": FIXED_STARTS, 0: 1, 1: 1, 4: 4}


def test_more_clusterings_of_a_copy_raise_the_reference(nested):
    problem, envelope, _ = nested
    copy = problem._replace(features=problem.features.permuted(3))
    few, many = (NestedSubsets(problem, envelope, n_starts) for n_starts in (1, 20))
    of_few, of_many = (each.best_objective(copy, np.random.default_rng(0)).sum() for each in (few, many))
    assert of_few < of_many


def test_fixed_subsets_of_a_copy_get_no_more_than_fresh_ones(nested):
    """A copy that may choose its own subset does at least as well as one that is told which."""
    problem, _, subsets = nested
    copy = problem._replace(features=problem.features.permuted(3))
    fixed = subsets.best_objective(copy, np.random.default_rng(0))
    assert np.all(fixed <= search_sizes(copy, np.random.default_rng(0)).objective)


# ---------------------------------------------------------------- display


def test_the_frame_is_the_curve():
    pytest.importorskip("pandas")
    curve = gap_curve(SIZES, OBSERVED, REFERENCE)
    frame = curve.frame()
    assert frame.index.name == "s"
    assert frame.index.tolist() == SIZES
    assert frame.columns.tolist() == ["observed", "reference", "spread", "gap", "error"]
    for name, values in {**curve.details, "gap": curve.score, "error": curve.error}.items():
        np.testing.assert_array_equal(frame[name], values)


def test_the_plot_shows_the_gap_and_the_choice():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    curve = gap_curve(SIZES, OBSERVED, REFERENCE)
    ax = curve.plot()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("number of features s", "gap statistic")
    assert ax.get_xscale() == "log"
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), np.column_stack([SIZES, curve.score]))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["chosen: s = 2"]
    given = plt.figure().add_subplot()
    assert curve.plot(given) is given
    plt.close("all")
