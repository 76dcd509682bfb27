"""Saved models that are damaged: they are refused, or they work with finite results on a proper table."""

from __future__ import annotations

import json
import warnings
from functools import cache
from typing import Any

import numpy as np

from sparsecluster import make_method
from sparsecluster.io._pieces import ESTIMATORS
from sparsecluster.io.models import as_dict
from sparsecluster.methods.registry import METHODS

from ..case import Case
from ..checks import check_labels, check_number
from ..make.damage import damaged_json
from ..make.parameters import QUICK

# The table to which all models were fitted, and which they are asked to predict.
TABLE = """\
rng = np.random.default_rng(0)
X = rng.normal(size=(24, 5)) + 6.0 * (np.arange(24) % 3)[:, None] * (np.arange(5) < 3)"""
WORDS = """\
X = pd.DataFrame(X, columns=[f'x{a}' for a in range(5)])
X['word'] = np.array(['red', 'green', 'blue'])[np.arange(24) % 3]
X['size'] = pd.Categorical.from_codes(np.arange(24) * 5 % 3, ['low', 'middle', 'high'], ordered=True)
X.loc[3, 'x0'] = np.nan"""
# Methods that take words as well as numbers have a model of both.
KINDS = {
    **{name: TABLE for name, method in METHODS.items() if method.predicts},
    **{f"{name} on words": f"{TABLE}\n{WORDS}" for name in ("sas", "varsel")},
    "sas with trim": TABLE,
    "sas auto": TABLE,
    "sas by distance": TABLE,
}
MORE: dict[str, dict[str, Any]] = {
    "sas with trim": {"trim": 0.1},
    "sas auto": {"n_clusters": [2, 3]},
    "sas by distance": {"metric": "manhattan"},
}


@cache
def model(kind: str) -> str:
    """Return the model file of a kind, as text."""
    import pandas as pd

    name = kind.partition(" ")[0]
    space: dict[str, Any] = {"np": np, "pd": pd}
    exec(KINDS[kind], space)
    made = make_method(name, 3)
    known = made.get_params()
    made.set_params(**{key: int(value) for key, value in QUICK.items() if key in known}, **MORE.get(kind, {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        entry = as_dict(made.fit(space["X"]))
    assert entry["estimator"] in ESTIMATORS
    return json.dumps(entry | {"preset": None}, ensure_ascii=False)


def run(case: Case, number: int) -> None:
    """Damage a model, load it, and use it."""
    kind = case.rng.choice(list(KINDS))
    (case.folder / "model.json").write_bytes(damaged_json(case.rng, model(kind)))
    load(case, KINDS[kind])


def load(case: Case, table: str = TABLE) -> None:
    """Load model.json and use it on a proper table."""
    case.words |= {"model.json"}
    case.prepare(table)
    if not case.do("found = load_model('model.json')"):
        return
    case.counts["worked"] += 1
    found = case.get("found")
    if case.do("labels = found.predict(X)"):
        check_labels(case, found, case.get("labels"), len(case.get("X")))
    if hasattr(found, "score") and case.do("score = found.score(X)"):
        check_number(case, found, "score", case.get("score"))
    if hasattr(found, "predict_proba") and case.do("chances = found.predict_proba(X)"):
        check_number(case, found, "predict_proba", case.get("chances"))
    case.do("told = found.summary()")
    case.do("names = found.get_feature_names_out()")
    case.do("shown = repr(found)")
    if case.do("save_model(found, 'again.json')"):
        case.do("load_model('again.json')")
