"""Any method with right and wrong parameters on a table of any kind, and all that a user does with the result."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..case import Case
from ..checks import check_fit, check_labels, check_number, check_page, has_gaps, same_fit
from ..make.names import names
from ..make.parameters import call, source
from ..make.tables import Table, table
from ..snapshots import snapshot

# Tables to predict, made from the one of the fit. Most of them must be refused.
NEW = (
    "new = X[::-1]",
    "new = X[:1]",
    "new = X[:, :1]",
    "new = X.astype(np.float32)",
    "new = X.astype(object)",
    "new = np.asarray(X) * 1e300",
    "new = np.where(np.asarray(X) > 0, np.inf, 0.0)",
    "new = np.full(X.shape, np.nan)",
    "new = np.full(X.shape, 1.7e308)",
    "new = np.full(X.shape, -1.7e308)",
    "new = np.full(X.shape, 5e-324)",
    "new = np.full(X.shape, 'word')",
    "new = np.full(X.shape, 'word', dtype=object)",
    "new = np.full(X.shape, None)",
    "new = np.full(X.shape, np.datetime64('2020'))",
    "new = np.hstack([X, X])",
    "new = pd.DataFrame(np.asarray(X))",
    "new = sp.csr_array(np.asarray(X, float))",
    "new = X.iloc[:, ::-1]",
    "new = X.drop(columns=X.columns[0])",
    "new = X.rename(columns={X.columns[0]: 'other'})",
    "new = X.assign(**{X.columns[0]: 'word'})",
    "new = X.assign(**{X.columns[0]: 10**400})",
    "new = X.assign(**{X.columns[0]: np.inf})",
    "new = X.assign(**{X.columns[0]: pd.NA})",
    "new = X.assign(**{X.columns[0]: pd.Timestamp('2020')})",
    "new = X.astype(str)",
    "new = X.head(0)",
    "new = X.toarray()",
    "new = X.to_pandas()",
    "new = X.select(pl.all().cast(pl.String))",
    "new = None",
    "new = 'table'",
)


def run(case: Case, number: int) -> None:
    """Fit a method to a table, and use the result in every way."""
    rng = case.rng
    wild = rng.random() < 0.6
    made = table(rng, wild=wild)
    name, parameters, clusters = call(rng, made.metric, wild=wild)
    attack(case, made, source(name, parameters, clusters), parameters)


def attack(case: Case, made: Table, estimator: str, parameters: dict[str, str], *, thorough: bool = False) -> None:
    """Fit the estimator to the table and check what follows: everything if thorough, otherwise some of it."""
    case.words |= {*parameters, *(word for word in made.words if word.strip())}
    case.prepare(f"n, p = {made.n}, {made.p}", *made.lines)
    X = case.get("X")
    before = snapshot(X)
    if not case.do(f"found = {estimator}.fit(X)"):
        unchanged(case, before, "fit")
        return
    case.counts["worked"] += 1
    case.counts["fits"] += 1
    unchanged(case, before, "fit")
    found = case.get("found")
    n = len(X) if hasattr(X, "__len__") and not hasattr(X, "tocsr") and made.metric is None else None
    check_fit(case, found, n, gaps=has_gaps(X))
    use(case, found, n)
    unchanged(case, before, "using the result")
    if hasattr(found, "predict") and (thorough or case.one_in(4)):
        save_and_load(case)
    if thorough or case.one_in(4):
        show(case, before)
    if hasattr(found, "predict") and case.one_in(4):
        predict_new(case)
    if "random_state" in parameters:
        return
    if thorough or case.one_in(8):
        again(case, estimator, "")
    elif "n_jobs" in found.get_params() and case.one_in(8):
        again(case, estimator, ".set_params(n_jobs=2)")


def unchanged(case: Case, before: Any, step: str) -> None:
    """Report a table that a call has changed."""
    if snapshot(case.get("X")) != before:
        case.report(
            "changed input", f"The table is not the same after {step}.", f"{step}", type(case.get("X")).__name__
        )


def use(case: Case, found: Any, n: int | None) -> None:
    """Call the methods that every fitted estimator has."""
    case.do("told = found.summary()")
    case.do("names = found.get_feature_names_out()")
    if case.one_in(3):
        case.do("narrow = found.transform(X)")
    if not hasattr(found, "predict"):
        return
    if case.do("labels = found.predict(X)"):
        check_labels(case, found, case.get("labels"), n)
    if hasattr(found, "score") and case.do("score = found.score(X)"):
        check_number(case, found, "score", case.get("score"))
    if hasattr(found, "predict_proba") and case.do("chances = found.predict_proba(X)"):
        check_number(case, found, "predict_proba", case.get("chances"))


def predict_new(case: Case) -> None:
    """Predict a table that is not quite like that of the fit."""
    line = case.rng.choice(NEW)
    try:
        exec(line, dict(case.space))
    except Exception:
        return  # The table of the fit has another form, from which this one cannot be made.
    case.prepare(line)
    before = snapshot(case.get("new"))
    if case.do("labels = found.predict(new)"):
        check_labels(case, case.get("found"), case.get("labels"), None)
        if hasattr(case.get("found"), "score") and case.do("score = found.score(new)"):
            check_number(case, case.get("found"), "score", case.get("score"))
    if snapshot(case.get("new")) != before:
        case.report("changed input", "The new table is not the same after predict.", "predict")


def save_and_load(case: Case) -> None:
    """Save the estimator, load it, and compare what the two predict."""
    if not case.do("save_model(found, 'model.json')"):
        return
    if not case.do("again = load_model('model.json')"):
        case.report("unequal", "A model that was saved cannot be loaded.", "load_model")
        return
    both = case.do("labels = found.predict(X)") and case.do("later = again.predict(X)")
    if both and not np.array_equal(case.get("labels"), case.get("later")):
        case.report("unequal", "A loaded model predicts other clusters.", type(case.get("again")).__name__)
    case.do("told = again.summary()")
    case.counts["models"] += 1


def show(case: Case, before: Any) -> None:
    """Make the report."""
    case.prepare(
        "from sparsecluster.inspection import inspect",
        "from sparsecluster.report import report_page, summarize",
        "import json",
    )
    ids = names(case.rng, len(case.get("found").labels_), unique=False)
    if not case.do("view = inspect(found, X)" if case.one_in(2) else f"view = inspect(found, X, {ids!r})"):
        return
    case.do("result = summarize(view)")
    case.do("text = json.dumps(result, allow_nan=False)")
    if case.do("page = report_page(result)"):
        check_page(case, case.get("page"))
        case.counts["pages"] += 1
    unchanged(case, before, "the report")


def again(case: Case, estimator: str, change: str) -> None:
    """Fit a second time, perhaps with two threads, and compare."""
    if not case.do(f"second = {estimator}{change}.fit(X)"):
        case.report("unequal", "The second fit of the same table is refused.", "fit")
        return
    different = same_fit(case.get("found"), case.get("second"))
    if different:
        how = "with two threads" if change else "a second time"
        case.report("unequal", f"{different} differs {how}.", f"{type(case.get('found')).__name__}.{different}", how)
