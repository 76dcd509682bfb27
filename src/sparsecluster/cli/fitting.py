"""The story of a fit: a table, a fit, its assessment, and a summary of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .._utils.progress import announce

if TYPE_CHECKING:
    from .._utils.journal import Journal
    from ..evidence import Assessment
    from ..inspection import View
    from ..io import Loaded
    from ..io.parts import Parts
    from .tables import Request

# The stages of the command, as they are announced to whoever listens to its progress.
READING, FITTING, ASSESSING, WRITING = "reading the table", "fitting", "assessing the clusters", "writing the results"


class Fitted(NamedTuple):
    """A fit, and what is needed to describe it.

    Attributes
    ----------
    estimator, view
        The fitted estimator and the view from which its results are written.
    notes : list of str
        What there is to say about the table and the fit.
    journal : Journal
        By which the fit continues if it is interrupted; to be removed when the results are written.
    truth : array-like or None
        The true groups of a table in memory.
    preset : dict or None
        How the table was prepared.
    reading : Reading or None
        The table as it was fitted; None if it was fitted in parts.
    parts : Parts or None
        The table in parts; None if it was in memory.
    evidence : Assessment or None
        The assessment, if there is one.
    is_assessed : bool
        Whether an assessment was tried.
    forms : dict of str to str, or None
        The form of the dates in columns, in which `predict` reads them.
    warned : sequence of str
        Warnings of the fit itself.
    alternative : int or None
        The number of the alternative that is the result; None for the first clustering.
    """

    estimator: Any
    view: View
    notes: list[str]
    journal: Journal
    truth: Any
    preset: dict[str, Any] | None
    reading: Any = None
    parts: Parts | None = None
    evidence: Assessment | None = None
    is_assessed: bool = False
    forms: Mapping[str, str] | None = None
    warned: Sequence[str] = ()
    alternative: int | None = None


def table_of(
    data: Sequence[str],
    request: Request,
    estimator: Any,
    assess: bool | None,
    stack: ExitStack,
    passing: tuple[str | None, int, Any],
) -> Loaded | Parts:
    """Return the table in memory, or in parts if the estimator fits it in blocks.

    `passing` says how passes over blocks are run. What is opened is closed with the stack.
    """
    from ..io.limits import memory_limit
    from ..io.parts import Parts
    from .assess import IN_BLOCKS
    from .parts import fits_in_blocks, passes

    table = request.load_or_open(data)
    if not isinstance(table, Parts):
        return table
    stack.callback(table.close)
    stack.enter_context(passes(*passing))
    if not fits_in_blocks(estimator, sum(table.check())):
        return table.loaded(memory_limit(request.max_memory))
    if assess:
        raise ValueError(IN_BLOCKS)
    return table


def fit_table(estimator: Any, table: Loaded | Parts, preset: str | None, alternative: int | None = None) -> Fitted:
    """Fit a table, after it was prepared as the preset says. An alternative takes the place of the first clustering."""
    from ..inspection import inspect
    from ..io.parts import Parts
    from .alternatives import chosen, note_of
    from .parts import fit_parts
    from .tables import metric_for, prepared, preset_of

    preparation, told = preset_of(preset, table.X)
    notes = [*table.notes, *told, *([] if alternative is None else [note_of(alternative)])]
    announce(FITTING)
    if isinstance(table, Parts):
        parts = table._replace(X=prepared(table.X, preparation))
        found, view, warned, journal = fit_parts(estimator, parts, preparation, alternative)
        made = Fitted(found, view, [*notes, *warned], journal, None, preparation, parts=parts, forms=parts.forms)
        return made._replace(alternative=alternative)
    if "metric" in estimator.get_params():
        estimator.set_params(metric=metric_for(estimator.metric, table))
    held, table = [table.X], table._replace(X=None)
    found, reading, told, journal = _fitted(estimator, prepared(held.pop(), preparation))
    found = chosen(found, alternative)
    view = inspect(found, reading, table.ids, table.names)
    of_table = reading.for_clusters(found.n_clusters_).notes
    warned = [each for each in told if each not in of_table]
    made = Fitted(found, view, notes, journal, table.truth, preparation, reading, forms=table.forms, warned=warned)
    return made._replace(alternative=alternative)


def _fitted(estimator: Any, X: Any) -> tuple[Any, Any, list[str], Journal]:
    """Return the fitted estimator, the reading of the table, which is used for all results, and the warnings.

    A fit that was interrupted continues where it stopped. The journal, by which it does, is returned as well.
    """
    import warnings

    from .._utils.journal import recorded
    from .._utils.resume import name_of
    from .parts import messages

    name = name_of("fit", {**estimator.get_params(), "method": type(estimator).__name__}, X)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        reading = estimator.read(X)
        # The reading has what it needs of the table.
        del X
        with recorded(name) as journal:
            estimator.fit(reading)
    return estimator, reading, messages(caught), journal


def assessed(fitted: Fitted, asked: bool | None, seed: int) -> Fitted:
    """Assess a fit, if this was asked for or is cheap."""
    from .alternatives import NOT_ASSESSED
    from .assess import assessment_of, plan_of

    if fitted.parts is not None:
        return fitted
    plan = plan_of(asked, fitted.estimator, fitted.view.n_samples, len(fitted.view.names))
    if plan is None:
        return fitted
    if fitted.alternative is not None:
        return fitted._replace(notes=[*fitted.notes, NOT_ASSESSED])
    announce(ASSESSING)
    evidence, refused = assessment_of(fitted.estimator, fitted.reading, plan, seed)
    return fitted._replace(evidence=evidence, notes=[*fitted.notes, *refused], is_assessed=True)


def summary_of(fitted: Fitted, data: Sequence[str], request: Request) -> dict[str, Any]:
    """Return the summary of a fit, in which messages speak of options."""
    from ..report import summarize
    from .again import command_of, python_of
    from .words import in_options

    title = "Sparse clustering" if data == ["-"] else f"Clusters in {Path(data[0]).name}"
    python = python_of(fitted, data, request)
    result = summarize(
        fitted.view,
        title=title if fitted.alternative is None else f"{title}: alternative {fitted.alternative}",
        notes=fitted.notes,
        command=command_of(data),
        assessment=fitted.evidence,
        truth=fitted.truth,
        python=python,
        warned=fitted.warned,
    )
    # A table in parts has no code, not even that of an estimator: this would not name the files.
    result["settings"]["python"] = python
    for key in ("warnings", "notes"):
        result[key] = list(map(in_options, result[key]))
    return result
