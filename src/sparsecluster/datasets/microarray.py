"""The ten gene-expression sets of the paper's Table 5: from a folder, or from their public address."""

from __future__ import annotations

import hashlib
import http.client
import os
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._features.base import Floats
from .._utils.cache import cache_folder
from .._utils.files import write

# Where the files are, if not in a folder that is given.
VARIABLE = "SPARSECLUSTER_DATA"
# The authors' repository, at one commit. Files are checked by their Git blob id, which is a hash of their content.
ADDRESS = (
    "https://raw.githubusercontent.com/victorpu/SAS_Hill_Climb/"
    "ca129491ad319c1ed8a87119e325d6a1583644d8/Table5_Microarray/Data/"
)
SECONDS = 60


class Microarray(NamedTuple):
    """A set: its size, its classes, and the authors' files by name and Git blob id.

    Genes x samples in one or more files side by side; classes in a file, or one class after another.
    """

    n_genes: int
    class_sizes: tuple[int, ...]
    tables: dict[str, str]
    classes: dict[str, str]

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return sum(self.class_sizes)


class Samples(NamedTuple):
    """Samples x genes and the class of every sample, 0, 1, ..."""

    X: Floats
    y: npt.NDArray[np.intp]


MICROARRAYS: dict[str, Microarray] = {
    "brain": Microarray(
        5597,
        (10, 10, 10, 4, 8),
        {"brain.x.txt": "16d8a4e085aff4fb553d859e0ffda9920e0d6c05"},
        {"brain.y.txt": "54f10b2255f51f4ac5044fa20a610edd55bc7c28"},
    ),
    "breast": Microarray(
        22215,
        (183, 93),
        {"breast.x.txt": "66eea99b984d508496dc9e75431f1357eb01db99"},
        {"breast.y.txt": "dab84d993668bfd1109e3a9de45cff9ad3d3b065"},
    ),
    "colon": Microarray(
        2000,
        (22, 40),
        {"colon.x.txt": "69c692b27dc6afd9370c2087041bfacf57fa01df"},
        {"colon.y.txt": "e40f6afbfebbfa605a3ac427eda17bab3a71da6f"},
    ),
    "lung1": Microarray(
        12533,
        (150, 31),
        {
            "lung_gordon1.x.txt": "17c76886785fa65bf35676066dee7a900b31da3e",
            "lung_gordon2.x.txt": "41f33a24db67f4ba37f7aa1a5e3758d89e539860",
            "lung_gordon3.x.txt": "aa8e6fb036602fe51ce52515119752c181486e05",
            "lung_gordon4.x.txt": "6651e49af6508ca0d66bd98f514681fc711b023a",
        },
        {},
    ),
    "lung2": Microarray(12600, (139, 64), {"lung2.x.txt": "a161dfd444016e2d2cfd389b7bb0cf2f935012c2"}, {}),
    "leukemia": Microarray(
        3571,
        (47, 25),
        {"leukemia.x.txt": "192c58e16b03eb4ea9d4787abb6e9640fe669434"},
        {"leukemia.y.txt": "b4e06d72e764633c2c09a5fadcb8e777fa737d75"},
    ),
    "lymphoma": Microarray(
        4026,
        (42, 9, 11),
        {"lymphoma.x.txt": "6ea9042c666d870c7843b721fe6c862493ba6623"},
        {"lymphoma.y.txt": "60c8e9e1a86ab89869909702687d958cc00c584f"},
    ),
    "prostate": Microarray(
        6033,
        (50, 52),
        {"prostate.x.txt": "3bff4d8bc1579b81c7cfb566c4b5e4b252f06d12"},
        {"prostate.y.txt": "d545cec4f6577a710279c058a5eb6b00b4070e6e"},
    ),
    "srbct": Microarray(
        2308,
        (23, 8, 12, 20),
        {"srbct.x.txt": "34dbdc05da4b529033a71c933e0f214f3031b66b"},
        {"srbct.y.txt": "a2a85b9319c24dc80d33fb11366c2b3ba50233a8"},
    ),
    "sucancer": Microarray(
        7909,
        (83, 91),
        {"SuCancer.txt": "cf781812f9bd635b253e8f426fcb41f93e0e1432"},
        {"SuCancer.y.txt": "89ae94edfcb2ef0859c4619b0195d9a0fa2accd8"},
    ),
}


class DataNotFoundError(FileNotFoundError):
    """A data set is in no folder that was looked at, and could not be fetched."""


def load_microarray(name: str, folder: str | Path | None = None, download: bool = True) -> Samples:
    """One of the ten sets: brain, breast, colon, leukemia, lung1, lung2, lymphoma, prostate, srbct, sucancer.

    Looks in `folder` if it is given, else in $SPARSECLUSTER_DATA and in the user's cache folder, for NAME.npz (arrays X
    and y), NAME.csv (samples in rows, a column y) or the authors' files (NAME.x.txt, genes x samples, and NAME.y.txt);
    then fetches the authors' files, checks them and keeps them in the cache folder.

    >>> from sparsecluster.datasets import MICROARRAYS
    >>> MICROARRAYS["colon"].n_samples, MICROARRAYS["colon"].n_genes
    (62, 2000)
    """
    if name not in MICROARRAYS:
        raise ValueError(f"There is no data set {name!r}; choose from {', '.join(sorted(MICROARRAYS))}.")
    about = MICROARRAYS[name]
    places = [Path(folder)] if folder is not None else list(_usual_places())
    for place in places:
        found = _read(name, about, place)
        if found is not None:
            return _checked(name, about, found, place)
    if download and folder is None:
        place = cache_folder() / "microarray"
        for file, blob in (about.tables | about.classes).items():
            fetch(ADDRESS + file, place / file, blob, name)
        found = _read(name, about, place)
        assert found is not None
        return _checked(name, about, found, place)
    raise DataNotFoundError(
        f"The data set {name!r} is not in {' nor in '.join(map(str, places))}. Put {name}.npz (arrays X, samples x "
        f"genes, and y), {name}.csv (with a column y) or the authors' {', '.join(about.tables | about.classes)} there, "
        f"or name another folder by folder=, --data or ${VARIABLE}."
    )


def _usual_places() -> Iterator[Path]:
    if os.environ.get(VARIABLE):
        yield Path(os.environ[VARIABLE])
    yield cache_folder() / "microarray"


# ---------------------------------------------------------------- reading


def _read(name: str, about: Microarray, place: Path) -> Samples | None:
    """The set from the first of its forms that a folder has."""
    if (place / f"{name}.npz").is_file():
        try:
            with np.load(place / f"{name}.npz", allow_pickle=False) as kept:
                return Samples(np.asarray(kept["X"], np.float64), _numbered(kept["y"]))
        except (KeyError, ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(f"{place / name}.npz is damaged, or has no arrays X and y ({error}).") from error
    if (place / f"{name}.csv").is_file():
        return _read_csv(place / f"{name}.csv")
    own = {f"{name}.x.txt": ""}, {f"{name}.y.txt": ""}
    for tables, classes in ((about.tables, about.classes), own):
        if all((place / file).is_file() for file in (*tables, *classes)):
            X = np.concatenate([np.loadtxt(place / file, ndmin=2) for file in tables], axis=1).T
            y = np.concatenate([np.loadtxt(place / file).ravel() for file in classes]) if classes else None
            in_turn = np.repeat(np.arange(len(about.class_sizes)), about.class_sizes)
            return Samples(np.ascontiguousarray(X), in_turn if y is None else _numbered(y))
    return None


def _read_csv(file: Path) -> Samples:
    with file.open(encoding="utf-8") as lines:
        header = [word.strip().strip('"') for word in lines.readline().split(",")]
        rows = [line.rstrip("\n").split(",") for line in lines if line.strip()]
    if "y" not in header:
        raise ValueError(f"{file} has no column y with the classes; its columns are {', '.join(header[:5])}, ...")
    at = header.index("y")
    X = np.array([[float(value) for j, value in enumerate(row) if j != at] for row in rows])
    return Samples(X, _numbered(np.array([row[at] for row in rows])))


def _numbered(y: npt.ArrayLike) -> npt.NDArray[np.intp]:
    return np.unique(np.asarray(y), return_inverse=True)[1].ravel()


def _checked(name: str, about: Microarray, found: Samples, place: Path) -> Samples:
    wanted = (about.n_samples, about.n_genes)
    sizes = sorted(np.bincount(found.y).tolist())
    if found.X.shape != wanted or sizes != sorted(about.class_sizes):
        raise ValueError(
            f"The data set {name!r} in {place} has {found.X.shape[0]} samples x {found.X.shape[1]} genes in classes of "
            f"{sizes}; it should have {wanted[0]} x {wanted[1]} in {sorted(about.class_sizes)}. Is it another version?"
        )
    return found


# ---------------------------------------------------------------- fetching


def blob_id(content: bytes) -> str:
    """The id that Git has for a file: SHA-1 of a header and the content.

    >>> blob_id(b"hello\\n")
    'ce013625030ba8dba906f756967f9e9ca394464a'
    """
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def fetch(address: str, file: Path, blob: str, name: str) -> None:
    """Fetch a file that is not there yet, and keep it only if it is the right one."""
    if file.is_file() and blob_id(file.read_bytes()) == blob:
        return
    try:
        with urllib.request.urlopen(address, timeout=SECONDS) as response:
            content = response.read()
    except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
        raise DataNotFoundError(
            f"The data set {name!r} is not on this machine and could not be fetched from {address} ({error}). Put "
            f"{name}.npz (arrays X, samples x genes, and y) or the authors' files into {file.parent}, or into the "
            f"folder that ${VARIABLE} names."
        ) from error
    if blob_id(content) != blob:
        raise DataNotFoundError(f"What {address} gives is not the file that it was (another checksum), so not kept.")
    write(file, content)
