"""The plain versions that speed is measured against do the work that they stand for."""

import numpy as np
import pytest

from sparsecluster import SparseHierarchical, rand_index
from sparsecluster.datasets import shifted_groups
from sparsecluster.experiments import plain

X, TRUTH, USEFUL = shifted_groups(mu=2.0, n_features=40, n_useful=10, group_size=12, seed=0)


@pytest.mark.parametrize(("search", "n_permutations"), [(plain.sas_grid, 50), (plain.sas_golden, 10)])
def test_both_searches_of_the_size_find_clear_groups(search, n_permutations):
    labels, subset = search(X, 3, n_permutations=n_permutations)
    assert rand_index(TRUTH, labels) == 1.0
    assert USEFUL[subset].mean() > 0.9


def test_golden_section_computes_no_size_twice(monkeypatch):
    tried = []
    sas = plain.sas
    monkeypatch.setattr(plain, "sas", lambda X, k, s, *rest: tried.append(s) or sas(X, k, s, *rest))
    plain.sas_golden(X, 3, n_permutations=2)
    assert len(tried) == len(set(tried)) < 15


def test_the_table_of_pairs_has_one_row_per_pair_and_one_column_per_feature():
    table = np.array([[0.0, 1.0], [2.0, 1.0], [3.0, 5.0]])
    np.testing.assert_array_equal(plain.pair_table(table), [[4, 0], [9, 16], [1, 16]])


@pytest.mark.parametrize("bound", [1.5, 3.0, 5.0])
def test_sparse_hierarchical_clustering_has_the_weights_and_clusters_of_the_estimator(bound):
    labels, weights = plain.sparse_hierarchical_given(X, 3, bound)
    ours = SparseHierarchical(3, l1_bound=bound, core_agreement=None).fit(X)
    np.testing.assert_allclose(weights, ours.feature_weights_, rtol=0, atol=0.01)
    assert rand_index(labels, ours.labels_) == 1.0


def test_tuned_sparse_hierarchical_clustering_returns_the_solution_of_one_of_its_bounds():
    labels, weights = plain.sparse_hierarchical(X, 3, n_bounds=4, n_permutations=2)
    bounds = np.linspace(1.1, 0.7 * np.sqrt(40), 4)
    found = [plain.sparse_hierarchical_given(X, 3, bound) for bound in bounds]
    assert any(np.array_equal(weights, each[1]) and np.array_equal(labels, each[0]) for each in found)
