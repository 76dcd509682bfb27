"""Every method of the registry: a scikit-learn estimator that keeps the promises of the registry."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsecluster.datasets import shifted_groups
from sparsecluster.methods.registry import METHODS, make_method

EASY = shifted_groups(mu=4.0, n_features=12, n_useful=6, group_size=12, seed=0)
# Fewer copies, samples and starts: what is tested here does not depend on them.
QUICK = {"n_permutations": 3, "n_bootstraps": 3, "n_init": 3}


def quick(name, n_clusters=3, **parameters):
    """A method of the registry that takes no longer than it must."""
    made = make_method(name, n_clusters)
    return made.set_params(**{key: value for key, value in QUICK.items() if key in made.get_params()}, **parameters)


ONE_CLUSTER = "sets n_clusters=1, which is refused; runs with two clusters below"
SETS_ONE_CLUSTER = (
    "check_dont_overwrite_parameters",
    "check_methods_subset_invariance",
    "check_fit2d_1sample",
    "check_fit2d_1feature",
    "check_fit2d_predict1d",
)


def expected_failures(estimator):
    return dict.fromkeys(SETS_ONE_CLUSTER, ONE_CLUSTER)


@parametrize_with_checks([quick(name) for name in METHODS], expected_failed_checks=expected_failures)
def test_every_method_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)
