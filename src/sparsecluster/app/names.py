"""Names of files that come from outside: what they are called here, and how they are written in a command."""

from __future__ import annotations

import re
import shlex

from .._utils.text import UNSEEN

# The formats that the package reads, and the compressions of text files.
TABLES = (
    *("csv", "tsv", "txt", "tab", "dat", "xlsx", "xlsm", "xls", "ods", "parquet", "pq"),
    *("feather", "arrow", "npy", "npz", "h5ad", "mtx"),
)
COMPRESSED = ("gz", "bz2", "xz")
EXCEL = (".xlsx", ".xlsm", ".xls", ".ods")
# A name that means nothing to any file system or shell: letters and digits first, and no sign but these.
PLAIN = re.compile(r"\w[\w .()+-]*")
LONGEST_BYTES = 150
# Windows keeps these names for devices.
DEVICES = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
# The longest name that is accepted at all; browsers send at most 255 characters.
LONGEST_NAME = 1000


def ending(name: str) -> str:
    """Return the extension of a file name if it is one that is known, in small letters; else nothing.

    >>> ending("a.CSV"), ending("counts.mtx.gz"), ending("setup.exe"), ending("archive.zip.gz")
    ('.csv', '.mtx.gz', '', '')
    """
    *_, before, last = ["", "", *name.lower().split(".")]
    if last in COMPRESSED:
        return f".{before}.{last}" if before in TABLES else ""
    return f".{last}" if last in TABLES else ""


def safe_name(name: str) -> str:
    """Return the name under which a file is stored: its own if it is plain, and otherwise `table`.

    A plain name keeps the command that is run, the one that is shown and the title of the report the same.

    >>> safe_name("penguins.csv"), safe_name("../../etc/passwd"), safe_name("<img src=x>.tsv.gz")
    ('penguins.csv', 'table', 'table.tsv.gz')
    """
    is_plain = PLAIN.fullmatch(name) and not DEVICES.fullmatch(name) and name[-1] not in ". "
    if is_plain and ending(name) and len(name.encode()) <= LONGEST_BYTES:
        return name
    return f"table{ending(name)}"


def result_name(name: str) -> str:
    """Return the name of the folder for the results of a file that is stored under a safe name.

    >>> result_name("penguins.csv"), result_name("counts 2.mtx.gz")
    ('penguins-clusters', 'counts 2-clusters')
    """
    return name[: len(name) - len(ending(name))] + "-clusters"


def quoted(word: str) -> str:
    r"""Return a word as it is written in a shell. Characters that cannot be seen are escaped, as Bash and Zsh can.

    >>> print(quoted("table.csv"), quoted("my table.csv"), quoted("two\nlines\u202e"))
    table.csv 'my table.csv' $'two\u000alines\u202e'
    """
    if not re.search(f"[{UNSEEN}]", word):
        return shlex.quote(word)
    escaped = word.replace("\\", "\\\\").replace("'", "\\'")
    return "$'" + re.sub(f"[{UNSEEN}]", lambda found: f"\\u{ord(found[0]):04x}", escaped) + "'"


def command_of(argv: list[str]) -> str:
    """Return arguments as the command that a user can run in the folder of the file.

    >>> command_of(["fit", "my table.csv", "-k", "3"])
    "sparsecluster fit 'my table.csv' -k 3"
    """
    return " ".join(["sparsecluster", *map(quoted, argv)])


def as_argument(name: str) -> str:
    """Return the name of a file in the current folder so that it is not taken for an option.

    >>> as_argument("-k.csv"), as_argument("-"), as_argument("a.csv")
    ('./-k.csv', './-', 'a.csv')
    """
    return f"./{name}" if name.startswith("-") else name
