"""A Dask cluster finds what threads find, to the last bit, whatever happens to its workers."""

import os
import signal
import sys
import threading
import time
import warnings
from functools import partial

import joblib
import numpy as np
import pytest
import scipy.sparse
from typer.testing import CliRunner

import sparsecluster._utils.parallel
from sparsecluster import PanShenMixture, RafteryDean, ReducedClustering, RegularizedKMeans, SASClustering, SparseKMeans
from sparsecluster._utils import journal
from sparsecluster._utils.parallel import Workers
from sparsecluster.cli import app, scheduler
from sparsecluster.datasets import mixed_groups, shifted_groups
from tests.helpers.clusters import NO_PORT, begun_anew, distributed, two_workers
from tests.helpers.criteria import few_tables  # noqa: F401

# Groups that overlap: any other random number or rounding shows.
X = shifted_groups(mu=0.6, n_features=60, n_useful=10, group_size=15, seed=1).X


@pytest.fixture(scope="module")
def client():
    with two_workers() as client:
        yield client


@pytest.fixture
def on_cluster(client):
    with joblib.parallel_config(backend="dask", client=client):
        yield client


@pytest.fixture
def traffic(monkeypatch, client):
    """The sizes of the tasks and of the data that a cluster is sent."""
    sizes = {"tasks": [], "data": []}
    submit, scatter = distributed.Client.submit, distributed.Client.scatter

    def counted_submit(self, function, *given, **options):
        sizes["tasks"].append(sum(len(each) for each in given if isinstance(each, bytes)))
        return submit(self, function, *given, **options)

    def counted_scatter(self, data, **options):
        sizes["data"] += [each.nbytes if isinstance(each, np.ndarray) else len(each.content) for each in data]
        return scatter(self, data, **options)

    monkeypatch.setattr(distributed.Client, "submit", counted_submit)
    monkeypatch.setattr(distributed.Client, "scatter", counted_scatter)
    return sizes


@pytest.fixture(autouse=True)
def workers_for_small_tables(monkeypatch):
    monkeypatch.setattr(sparsecluster._utils.parallel, "THREADS_PAY", 0)


# ---------------------------------------------------------------- fits


def answer(estimator, table):
    """What a fit says, to the last bit."""
    found = estimator.fit(table)
    curves = [found.n_clusters_curve_, getattr(found, "gap_curve_", None)]
    parts = [found.labels_, found.support_, found.feature_scores_, *(each.score for each in curves if each is not None)]
    return [part.tobytes() for part in parts]


def matrices(count=5):
    return np.stack([np.abs(x[:, None] - x) for x in X.T[:count]])


sas = partial(SASClustering, n_permutations=3, n_init=2)
FITS = {
    "sas": (SASClustering(3, n_permutations=3), X[:, :30]),
    "sas on a grid": (sas(3, search="grid", step=20), X),
    "sas with fixed subsets": (sas(3, null="fixed"), X),
    "sas on a subsample": (sas(3, subsample=30), X),
    "sas in float32": (sas(3), X.astype(np.float32)),
    "sas on other columns": (sas(3), X[:, ::-2]),
    "sas on mixed data": (sas(3), mixed_groups(n_features=10, n_useful=4, group_size=10, seed=1).X),
    "sas on a sparse matrix": (sas(3), scipy.sparse.csr_array(np.where(X > 1, X, 0.0))),
    "sas on matrices": (sas(3, metric="precomputed"), matrices()),
    "sas on computed matrices": (sas(3, metric="precomputed"), lambda a: matrices()[a]),
    "k by the bic": (sas([2, 3, 4], cluster_criterion="bic"), X),
    "k by the gap": (sas([2, 3], cluster_criterion="gap", n_features_to_select=10), X),
    "k by prediction strength": (sas([2, 3], cluster_criterion="prediction_strength", n_features_to_select=10), X),
    "k by stadion": (sas([2, 3], cluster_criterion="stadion", n_features_to_select=10), X[:, :20]),
    "sparse k-means": (SparseKMeans(3, n_permutations=3), X),
    "starts of a mixture": (PanShenMixture(3, n_init=3), X[:, :20]),
    "steps of a mixture": (RafteryDean(3), X[:, :6]),
    "bootstrap samples": (RegularizedKMeans(3, n_bootstraps=4), X[:, :20]),
    "factorizations": (ReducedClustering(3, reduction="nmf", n_init=3, nonnegative="shift"), X[:, :20]),
}


@pytest.mark.parametrize(("estimator", "table"), FITS.values(), ids=FITS)
@pytest.mark.usefixtures("few_tables")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_fit_on_a_cluster_is_that_in_threads(client, traffic, estimator, table):
    in_threads = answer(estimator, table)
    assert not traffic["tasks"]
    with joblib.parallel_config(backend="dask", client=client):
        assert answer(estimator, table) == in_threads
    assert traffic["tasks"]


def test_every_worker_gets_the_table_once(on_cluster, traffic):
    table = shifted_groups(mu=0.6, n_features=3000, n_useful=10, group_size=15, seed=1).X
    SASClustering(3, n_permutations=10).fit(table)
    assert len(traffic["tasks"]) > 20
    assert table.nbytes <= sum(traffic["data"]) < 1.2 * table.nbytes
    assert sum(traffic["tasks"]) < 0.2 * table.nbytes


def test_of_many_samples_only_the_subsample_is_sent(on_cluster, traffic):
    table = shifted_groups(mu=2.0, n_features=100, n_useful=10, group_size=2000, seed=1).X
    SASClustering(3, n_features_to_select=10, subsample=500).fit(table)
    assert traffic["tasks"]
    assert sum(traffic["data"]) < 0.2 * table.nbytes


# ---------------------------------------------------------------- tasks


def test_results_come_in_the_order_of_the_tasks_from_all_workers(on_cluster):
    waits = list(np.linspace(0.1, 0.0, 40))

    def wait(task):
        number, seconds = task
        time.sleep(seconds)
        return number, os.getpid()

    numbers, workers = zip(*Workers().map(wait, list(enumerate(waits)), "waiting"), strict=True)
    assert numbers == tuple(range(40))
    assert len(set(workers)) == 2
    assert os.getpid() not in workers


def test_a_task_on_a_cluster_is_not_divided_further(on_cluster):
    def pids():
        with joblib.parallel_config(backend="dask"):
            return os.getpid(), set(Workers().map(lambda _: os.getpid(), range(4), "tasks"))

    alone, used = on_cluster.submit(pids, pure=False).result()
    assert used == {alone}


def test_one_job_is_done_here_without_threads(on_cluster):
    assert set(Workers(1).map(lambda _: threading.get_ident(), range(4), "tasks")) == {threading.get_ident()}


def test_an_error_in_a_worker_is_that_of_the_task(on_cluster, traffic):
    def fail(task):
        raise ValueError("the table is flat")

    with pytest.raises(ValueError, match=r"^the table is flat$"):
        list(Workers().map(fail, range(4), "tasks"))
    assert traffic["tasks"]


def test_warnings_in_a_worker_come_back(on_cluster, traffic):
    def complain(task):
        warnings.warn(f"task {task}", UserWarning, stacklevel=1)

    with pytest.warns(UserWarning, match="task") as caught:
        list(Workers().map(complain, range(3), "tasks"))
    assert [str(each.message) for each in caught] == ["task 0", "task 1", "task 2"]
    assert traffic["tasks"]


def test_what_cannot_be_sent_is_refused_with_what_to_do(on_cluster):
    lock = threading.Lock()
    with pytest.raises(TypeError, match=r"cannot be sent.*lock.*threading"):
        list(Workers().map(lambda task: lock, range(3), "tasks"))


def test_workers_use_one_thread_inside_a_task(on_cluster):
    def raise_limit():
        import threadpoolctl

        # A thread that lives on would be the only one that may change the limit.
        setter = threading.Thread(target=threadpoolctl.threadpool_limits, args=[2])
        setter.start()
        setter.join()

    def threads(task=None):
        import threadpoolctl

        return max(each["num_threads"] for each in threadpoolctl.threadpool_info())

    on_cluster.run(raise_limit)
    assert set(on_cluster.run(threads).values()) == {2}
    assert set(Workers().map(threads, range(4), "tasks")) == {1}
    assert set(on_cluster.run(threads).values()) == {2}


# ---------------------------------------------------------------- interruptions


def leave_mark(folder, seconds=0.1):
    """A task that leaves a file."""

    def run(task):
        time.sleep(seconds)
        (folder / str(task)).touch()
        return task

    return run


@pytest.fixture
def can_be_interrupted():
    """In a process that a shell has started in the background, interrupts are ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("can_be_interrupted")
def test_an_interrupt_cancels_what_is_left(on_cluster, tmp_path):
    results = Workers().map(leave_mark(tmp_path), range(160), "tasks")
    next(results)
    threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        list(results)
    # Two parts of ten tasks may be running.
    time.sleep(1.5)
    n_done = len(list(tmp_path.iterdir()))
    time.sleep(0.5)
    assert len(list(tmp_path.iterdir())) == n_done < 120


def test_what_was_interrupted_on_a_cluster_is_continued_in_threads(client, tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setenv("SPARSECLUSTER_CACHE", str(tmp_path / "cache"))
    (tmp_path / "done").mkdir()
    run = leave_mark(tmp_path / "done", 0.0)
    with journal.recorded("marks"), joblib.parallel_config(backend="dask", client=client):
        results = Workers().map(run, range(16), "tasks")
        assert [next(results) for _ in range(5)] == list(range(5))
        results.close()
    time.sleep(0.5)
    for mark in (tmp_path / "done").iterdir():
        mark.unlink()
    with journal.recorded("marks"):
        assert list(Workers().map(run, range(16), "tasks")) == list(range(16))
    assert {int(mark.name) for mark in (tmp_path / "done").iterdir()} == set(range(5, 16))


def test_a_worker_that_dies_changes_nothing(on_cluster, tmp_path):
    table = np.arange(200_000.0).reshape(20, 10_000)

    def fatal(row):
        mark = tmp_path / "died"
        if row == 11 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.05)
        return table[row].sum()

    assert list(Workers().map(fatal, range(20), "tasks")) == [table[row].sum() for row in range(20)]
    assert (tmp_path / "died").exists()
    on_cluster.wait_for_workers(2, timeout=30)


# ---------------------------------------------------------------- the command line


@pytest.fixture
def file(tmp_path):
    np.save(tmp_path / "table.npy", X)
    return tmp_path / "table.npy"


def command(*given):
    return CliRunner().invoke(app, [str(each) for each in given])


def told(*given):
    """The error of a command, in one line."""
    found = command(*given)
    assert (found.exit_code, found.stderr.count("\n")) == (2, 1)
    return found.stderr


def test_fit_writes_the_same_files(client, traffic, file, tmp_path):
    fit = partial(command, "fit", file, "-k", 3, "--method", "sparse-kmeans", "--no-report", "--out")
    assert fit(tmp_path / "here").exit_code == fit(tmp_path / "there", "--scheduler", address(client)).exit_code == 0
    assert traffic["tasks"]
    for name in ("labels.csv", "features.csv", "gap.csv"):
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()


def test_compare_finds_the_same(client, traffic, file, tmp_path):
    compare = partial(command, "compare", file, "-k", 3, "--methods", "sparse-kmeans,ward", "--repeats", 1, "--out")
    assert compare(tmp_path / "here").exit_code == 0
    assert not traffic["tasks"]
    assert compare(tmp_path / "there", "--scheduler", address(client)).exit_code == 0
    assert traffic["tasks"]
    here, there = (tmp_path / folder / "agreement.csv" for folder in ("here", "there"))
    assert here.read_bytes() == there.read_bytes()


def test_a_local_cluster_has_as_many_processes_as_jobs():
    with begun_anew(), scheduler.cluster("local", 2):
        pids = set(Workers().map(lambda _: time.sleep(0.1) or os.getpid(), range(16), "tasks"))
    assert len(pids - {os.getpid()}) == 2


def address(client):
    return client.scheduler_info()["address"]


def test_the_client_of_a_command_is_closed(client):
    def clients():
        return set(client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.clients)))

    before = clients()
    with scheduler.cluster(address(client), 1):
        assert len(clients()) == len(before) + 1
    assert clients() == before


@pytest.mark.parametrize("where", ["tcp://127.0.0.1:1", "nowhere", "smoke://signals", ""])
def test_an_address_without_a_scheduler_is_refused(client, monkeypatch, file, tmp_path, where):
    monkeypatch.setattr(scheduler, "PATIENCE_SECONDS", 0.5)
    message = told("fit", file, "--out", tmp_path / "out", "--scheduler", where)
    assert f"no scheduler answered at {where!r}" in message
    assert not (tmp_path / "out").exists()
    # Nothing computed later goes to a scheduler that is not there.
    assert client is distributed.default_client()


def test_a_cluster_without_workers_is_refused(monkeypatch, file):
    monkeypatch.setattr(scheduler, "PATIENCE_SECONDS", 0.5)
    with distributed.LocalCluster(n_workers=0, dashboard_address=NO_PORT) as empty:
        assert "has no workers" in told("compare", file, "-k", 3, "--scheduler", empty.scheduler_address)


def test_workers_with_another_version_are_refused_with_both_versions(client, monkeypatch, file):
    theirs = sparsecluster.__version__
    monkeypatch.setattr(sparsecluster, "__version__", "0.0.1")
    message = told("fit", file, "--scheduler", address(client))
    assert "sparsecluster 0.0.1" in message
    assert f"has sparsecluster {theirs}" in message


def test_workers_without_the_package_are_refused(client, monkeypatch, file):
    answers = {"tcp://worker:1": ModuleNotFoundError("No module named 'sparsecluster'")}
    monkeypatch.setattr(distributed.Client, "run", lambda self, function, on_error: answers)
    assert "the worker tcp://worker:1 has no sparsecluster." in told("fit", file, "--scheduler", address(client))


def test_without_dask_the_extra_is_named(monkeypatch, file):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "pip install 'sparsecluster[dask]'" in told("fit", file, "--scheduler", "local")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (distributed.KilledWorker("task", None, 3), "too little memory"),
        (distributed.CancelledError("task"), "lost its scheduler or all its workers"),
        (distributed.comm.CommClosedError("closed"), "lost its scheduler or all its workers"),
    ],
)
def test_a_cluster_that_breaks_down_is_told_in_one_line(client, monkeypatch, file, tmp_path, error, words):
    def broken(self, reading):
        raise error

    monkeypatch.setattr(SASClustering, "_fit", broken)
    assert words in told("fit", file, "--out", tmp_path / "out", "--scheduler", address(client))
