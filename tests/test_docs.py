"""What the documents show is what happens."""

import ast
import doctest
import re
import runpy
import shlex
import sys
from importlib import import_module
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import sparsecluster
import sparsecluster.datasets
import sparsecluster.evidence
import sparsecluster.extend
import sparsecluster.inspection
import sparsecluster.metrics
import sparsecluster.report
from sparsecluster.cli import app

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
# Results are written by benchmarks and experiments; the rest is written by hand, or by a tool that is checked below.
PAGES = [ROOT / "README.md", *sorted(page for page in DOCS.rglob("*.md") if DOCS / "results" not in page.parents)]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"(?<!`)`(sparsecluster [^`]+)`(?!`)")
# Shown in full: a command behind a prompt and what it prints.
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LOOSELY = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
COMMANDS = get_command(app).commands
# Modules whose public names are in the reference.
MODULES = [
    sparsecluster,
    sparsecluster.datasets,
    sparsecluster.evidence,
    sparsecluster.extend,
    sparsecluster.inspection,
    sparsecluster.metrics,
    sparsecluster.report,
]


def name_of(page):
    return page.relative_to(ROOT).as_posix()


# What it shows, a cluster among other things, test_blocks.py, test_dask_workers.py and test_sparse.py claim sooner.
LONG = DOCS / "guide" / "large.md"


def each_page(having, slow=()):
    pages = [page for page in PAGES if re.search(having, page.read_text())]
    cases = [pytest.param(page, marks=pytest.mark.slow if page in slow else []) for page in pages]
    return pytest.mark.parametrize("page", cases, ids=name_of)


# ---------------------------------------------------------------- code


def pieces(text):
    """Python sessions and consoles of a page in turn, each with the number of lines before it."""
    end = 0
    for console in CONSOLE.finditer(text):
        yield "python", text[end : console.start()], text.count("\n", 0, end)
        yield "console", console[1], text.count("\n", 0, console.start()) + 1
        end = console.end()
    yield "python", text[end:], text.count("\n", 0, end)


def run_console(session):
    """Run each command of a console, and hold what it prints against what the page shows."""
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", session, re.MULTILINE):
        program, *arguments = shlex.split(command)
        assert program == "sparsecluster", f"only our own command is run: {command}"
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == (2 if shown.startswith("Error: ") else 0), result.output
        if not doctest.OutputChecker().check_output(shown, result.output, LOOSELY):
            raise AssertionError(f"$ {command}\nshown:\n{shown}\nprinted:\n{result.output}")


@each_page(r"(?m)^(>>> |```console$)", slow=[LONG])
def test_code_in_documents_runs_and_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("COLUMNS", "100")
    names, runner = {"__name__": "__main__"}, doctest.DocTestRunner(verbose=False, optionflags=LOOSELY)
    for kind, text, line in pieces(page.read_text()):
        if kind == "console":
            run_console(text)
        else:
            test = doctest.DocTestParser().get_doctest(text, names, name_of(page), str(page), line)
            runner.run(test, clear_globs=False)
            names = test.globs
    assert runner.summarize(verbose=False).failed == 0


# ---------------------------------------------------------------- commands


def shell_commands(text):
    """Our commands in blocks of shell: whole lines, and those at the end of a pipe."""
    for kind, block in FENCE.findall(text):
        if kind in ("sh", "bash", "console"):
            for line in block.replace("\\\n", " ").splitlines():
                command = line.removeprefix("$ ").split("| ")[-1].strip()
                if command.startswith("sparsecluster "):
                    yield command.partition(" #")[0]


@each_page(r"(?m)^(\$ )?(.*\| )?sparsecluster ")
def test_commands_in_blocks_are_complete(page):
    for command in shell_commands(page.read_text()):
        name, *arguments = shlex.split(command)[1:]
        if not name.startswith("--"):
            assert name in COMMANDS, command
            try:
                COMMANDS[name].make_context(name, arguments)
            except Exception as error:
                raise AssertionError(f"{command}: {error}") from error


@each_page(INLINE)
def test_commands_in_sentences_exist_with_their_options(page):
    for command in INLINE.findall(FENCE.sub("", page.read_text())):
        name, *words = command.split()[1:]
        if not name.startswith("--"):
            assert name in COMMANDS, command
            known = {word for each in COMMANDS[name].params for word in (*each.opts, *each.secondary_opts)} | {"--help"}
            assert {word for word in words if word.startswith("-") and word != "-"} <= known, command


# ---------------------------------------------------------------- messages


def patterns():
    """What every text in the package can become, as an expression, and its longest part that is always there.

    Texts that say little are left out.
    """
    for file in Path(sparsecluster.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            words = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
            if sum(map(len, words)) >= 10 and " " in "".join(words):
                whole = "".join(re.escape(part.value) if isinstance(part, ast.Constant) else ".*" for part in parts)
                yield max(words, key=len), whole


def test_messages_in_the_page_of_errors_are_those_of_the_package():
    text = (DOCS / "errors.md").read_text()
    blocks = re.findall(r"(?:^> .*\n)+", text, re.MULTILINE)
    quoted = [" ".join(line.removeprefix("> ") for line in block.splitlines()) for block in blocks]
    assert len(quoted) > 40
    known = set(patterns())

    def is_known(message):
        # Most texts are ruled out by their longest part, before an expression is compiled.
        return any(part in message and re.fullmatch(whole, message, re.DOTALL) for part, whole in known)

    assert [message for message in quoted if not is_known(message)] == []


# ---------------------------------------------------------------- pages


@pytest.fixture
def run_tool(monkeypatch):
    """Runs a tool as a program, but in this process, and gives its exit code or message, if any."""

    def run(name, *arguments):
        monkeypatch.syspath_prepend(ROOT / "tools")
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        try:
            runpy.run_path(str(ROOT / "tools" / name), run_name="__main__")
        except SystemExit as end:
            return end.code

    return run


@pytest.mark.parametrize("tool", ["methods_page.py", "cli_page.py"])
def test_pages_that_a_tool_writes_are_up_to_date(run_tool, tool):
    assert not run_tool(tool, "--check")


def test_links_between_documents_lead_somewhere(run_tool):
    assert not run_tool("check_links.py")


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text()
    assert [name_of(page) for page in PAGES[1:] if page.relative_to(DOCS).as_posix() not in navigation] == []


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_public_name_is_in_the_reference(module):
    # A name that can be imported from two modules is shown under one of them.
    pages = "\n".join(page.read_text() for page in (DOCS / "api").glob("*.md"))
    shown = [
        getattr(import_module(home), name) for home, name in re.findall(r"^::: (\S+)\.(\w+)$", pages, re.MULTILINE)
    ]
    names = [name for name in module.__all__ if not name.startswith("__")]
    assert [name for name in names if not any(getattr(module, name) is each for each in shown)] == []


def test_every_picture_is_shown_and_small():
    text = "".join(page.read_text() for page in PAGES)
    for picture in (DOCS / "pictures").glob("*"):
        assert f"pictures/{picture.name})" in text
        assert picture.stat().st_size < (400_000 if picture.stem == "report" else 150_000)
