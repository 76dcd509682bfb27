"""Which columns of a file are features: names of rows, identifiers and text without repeats are no features."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from .._data.metric import is_nearly_unique
from .._utils.checks import listed
from .._utils.text import brief
from .limits import FileError

Use = Literal["id", "truth", "left out"]


def divided(value: str, known: set[str]) -> list[str]:
    """The names of columns in a value: the value itself if it is one, or else its parts between commas.

    >>> divided("a,b", {"a", "b"}), divided("a,b", {"a,b", "a", "b"})
    (['a', 'b'], ['a,b'])
    """
    return [value] if value in known else [name.strip() for name in value.split(",") if name.strip()]


def among(words: str) -> frozenset[str]:
    """Words as a set."""
    return frozenset(words.split())


# The last or first word of names that say that a column identifies something.
SURE = among("id ids uid uuid guid identifier barcode key pk sku ssn accession rowid recordid objectid oid")
# The last word of names of columns that number the rows, if their values count the rows.
COUNTING = among(
    "index idx row rows rownum rownumber no nr num number nummer obs observation case record line seq sequence serial "
    "sample subject patient participant person customer user animal cell item entry unnamed lfdnr sno srno"
)
# What a number or an id may be of.
OWNERS = among(
    "account booking case client customer device donor employee event household invoice item member observation order "
    "participant passenger patient person phone policy product record respondent row sample serial session specimen "
    "student subject ticket transaction user visit"
)
NUMBERS = among("no nr num number nummer")
# Words of names whose whole numbers are codes: they name something rather than measure it.
CODES = SURE | among("code codes zip zipcode postcode plz fips")
# Names without any of these words need no closer look, unless they have no letters, such as "#". There may be many.
TELLING = re.compile("|".join([*sorted(SURE | COUNTING | NUMBERS | CODES), r"^\W*$"]), re.IGNORECASE)
# The name of the first column of a text file without a header, and the fewest rows that make a count of them telling.
FIRST_NAME, LEAST_COUNTED = "x0", 10
# More different values than this are no codes of a category.
MOST_CODES = 1000
# Up to three rows may differ by chance.
FEWEST_ROWS = 3


class Other(NamedTuple):
    """A column of a file that is not a feature.

    Attributes
    ----------
    name : str
        Its name.
    use : {"id", "truth", "left out"}
        What it is used for.
    why : str
        The reason, in a full sentence.
    values : int or None
        The number of its different values; None if it is not known.
    missing : float or None
        The share of missing values; None if it is not known.
    example : str
        One of its values.
    place : int
        Its position in the file, from 0 on.
    """

    name: str
    use: Use
    why: str
    values: int | None
    missing: float | None
    example: str
    place: int


class Asked(NamedTuple):
    """What the user asks for the columns of a file, by their names; see `read_table`."""

    id_column: str | None = None
    truth: str | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()

    def among(self, names: Iterable[str]) -> Asked:
        """The same with single names of columns, where several are separated by commas; the name of a column wins."""
        known = {*names}
        drop, keep = (
            tuple(name for value in each for name in divided(value, known)) for each in (self.drop, self.keep)
        )
        dates: list[str] = []
        for value in self.dates:
            # The form of dates may have commas as well.
            dates += [value] if value.rpartition("=")[0] in known else divided(value, known)
        return self._replace(drop=drop, keep=keep, dates=tuple(dates))

    @property
    def named(self) -> set[str]:
        """The columns that are not decided on."""
        return {*self.drop, *self.keep, *({self.truth} - {None})}  # type: ignore[arg-type]


class Roles(NamedTuple):
    """What the columns of a file are used for.

    Attributes
    ----------
    id_column : str or None
        The column with the names of the rows.
    left : dict of str to str
        Columns that are left out, and why.
    categories : list of str
        Columns of text without repeats that the user keeps.
    advice : dict of str to str
        What to consider about features.
    notes : list of str
        The decisions, in full sentences.
    """

    id_column: str | None
    left: dict[str, str]
    categories: list[str]
    advice: dict[str, str]
    notes: list[str]


def decide(names: Sequence[str], look: Callable[[str], Any], text: Iterable[str], asked: Asked) -> Roles:
    """Decide what columns are used for.

    Parameters
    ----------
    names : sequence of str
        All columns of the file.
    look : callable
        Returns the values of a column as a pandas series: all of them, or those of the first block of rows.
    text : iterable of str
        The columns of text.
    asked : Asked
        What the user asks for.

    Returns
    -------
    Roles
        What the columns are used for.
    """
    words, named, id_column = {*text}, asked.named, asked.id_column
    notes: list[str] = []
    first = names[0]
    if id_column is None and len(names) > 1 and first not in named:
        if first in words and names_rows(look(first)):
            id_column = first
            notes = [f"Column {brief(first)} contains a different text in every row, so it is used as the row names."]
        elif first not in words and numbers_rows(first, first_column=True, values=look):
            values = look(first)
            if values.is_unique and not values.isna().any():
                id_column = first
                notes = [f"Column {brief(first)} is an identifier, so it is used as the row names."]
    settled = {*asked.drop, asked.truth, id_column}
    kept = {*asked.keep}
    numbering: list[str] = []
    like_names: list[str] = []
    categories: list[str] = []
    codes: list[str] = []
    for name in names:
        if name in settled:
            continue
        if name in words:
            if is_like_names(look(name)):
                (categories if name in kept else like_names).append(name)
        elif name in kept or (name != first and not TELLING.search(name)):
            continue
        elif numbers_rows(name, first_column=name == first, values=look):
            numbering.append(name)
        elif is_code(name, look):
            codes.append(name)
    left = dict.fromkeys(numbering, "Its name and its values are those of an identifier.")
    left |= dict.fromkeys(like_names, "It is text in which nearly every value is different, like names.")
    notes += told(numbering, ("is an identifier", "are identifiers"), ("use it", "use them"))
    unlike = "text in which nearly every value is different"
    compare = ("compare it as a category", "compare them as categories")
    notes += told(like_names, (f"is {unlike}", f"are {unlike}"), compare)
    advice = {name: CODE_ADVICE.format(name=shell(name)) for name in codes}
    if codes:
        are = "is probably a code" if len(codes) == 1 else "are probably codes"
        notes.append(
            f"{columns_named(codes)} {are}, whose numbers name something rather than measure it. Use --metric "
            f"{shell(codes[0])}=hamming to compare {'it as a category' if len(codes) == 1 else 'them as categories'}."
        )
    return Roles(id_column, left, categories, advice, notes)


CODE_ADVICE = (
    "Its numbers are probably codes, which name something rather than measure it. If so, use --metric {name}=hamming."
)


def told(columns: list[str], are: tuple[str, str], purpose: tuple[str, str]) -> list[str]:
    """A note on columns that are left out: what they are, and what they could be kept for, of one and of several."""
    if not columns:
        return []
    several = len(columns) > 1
    return [
        f"{columns_named(columns)} {are[several]}, so {('it is', 'they are')[several]} left out. Use --keep "
        f"{'COLUMN' if several else shell(columns[0])} to {purpose[several]}."
    ]


def columns_named(columns: Sequence[str]) -> str:
    """Columns as the subject of a sentence."""
    return f"Column{'' if len(columns) == 1 else 's'} {listed(columns)}"


def shell(name: str) -> str:
    """A name as it is written in a command."""
    return name if re.fullmatch(r"[\w.%+-]+", name) else brief(name)


# ---------------------------------------------------------------- names


def words_of(name: str) -> list[str]:
    """The words of a name, in lower case; numbers at its end are none.

    >>> words_of("customerId"), words_of("PatientID_2"), words_of("row.number"), words_of("covid")
    (['customer', 'id'], ['patient', 'id'], ['row', 'number'], ['covid'])
    """
    divided = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})|(?<=\D)(?=\d)", " ", name)
    words = [word.lower() for word in re.split(r"[\W_]+", divided) if word]
    while words and words[-1].isdigit():
        words.pop()
    # Names without any sign between the words, such as customerid.
    glued = re.fullmatch(f"({'|'.join(sorted(OWNERS))})(id|no|nr|number)", words[-1]) if words else None
    return [*words[:-1], *glued.groups()] if glued else words


def says_id(name: str) -> bool:
    """Whether a name says that a column identifies something.

    >>> [says_id(name) for name in ("id", "customer_id", "ID_REF", "invoice no", "humid", "cell number")]
    [True, True, True, True, False, False]
    """
    words = words_of(name)
    is_number = len(words) > 1 and words[-1] in NUMBERS and words[-2] in OWNERS
    return bool(words) and (words[-1] in SURE or words[0] in SURE or is_number)


def may_count(name: str, first_column: bool) -> bool:
    """Whether a name fits a column that counts the rows."""
    if not TELLING.search(name):
        return first_column and name == FIRST_NAME
    words = words_of(name)
    return not words or words[-1] in COUNTING or words[0] == "unnamed" or says_id(name)


# ---------------------------------------------------------------- values


def names_rows(column: Any) -> bool:
    """Whether text is different in every row."""
    if not is_text(column) or column.isna().any() or len(column) < FEWEST_ROWS:
        return False
    return n_different(column) == len(column)


def n_different(column: Any) -> int:
    """The number of different values in a column without missing values."""
    try:
        return int(column.nunique())
    except TypeError:
        # Lists and the like, which a fit refuses, with the name of the column.
        return 0


def is_text(column: Any) -> bool:
    """Whether a column is text, by its type."""
    return is_text_kind(column.dtype)


def is_text_kind(kind: Any) -> bool:
    """Whether a type of pandas is one of text, or of any objects."""
    import pandas as pd

    return bool(pd.api.types.is_string_dtype(kind))


def text_columns(frame: Any) -> list[str]:
    """The columns of text of a data frame."""
    kinds = {kind: is_text_kind(kind) for kind in set(frame.dtypes)}
    return [name for name, kind in zip(frame.columns, frame.dtypes, strict=True) if kinds[kind]]


def is_like_names(column: Any) -> bool:
    """Whether nearly every value of a column of text is different."""
    known = column.dropna()
    if not len(known) or not isinstance(known.iloc[0], str):
        return False
    return is_nearly_unique(n_different(known), len(known))


def numbers_rows(name: str, *, first_column: bool, values: Callable[[str], Any]) -> bool:
    """Whether a column numbers the rows, or names what they belong to: its name says so, and its values agree."""
    if not may_count(name, first_column):
        return False
    numbers = whole_numbers(values(name))
    if numbers is None or numbers.size < FEWEST_ROWS:
        return False
    least = LEAST_COUNTED if name == FIRST_NAME else FEWEST_ROWS
    if numbers.size >= least and numbers[0] in (0, 1) and (np.diff(numbers) == 1).all():
        return True
    different = np.unique(numbers).size
    return says_id(name) and (
        different > MOST_CODES or different == numbers.size or is_nearly_unique(different, numbers.size)
    )


def is_code(name: str, values: Callable[[str], Any]) -> bool:
    """Whether a column holds codes: its name says so, and its values are more than two whole numbers."""
    words = words_of(name) if TELLING.search(name) else []
    if not words or not ({words[0], words[-1]} & CODES or says_id(name)):
        return False
    numbers = whole_numbers(values(name))
    return numbers is not None and np.unique(numbers).size > 2


def whole_numbers(column: Any) -> Any:
    """The numbers of a column without missing values; None if they are not whole numbers."""
    import pandas as pd

    if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        return None
    numbers = column.dropna().to_numpy()
    if numbers.dtype.kind not in "iuf":
        return None
    with np.errstate(invalid="ignore"):
        return numbers if numbers.size and (numbers.dtype.kind != "f" or (numbers == np.rint(numbers)).all()) else None


# ---------------------------------------------------------------- what is told


def other_of(column: Any, use: Use, why: str, place: int, is_whole: bool = True) -> Other:
    """What there is to tell of a column that is not a feature, given all of its values or those of a first block."""
    known = column.dropna()
    example = str(known.iloc[0]) if len(known) else ""
    if not is_whole:
        return Other(str(column.name), use, why, None, None, example, place)
    missing = float(column.isna().mean())
    return Other(str(column.name), use, why, n_different(known), missing, example, place)


WHY: Mapping[str, str] = {
    "id": "It contains the names of the rows.",
    "truth": "It contains the true groups, which are used for comparison only.",
    "drop": "It was left out by request.",
}


def others_of(
    names: Sequence[str], look: Callable[[str], Any], asked: Asked, roles: Roles, is_whole: bool = True
) -> tuple[Other, ...]:
    """The columns of a file that are not features, in its order."""
    uses: dict[str | None, tuple[Use, str]] = dict.fromkeys(asked.drop, ("left out", WHY["drop"]))
    uses |= {name: ("left out", why) for name, why in roles.left.items()}
    uses |= {asked.truth: ("truth", WHY["truth"]), roles.id_column: ("id", WHY["id"])}
    return tuple(other_of(look(name), *uses[name], place, is_whole) for place, name in enumerate(names) if name in uses)


def refuse_nothing_left(file: str, roles: Roles) -> None:
    """Refuse a file without features."""
    if not roles.left and roles.id_column is None:
        raise FileError(f"{file} has no columns left to cluster by. Leave out fewer columns.")
    used = [f"{brief(roles.id_column)} contains the row names"] * (roles.id_column is not None)
    used += [f"{listed(roles.left)} {'was' if len(roles.left) == 1 else 'were'} left out"] * bool(roles.left)
    advice = f"Use --keep {shell(next(iter(roles.left)))} to use it" if roles.left else "Give a table with more columns"
    raise FileError(f"{file} has no columns left to cluster by: {' and '.join(used)}. {advice}.")
