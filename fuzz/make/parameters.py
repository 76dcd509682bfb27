"""Parameters of every method as Python source: allowed values by name, and values that no parameter allows."""

from __future__ import annotations

import random

from sparsecluster.methods.registry import METHODS, make_method

# Fewer copies, samples and starts, so that a case takes a fraction of a second.
QUICK = {
    "n_permutations": "2",
    "n_bootstraps": "2",
    "n_draws": "10",
    "n_init": "2",
    "n_penalties": "3",
    "n_variance_penalties": "2",
    "max_iter": "20",
}
WORDS = {
    "metric": ("auto", "sqeuclidean", "euclidean", "manhattan", "hamming", "ordinal"),
    "clusterer": (
        "auto",
        "kmeans",
        "hillclimb",
        "kmedoids",
        "hierarchical",
        "complete",
        "ward",
        "partition",
        "spectral",
    ),
    "objective": ("auto", "share", "amount"),
    "criterion": ("gap", "bic", "micl"),
    "search": ("path", "grid", "golden", "greedy", "headlong"),
    "gap": ("between", "within"),
    "null": ("refit", "fixed"),
    "rule": ("max", "1se", "core"),
    "init": ("auto", "coordinate", "random", "shrinking", "kmeans"),
    "compare": ("chosen", "all"),
    "linkage": ("average", "complete", "single", "ward"),
    "weights": ("samples", "common"),
    "form": ("max", "hierarchical"),
    "variance_form": ("log", "difference"),
    "grouping": ("features",),
    "covariance_models": ("all", "EII", "VVV", "EEE"),
    "direction": ("forward", "backward"),
    "regression": ("subset", "all"),
    "embedding": ("laplacian", "pca"),
    "component_rule": ("bic", "variance"),
    "nonnegative": ("shift", "ranks"),
    "reduction": ("pca", "nmf"),
    "test": ("ks", "moments", "mode", "variance", "skewness", "kurtosis", "absolute", "bandwidth"),
    "threshold": ("hc", "fdr", "azizyan"),
    "algorithm": ("kmeans", "kmeans++", "complete", "ward", "spectral", "kmedoids"),
    "cluster_criterion": ("auto", "bic"),
}
# Values that are no words.
OTHERS = {
    "metric": ("{0: 'manhattan'}", "{'x0': 'hamming'}", "lambda x, y: abs(x - y)", "lambda x, y: (x - y) ** 2"),
    "init": ("np.arange(n) % 2", "np.arange(p) < 1", "[0, 1] * (n // 2)", "np.ones(p, bool)"),
    "threshold": ("1", "2"),
    "grouping": ("np.zeros(p, int)",),
}
# Criteria that fit many tables, which takes seconds.
SLOW = ("'gap'", "'gap_uniform'", "'logdet_gap'", "'prediction_strength'", "'stadion'")
BOOLS = ("standardize", "consensus", "adaptive", "outliers")
ALLOWED: dict[str, tuple[str, ...]] = {
    **{name: tuple(map(repr, words)) + OTHERS.get(name, ()) for name, words in WORDS.items()},
    **dict.fromkeys(BOOLS, ("True", "False", "np.True_")),
    "n_features_to_select": ("1", "2", "0.5", "1.0", "'auto'", "'core'", "np.int64(1)", "0.01"),
    "trim": ("0.0", "0.1", "0.49", "0.05", "0"),
    "core_agreement": ("None", "0.9", "1.0", "0.01", "1"),
    "max_clusters": ("None", "2", "3", "100"),
    "step": ("None", "1", "3", "1000"),
    "n_alternatives": ("0", "1", "5"),
    "subsample": ("None", "5", "10", "1", "10**9"),
    "max_iter": ("1", "2", "100"),
    "n_jobs": ("None", "1", "2", "-1"),
    "random_state": ("0", "1", "2**31", "np.random.RandomState(3)", "None"),
    "verbose": ("False", "'auto'"),
    "feature_groups": ("{'g': [0, 1]}", "[0] * p", "[None] * p", "{'g': ['x0', 'x1']}", "list(range(p))"),
    "l1_bound": ("'auto'", "1.0", "1.5", "100.0", "1"),
    "bounds": ("None", "[1.1, 1.5]", "[1.0]", "np.array([1.2, 2.0])"),
    "penalty": ("'auto'", "0.1", "0", "5.0", "1e-300", "1e300", "0.5"),
    "variance_penalty": ("'auto'", "0.0", "0.5", "1e300"),
    "contamination": ("0.0", "0.1", "0.49"),
    "n_neighbors": ("'auto'", "1", "3"),
    "n_components": ("'auto'", "1", "2"),
    "max_components": ("None", "1", "3"),
    "n_dimensions": ("'auto'", "2", "3", "2.5"),
    "variance_share": ("0.8", "1.0", "1e-9"),
    "min_deviation": ("0.0", "0.1", "1.0"),
    "medoid_factor": ("1", "3"),
    "sample_factor": ("1", "30"),
    "level": ("0.1", "1e-300", "0.999"),
    "alpha": ("'auto'", "0.5", "0.05"),
    "noise_variance": ("None", "1.0", "1e-300", "1e300"),
    "min_variance": ("'auto'", "0.01", "1e-300"),
    "prior_scale": ("None", "1.0", "1e300"),
    "max_candidates": ("None", "1", "3"),
    "max_features": ("None", "1", "2"),
}
N_CLUSTERS = ("2", "2", "2", "3", "3", "3", "4", "5", "np.int64(2)")
SEVERAL = ("'auto'", "[2, 3]", "range(2, 4)", "(2,)", "np.array([2, 3])")
# A number that would only make a parameter of work take for ever is no test of anything.
HUGE = ("10**6", "10**20", "10**400", "1e308", "np.inf", "2**63")
NEVER = (
    *("None", "np.nan", "-np.inf", "-1", "0", "-10**9", "0.5", "-0.0", "''", "'no such word'", "'a\\x1b[31mb'"),
    *("b'auto'", "True", "False", "[]", "{}", "()", "set()", "[1, 2]", "['auto']", "np.array([])", "np.array('auto')"),
    *("np.array([1.0, np.nan])", "np.zeros((2, 2))", "object()", "3 + 4j", "lambda x, y: 'far'", "type"),
    *("lambda: 1", "lambda x, y: np.nan", "lambda x, y: -1.0", "lambda x, y: 1 / 0", "pd.NA", "pd.NaT"),
    *("np.datetime64('2020')", "decimal.Decimal('0.5')", "np.float16(0.5)", "'x' * 3000", "'two\\nlines'", "Ellipsis"),
    *("{'x0': 'no'}", "{99: 'hamming'}", "{'x0': None}", "np.ma.masked", "range(0)", "np.str_('auto')"),
)
WORK = ("n_init", "n_permutations", "n_bootstraps", "n_draws", "n_penalties", "n_variance_penalties", "n_jobs")


def call(rng: random.Random, metric: str | None, *, wild: bool = True) -> tuple[str, dict[str, str], str]:
    """Return the name of a method, its parameters as source, and the number of clusters as source."""
    name = "sas" if rng.random() < 0.3 else rng.choice(list(METHODS))
    known = make_method(name, 2).get_params()
    given = {key: value for key, value in QUICK.items() if key in known and (wild or key != "max_iter")}
    own = [key for key in ALLOWED if key in known]
    for _ in range(rng.choice((0, 0, 1, 2, 3))):
        key = rng.choice(own)
        given[key] = rng.choice(ALLOWED[key])
    if rng.random() < 0.02:
        given["cluster_criterion"] = rng.choice(SLOW)
    if metric is not None:
        given["metric"] = repr(metric)
    clusters = rng.choice(SEVERAL) if rng.random() < 0.12 else rng.choice(N_CLUSTERS)
    if wild and rng.random() < 0.2:
        wrong = rng.choice([*known])
        value = rng.choice((*NEVER, *(() if wrong in WORK else HUGE)))
        if wrong == "n_clusters":
            clusters = value
        else:
            given[wrong] = value
    return name, {key: value for key, value in given.items() if key in known}, clusters


def source(name: str, parameters: dict[str, str], clusters: str) -> str:
    """Return the call that makes the estimator."""
    given = "".join(f", {key}={value}" for key, value in parameters.items())
    return f"make_method({name!r}, {clusters}{given})"
