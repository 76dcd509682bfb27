"""Showing how far a pass over blocks is, for the threads of this process and for a cluster."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from .._utils.progress import Progress, Verbosity

# How often a cluster is asked.
POLL_SECONDS = 1.0
# The states of tasks that are still to be done.
LEFT = ("waiting", "queued", "no-worker", "processing")


class Watch:
    """Counts passes and, within a pass, the blocks that are done."""

    def __init__(self, verbose: Verbosity) -> None:
        self.progress = Progress(verbose)
        self.n_passes = 0


# Whoever wants to see passes sets it.
WATCH: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def passes_shown(verbose: Verbosity) -> Iterator[None]:
    """Show the progress of all passes in this context; see `Progress` for what `verbose` means."""
    token = WATCH.set(Watch(verbose))
    try:
        yield
    finally:
        WATCH.reset(token)


@contextmanager
def one_pass(task: str, n_blocks: int) -> Iterator[None]:
    """Show how many blocks are done, if someone wants to see it. The keys of their tasks begin with `task`."""
    watch = WATCH.get()
    if watch is None:
        yield
        return
    watch.n_passes += 1
    what, start = f"blocks in pass {watch.n_passes}", time.monotonic()

    def show(done: int) -> None:
        watch.progress.show(what, min(max(done, 0), n_blocks), n_blocks, time.monotonic() - start)

    client = current_client()
    try:
        with counted_here(task, show) if client is None else polled(client, task, n_blocks, show):
            yield
    finally:
        watch.progress.clear()


def current_client() -> Any:
    """The client of the cluster that tasks run on; None if they run in this process."""
    distributed = sys.modules.get("distributed")
    try:
        return None if distributed is None else distributed.default_client()
    except ValueError:
        return None


@contextmanager
def counted_here(task: str, show: Any) -> Iterator[None]:
    """Count the tasks of this process."""
    from dask.callbacks import Callback

    done = 0

    def count(key: Any, *_: Any) -> None:
        nonlocal done
        done += str(key).startswith(task)
        show(done)

    with Callback(posttask=count):
        yield


@contextmanager
def polled(client: Any, task: str, n_blocks: int, show: Any) -> Iterator[None]:
    """Ask the scheduler of a cluster again and again how many tasks are left."""
    is_over = threading.Event()

    def poll() -> None:
        while not is_over.wait(POLL_SECONDS):
            try:
                show(n_blocks - client.run_on_scheduler(n_left, task=task))
            except Exception:
                # The pass itself tells what is wrong with the cluster.
                return

    thread = threading.Thread(target=poll, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def n_left(dask_scheduler: Any, task: str) -> int:
    """The number of tasks of one name that are still to be done."""
    prefix = dask_scheduler.task_prefixes.get(task)
    return 0 if prefix is None else sum(prefix.states.get(state, 0) for state in LEFT)
