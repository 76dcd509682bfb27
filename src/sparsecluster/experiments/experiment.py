"""The definition of an experiment: its cells, its methods, how one repeat is run, and what the paper prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from ..datasets import Design

# As in the text of the paper, as in the code of its authors, or with data prepared by the expression preset.
Variant = Literal["text", "code", "preset"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)
TEXT_AND_CODE: tuple[Variant, ...] = ("text", "code")
Cell = Mapping[str, Any]
# One repeat of one method in one cell gives one row, or several: one per iteration, per size or per sample.
Row = dict[str, Any]
# Mean and standard deviation that the paper prints; the latter is None where the paper does not give it.
Printed = tuple[float, float | None]


class Job(NamedTuple):
    """One repeat of one method in one cell."""

    cell: Cell
    method: str
    seed: int

    @property
    def key(self) -> tuple[Any, ...]:
        """The values that identify the task."""
        return (*sorted(self.cell.items()), self.method, self.seed)


class Setting(NamedTuple):
    """What applies to all tasks of a run: the variant, and the folder of the microarray data sets."""

    variant: Variant = "text"
    data: str | None = None


class Experiment(NamedTuple):
    """A table or figure of the paper.

    Attributes
    ----------
    name : str
        The name on the command line and of the files.
    title : str
        The heading of the page.
    cells : sequence of mappings
        The settings of the simulation, such as `{"mu": 0.6, "p": 100}`; all of them have the same keys.
    methods : sequence of str
        The methods that are compared, by the names of `contenders`.
    measures : sequence of str
        The measures that the page shows, which are keys of the rows of `run`.
    run : callable
        `run(task, setting)` runs one repeat and returns its rows.
    repeats : int
        The number of repeats in the paper.
    printed : mapping
        The values in the paper: `printed[measure][values of the cell][method]`.
    design : callable or None
        `design(cell, seed, variant)` simulates the data of one repeat. None if the page does not average over
        simulated data.
    across : str
        The key of the cells whose values become the columns of the table; or "method", and the methods become the
        columns.
    variants : sequence of {"text", "code", "preset"}
        More than one if the text of the paper and the code of its authors differ.
    own_repeats : mapping
        The number of repeats of the variants that do not have `repeats`.
    is_figure : bool
        Whether a figure is drawn.
    one_repeat : bool
        Whether one typical data set is shown, so that there is nothing to repeat.
    note : str
        A remark below the heading.
    table : str
        The name of the table on disk if it is not `name`, for experiments that share their runs.
    """

    name: str
    title: str
    cells: Sequence[Cell]
    methods: Sequence[str]
    measures: Sequence[str]
    run: Callable[[Job, Setting], list[Row]]
    repeats: int
    printed: Mapping[str, Mapping[tuple[Any, ...], Mapping[str, Printed]]] = {}
    design: Callable[[Cell, int, Variant], Design] | None = None
    across: str = "p"
    variants: Sequence[Variant] = ("text",)
    own_repeats: Mapping[Variant, int] = {}
    is_figure: bool = False
    one_repeat: bool = False
    note: str = ""
    table: str = ""

    @property
    def has_table(self) -> bool:
        """Whether the page has a table of means; figures of one data set or of iterations have none."""
        return not self.is_figure or self.across != "p"

    def repeats_of(self, variant: Variant) -> int:
        """Return the number of repeats of a variant."""
        return 1 if self.one_repeat else self.own_repeats.get(variant, self.repeats)

    def tasks(self, repeats: int, seed: int = 0, methods: Sequence[str] = (), cells: Sequence[Cell] = ()) -> list[Job]:
        """List every repeat of every method in every cell.

        Repeats come in the outer loop, so that a run that is interrupted has some results in every cell.

        Parameters
        ----------
        repeats : int
            Number of repeats; ignored if the experiment shows one data set only.
        seed : int, default=0
            Seed of the first repeat; the others follow it.
        methods : sequence of str, default=()
            Methods to include; all of them if empty.
        cells : sequence of mappings, default=()
            Cells to include; all of them if empty.

        Returns
        -------
        list of Job
        """
        seeds = range(seed, seed + (1 if self.one_repeat else repeats))
        chosen = [method for method in self.methods if not methods or method in methods]
        return [Job(cell, method, each) for each in seeds for cell in cells or self.cells for method in chosen]


def values_of(cell: Cell) -> tuple[Any, ...]:
    """Return the values of a cell in their order, the key under which `Experiment.printed` has it."""
    return tuple(cell.values())
