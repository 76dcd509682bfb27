"""What the documents show is what happens."""

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("page", ["README.md", "docs/any-data.md", "docs/methods.md"])
def test_code_in_documents_runs_and_prints_what_it_says(page):
    result = doctest.testfile(str(ROOT / page), module_relative=False)
    assert result.attempted > 0
    assert result.failed == 0


def test_the_page_of_methods_says_what_the_registry_says():
    subprocess.run([sys.executable, ROOT / "tools" / "methods_page.py", "--check"], check=True, cwd=ROOT)


def test_links_between_documents_lead_somewhere():
    subprocess.run([sys.executable, ROOT / "tools" / "check_links.py"], check=True, cwd=ROOT)
