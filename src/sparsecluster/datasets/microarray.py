"""The ten gene-expression data sets of the paper's Table 5, read from a folder or downloaded."""

from __future__ import annotations

import csv
import hashlib
import os
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._utils.arrays import Floats
from .._utils.cache import cache_folder
from .._utils.text import brief

# An environment variable that names the folder of the files.
VARIABLE = "SPARSECLUSTER_DATA"
# The authors' repository at one commit. The files are checked by their Git blob ids, which are hashes of the content.
ADDRESS = (
    "https://raw.githubusercontent.com/victorpu/SAS_Hill_Climb/"
    "ca129491ad319c1ed8a87119e325d6a1583644d8/Table5_Microarray/Data/"
)
TIMEOUT_SECONDS = 60


class Microarray(NamedTuple):
    """Description of a gene-expression data set and of the authors' files that contain it.

    Attributes
    ----------
    n_genes : int
        Number of genes.
    class_sizes : tuple of int
        Number of samples in each class.
    tables : dict of str to str
        Names and Git blob ids of the files with the expression values, genes in rows and samples in columns. Several
        files are placed side by side.
    classes : dict of str to str
        Name and Git blob id of the file with the classes. If it is empty, the samples are sorted by class.

    Examples
    --------
    >>> from sparsecluster.datasets import MICROARRAYS
    >>> colon = MICROARRAYS["colon"]
    >>> colon.n_samples, colon.n_genes, colon.class_sizes
    (62, 2000, (22, 40))
    """

    n_genes: int
    class_sizes: tuple[int, ...]
    tables: dict[str, str]
    classes: dict[str, str]

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return sum(self.class_sizes)

    @property
    def files(self) -> dict[str, str]:
        """Names and Git blob ids of all files."""
        return self.tables | self.classes


class Samples(NamedTuple):
    """Expression values and classes of a data set.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_genes)
        Expression values.
    y : ndarray of int of shape (n_samples,)
        Class of each sample, numbered from 0.
    """

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
    """A data set was not found in any of the folders searched, and could not be downloaded."""


def load_microarray(name: str, folder: str | Path | None = None, download: bool = True) -> Samples:
    """Load one of the ten gene-expression data sets of the paper's Table 5.

    A folder may contain a data set in one of three forms: `NAME.npz` with the arrays `X` of shape (n_samples, n_genes)
    and `y`; `NAME.csv` with samples in rows and the classes in a column `y`; or the authors' files, such as
    `NAME.x.txt` with genes in rows and `NAME.y.txt` with the classes.

    Parameters
    ----------
    name : {"brain", "breast", "colon", "leukemia", "lung1", "lung2", "lymphoma", "prostate", "srbct", "sucancer"}
        Name of the data set.
    folder : str or Path, default=None
        Folder that contains the data set. By default, the folder named by the environment variable
        `SPARSECLUSTER_DATA` and then the user's cache folder are searched.
    download : bool, default=True
        Whether to download the authors' files into the user's cache folder if the data set is not found. Downloading
        requires the package pooch, which `pip install "sparsecluster[data]"` installs. Only files with the expected
        checksum are kept. Nothing is downloaded if `folder` is given.

    Returns
    -------
    X : ndarray of shape (n_samples, n_genes)
        Expression values.
    y : ndarray of int of shape (n_samples,)
        Class of each sample, numbered from 0.

    Raises
    ------
    DataNotFoundError
        If the data set is not found and is not, or cannot be, downloaded.
    ImportError
        If the data set has to be downloaded and pooch is not installed.
    ValueError
        If there is no data set of this name, or if the files found are damaged or of another version.

    Examples
    --------
    >>> from sparsecluster.datasets import MICROARRAYS, load_microarray
    >>> X, y = load_microarray("colon")  # doctest: +SKIP
    >>> MICROARRAYS["colon"].n_samples, MICROARRAYS["colon"].n_genes
    (62, 2000)
    """
    if name not in MICROARRAYS:
        raise ValueError(f"There is no data set {brief(name)}; choose from {', '.join(sorted(MICROARRAYS))}.")
    about = MICROARRAYS[name]
    places = [Path(folder)] if folder is not None else list(_usual_places())
    found = _first_found(name, about, places)
    if found is None and download and folder is None:
        _download(name, about, places[-1])
        found = _first_found(name, about, places[-1:])
    if found is None:
        raise DataNotFoundError(
            f"The data set {brief(name)} was not found in {' or in '.join(map(str, places))}. Put "
            f"{_forms(name, about)} there, or name another folder with folder=, --data or ${VARIABLE}."
        )
    return found


def _usual_places() -> Iterator[Path]:
    """Return the folders to search. The last one is for downloads."""
    if os.environ.get(VARIABLE):
        yield Path(os.environ[VARIABLE])
    yield cache_folder() / "microarray"


def _forms(name: str, about: Microarray) -> str:
    return (
        f"{name}.npz (with arrays X, of shape (n_samples, n_genes), and y), {name}.csv (with a column y) or the "
        f"authors' files ({', '.join(about.files)})"
    )


# ---------------------------------------------------------------- reading


def _first_found(name: str, about: Microarray, places: list[Path]) -> Samples | None:
    """Return the data set from the first folder that contains it, after a check of its shape."""
    for place in places:
        found = _read(name, about, place)
        if found is not None:
            return _checked(name, about, found, place)
    return None


def _read(name: str, about: Microarray, place: Path) -> Samples | None:
    """Return the data set from the first of its forms that the folder contains."""
    if (place / f"{name}.npz").is_file():
        try:
            with np.load(place / f"{name}.npz", allow_pickle=False) as kept:
                return Samples(np.asarray(kept["X"], np.float64), _numbered(kept["y"]))
        except (KeyError, ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(f"{place / name}.npz is damaged or does not contain arrays X and y ({error}).") from error
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
    with file.open(encoding="utf-8", newline="") as lines:
        header, *rows = [row for row in csv.reader(lines, skipinitialspace=True) if row] or [[]]
    names = [name.strip() for name in header]
    if "y" not in names:
        raise ValueError(f"{file} needs a column y with the classes; its first columns are {', '.join(names[:5])}.")
    at = names.index("y")
    y = _numbered([row.pop(at) for row in rows])
    return Samples(np.array(rows, dtype=np.float64), y)


def _numbered(y: npt.ArrayLike) -> npt.NDArray[np.intp]:
    return np.unique(np.asarray(y), return_inverse=True)[1].ravel()


def _checked(name: str, about: Microarray, found: Samples, place: Path) -> Samples:
    wanted = (about.n_samples, about.n_genes)
    sizes = sorted(np.bincount(found.y).tolist())
    if found.X.shape != wanted or sizes != sorted(about.class_sizes):
        n_samples, n_genes = found.X.shape
        raise ValueError(
            f"The data set {brief(name)} in {place} has {n_samples} samples x {n_genes} genes in classes of "
            f"{sizes} samples; expected {wanted[0]} x {wanted[1]} in classes of {sorted(about.class_sizes)}. It may be "
            "another version of the data."
        )
    return found


# ---------------------------------------------------------------- downloading


def blob_id(content: bytes) -> str:
    """Return the id that Git gives to a file: the SHA-1 hash of a header and the content.

    Examples
    --------
    >>> blob_id(b"hello\\n")
    'ce013625030ba8dba906f756967f9e9ca394464a'
    """
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _download(name: str, about: Microarray, folder: Path) -> None:
    """Download the authors' files that are missing or damaged, and keep those that are as they were published."""
    try:
        import pooch
    except ImportError as error:
        raise ImportError(
            f'Downloading the data set {brief(name)} needs the package pooch. Run pip install "sparsecluster[data]", '
            f"or put {_forms(name, about)} into the folder that ${VARIABLE} names."
        ) from error

    def download(address: str, part: str, store: Any) -> None:
        # Temporary files can be read by their owner only. A new file gets the permissions that the user's files have,
        # so that several users can share a cache folder.
        Path(part).unlink()
        pooch.HTTPDownloader(timeout=TIMEOUT_SECONDS)(address, part, store)
        # Pooch moves the file to its place next, unless an error is raised. It cannot check blob ids itself.
        if blob_id(Path(part).read_bytes()) != about.files[address.removeprefix(ADDRESS)]:
            raise ValueError("its checksum is not that of the published file, so it was not kept")

    if not sys.stderr.isatty():
        pooch.get_logger().setLevel("WARNING")
    store = pooch.create(folder, ADDRESS, registry=dict.fromkeys(about.files))
    for file, blob in about.files.items():
        kept = folder / file
        try:
            if kept.is_file() and blob_id(kept.read_bytes()) != blob:
                kept.unlink()
            store.fetch(file, downloader=download)
        except (OSError, ValueError) as error:
            raise DataNotFoundError(
                f"The data set {brief(name)} is not on this machine and could not be downloaded from {ADDRESS}{file} "
                f"({error}). Try again, or put {_forms(name, about)} into {folder} or into the folder that "
                f"${VARIABLE} names."
            ) from error
