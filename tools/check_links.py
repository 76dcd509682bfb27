"""Check that relative links and images in the Markdown files point to files that exist.

Broken links are listed as file:line: target, and the exit code is 1 if there are any. Web addresses and #anchors are
not checked.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent

FENCE = re.compile(r"^\s*(?:```|~~~)")
CODE = re.compile(r"(`+).+?\1")
TARGET = re.compile(
    r"\]\(\s*(?:<([^>]*)>|([^\s)]+))"  # [text](target) and ![image](target)
    r"|^\s*\[[^\]]+\]:\s*(\S+)"  # [name]: target
    r"|<(?:a|img)\b[^>]*?\b(?:href|src)=[\"']([^\"']+)"  # HTML
)
SCHEME = re.compile(r"^(?:[a-zA-Z][a-zA-Z0-9+.-]*:|//)")


def pages() -> list[Path]:
    """Return the Markdown files of the documentation."""
    top = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return [page for page in top if page.exists()] + sorted((ROOT / "docs").glob("**/*.md"))


def links(page: Path) -> Iterator[tuple[int, str]]:
    """Iterate over the relative links outside code, each as line number and target."""
    in_code = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        if FENCE.match(line):
            in_code = not in_code
        elif not in_code:
            for match in TARGET.finditer(CODE.sub("", line)):
                target = next(group for group in match.groups() if group is not None)
                if not SCHEME.match(target):
                    yield number, target


def resolves(page: Path, target: str) -> bool:
    """Tell whether the target of a link on a page exists."""
    path = unquote(re.split("[#?]", target, maxsplit=1)[0])
    # As on GitHub, a leading slash means the root of the repository; a bare #anchor means the page itself.
    return (ROOT / path.lstrip("/") if path.startswith("/") else page.parent / path).exists()


def main() -> int:
    """Check all links and return the exit code."""
    found = [(page, number, target) for page in pages() for number, target in links(page)]
    broken = [link for link in found if not resolves(link[0], link[2])]
    for page, number, target in broken:
        print(f"{page.relative_to(ROOT)}:{number}: {target}")
    print(f"{len(pages())} pages, {len(found)} relative links, {len(broken)} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
