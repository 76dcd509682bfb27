"""The areas of the campaign: what is fuzzed, and its share of the cases and of the time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from . import api, commands, corpus, faults, files, models, results


class Area(NamedTuple):
    """A part of the package under one kind of attack.

    Attributes
    ----------
    run : callable
        Function that runs a case, given the case and its number.
    cases, time : float
        Shares of the cases and of the time of a campaign.
    about : str
        What the area does, for people.
    limit : float, default=60
        Seconds after which a case is a hang.
    """

    run: Callable[[Any, int], None]
    cases: float
    time: float
    about: str
    limit: float = 60.0


AREAS: dict[str, Area] = {
    "corpus": Area(corpus.run, 0, 0, "known nasty cases, which run first"),
    "api": Area(api.run, 40, 45, "every method, with right and wrong parameters, on tables of every kind"),
    "files": Area(files.run, 25, 12, "files of every format, damaged or not"),
    "models": Area(models.run, 20, 8, "saved models, damaged"),
    "results": Area(results.run, 7, 8, "summaries, result folders and tables of results, damaged"),
    "commands": Area(commands.run, 7, 15, "command lines with right and wrong options"),
    "faults": Area(faults.run, 1, 12, "commands that are killed, or whose disk, folder or input fails", 240),
}


def corpus_numbers(areas: Iterable[str]) -> list[int]:
    """Return the numbers of the known cases that belong to some areas."""
    wanted = set(areas)
    return [number for number, known in enumerate(corpus.CORPUS) if "corpus" in wanted or known.area in wanted]
