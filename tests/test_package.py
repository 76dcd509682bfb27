"""The package as a whole: light to import, documented, layered, and quiet unless someone watches."""

import ast
import doctest
import importlib
import importlib.metadata
import inspect
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sparsecluster
from sparsecluster._utils import progress
from sparsecluster._utils.progress import Progress
from tests.helpers.imports import heavy_modules

SOURCE = Path(sparsecluster.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))

# The rooms of the package from top to bottom. A room imports only from lower lines, not from its neighbors in its line.
LAYERS = """
__init__  __main__
cli  scanpy  extend
app
report  experiments
evidence
inspection  io
preprocessing
methods
_mixtures
_search  _blocks
_data
_clusterers
_features
_kernels  metrics  datasets
_utils
_version
"""
DEPTH = {room: line for line, rooms in enumerate(LAYERS.split("\n")) for room in rooms.split()}


def module_name(file):
    return ".".join(("sparsecluster", *file.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


def imports(file):
    """Full names of all modules that a file imports, wherever in the file."""
    package = [*("sparsecluster", *file.relative_to(SOURCE).parent.parts)]
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            home = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{home}.{name.name}" for name in node.names) if home == "sparsecluster" else [home]


def room(name):
    """The file or folder of the package that a module is in; its own attributes are in `__init__`."""
    parts = name.split(".")
    known = len(parts) > 1 and ((SOURCE / parts[1]).is_dir() or (SOURCE / f"{parts[1]}.py").exists())
    return parts[1] if known else "__init__"


# ---------------------------------------------------------------- imports


def test_importing_the_package_loads_nothing_heavy():
    assert heavy_modules("import sparsecluster") == (set(), "")
    # What is loaded is seen.
    assert heavy_modules("import numpy")[0] == {"numpy"}


def test_the_picture_of_the_layers_shows_every_room():
    assert set(DEPTH) == {room(module_name(file)) for file in FILES}


def test_imports_go_down():
    upward = []
    for file in FILES:
        home = room(module_name(file))
        ours = [name for name in imports(file) if name.split(".")[0] == "sparsecluster" and room(name) != home]
        upward += [(module_name(file), name) for name in ours if DEPTH[room(name)] <= DEPTH[home]]
    assert upward == []


def test_no_test_module_imports_from_another():
    modules = Path(__file__).parent.glob("test_*.py")
    assert [file.name for file in modules if re.search(r"^\s*(from|import) tests\.test_", file.read_text(), re.M)] == []


# ---------------------------------------------------------------- words


def test_version_is_that_of_the_distribution():
    assert sparsecluster.__version__ == importlib.metadata.version("sparsecluster")


def test_every_public_name_is_there_and_says_what_it_does():
    assert dir(sparsecluster) == sorted(sparsecluster.__all__)
    for name in set(sparsecluster.__all__) - {"__version__"}:
        thing = getattr(sparsecluster, name)
        methods = [member for member, _ in inspect.getmembers(thing, callable) if not member.startswith("_")]
        assert inspect.getdoc(thing)
        assert all(inspect.getdoc(getattr(thing, member)) for member in methods if inspect.isclass(thing))


def test_unknown_names_are_missing():
    with pytest.raises(AttributeError, match=r"sparsecluster.*no attribute.*KMeans"):
        sparsecluster.KMeans  # noqa: B018


def test_every_public_function_and_class_has_a_docstring():
    silent = []
    for file in FILES:
        things = [each for each in ast.parse(file.read_text()).body if isinstance(each, ast.FunctionDef | ast.ClassDef)]
        silent += [
            (module_name(file), thing.name) for thing in things if thing.name[0] != "_" and not ast.get_docstring(thing)
        ]
    assert silent == []


def test_every_file_is_short_and_says_what_it_is_for():
    written = {module_name(file): file.read_text() for file in FILES if file.read_text()}
    assert [name for name, text in written.items() if len(text.splitlines()) >= 400] == []
    assert [name for name, text in written.items() if not ast.get_docstring(ast.parse(text))] == []


def test_every_test_file_is_short():
    files = Path(__file__).parent.rglob("*.py")
    assert [file.name for file in files if len(file.read_text().splitlines()) > 400] == []


@pytest.mark.parametrize("name", [module_name(file) for file in FILES if ">>> " in file.read_text()])
def test_examples_in_the_docs_are_true(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.attempted > 0
    assert results.failed == 0


def test_the_main_names_have_examples():
    for name in ("SASClustering", "rand_index", "symmetric_difference"):
        assert ">>> " in getattr(sparsecluster, name).__doc__


# ---------------------------------------------------------------- progress


class Screen(io.StringIO):
    def __init__(self, watched):
        super().__init__()
        self.watched = watched

    def isatty(self):
        return self.watched

    def lines(self):
        return self.getvalue().split("\r")


@pytest.fixture
def screen(monkeypatch):
    """A standard error that someone watches or not, and a clock on which every look takes ten seconds."""

    def make(watched, patience=0.0):
        ticks = iter(range(0, 10**6, 10))
        new = Screen(watched)
        monkeypatch.setattr(sys, "stderr", new)
        monkeypatch.setattr(progress, "PATIENCE_SECONDS", patience)
        monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(ticks)))
        return new

    return make


def shown(screen, verbose):
    """What appears while four steps are made."""
    assert list(Progress(verbose).track("abcd", "copies", 4)) == list("abcd")
    return screen.lines()


def test_progress_counts_tells_the_time_left_and_is_wiped_out(screen):
    lines = shown(screen(watched=True), "auto")
    assert [re.findall(r"copies: \d of 4", line) for line in lines[1:5]] == [[f"copies: {n} of 4"] for n in range(1, 5)]
    assert re.search(r"about \d+ s left", lines[1])
    assert "left" not in lines[4]
    assert lines[5].strip() == lines[6] == ""
    assert len(lines[5]) >= len(lines[4].rstrip())


@pytest.mark.parametrize(
    ("watched", "verbose", "speaks"), [(True, True, True), (False, True, True), (True, False, False)]
)
def test_progress_speaks_and_keeps_silent_when_told(screen, watched, verbose, speaks):
    assert ("copies" in "".join(shown(screen(watched), verbose))) == speaks


def test_progress_is_silent_where_nobody_watches(screen):
    assert shown(screen(watched=False), "auto") == [""]


def test_progress_is_silent_about_what_is_soon_done(screen):
    assert shown(screen(watched=True, patience=1e6), "auto") == [""]


@pytest.fixture
def heard():
    """What a listener is told while a test runs."""
    told = []
    progress.listen(lambda *what: told.append(what))
    yield told
    progress.listen(None)


def test_a_listener_hears_of_every_stage_from_its_start_where_nobody_watches(screen, heard):
    silent = screen(watched=False, patience=1e6)
    progress.announce("reading")
    shown(silent, "auto")
    assert heard[0] == ("reading", 0, 0, None)
    assert [(what, done, total) for what, done, total, _ in heard[1:]] == [("copies", n, 4) for n in range(5)]
    assert heard[1][3] is None
    assert heard[2][3] > heard[4][3] > heard[5][3] == 0.0
    assert silent.lines() == [""]


def test_a_listener_is_not_told_of_every_step_but_of_every_stage(heard):
    for what in ("copies", "halves"):
        assert len(list(Progress("auto").track(range(1000), what, 1000))) == 1000
    assert [what for what, done, *_ in heard if not done] == ["copies", "halves"]
    assert len(heard) < 20


def test_a_listener_hears_nothing_of_what_is_silenced(heard):
    assert len(list(Progress(False).track(range(3), "fits within fits", 3))) == 3
    assert heard == []


# ---------------------------------------------------------------- kernels


def test_kernels_are_kept_in_a_private_folder_where_no_other_can_be_written(tmp_path):
    # Files in the place of folders: not even root can write into them.
    shutil.copytree(SOURCE, tmp_path / "sparsecluster", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "sparsecluster" / "_kernels" / "__pycache__").touch()
    (tmp_path / "home").touch()
    (tmp_path / "temporary").mkdir()
    places = {"HOME": "home", "XDG_CACHE_HOME": "home", "TMPDIR": "temporary", "PYTHONPATH": "."}
    code = """
import pathlib, tempfile
import numpy as np, sparsecluster
from sparsecluster._kernels.objective import group_samples
print(sparsecluster.__file__, *group_samples(np.array([1, 0, 1]), 2)[0])
(folder,) = pathlib.Path(tempfile.gettempdir()).iterdir()
print(oct(folder.stat().st_mode & 0o777), len(list(folder.rglob("*group_samples*.nbi"))))
"""
    others = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA")}
    run = subprocess.run(
        [sys.executable, "-c", code],
        env=others | {name: str(tmp_path / place) for name, place in places.items()},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == [str(tmp_path / "sparsecluster" / "__init__.py"), "1", "0", "2", "0o700", "1"]
    assert not list((tmp_path / "temporary").iterdir())
