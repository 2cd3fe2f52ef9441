"""Processes of this machine that do long work."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context

from labapp.errors import SetupError


def cores() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def processes(
    n: int, begin: Callable[[], None] | None = None, *, safe: str = ""
) -> Iterator[ProcessPoolExecutor]:
    """So many processes until the block ends; what they have begun then is waited for, the rest is
    dropped.

    begin: called in each as it starts. safe: what a reader of the error is told is safe. Raises
    SetupError when one of them ends before it is done (memory that ran out).
    """
    pool = ProcessPoolExecutor(
        # A fork would copy the locks of threads that do not go on in it (torch's, the journal's).
        n,
        mp_context=get_context("spawn"),
        initializer=_start,
        initargs=(begin,),
    )
    try:
        yield pool
    except BrokenProcessPool as error:
        raise SetupError(
            "A process ended before its work was done.",
            safe=safe,
            todo="Was the memory used up? Try fewer processes: --workers 1.",
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _start(begin: Callable[[], None] | None) -> None:
    # Ctrl+C is for the process that asked; the others finish what they do and are then let go.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if begin is not None:
        begin()
