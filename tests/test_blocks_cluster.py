"""A fit in blocks on a cluster of processes: the same answer, also if a worker dies in the middle of a pass."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from helpers.blocks import TABLES, in_dask, numbers

from sparsecluster import SASClustering

distributed = pytest.importorskip("distributed", reason="Dask's distributed scheduler is not installed")


@pytest.fixture(scope="module")
def client():
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0")
    with cluster, distributed.Client(cluster) as client:
        yield client


def fitted(table, **parameters):
    usual = {"n_clusters": 3, "subsample": 400, "n_permutations": 2}
    return SASClustering(**{**usual, **parameters}).fit(table)


def assert_same(one, other):
    np.testing.assert_array_equal(np.asarray(one.labels_), np.asarray(other.labels_))
    np.testing.assert_array_equal(one.feature_scores_, other.feature_scores_)
    np.testing.assert_array_equal(one.support_, other.support_)


@pytest.mark.filterwarnings("ignore:1 column is constant")
@pytest.mark.parametrize("name", ["numbers", "words with missing values", "sparse"])
def test_workers_give_the_answer_of_the_table_in_memory(client, name):
    table, parameters = TABLES[name]
    # The search for the size, which is made on a sample, is the same for all of them.
    parameters = parameters if name == "numbers" else {**parameters, "n_features_to_select": 3}
    assert_same(fitted(table, **parameters), fitted(in_dask(table, 500), **parameters))


def slow_blocks(table, rows, seconds):
    """The table in blocks that take some time to read."""
    import dask.array as da

    def read(block):
        time.sleep(seconds)
        return block

    return da.from_array(table, chunks=(rows, table.shape[1])).map_blocks(read, dtype=float)


def test_a_worker_that_dies_in_the_middle_of_a_pass_changes_nothing(client):
    table, _ = numbers()
    expected = fitted(table, n_features_to_select=3)
    pids = client.run(os.getpid)
    victim = next(iter(pids.values()))
    # Each pass takes more than half a second, so that this is in the middle of one.
    strike = threading.Timer(1.0, os.kill, (victim, signal.SIGKILL))
    strike.start()
    found = fitted(slow_blocks(table, 250, 0.15), n_features_to_select=3)
    strike.join()
    assert victim not in client.run(os.getpid).values()
    assert_same(expected, found)


def test_a_block_that_a_worker_cannot_read_is_named(client):
    from dask.delayed import delayed

    def read(number):
        if number == 2:
            raise OSError("no such part")
        return numbers()[0][number * 500 : (number + 1) * 500]

    import dask.array as da

    blocks = da.concatenate([da.from_delayed(delayed(read)(i), (500, 10), float) for i in range(5)])
    with pytest.raises(ValueError, match="Block 3 of 5 of X cannot be read: no such part"):
        fitted(blocks)
