"""The command line says what it does, and the demo shows a result worth showing."""

import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import sparsecluster
from sparsecluster.cli import app
from sparsecluster.cli.textplot import curve_plot
from tests.helpers.imports import heavy_modules, help_of


def run(*arguments):
    return CliRunner().invoke(app, arguments, terminal_width=100)


def test_help_loads_nothing_heavy():
    heavy, told = heavy_modules(help_of())
    assert heavy == set()
    assert "Usage: " in told


def test_version():
    assert run("--version").output.strip() == f"sparsecluster {sparsecluster.__version__}"


def test_python_m_is_the_same_command():
    output = subprocess.check_output([sys.executable, "-m", "sparsecluster", "--version"], text=True)
    assert output.strip() == f"sparsecluster {sparsecluster.__version__}"


@pytest.fixture(scope="module")
def demo():
    result = run("demo", "--features", "500", "--mu", "0.8")
    assert result.exit_code == 0
    return result.output


def test_demo_tells_clusters_features_gap_and_time(demo):
    assert "Number of clusters: 3, chosen among 2 to 10 by the BIC." in demo
    sizes = re.search(r"3 clusters of (\d+), (\d+), (\d+) samples", demo).groups()
    assert sum(map(int, sizes)) == 90
    chosen = re.search(r"(\d+) of 500 features chosen", demo)[1]
    assert f"Gap statistic for each number of features, largest at {chosen}" in demo
    assert "█" in demo
    assert re.search(r"the \d+ with the highest scores are enough to find the clusters again", demo)
    assert re.search(r"Choosing the numbers of clusters and features and fitting took \d+\.\d s", demo)


def test_demo_tells_whether_its_result_can_be_trusted(demo):
    told = " ".join(demo.split("Can you trust it?")[1].split())
    assert "There are groups: neither independent features nor one group" in told
    assert "clusters 0, 1 and 2 are solid" in told


def test_demo_compares_with_plain_k_means_and_with_the_limit(demo):
    rand = {
        name: float(re.search(rf"{name}.*?([01]\.\d{{3}})", demo)[1])
        for name in ("K-means, 20 starts", "SAS clustering", "K-means on the useful features")
    }
    assert rand["SAS clustering"] > rand["K-means on the useful features"] - 0.03
    assert rand["SAS clustering"] > rand["K-means, 20 starts"] + 0.03


@pytest.mark.parametrize("arguments", [("demo", "--features", "10"), ("demo", "--mu", "-1"), ("nonsense",)])
def test_wrong_arguments_exit_with_two(arguments):
    assert run(*arguments).exit_code == 2


def test_the_plot_of_a_curve_has_its_top_at_the_mark():
    lines = curve_plot(range(1, 101), [-abs(s - 20) for s in range(1, 101)], mark=20, width=40, height=5).splitlines()
    top, caret = lines[0], lines[-1]
    assert top.index("█") <= caret.index("^") <= top.rindex("█")
    assert caret.endswith("^ 20")


@pytest.mark.parametrize("y", [[0.5], [0.0, 0.0, 0.0], [-1.0, -2.0]])
def test_a_flat_or_tiny_curve_can_be_drawn(y):
    x = range(1, len(y) + 1)
    assert len(curve_plot(x, y, mark=1, width=10, height=3).splitlines()) == 5
