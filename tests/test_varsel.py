"""The mixture with variable selection: its criteria, what it finds, missing values, new samples, agreement with R."""

import numpy as np
import pytest
import scipy.sparse
from scipy.special import gammaln
from scipy.stats import norm

from sparsecluster import SASClustering, VarSelMixture, adjusted_rand_index, load_model, rand_index, save_model
from sparsecluster._mixtures.em import one_hot
from sparsecluster._mixtures.independent import columns_of
from sparsecluster._mixtures.selection import Fit, Model, em, integrated
from sparsecluster.datasets import mixed_groups, shifted_groups
from sparsecluster.methods import varsel
from tests.helpers import selection as twin
from tests.helpers.common import refuses, same_groups, three_groups
from tests.helpers.people import people

pd = pytest.importorskip("pandas")

# Three groups far apart in 8 of 20 features.
X, TRUTH, USEFUL = three_groups(mu=6.0, n_features=20, n_useful=8)
MIXED = mixed_groups(n_features=40, n_useful=12, group_size=25, missing=0.1, shift=2.5, likely=0.9, seed=0)
NUMBERS = MIXED.X.iloc[:, :20].to_numpy()
# Levels that occur are numbered from 0, and -1 is missing.
CODES = np.column_stack([pd.factorize(MIXED.X[name].astype(object), sort=True)[0] for name in MIXED.X.columns[20:]])


def fit(table, n_clusters=3, **parameters):
    return VarSelMixture(n_clusters, **{"n_init": 10, "core_agreement": None, **parameters}).fit(table)


# ---------------------------------------------------------------- criteria


def test_the_bic_of_a_small_table_is_what_a_pencil_gives():
    numbers = np.array([0.0, 1.0, 2.0, 3.0, 100.0, 101.0, 102.0, 105.0])
    letters = ["a", "a", "b", "b", "a", "b", "b", "b"]
    found = fit(pd.DataFrame({"x": numbers, "y": letters}), 2, min_variance=1e-9)
    assert same_groups(found.labels_, np.arange(8) // 4)
    # The number has means 1.5 and 102 and variances 5/4 and 7/2 in the clusters. The letters are not worth their price.
    likelihood = sum(
        norm(m, s).logpdf(part).sum() for m, s, part in ((1.5, 1.25**0.5, numbers[:4]), (102, 3.5**0.5, numbers[4:]))
    )
    alone = 3 * np.log(3 / 8) + 5 * np.log(5 / 8)
    n_parameters = 1 + 2 * 2 + 1
    assert found.support_.tolist() == [True, False]
    assert found.bic_ == pytest.approx(8 * np.log(1 / 2) + likelihood + alone - n_parameters / 2 * np.log(8), abs=1e-6)
    of_letters = 4 * np.log(1 / 2) + np.log(1 / 4) + 3 * np.log(3 / 4) - alone - np.log(8) / 2
    assert found.feature_gains_[1] == pytest.approx(of_letters, abs=1e-4)
    one = norm(numbers.mean(), numbers.std()).logpdf(numbers).sum() + alone - 3 / 2 * np.log(8)
    assert found.one_cluster_bic_ == pytest.approx(one, abs=1e-9)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_bic_is_that_of_the_distributions_that_are_kept(k):
    found = fit(MIXED.X, k)
    assert found.bic_ == pytest.approx(twin.bic(NUMBERS, CODES, found._kept.clusters, found.support_), rel=1e-6)
    assert (np.diff(found.history_) >= -1e-7).all()
    assert found.bic_ == found.history_[-1]
    assert found.n_iter_ == len(found.history_)
    np.testing.assert_array_equal(found.support_, found.feature_gains_ > 0)


def test_the_integrated_likelihood_is_that_of_the_labels():
    found = fit(MIXED.X, criterion="micl", prior_scale=0.7)
    table = NUMBERS, np.full(20, 0.7), CODES
    assert found.micl_ == pytest.approx(twin.integrated(*table, found.labels_, 3, found.support_), abs=1e-6)
    # No other features are better for these labels.
    assert found.micl_ == pytest.approx(twin.integrated(*table, found.labels_, 3), abs=1e-6)
    assert fit(MIXED.X).micl_ is None


@pytest.mark.parametrize("criterion", ["bic", "micl"])
def test_units_do_not_matter(criterion):
    units = 10.0 ** np.arange(-10, 10)
    one, other = fit(X, criterion=criterion), fit(X * units + 3 * units, criterion=criterion)
    np.testing.assert_array_equal(other.labels_, one.labels_)
    np.testing.assert_array_equal(other.support_, one.support_)
    np.testing.assert_allclose(other.feature_gains_, one.feature_gains_, rtol=1e-6)
    shift = -len(X) * np.log(units).sum()
    assert other.bic_ == pytest.approx(one.bic_ + shift, rel=1e-9)
    if criterion == "micl":
        assert other.micl_ == pytest.approx(one.micl_ + shift, rel=1e-9)


# ---------------------------------------------------------------- agreement with VarSelLCM


def model_of(table, k, least):
    reading = VarSelMixture().read(table)
    columns = columns_of("VarSelMixture", reading)
    return Model.of(columns, k, least), reading.source, -float(columns.numbers.counts @ np.log(columns.numbers.units))


@pytest.mark.parametrize("data", ["simfuse", "gauss"])
def test_from_the_labels_of_r_em_ends_at_the_bic_of_r(reference, data):
    for theirs in reference.varsel(data, "bic"):
        model, source, shift = model_of(reference.table(data), theirs["k"], 1e-8)
        found = em(model, one_hot(np.array(theirs["labels"])[source.samples] - 1, theirs["k"]), 1000)
        assert found.bic + shift == pytest.approx(theirs["bic"], abs=1e-3)
        chosen = np.sort(source.columns[found.mixture.relevant]) + 1
        assert chosen.tolist() == theirs["selected"]


@pytest.mark.parametrize(("data", "k"), [("simfuse", 2), ("simfuse", 3), ("simfuse", 4), ("gauss", 2), ("gauss", 3)])
def test_up_to_the_true_number_of_clusters_the_result_is_that_of_r(reference, data, k):
    (theirs,) = [each for each in reference.varsel(data, "bic") if each["k"] == k]
    found = fit(reference.table(data), k, n_init=40)
    assert found.bic_ == pytest.approx(theirs["bic"], abs=1e-3)
    assert (np.flatnonzero(found.support_) + 1).tolist() == theirs["selected"]
    assert same_groups(found.labels_, theirs["labels"])


@pytest.mark.parametrize(("data", "k", "n_init"), [("simfuse", 5, 100), ("gauss", 4, 200)])
def test_with_one_cluster_too_many_the_bic_is_at_least_that_of_r(reference, data, k, n_init):
    # With two too many (gauss, 5), the result of R has a cluster of two samples with a standard deviation of .006. Our
    # bound is .027, with which the BIC of these labels falls from -10515.6 to -10517.9.
    (theirs,) = [each for each in reference.varsel(data, "bic") if each["k"] == k]
    assert fit(reference.table(data), k, n_init=n_init).bic_ > theirs["bic"] - 1e-3


@pytest.mark.parametrize(
    ("data", "criterion", "k"),
    [("simfuse", "bic", 4), ("gauss", "bic", 3), ("simfuse", "micl", 4), ("gauss", "micl", 2)],
)
def test_the_chosen_number_of_clusters_is_that_of_r(reference, data, criterion, k):
    found = fit(reference.table(data), range(2, 6), criterion=criterion, prior_scale=1.0, n_init=15)
    assert found.n_clusters_ == k
    curve = found.n_clusters_curve_
    assert (curve.criterion, curve.parameter, curve.values.tolist()) == (criterion, "k", [2, 3, 4, 5])
    alone = {"bic": found.bic_ - found.one_cluster_bic_, "micl": (found.micl_ or 0) - (found.one_cluster_micl_ or 0)}
    assert curve.score.max() == pytest.approx(alone[criterion], abs=1e-9)


@pytest.mark.parametrize("data", ["simfuse", "gauss"])
def test_the_integrated_likelihood_is_that_of_r(reference, data):
    for theirs in reference.varsel(data, "micl"):
        model, source, shift = model_of(reference.table(data), theirs["k"], 1e-8)
        # The prior scale of R is 1 in the units of the table.
        prior = model.columns.numbers.units**-2.0
        labels = np.array(theirs["labels"], np.int32)[source.samples] - 1
        own, alone, of_labels = integrated(model, labels, prior)
        relevant = np.isin(source.columns + 1, theirs["selected"])
        assert np.where(relevant, own, alone).sum() + of_labels + shift == pytest.approx(theirs["micl"], abs=1e-4)
        np.testing.assert_array_equal(own > alone, relevant)
        # The result of R may have empty clusters, ours has none: with k' clusters, it is the same but for a constant.
        n, k, used = labels.size, theirs["k"], np.unique(labels).size
        constant = [
            gammaln(c / 2) - c * gammaln(0.5) - gammaln(n + c / 2) + (c - used) * gammaln(0.5) for c in (k, used)
        ]
        ours = fit(reference.table(data), used, criterion="micl", prior_scale=1.0)
        assert ours.micl_ + constant[0] - constant[1] > theirs["micl"] - 1e-4
        assert (np.flatnonzero(ours.support_) + 1).tolist() == theirs["selected"]


# ---------------------------------------------------------------- what it finds


@pytest.mark.parametrize("criterion", ["bic", "micl"])
def test_groups_of_numbers_and_categories_with_missing_values_are_found(criterion):
    found = fit(MIXED.X, criterion=criterion)
    assert rand_index(MIXED.truth, found.labels_) == 1.0
    assert found.support_[MIXED.useful].mean() > 0.9
    assert found.support_[~MIXED.useful].mean() < 0.1


def test_the_number_of_groups_is_found():
    assert fit(MIXED.X, "auto", max_clusters=5).n_clusters_ == 3


def test_a_single_cluster_is_told_where_there_are_no_groups(reference):
    for criterion in ("bic", "micl"):
        with pytest.warns(
            UserWarning, match=f"The {criterion.upper()} prefers a single cluster.* may have no clusters"
        ):
            found = fit(reference.table("null60x20"), [2, 3], criterion=criterion)
        assert (found.n_clusters_curve_.score < 0).all()
    assert found.micl_ < found.one_cluster_micl_


def test_ordered_levels_dates_and_truth_values_have_a_distribution():
    table = people(0)
    found = fit(table)
    assert set(table.columns[found.support_]) == {"height", "town", "size", "smokes", "born"}
    assert found.predict_proba(people(1)).shape == (len(people(1)), 3)


def test_more_features_than_samples_do_no_harm(strict):
    table, truth, useful = shifted_groups(mu=2.0, n_features=10_000, n_useful=50, group_size=12, seed=0)
    found = fit(table, n_init=4)
    assert rand_index(truth, found.labels_) == 1.0
    assert found.support_[useful].mean() > 0.9
    assert found.support_[~useful].mean() < 0.05
    assert np.isfinite(found.bic_)


def test_many_samples_are_sought_on_a_part_of_them(monkeypatch):
    table, truth, _ = shifted_groups(mu=2.0, n_features=20, n_useful=8, group_size=100, seed=0)
    whole = fit(table)
    monkeypatch.setattr(varsel, "MOST_STARTED", 90)
    for criterion in ("bic", "micl"):
        assert adjusted_rand_index(truth, fit(table, criterion=criterion).labels_) > 0.95
    assert fit(table).bic_ == pytest.approx(whole.bic_, rel=1e-6)


def test_clusters_of_one_sample_come_last():
    pair, single = (
        Fit(None, one_hot(np.array(labels), 2), (bic,), True)
        for labels, bic in (([0, 0, 1, 1], 1.0), ([0, 0, 0, 1], 2.0))
    )
    assert pair.rank > single.rank
    assert single.rank > single._replace(is_whole=False).rank
    # With as many clusters as samples there is nothing else.
    assert np.bincount(fit(X[[0, 1, 20, 28]], 4).labels_).tolist() == [1, 1, 1, 1]


# ---------------------------------------------------------------- missing values


def test_values_that_are_deleted_at_random_change_little():
    table = mixed_groups(n_features=40, n_useful=12, group_size=25, missing=0.0, shift=2.5, likely=0.9, seed=0).X
    whole, gone = fit(table), np.random.default_rng(0).random(table.shape) < 0.15
    found = fit(table.mask(gone))
    assert rand_index(whole.labels_, found.labels_) > 0.98
    assert (whole.support_ == found.support_).mean() > 0.95


def test_a_column_may_be_missing_in_a_whole_cluster(strict):
    table = X.copy()
    table[TRUTH == 1, 0] = np.nan
    for criterion in ("bic", "micl"):
        found = fit(table, criterion=criterion)
        np.testing.assert_array_equal(found.labels_, TRUTH)
        assert np.isfinite(found.memberships_).all()
        new = X.copy()
        np.testing.assert_array_equal(found.predict(new), TRUTH)


def test_a_sample_without_values_has_the_shares_of_the_clusters():
    found = fit(X)
    np.testing.assert_allclose(found.predict_proba(np.full((1, 20), np.nan))[0], found.memberships_.mean(axis=0))


# ---------------------------------------------------------------- new samples


def test_probabilities_of_the_samples_of_fit_are_the_memberships():
    found = fit(MIXED.X)
    np.testing.assert_allclose(found.predict_proba(MIXED.X), found.memberships_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.memberships_.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(found.predict(MIXED.X), found.labels_)
    np.testing.assert_array_equal(found.memberships_.argmax(axis=1), found.labels_)


def test_levels_that_fit_has_not_seen_tell_nothing():
    table = MIXED.X.astype(dict.fromkeys(MIXED.X.columns[20:], object))
    found = fit(table)
    column = found.feature_names_in_[20:][found.support_[20:]][0]
    new = table.copy()
    new[column] = "never seen"
    np.testing.assert_allclose(found.predict_proba(new), found.predict_proba(table.assign(**{column: None})))


def test_a_level_of_another_cluster_is_unlikely_but_not_impossible():
    letters = np.repeat(["a", "b"], 10)
    found = fit(pd.DataFrame({str(a): letters for a in range(3)}), 2)
    mixed = pd.DataFrame({"0": ["a"], "1": ["a"], "2": ["b"]})
    odds = np.sort(found.predict_proba(mixed)[0])
    assert 0 < odds[0] < 1e-4


def test_the_score_is_the_mean_score_of_the_chosen_features_if_the_groups_are_clear():
    found = fit(X)
    assert found.score(X) == pytest.approx(found.feature_scores_[found.support_].mean(), abs=1e-6)


@pytest.mark.parametrize("criterion", ["bic", "micl"])
def test_a_kept_model_has_the_same_probabilities(tmp_path, criterion):
    table = people(0)
    found = fit(table, criterion=criterion)
    again = load_model(save_model(found, tmp_path / "model.json"))
    for new in (table, people(1)):
        np.testing.assert_array_equal(again.predict_proba(new), found.predict_proba(new))
    assert (again.bic_, again.micl_) == (found.bic_, found.micl_)


# ---------------------------------------------------------------- sparse matrices


@pytest.mark.parametrize("criterion", ["bic", "micl"])
def test_a_sparse_matrix_is_a_table_with_zeros(criterion):
    table = np.where(np.abs(X) > 1.0, X, 0.0)
    dense, thin = fit(table, criterion=criterion), fit(scipy.sparse.csr_array(table), criterion=criterion)
    np.testing.assert_array_equal(thin.labels_, dense.labels_)
    np.testing.assert_array_equal(thin.support_, dense.support_)
    assert thin.bic_ == pytest.approx(dense.bic_, rel=1e-9)
    np.testing.assert_allclose(thin.predict_proba(scipy.sparse.csr_array(table)), dense.predict_proba(table), atol=1e-8)


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("parameter", "value", "allowed"),
    [
        ("criterion", "aic", 'one of "bic", "micl"'),
        ("criterion", "gap", 'one of "bic", "micl"'),
        ("min_variance", 0.0, '"auto" or a number above 0 and below 1'),
        ("min_variance", 1, '"auto" or a number above 0 and below 1'),
        ("min_variance", "small", '"auto" or a number above 0 and below 1'),
        ("prior_scale", 0, "None or a number above 0"),
        ("prior_scale", np.inf, "None or a number above 0"),
        ("n_init", 0, "a whole number of at least 1"),
        ("max_iter", 0, "a whole number of at least 1"),
    ],
)
def test_parameters_that_cannot_be_are_refused(parameter, value, allowed):
    with refuses(f"{parameter} must be {allowed}", f"got {value!r}"):
        fit(X, **{parameter: value})


def test_columns_without_a_distribution_are_named():
    frame = pd.DataFrame(X).add_prefix("gene")
    with refuses("VarSelMixture needs coordinates of the samples or levels", "'gene3'", '"sqeuclidean"', '"hamming"'):
        fit(frame, metric={"gene3": "manhattan"})


def test_groups_of_features_are_refused():
    reading = SASClustering(feature_groups=[0] * 10 + [1] * 10).read(X)
    with refuses("feature_groups", "Read the table with the same value"):
        fit(reading)
