"""Hooks that MkDocs calls when it builds the site; mkdocs.yml names this file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError

# Links to targets in a higher folder, and Python sessions, which have their own syntax highlighting.
UPWARDS = re.compile(r"\]\((\.\./[^)\s#]*)(#[^)\s]*)?\)")
SESSION = re.compile(r"^```python\n(?=>>> )", re.MULTILINE)
# Everything that a browser would load from another site.
FETCHED = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*?\bsrc=["']?(?:https?:)?//[^"'\s>]+"""
    r"""|<link\b(?=[^>]*\brel=["']?(?:stylesheet|preconnect|icon))[^>]*?\bhref=["']?(?:https?:)?//[^"'\s>]+"""
    r"""|@import[^;]*//|url\(\s*["']?(?:https?:)?//[^)]+"""
)


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Make links to files outside of the documentation point to the repository."""
    docs, root = Path(config.docs_dir).resolve(), Path(config.config_file_path).resolve().parent
    here = (docs / page.file.src_uri).parent

    def outside(match: re.Match[str]) -> str:
        target, anchor = (here / match[1]).resolve(), match[2] or ""
        if target.is_relative_to(docs) or not target.is_relative_to(root):
            return match[0]
        kind = "tree" if target.is_dir() else "blob"
        return f"]({config.repo_url}/{kind}/main/{target.relative_to(root).as_posix()}{anchor})"

    return SESSION.sub("```pycon\n", UPWARDS.sub(outside, markdown))


def on_post_build(config: Any) -> None:
    """Fail if a page of the site loads anything from another site."""
    for file in sorted(Path(config.site_dir).rglob("*")):
        if file.suffix in (".html", ".css"):
            found = FETCHED.search(file.read_text(encoding="utf-8"))
            if found:
                raise PluginError(f"{file.relative_to(config.site_dir)} loads from another site: {found[0][:200]}")
