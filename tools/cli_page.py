"""Write docs/command-line.md from the help of the commands, or with --check verify that it is up to date."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import Any

from pages import write_or_check
from typer.main import get_command

from sparsecluster._utils.markdown import markdown_table
from sparsecluster.cli import app
from sparsecluster.cli.errors import BUG, DEBUG, INTERRUPTED, WRONG_INPUT

PAGE = Path(__file__).parent.parent / "docs" / "command-line.md"
EXAMPLES = "Examples:"
HEAD = f"""# Command line

`pip install` installs the command `sparsecluster`. This page shows the help of all its commands, which is also shown by
`sparsecluster --help`, `sparsecluster fit --help` and so on. Tables are read from CSV, TSV, Parquet, Feather, Excel,
NumPy, H5AD and Matrix Market files; text files may be compressed (.gz, .bz2, .xz), and `-` is standard input.

The exit code is 0 on success, {WRONG_INPUT} if the command or its input is wrong, with a one-line message that explains
what to do ([Errors](errors.md)), {BUG} after an error in the package itself, and {INTERRUPTED} after Ctrl-C. With the
environment variable `{DEBUG}=1`, the traceback of an error is printed as well. If the program that reads the output
ends first, as in `sparsecluster fit table.csv | head`, the command ends without an error, with its results written.

The folder of a result changes all at once: `fit` and `compare` write into a hidden folder beside it and exchange the
two, so that a command that is interrupted leaves the old result or the new one. Files of your own in the folder stay
there. Only if a folder cannot be renamed, because it is the current folder, a mount point, or in a folder that you may
not change, its files are replaced one by one. A folder with files that are not a result of the same command is used
with `--force` only. Single files, as of `predict` and `report`, are replaced as a whole as well; `--out -` is standard
output.

Several files, a folder, or a pattern in quotes such as `'part-*.parquet'` are parts of one table: Parquet files, CSV
and other text files, which may be compressed, or Zarr arrays. All parts must have the same columns; the first that is
different is named before the work begins. `fit` reads them block by block ([Tables larger than
memory](guide/large.md#tables-larger-than-memory)), on the threads of `--jobs` or on a cluster (`--scheduler`), and
does the same with one Parquet, CSV or H5AD file that needs more memory than `--max-memory`. The result has
`labels/part-00000.parquet`, ... in the place of `labels.csv`: one file per block with the columns `id`, if there are
ids, `cluster`, and `alternative_0`, ... for other good clusterings. On a cluster, the workers read the parts and
write the labels, so all of them must see the same disk. A table of at most 2,000 rows, and one for a method or an
option that needs all samples at once, is read into memory if it fits, and has the usual files. Ids are compared
within each block only.

`fit` prints first whether there are groups at all, if this was assessed ([Can you trust it?](guide/evidence.md)): by
default for SAS clustering of tables with up to 1,000 samples and 500,000 values, if the gap statistic chooses the
features, and with `--assess` for any table in memory. An assessment continues after an interruption as a fit does.

In the CSV files, text that a spreadsheet would take for a formula has an apostrophe in front. Files have the names of
samples and features as they are; where names are printed, control characters are escaped, such as `\\x1b`.
"""


def page() -> str:
    """Return the whole page."""
    root = get_command(app)
    commands: dict[str, Any] = root.commands  # type: ignore[attr-defined]
    first_lines = [[f"[`{name}`](#{name})", _parts(each)[0]] for name, each in commands.items()]
    overview = markdown_table(["command", "what it does"], first_lines) + "\n"
    return "\n".join([HEAD, overview, *(_section(*each) for each in commands.items())])


def _section(name: str, command: Any) -> str:
    """Describe one command: what it does, its arguments and options, and examples."""
    first, rest, examples = _parts(command)
    needed = [_usage(each) for each in command.params if _usage(each)]
    usage = " ".join(["sparsecluster", name, *needed, *(["[OPTIONS]"] if len(needed) < len(command.params) else [])])
    lines = [f"## {name}", "", first, *(["", rest] if rest else []), "", "```text", usage, "```", ""]
    rows = [[_names(each), _meaning(each), _default(each)] for each in command.params]
    if rows:
        lines += [markdown_table(["argument or option", "meaning", "default"], rows), ""]
    if examples:
        lines += ["```sh", *examples, "```", ""]
    return "\n".join(lines)


def _parts(command: Any) -> tuple[str, str, list[str]]:
    """Split the help into its first sentence, the other paragraphs and the lines of the examples."""
    text, _, examples = command.help.replace("Example: ", f"{EXAMPLES}\n\n").partition(EXAMPLES)
    first, *rest = (" ".join(part.split()) for part in text.strip().split("\n\n"))
    return first, "\n\n".join(rest), [line.strip() for line in examples.splitlines() if line.strip()]


def _is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


def _usage(parameter: Any) -> str:
    """Write an argument or a required option as in the usage of the command; other options are left out."""
    if _is_argument(parameter):
        return parameter.name.upper() if parameter.required else f"[{parameter.name.upper()}]"
    return f"{parameter.opts[0]} ..." if parameter.required else ""


def _names(parameter: Any) -> str:
    if _is_argument(parameter):
        return f"`{parameter.name.upper()}`"
    return ", ".join(f"`{word}`" for word in (*parameter.opts, *parameter.secondary_opts))


def _meaning(parameter: Any) -> str:
    return " ".join((parameter.help or "").split()).replace("|", "\\|")


def _default(parameter: Any) -> str:
    """Write the default of a parameter, or "required"; switches that are off by default have none."""
    if parameter.required:
        return "required"
    value = parameter.default
    if isinstance(value, bool):
        return f"`{parameter.opts[0]}`" if value else ""
    if isinstance(value, PurePath):
        value = value.as_posix()
    return f"`{value}`" if isinstance(value, str | int | float) and value != "" else ""


if __name__ == "__main__":
    write_or_check(PAGE, page(), "tools/cli_page.py")
