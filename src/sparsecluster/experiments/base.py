"""What an experiment is: cells, methods, a function for one repeat, and what the paper prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

Variant = Literal["text", "code"]
VARIANTS: tuple[Variant, ...] = ("text", "code")
Cell = Mapping[str, Any]
# What one repeat of one method in one cell gives: a row, or several (one an iteration, a size, a sample).
Row = dict[str, Any]
# Mean and standard deviation that the paper prints; the second is None where it prints none.
Printed = tuple[float, float | None]


class Task(NamedTuple):
    """One repeat of one method in one cell."""

    cell: Cell
    method: str
    seed: int

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells tasks apart."""
        return (*sorted(self.cell.items()), self.method, self.seed)


class Setting(NamedTuple):
    """What a run is told besides the task: the variant, and a folder of data."""

    variant: Variant = "text"
    data: str | None = None


class Experiment(NamedTuple):
    """A table or figure of the paper.

    `run` makes one repeat; `cells` are its columns and blocks of rows, `across` names the key that makes columns.
    `printed` has what the paper prints by measure, cell values and method. `one_repeat` is for those that show a
    typical data set: more repeats would not be shown.
    """

    name: str
    title: str
    cells: Sequence[Cell]
    methods: Sequence[str]
    measures: Sequence[str]
    run: Callable[[Task, Setting], list[Row]]
    repeats: int
    printed: Mapping[str, Mapping[tuple[Any, ...], Mapping[str, Printed]]] = {}
    across: str = "p"
    variants: Sequence[Variant] = ("text",)
    unavailable: Sequence[str] = ()
    is_figure: bool = False
    one_repeat: bool = False
    note: str = ""
    # The name of the table on disk, where two experiments read the same runs.
    table: str = ""

    @property
    def has_table(self) -> bool:
        """Whether means by cell and method are worth a table: not for figures of one data set or of iterations."""
        return not self.is_figure or self.across != "p"

    def tasks(self, repeats: int, seed: int = 0, methods: Sequence[str] = (), cells: Sequence[Cell] = ()) -> list[Task]:
        """Every repeat of every method in every cell, repeat after repeat, so that a stopped run has a bit of each."""
        seeds = range(seed, seed + (1 if self.one_repeat else repeats))
        chosen = [method for method in self.methods if not methods or method in methods]
        return [Task(cell, method, each) for each in seeds for cell in cells or self.cells for method in chosen]


def values_of(cell: Cell) -> tuple[Any, ...]:
    """The values of a cell, in its own order."""
    return tuple(cell.values())
