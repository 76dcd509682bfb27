"""What the tools that write pages of the documentation share."""

from __future__ import annotations

import sys
from pathlib import Path


def write_or_check(page: Path, text: str, tool: str) -> None:
    """Write a page; with --check on the command line, exit with a message if the page has another text."""
    if "--check" not in sys.argv:
        page.write_text(text, encoding="utf-8")
    elif not page.exists() or page.read_text(encoding="utf-8") != text:
        sys.exit(f"{page.name} is not up to date. Run: python {tool}")
