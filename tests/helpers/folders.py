"""Small folders of results, for the tests of how they are replaced."""

from __future__ import annotations

import errno

import pytest

from sparsecluster._utils import folders
from sparsecluster._utils.files import write
from sparsecluster._utils.folders import Kind, replaced

MARK, FILES = "mark.txt", ("a.txt", "b.txt", "c.txt", "mark.txt")
KIND = Kind("tests", FILES, lambda folder: (folder / MARK).exists())


def put(folder, content, names=FILES):
    with replaced(folder, KIND) as new:
        for name in names:
            write(new / name, content)


def held(folder):
    """The files of a folder, with what is in them; also those in folders."""
    return {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*") if file.is_file()}


def result(content, names=FILES):
    return dict.fromkeys(names, content)


@pytest.fixture(params=["exchange", "two steps"])
def way(request, monkeypatch):
    """Where names can be exchanged in one step, and where they cannot."""
    if request.param == "two steps":

        def refuse(one, other):
            raise OSError(errno.ENOSYS, "no")

        monkeypatch.setattr(folders, "exchange", refuse)
    return request.param
