"""Names of columns and samples that are hostile to terminals, spreadsheets, pages and file formats."""

from __future__ import annotations

import random

HOSTILE = (
    "",
    " ",
    "a,b",
    'quote"quote',
    "it's",
    "tab\there",
    "line\nbreak",
    "return\rhere",
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "bell\x07",
    "zero\x00byte",
    "delete\x7f",
    "next\x85line",
    "line\u2028separator",
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1:A9)",
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<img src=x onerror=alert(3)>",
    "<!--",
    "]]>",
    "{{ 7 * 7 }}",
    "{% raw %}",
    "${1+1}",
    "%s%n",
    "[red]markup[/red]",
    "| bar |",
    "\u202egnp.exe",
    "\u2066isolate",
    "\u200bzero width",
    "e\u0301 and \u00e9",
    "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\u6771\u4eac",
    "\u0627\u0644\u0639\u0631\u0628\u064a\u0629",
    "../../etc/passwd",
    "C:\\temp\\x",
    "__class__",
    "constructor",
    "cluster",
    "id",
    "labels_",
    "x" * 300,
    "y" * 5000,
    "0",
    "1.5",
    "True",
)
# Pages must never contain these as they are.
MARKUP = ("<script>alert", "</script><script>alert", "<img src=x")


def names(rng: random.Random, count: int, *, hostile: bool = True, unique: bool = True) -> list[str]:
    """Return some names, most of them plain, of which a few may be hostile or the same."""
    made = [f"x{a}" for a in range(count)]
    if hostile:
        for place in rng.sample(range(count), min(count, rng.choice((0, 1, 1, 2, count)))):
            made[place] = rng.choice(HOSTILE)
    if unique:
        made = [name if made.index(name) == place else f"{name}{place}" for place, name in enumerate(made)]
    return made
