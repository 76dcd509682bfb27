"""What is published: the files of the package, its page on the package index, and installations from scratch."""

import doctest
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import numpy as np
import pytest

import sparsecluster
from tools import changelog

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "sparsecluster"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
TARGETS = PROJECT["tool"]["hatch"]["build"]["targets"]
# Files beside Python that the package needs at run time.
NEEDED = {
    "py.typed",
    "report/report.css",
    "report/templates/page.html.jinja",
    *(f"report/script/{file.name}" for file in (SOURCE / "report" / "script").glob("*.js")),
    "app/templates/page.html.jinja",
    *(f"app/static/{file.name}" for file in (SOURCE / "app" / "static").iterdir()),
}

# ---------------------------------------------------------------- without building


def test_what_the_source_distribution_includes_is_there():
    for path in TARGETS["sdist"]["only-include"]:
        assert (ROOT / path).exists(), path
    assert "src/sparsecluster" in TARGETS["sdist"]["only-include"]


def test_no_file_that_the_package_needs_is_ignored():
    # What git ignores is left out of what is built.
    if not (ROOT / ".git").exists():
        pytest.skip("this is no git repository")
    assert len(NEEDED) > 8
    paths = [str(SOURCE / name) for name in sorted(NEEDED)]
    ignored = subprocess.run(["git", "check-ignore", *paths], cwd=ROOT, capture_output=True, text=True)
    assert (ignored.returncode, ignored.stdout) == (1, "")


def test_the_package_is_small():
    files = [file for file in SOURCE.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    others = {file.relative_to(SOURCE).as_posix() for file in files if file.suffix not in (".py", ".pyi")}
    assert {name for name in others if not name.endswith((".nbi", ".nbc"))} >= NEEDED
    assert max(file.stat().st_size for file in files if file.suffix not in (".nbi", ".nbc")) < 100_000


def test_links_of_the_readme_work_on_the_package_index():
    text = (ROOT / "README.md").read_text()
    for each in PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(each["pattern"], each["replacement"], text)
    links = re.findall(r"\]\(([^)]+)\)", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL))
    assert len(links) > 30
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
    images = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
    assert images
    assert all(link.startswith("https://raw.githubusercontent.com/") for link in images)


def test_the_version_is_the_same_everywhere():
    assert f"\nversion: {sparsecluster.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_the_notes_of_a_release_are_its_section_of_the_changelog():
    assert doctest.testmod(changelog) == (0, 1)
    text = "# Changes\n\n## Unreleased\n\n## [0.10.0]\n\nTen.\n\n### Added\n\n- More.\n\n## 0.1.0\n\nFirst.\n"
    assert changelog.section(text, "0.10.0") == "Ten.\n\n### Added\n\n- More."
    assert changelog.section(text, "0.1.0") == "First."
    for missing in ("0.1", "0.10", "1.0", "Unreleased"):
        with pytest.raises(ValueError, match=rf"no section about version {missing}; its sections are: Unreleased"):
            changelog.section(text, missing)


# ---------------------------------------------------------------- built


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """The wheel and the source distribution."""
    pytest.importorskip("build", reason="the package is built by build: pip install build")
    folder = tmp_path_factory.mktemp("dist")
    with_hooks = os.environ | {"HATCH_BUILD_NO_HOOKS": "false"}
    command = [sys.executable, "-m", "build", "--outdir", folder, ROOT]
    subprocess.run(command, check=True, capture_output=True, env=with_hooks)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return {"wheel": wheel, "sdist": sdist}


def names_in(file):
    """Names of the files of the package, and of the other files."""
    if file.suffix == ".whl":
        names = zipfile.ZipFile(file).namelist()
    else:
        with tarfile.open(file) as archive:
            names = [member.name.split("/", 1)[1].removeprefix("src/") for member in archive if member.isfile()]
    ours = {name.removeprefix("sparsecluster/") for name in names if name.startswith("sparsecluster/")}
    return ours, {name for name in names if not name.startswith("sparsecluster/")}


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_what_is_built_has_the_package_and_nothing_else(dist, kind):
    ours, others = names_in(dist[kind])
    python = {file.relative_to(SOURCE).as_posix() for file in SOURCE.rglob("*.py")}
    compiled = {name for name in ours if name.startswith("_kernels/compiled/")}
    assert ours - compiled == python | NEEDED
    assert bool(compiled) == (kind == "wheel")
    assert not {name for name in others if name.startswith(("tests/", "docs/", "benchmarks/"))}
    assert dist[kind].stat().st_size < 3_000_000


@pytest.fixture(scope="module")
def clean(dist, tmp_path_factory):
    """Makes an environment that has the package, with some extras, and nothing else; returns how to run programs."""

    def make(kind, extras):
        folder = tmp_path_factory.mktemp("clean")
        venv.create(folder / "env", with_pip=True)
        programs = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
        left_out = ("PYTHONPATH", "VIRTUAL_ENV", "HATCH_BUILD_NO_HOOKS")
        others = {name: value for name, value in os.environ.items() if name not in left_out}

        def run(program, *arguments, returns=0):
            command = [programs / program, *arguments]
            ran = subprocess.run(command, cwd=folder, env=others, capture_output=True, text=True)
            assert ran.returncode == returns, ran.stdout + ran.stderr
            return ran.stdout + ran.stderr

        run("python", "-m", "pip", "install", "-q", f"{dist[kind]}{extras}")
        return folder, run

    return make


WITHOUT_EXTRAS = """
import sys
from sparsecluster import SASClustering, write_report
from sparsecluster.datasets import shifted_groups
X = shifted_groups(mu=2.0, n_features=20, n_useful=5, group_size=15, seed=0).X
found = SASClustering(3).fit(X)
write_report(found, X, "report.html")
print(int(found.support_.sum()), [name for name in ("pandas", "matplotlib") if name in sys.modules])
"""


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_without_extras_arrays_are_fitted_and_files_are_refused_with_advice(clean):
    folder, run = clean("wheel", "")
    assert run("sparsecluster", "--version") == f"sparsecluster {sparsecluster.__version__}\n"
    assert run("python", "-c", WITHOUT_EXTRAS) == "5 []\n"
    assert "</html>" in (folder / "report.html").read_text(encoding="utf-8")
    np.savetxt(folder / "table.csv", np.eye(3), delimiter=",")
    assert "pip install sparsecluster[tables]" in run("sparsecluster", "fit", "table.csv", returns=2)


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_a_table_is_fitted_from_a_file_after_a_fresh_installation(clean, kind):
    folder, run = clean(kind, "[tables]")
    assert run("sparsecluster", "--version") == f"sparsecluster {sparsecluster.__version__}\n"
    run("sparsecluster", "simulate", "shifted", "--features", "40", "--out", "table.csv")
    run("sparsecluster", "fit", "table.csv", "-k", "3", "--truth", "group", "--out", "result")
    page = (folder / "result" / "report.html").read_text(encoding="utf-8")
    # The style, the scripts and the template are in it.
    assert "<style>" in page
    assert "<script" in page
    assert page.rstrip().endswith("</html>")
