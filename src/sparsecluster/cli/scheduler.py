"""A Dask cluster on which a command runs, opened at its beginning and closed at its end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Annotated, Any

import typer

from .._utils.text import brief

Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Run on a Dask cluster: the address of its scheduler, such as tcp://host:8786, or local for --jobs "
        "processes on this machine.",
    ),
]
# The word for a cluster of processes on this machine.
LOCAL = "local"
# How long to wait for an answer of the scheduler, and for its first worker.
PATIENCE_SECONDS = 10
WORDS = "sparsecluster {} and Python {}"


@contextmanager
def cluster(address: str | None, jobs: int) -> Iterator[Any]:
    """Run what is done in this context on a cluster.

    Parameters
    ----------
    address : str or None
        The address of a running scheduler, such as "tcp://host:8786"; "local" for new processes on this machine; None
        to use no cluster.
    jobs : int
        The number of processes of "local"; -1 for one per processor.

    Yields
    ------
    client : distributed.Client or None
        The connection to the scheduler, which is also joblib's backend in this context.
    """
    if address is None:
        yield None
        return
    import joblib

    from .._utils.checks import check_jobs

    check_jobs(jobs)
    distributed = _distributed()
    # What goes wrong is told in our own words.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with ExitStack() as stack:
        if address == LOCAL:
            here = distributed.LocalCluster(
                n_workers=joblib.effective_n_jobs(jobs),
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",  # None would take the usual port, and warn if it is in use
                silence_logs=logging.CRITICAL,
            )
            client = stack.enter_context(distributed.Client(stack.enter_context(here)))
        else:
            client = stack.enter_context(_connected(distributed, address))
        _check_workers(client, address)
        stack.enter_context(joblib.parallel_config(backend="dask", client=client))
        try:
            yield client
        except distributed.KilledWorker as error:
            raise MemoryError(
                "A task has ended several workers of the cluster, probably because they had too little memory. Use "
                "workers with more memory, or with fewer threads each."
            ) from error
        except (distributed.CancelledError, distributed.comm.CommClosedError) as error:
            raise ConnectionError(
                f"The cluster at {brief(address)} has lost its scheduler or all its workers. Start them again, and "
                "repeat the command; it continues where it stopped."
            ) from error


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise ImportError(
            "--scheduler needs Dask. Install it with `pip install 'sparsecluster[dask]'`, or leave this option out."
        ) from error
    return distributed


def _connected(distributed: Any, address: str) -> Any:
    """Return a client of the scheduler at an address."""

    async def ask() -> None:
        security = distributed.Security().get_connection_args("client")
        comm = await distributed.comm.connect(address, timeout=PATIENCE_SECONDS, **security)
        await comm.close()

    try:
        # A client that cannot connect would stay the one to which everything computed later is sent.
        asyncio.run(ask())
        return distributed.Client(address, timeout=PATIENCE_SECONDS)
    except (OSError, ValueError, TypeError) as error:
        raise ConnectionError(
            f"--scheduler must be the address of a running Dask scheduler, such as tcp://host:8786, or {LOCAL}; no "
            f"scheduler answered at {brief(address)}. Start one with `dask scheduler`, or check the address."
        ) from error


def _check_workers(client: Any, address: str) -> None:
    """Refuse a cluster without workers, or with workers on which tasks would not be the same as here."""

    # Pickled by value, since it is within another function: the workers may not have this package.
    def versions() -> tuple[str, str]:
        import sys
        from importlib import import_module

        return import_module("sparsecluster").__version__, "{}.{}".format(*sys.version_info)

    try:
        client.wait_for_workers(1, timeout=PATIENCE_SECONDS)
    except TimeoutError as error:
        raise ConnectionError(
            f"The scheduler at {brief(address)} has no workers. Start some with `dask worker {brief(address)}`."
        ) from error
    ours = versions()
    for worker, theirs in client.run(versions, on_error="return").items():
        if theirs != ours:
            found = "no sparsecluster" if isinstance(theirs, Exception) else WORDS.format(*theirs)
            raise ValueError(
                f"All workers of the cluster must have the versions of this machine, {WORDS.format(*ours)}; the worker "
                f"{worker} has {found}. Install the same versions on both."
            )
