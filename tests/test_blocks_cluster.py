"""A fit in blocks on a cluster of processes: the same answer, also if a worker dies in the middle of a pass."""

import os
import signal

import numpy as np
import pytest
from helpers.blocks import TABLES, in_dask, numbers

from sparsecluster import SASClustering
from tests.helpers.clusters import two_workers

# Fewer samples, since a task on a cluster takes as long for few of them as for many.
N = 1000


@pytest.fixture(scope="module")
def client():
    with two_workers() as client:
        yield client


def fitted(table, **parameters):
    usual = {"n_clusters": 3, "subsample": 300, "n_permutations": 2, "n_alternatives": 0}
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
    if name == "numbers":
        table = table[:, :5]
    else:
        parameters = {**parameters, "n_features_to_select": 3}
    assert_same(fitted(table, **parameters), fitted(in_dask(table, 900), **parameters))


def test_a_worker_that_dies_in_the_middle_of_a_pass_changes_nothing(client, tmp_path):
    import dask.array as da

    table = numbers(n=N)[0]
    beginning = table[N // 2, 0]

    def read(block):
        # The worker that comes to the middle of the table for the second time dies of it.
        if block.size and block[0, 0] == beginning:
            times = len(list(tmp_path.iterdir()))
            (tmp_path / f"{times} {os.getpid()}").touch()
            if times == 1:
                os.kill(os.getpid(), signal.SIGKILL)
        return block

    blocks = da.from_array(table, chunks=(N // 8, 10)).map_blocks(read, dtype=float)
    assert_same(fitted(table, n_features_to_select=3), fitted(blocks, n_features_to_select=3))
    (victim,) = (int(mark.name[2:]) for mark in tmp_path.glob("1 *"))
    assert victim not in client.run(os.getpid).values()


def test_a_block_that_a_worker_cannot_read_is_named(client):
    from dask.delayed import delayed

    def read(number):
        if number == 2:
            raise OSError("no such part")
        return numbers(n=N)[0][number * 200 : (number + 1) * 200]

    import dask.array as da

    blocks = da.concatenate([da.from_delayed(delayed(read)(i), (200, 10), float) for i in range(5)])
    with pytest.raises(ValueError, match="Block 3 of 5 of X cannot be read: no such part"):
        fitted(blocks)
