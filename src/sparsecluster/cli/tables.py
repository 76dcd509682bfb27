"""Reading the user's table as the options of a command say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .._utils.text import brief

if TYPE_CHECKING:
    from ..io import Loaded, Options, Stream
    from ..io.models import SavedModel
    from ..io.parts import Parts


class Request(NamedTuple):
    """How to read a table. The names are those of the parameters of `read_table` and of `Options`.

    Columns in `compared` are used as well, because a dissimilarity was given for them. With `like`, the table is read
    for a model.
    """

    id_column: str | None = None
    truth: str | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    transpose: bool = False
    sheet: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    max_memory: str | None = None
    compared: tuple[str, ...] = ()
    like: SavedModel | None = None

    @property
    def options(self) -> Options:
        """What says how the file itself is read."""
        from ..io import Options

        return Options(self.sheet, self.encoding, self.delimiter, self.decimal, self.max_memory)

    def columns(self) -> dict[str, Any]:
        """What says which columns are used, as far as it was asked for."""
        asked = {name: value for name, value in self._asdict().items() if name in COLUMNS and value}
        if is_truth_file(self.truth):
            del asked["truth"]
        # The features of a table that is transposed are no columns of the file.
        keep = self.keep if self.transpose else tuple(dict.fromkeys((*self.keep, *self.compared)))
        return {**asked, **({"keep": keep} if keep else {})}

    def exact(self, table: Any) -> Request:
        """The same with the exact names of columns of a table that was read, where several were given in one value."""
        from ..io._columns import divided

        known = {*table.names, *(other.name for other in table.others)}

        def names(given: tuple[str, ...]) -> tuple[str, ...]:
            divide = {value: divided(value, known) for value in given}
            return tuple(each for value in given for each in (divide[value] if known >= {*divide[value]} else [value]))

        return self._replace(drop=names(self.drop), keep=names(self.keep), dates=names(self.dates))

    def load(self, data: str) -> Loaded:
        """Read the table into memory."""
        from ..io import read_table

        with self.naming():
            loaded = read_table(data, transpose=self.transpose, options=self.options, like=self.like, **self.columns())
        return self._with_truth(loaded)

    def blocks(self, data: str) -> AbstractContextManager[Stream | None]:
        """Open a long table, to read it in blocks of rows; None stands for any other."""
        from ..io import read_blocks

        return read_blocks(data, options=self.options, like=self.like, **self.columns())

    def load_or_open(self, data: Sequence[str]) -> Loaded | Parts:
        """Read the table into memory or, if it comes in parts or is larger than memory, open it."""
        from ..io.parts import Parts, read_or_open

        with self.naming():
            table = read_or_open(data, transpose=self.transpose, options=self.options, like=self.like, **self.columns())
        if not isinstance(table, Parts):
            return self._with_truth(table)
        if is_truth_file(self.truth):
            raise ValueError("The true groups of a table in parts must be a column of it. Set --truth to a column.")
        return table

    def _with_truth(self, loaded: Loaded) -> Loaded:
        """The table with its true groups, if these are in a file of their own."""
        from ..io import read_truth

        if not is_truth_file(self.truth):
            return loaded
        truth, notes = read_truth(str(self.truth), loaded.ids)
        return loaded._replace(truth=truth, notes=[*loaded.notes, *notes])

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Say of a column that there is not which option has named it."""
        from ..io import FileError

        try:
            yield
        except FileError as error:
            named = next((name for name in self.compared if f"got {brief(name)}." in str(error)), None)
            if named is None or not str(error).startswith("--keep"):
                raise
            raise FileError(str(error).replace("--keep", "--metric", 1)) from None


COLUMNS = ("id_column", "truth", "drop", "keep", "dates")


def metric_of(given: Sequence[str] | None) -> str | dict[str, str]:
    """Return the metric that options ask for: one word for all columns, or a dictionary for single ones.

    A value such as "zip=hamming,age=manhattan" names several columns. If this is not possible, it is one column whose
    name has commas or equality signs.

    >>> metric_of(None), metric_of(["hamming"]), metric_of(["zip=hamming,age=manhattan"])
    ('auto', 'hamming', {'zip': 'hamming', 'age': 'manhattan'})
    >>> metric_of(["a,b=hamming", "c=d=ordinal"])
    {'a,b': 'hamming', 'c=d': 'ordinal'}
    """
    from .._data.kinds import KINDS
    from .._utils.checks import check_choice

    words = ["auto", *KINDS]
    of_all = [value for value in given or () if "=" not in value]
    by_column: dict[str, str] = {}
    for value in given or ():
        if value in of_all:
            continue
        pairs = [piece.strip().rpartition("=") for piece in value.split(",")]
        if not all(name and kind in words for name, _, kind in pairs):
            pairs = [value.rpartition("=")]
        for name, _, kind in pairs:
            check_choice(f"--metric {name}=METRIC", kind, words)
            by_column[name] = kind
    if len(of_all) + bool(by_column) > 1:
        raise ValueError(
            f"--metric must be one dissimilarity for all columns, or dissimilarities of single columns such as "
            f"zip=hamming; got {', '.join(map(brief, given or ()))}. Leave one of them out."
        )
    if not of_all:
        return by_column or "auto"
    return check_choice("--metric", of_all[0], words, ", or COLUMN=METRIC for single columns")


def metric_for(metric: str | Mapping[str, str], table: Any) -> Any:
    """Return a metric whose columns are those of a table: places, for a matrix whose names are beside it."""
    if isinstance(metric, str) or hasattr(table.X, "columns"):
        return metric
    names = list(table.names)
    return {names.index(name) if name in names else name: kind for name, kind in metric.items()}


def is_truth_file(truth: str | None) -> bool:
    """Whether the true groups are in a file of their own, not in a column."""
    from ..io.truth import divided

    return truth is not None and Path(file := divided(truth)[0]).suffix != "" and Path(file).is_file()


# ---------------------------------------------------------------- presets

# The parameters that suit the data of each preset, by the name of the table that has them.
PRESETS = {"expression": "EXPRESSION"}


def check_preset(word: str | None) -> None:
    """Refuse a preset that there is not."""
    from .._utils.checks import check_choice

    if word is not None:
        check_choice("--preset", word, list(PRESETS))


def prepared(X: Any, preset: Mapping[str, Any] | None) -> Any:
    """Prepare a table as the preset says, and keep the names of its rows and columns."""
    if preset is None:
        return X
    from ..preprocessing import ExpressionScaler

    scaler = ExpressionScaler().fit(X)
    scaler.log_, scaler.clip_, scaler.total_ = preset["log"], preset.get("clip", False), preset.get("total")
    return scaler.transform(X)


def preset_of(word: str | None, X: Any) -> tuple[dict[str, Any] | None, list[str]]:
    """Return what a preset does to this table, as a dictionary and as notes."""
    if word is None:
        return None, []
    from .._blocks.collections import Collection, is_collection
    from ..preprocessing import ExpressionScaler

    scaler = ExpressionScaler().fit(X)
    below = "negative values were set to 0, and " if scaler.clip_ else ""
    if hasattr(X, "tocsr") or (is_collection(X) and Collection.of(X).is_sparse):
        counts = "each sample was scaled to the same total, and the values were transformed by log2(1 + x)"
        told = counts if scaler.log_ else "the values are no counts, so they were left unchanged"
    else:
        logged = "the values were transformed by log2(1 + x), and " if scaler.log_ else ""
        told = f"{below}{logged}each sample was centered and scaled"
    preset = {"name": word, "log": scaler.log_, "clip": scaler.clip_, "total": scaler.total_}
    return preset, [f"Preset expression: {told}. Genes were not scaled."]
