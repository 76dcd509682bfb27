"""The HTML of a page, taken apart."""

from __future__ import annotations

from html.parser import HTMLParser


class Page(HTMLParser):
    """Reads a page and checks that elements are closed in the order in which they were opened."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.scripts, self.words = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []
        ids = [given["id"] for _, given in self.tags if "id" in given]
        assert len(ids) == len(set(ids))
        assert all({"aria-label", "aria-labelledby"} & set(given) for tag, given in self.tags if tag == "section")
        for _, given in self.tags:
            assert given.get("aria-labelledby", ids[0]) in ids
            assert not given.get("href", "").startswith("#") or given["href"][1:] in ids

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "input", "br", "img", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        elif self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self):
        return " ".join("".join(self.words).split())
