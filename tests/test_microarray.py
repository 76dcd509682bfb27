"""The gene-expression sets: found in a folder in any of three forms, else fetched, and kept only if they are right."""

import http.server
import io
import re
import socket
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from sparsecluster.datasets import MICROARRAYS, DataNotFoundError, Microarray, load_microarray, microarray
from sparsecluster.datasets.microarray import blob_id

SHARED = Path(__file__).parents[1] / ".." / "shared" / "data" / "microarray"

# Seven samples of four genes: two classes, in two tables side by side, as the authors have lung1.
GENES = np.arange(28, dtype=float).reshape(4, 7) / 4
CLASSES = np.array([2, 2, 1, 1, 1, 1, 2])
X, Y = GENES.T, CLASSES - 1


def as_text(array):
    content = io.StringIO()
    np.savetxt(content, array, fmt="%.17g")
    return content.getvalue().encode()


FILES = {
    "tiny.x.txt": as_text(GENES),
    "tiny.y.txt": as_text(CLASSES),
    "part1.x.txt": as_text(GENES[:, :3]),
    "part2.x.txt": as_text(GENES[:, 3:]),
}


def ids(*names):
    return {name: blob_id(FILES[name]) for name in names}


@pytest.fixture(autouse=True)
def small_sets(monkeypatch, tmp_path):
    """Two sets that are small enough to write here, a cache folder of their own and no way out of this machine."""
    monkeypatch.setitem(MICROARRAYS, "tiny", Microarray(4, (4, 3), ids("tiny.x.txt"), ids("tiny.y.txt")))
    monkeypatch.setitem(MICROARRAYS, "lung1", Microarray(4, (5, 2), ids("part1.x.txt", "part2.x.txt"), {}))
    monkeypatch.setenv("SPARSECLUSTER_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SPARSECLUSTER_DATA", raising=False)
    monkeypatch.setattr(microarray, "ADDRESS", f"http://127.0.0.1:{unused_port()}/")


def unused_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def put(folder, *names, **content):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_bytes(FILES[name])
    for name, given in content.items():
        (folder / name.replace("_", ".")).write_bytes(given)
    return folder


def archive(**arrays):
    content = io.BytesIO()
    np.savez(content, **arrays)
    return content.getvalue()


def check(found):
    assert found.X.dtype == np.float64
    np.testing.assert_array_equal(found.X, X)
    np.testing.assert_array_equal(found.y, Y)


# ---------------------------------------------------------------- the ten sets


def test_there_are_ten_sets_and_the_real_ones_have_a_blob_id_for_every_file():
    real = {name for name in MICROARRAYS if name != "tiny"}
    assert real == {
        *("brain", "breast", "colon", "lung1", "lung2", "leukemia", "lymphoma", "prostate", "srbct", "sucancer")
    }
    for about in MICROARRAYS.values():
        assert all(re.fullmatch("[0-9a-f]{40}", blob) for blob in (about.tables | about.classes).values())


@pytest.mark.parametrize("name", ["colon", "leukemia", "lymphoma", "prostate"])
def test_the_real_sets_load_where_they_are(name):
    if not (SHARED / f"{name}.npz").is_file():
        pytest.skip("the data sets, ../shared/data/microarray, are not here")
    found, about = load_microarray(name, SHARED), MICROARRAYS[name]
    assert found.X.shape == (about.n_samples, about.n_genes)
    assert found.X.dtype == np.float64
    assert np.isfinite(found.X).all()
    assert sorted(np.bincount(found.y)) == sorted(about.class_sizes)


# ---------------------------------------------------------------- three forms


def test_an_archive_has_samples_in_rows(tmp_path):
    check(load_microarray("tiny", put(tmp_path, tiny_npz=archive(X=X.astype(np.float32), y=Y, source="somewhere"))))


@pytest.mark.parametrize("y", [CLASSES, CLASSES.astype(float), np.array(["a", "b"])[Y], Y * 10 - 5])
def test_classes_may_have_any_names(tmp_path, y):
    check(load_microarray("tiny", put(tmp_path, tiny_npz=archive(X=X, y=y))))


@pytest.mark.parametrize("at", [0, 2, 4])
@pytest.mark.parametrize(("quote", "end"), [("", "\n"), ('"', "\n"), ("", "\r\n"), ("", "\n\n")])
def test_a_csv_file_has_the_classes_in_a_column_y_anywhere(tmp_path, at, quote, end):
    lines = [[f"{quote}gene{a}{quote}" for a in range(4)], *([f"{value:.17g}" for value in row] for row in X)]
    for line, y in zip(lines, [f"{quote}y{quote}", *(f"{quote}class {c}{quote}" for c in CLASSES)], strict=True):
        line.insert(at, y)
    check(load_microarray("tiny", put(tmp_path, tiny_csv=(end.join(map(",".join, lines)) + end).encode())))


def test_a_csv_file_without_the_classes_is_refused(tmp_path):
    with pytest.raises(ValueError, match="needs a column y with the classes; its first columns are a, b"):
        load_microarray("tiny", put(tmp_path, tiny_csv=b"a,b\n1,2\n"))


def test_the_authors_files_have_genes_in_rows(tmp_path):
    check(load_microarray("tiny", put(tmp_path, "tiny.x.txt", "tiny.y.txt")))


def test_files_in_parts_stand_side_by_side_and_one_class_after_another(tmp_path):
    found = load_microarray("lung1", put(tmp_path, "part1.x.txt", "part2.x.txt"))
    np.testing.assert_array_equal(found.X, X)
    assert found.y.tolist() == [0, 0, 0, 0, 0, 1, 1]


def test_a_set_in_parts_may_also_be_in_one_file_of_its_own_name(tmp_path):
    content = {"lung1_x_txt": FILES["tiny.x.txt"], "lung1_y_txt": as_text([1, 1, 1, 1, 1, 2, 2])}
    found = load_microarray("lung1", put(tmp_path, **content))
    np.testing.assert_array_equal(found.X, X)
    assert found.y.tolist() == [0, 0, 0, 0, 0, 1, 1]


def test_a_part_that_is_missing_is_not_made_up_for(tmp_path):
    with pytest.raises(DataNotFoundError, match=r"part1\.x\.txt, part2\.x\.txt"):
        load_microarray("lung1", put(tmp_path, "part1.x.txt"))


# ---------------------------------------------------------------- places


def test_the_folder_given_comes_before_the_variable_and_that_before_the_cache(tmp_path, monkeypatch):
    places = {name: tmp_path / name for name in ("given", "named", "cache/microarray")}
    for factor, place in enumerate(places.values(), 1):
        put(place, tiny_npz=archive(X=factor * X, y=Y))
    monkeypatch.setenv("SPARSECLUSTER_DATA", str(places["named"]))
    np.testing.assert_array_equal(load_microarray("tiny", places["given"]).X, X)
    np.testing.assert_array_equal(load_microarray("tiny", str(places["given"])).X, X)
    np.testing.assert_array_equal(load_microarray("tiny").X, 2 * X)
    (places["named"] / "tiny.npz").unlink()
    np.testing.assert_array_equal(load_microarray("tiny").X, 3 * X)
    monkeypatch.delenv("SPARSECLUSTER_DATA")
    np.testing.assert_array_equal(load_microarray("tiny").X, 3 * X)


@pytest.mark.parametrize("options", [{"folder": "nowhere"}, {"download": False}])
def test_what_is_in_no_folder_is_not_found_and_the_message_says_what_to_put_where(tmp_path, options, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataNotFoundError) as caught:
        load_microarray("tiny", **options)
    message = str(caught.value)
    assert options.get("folder", str(tmp_path / "cache" / "microarray")) in message
    for word in ("tiny.npz", "tiny.csv", "tiny.x.txt", "tiny.y.txt", "--data", "$SPARSECLUSTER_DATA"):
        assert word in message
    assert isinstance(caught.value, FileNotFoundError)


def test_an_unknown_name_is_answered_with_those_there_are():
    with pytest.raises(ValueError, match="no data set 'colom'; choose from brain, breast, colon"):
        load_microarray("colom")


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("table", "classes", "what"),
    [
        (X.T, Y, r"4 samples x 7 genes"),
        (X[:, :3], Y, r"7 samples x 3 genes"),
        (X[1:], Y[1:], r"6 samples x 4 genes"),
        (X, np.arange(7) % 2 * 0, r"classes of \[7\] samples; expected 7 x 4 in classes of \[3, 4\]"),
        (X, np.r_[Y[:-1], 2], r"classes of \[1, 2, 4\]"),
    ],
)
def test_another_shape_is_refused(tmp_path, table, classes, what):
    with pytest.raises(ValueError, match=what):
        load_microarray("tiny", put(tmp_path, tiny_npz=archive(X=table, y=classes)))


def test_nothing_is_unpickled(tmp_path):
    class Burglar:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "broken in",))

    content = archive(X=np.array([[Burglar()]], dtype=object), y=Y)
    with pytest.raises(ValueError, match="allow_pickle=False"):
        load_microarray("tiny", put(tmp_path, tiny_npz=content))
    assert not (tmp_path / "broken in").exists()


@pytest.mark.parametrize(
    "content",
    [archive(A=X, y=Y), archive(X=X), archive(X=X, y=Y)[:-30], b"PK\x03\x04 nonsense"],
    ids=["without X", "without y", "cut", "no archive"],
)
def test_an_archive_that_is_none_or_has_other_arrays_is_refused_by_its_name(tmp_path, content):
    with pytest.raises(ValueError, match="tiny"):
        load_microarray("tiny", put(tmp_path, tiny_npz=content))


# ---------------------------------------------------------------- fetching


@pytest.mark.parametrize("content", [b"", b"hello\n", b"\0\xff" * 1000, *FILES.values()])
def test_a_blob_id_is_that_of_git(content):
    try:
        said = subprocess.run(["git", "hash-object", "--stdin"], input=content, capture_output=True, check=True).stdout
    except FileNotFoundError:
        pytest.skip("git is not here")
    assert blob_id(content) == said.decode().strip()


class Server(http.server.BaseHTTPRequestHandler):
    """Gives `files`; `cut` says how many bytes less than it promises."""

    files: dict[str, bytes]
    asked: list[str]
    cut = 0

    def do_GET(self):
        name = self.path.rsplit("/", 1)[-1]
        self.asked.append(name)
        content = self.files.get(name)
        self.send_response(404 if content is None else 200)
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        self.wfile.write((content or b"")[: len(content or b"") - self.cut])

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    """A public address on this machine."""
    handler = type("Handler", (Server,), {"files": dict(FILES), "asked": []})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setattr(microarray, "ADDRESS", f"http://127.0.0.1:{listening.server_port}/Data/")
        yield handler
        listening.shutdown()
        thread.join()


def kept(tmp_path):
    return sorted(file.name for file in (tmp_path / "cache").rglob("*") if file.is_file())


def test_what_is_nowhere_is_fetched_once_and_kept(server, tmp_path):
    check(load_microarray("tiny"))
    assert kept(tmp_path) == ["tiny.x.txt", "tiny.y.txt"]
    assert (tmp_path / "cache" / "microarray" / "tiny.x.txt").read_bytes() == FILES["tiny.x.txt"]
    check(load_microarray("tiny"))
    assert server.asked == ["tiny.x.txt", "tiny.y.txt"]


def test_parts_are_fetched_and_put_together(server, tmp_path):
    np.testing.assert_array_equal(load_microarray("lung1").X, X)
    assert kept(tmp_path) == ["part1.x.txt", "part2.x.txt"]


def test_only_what_is_missing_is_fetched(server, tmp_path):
    put(tmp_path / "cache" / "microarray", "tiny.x.txt")
    check(load_microarray("tiny"))
    assert server.asked == ["tiny.y.txt"]


def test_a_folder_that_is_given_is_not_added_to(server, tmp_path):
    with pytest.raises(DataNotFoundError):
        load_microarray("tiny", tmp_path)
    assert server.asked == []


def test_what_is_not_the_right_file_is_not_kept(server, tmp_path):
    server.files["tiny.x.txt"] = FILES["tiny.x.txt"].replace(b"0.25", b"0.26")
    with pytest.raises(DataNotFoundError, match=r"/Data/tiny\.x\.txt.*checksum is not that of the published file"):
        load_microarray("tiny")
    assert kept(tmp_path) == []


def test_a_file_that_is_gone_is_not_found_and_the_message_says_where_to_put_it(server, tmp_path):
    del server.files["tiny.y.txt"]
    with pytest.raises(DataNotFoundError, match="404") as caught:
        load_microarray("tiny")
    assert str(tmp_path / "cache" / "microarray") in str(caught.value)
    assert kept(tmp_path) == ["tiny.x.txt"]


def test_a_line_that_breaks_leaves_nothing_half_written(server, tmp_path):
    server.cut = 5
    with pytest.raises(DataNotFoundError):
        load_microarray("tiny")
    assert kept(tmp_path) == []


def test_a_damaged_file_in_the_cache_is_fetched_again(server, tmp_path):
    file = put(tmp_path / "cache" / "microarray", part2_x_txt=FILES["part2.x.txt"][:20]) / "part2.x.txt"
    np.testing.assert_array_equal(load_microarray("lung1").X, X)
    assert file.read_bytes() == FILES["part2.x.txt"]


def test_several_users_can_share_a_cache_folder(server, tmp_path):
    load_microarray("tiny")
    (tmp_path / "other").touch()
    modes = {file.stat().st_mode for file in (tmp_path / "cache" / "microarray").iterdir()}
    assert modes == {(tmp_path / "other").stat().st_mode}


def test_only_a_download_needs_pooch(server, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(
        ImportError, match=r'pip install "sparsecluster\[data\]".*tiny\.npz.*\$SPARSECLUSTER_DATA'
    ) as caught:
        load_microarray("tiny")
    assert str(tmp_path) not in str(caught.value)
    assert server.asked == kept(tmp_path) == []
    put(tmp_path / "cache" / "microarray", "tiny.x.txt", "tiny.y.txt")
    check(load_microarray("tiny"))


def test_a_cache_folder_that_cannot_be_written_is_named(server, tmp_path):
    (tmp_path / "cache").touch()
    with pytest.raises(DataNotFoundError, match=str(tmp_path / "cache")):
        load_microarray("tiny")


def test_without_a_network_the_message_says_where_to_put_the_file(tmp_path):
    with pytest.raises(DataNotFoundError) as caught:
        load_microarray("tiny")
    message = str(caught.value)
    for word in (microarray.ADDRESS, "tiny.npz", str(tmp_path / "cache" / "microarray"), "$SPARSECLUSTER_DATA"):
        assert word in message
    assert "\n" not in message
    assert kept(tmp_path) == []
