"""Prints what CHANGELOG.md says about a version, for the page of a release: `python tools/changelog.py 0.2.0`."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

FILE = Path(__file__).resolve().parent.parent / "CHANGELOG.md"


def section(text: str, version: str) -> str:
    """Return what a changelog says about a version, without the heading.

    >>> section("# Changes\\n\\n## 0.2.0 - 2026-11-17\\n\\nNew.\\n\\n## 0.1.0\\n\\nFirst.\\n", "0.2.0")
    'New.'
    """
    pattern = rf"^## \[?{re.escape(version)}\]?(?![\w.]).*\n((?:(?!## ).*\n?)*)"
    found = re.search(pattern, text, re.MULTILINE)
    if found is None or not found[1].strip():
        headings = ", ".join(re.findall(r"^## (.*)$", text, re.MULTILINE)) or "none"
        raise ValueError(
            f"CHANGELOG.md has no section about version {version}; its sections are: {headings}. Add the heading "
            f'"## {version} - YYYY-MM-DD" with the changes below it.'
        )
    return found[1].strip()


def main() -> None:
    """Print the section of the version that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version", help="version, such as 0.2.0")
    try:
        print(section(FILE.read_text(encoding="utf-8"), parser.parse_args().version))
    except ValueError as error:
        parser.exit(1, f"{error}\n")


if __name__ == "__main__":
    main()
