"""Write docs/command-line.md from the help of the commands; with --check only say whether it is up to date."""

from __future__ import annotations

import sys
from pathlib import Path, PurePath
from typing import Any

from typer.main import get_command

from sparsecluster.cli import app
from sparsecluster.cli.errors import INTERRUPTED, WRONG_INPUT

PAGE = Path(__file__).parent.parent / "docs" / "command-line.md"
EXAMPLES = "Examples:"
HEAD = f"""# Command line

`pip install` brings the command `sparsecluster`. This page is its help, command by command; `sparsecluster --help` and
`sparsecluster fit --help` show the same. Tables are read from CSV, TSV, Parquet, Feather, Excel, NumPy, H5AD and Matrix
Market files; text files may be packed (.gz, .bz2, .xz), and `-` is standard input.

The exit code is 0 if all went well, {WRONG_INPUT} for wrong use or input that cannot be used, with one line that says
what is wrong ([Errors](errors.md)), and {INTERRUPTED} after Ctrl-C.
"""


def page() -> str:
    """The whole page."""
    root = get_command(app)
    commands: dict[str, Any] = root.commands  # type: ignore[attr-defined]
    first_lines = [[f"[`{name}`](#{name})", _parts(each)[0]] for name, each in commands.items()]
    parts = [HEAD, _table(["command", "what it does"], first_lines), *(_section(*each) for each in commands.items())]
    return "\n".join(parts)


def _section(name: str, command: Any) -> str:
    """What one command does, its arguments and options, and examples."""
    first, rest, examples = _parts(command)
    needed = [_usage(each) for each in command.params if _usage(each)]
    usage = " ".join(["sparsecluster", name, *needed, *(["[OPTIONS]"] if len(needed) < len(command.params) else [])])
    lines = [f"## {name}", "", first, *(["", rest] if rest else []), "", "```text", usage, "```", ""]
    rows = [[_names(each), _meaning(each), _default(each)] for each in command.params]
    if rows:
        lines.append(_table(["argument or option", "meaning", "default"], rows))
    if examples:
        lines += ["```sh", *examples, "```", ""]
    return "\n".join(lines)


def _parts(command: Any) -> tuple[str, str, list[str]]:
    """First sentence of the help, the rest of it, and the lines of its examples."""
    text, _, examples = command.help.replace("Example: ", f"{EXAMPLES}\n\n").partition(EXAMPLES)
    first, *rest = (" ".join(part.split()) for part in text.strip().split("\n\n"))
    return first, "\n\n".join(rest), [line.strip() for line in examples.splitlines() if line.strip()]


def _is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


def _usage(parameter: Any) -> str:
    """How an argument or a required option stands in the command; nothing for an option that may be left out."""
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
    """What holds where the option is left out; nothing for a switch that is off."""
    if parameter.required:
        return "needed"
    value = parameter.default
    if isinstance(value, bool):
        return f"`{parameter.opts[0]}`" if value else ""
    if isinstance(value, PurePath):
        value = value.as_posix()
    return f"`{value}`" if isinstance(value, str | int | float) and value != "" else ""


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def main() -> None:
    """Write or check."""
    if "--check" in sys.argv:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page():
            sys.exit(f"{PAGE.name} does not say what the commands say; run: python tools/cli_page.py")
        return
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
