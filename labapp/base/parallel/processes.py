"""Processes of this machine that do long work.

Long work in this process: ended from outside, and without Python's cycle collector.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from labapp.base.errors import SetupError

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing.connection import Connection


def cores() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def processes(
    n: int, begin: Callable[[], None] | None = None, *, safe: str = ""
) -> Iterator[ProcessPoolExecutor]:
    """A pool of `n` processes that ends with the block.

    At the end of the block, work that has begun is finished and the rest is dropped. After an error
    or Ctrl-C, or when this process is killed, the processes end at once. Raises SetupError: a
    process ended before its work was done (for want of memory, say).

    begin: called in each process when it starts; safe: what an error says is safe.
    """
    # Every command imports this module; few start processes.
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    # A fork would copy the locks of threads that do not go on in it (torch's, the journal's).
    context = get_context("spawn")
    theirs, ours = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(n, mp_context=context, initializer=_start, initargs=(theirs, begin))
    try:
        with _interrupts_held_back():
            for _ in range(n):
                pool.submit(int)  # something to do for each, so that all are started here
        yield pool
    except BrokenProcessPool as error:
        raise SetupError(
            "A process ended before its work was done.",
            safe=safe,
            todo="It may have run out of memory. Try fewer processes: --workers 1.",
        ) from error
    except BaseException:
        ours.close()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        ours.close()
        theirs.close()


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Hold back Ctrl-C until the block ends.

    A terminal sends Ctrl-C to all processes, and those started in the block inherit that it is held
    back: otherwise it could end them before they begin to ignore it.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(line: Connection, begin: Callable[[], None] | None) -> None:
    # Ctrl+C is for the process that asked, which then ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(line,), daemon=True).start()
    if begin is not None:
        begin()


def _end_with(line: Connection) -> None:
    """End this process once the parent closes its end of the line, or is gone."""
    with suppress(EOFError, OSError):
        line.recv_bytes()
    os._exit(1)


@contextmanager
def stoppable() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into KeyboardInterrupt, as Ctrl-C is, while the block runs.

    So even if the system shuts down or the terminal closes, work can finish what it has begun.
    A signal that is ignored (`nohup`) stays ignored. Outside the main thread, nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    candidates = (getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP"))
    changed = [
        number for number in candidates if number and signal.getsignal(number) == signal.SIG_DFL
    ]
    for number in changed:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause Python's cycle collector while the block runs.

    The events of a journal and the parts of a window are many objects (up to hundreds of thousands)
    of which none is garbage, but the collector walks them again and again: half of the time of
    reading a journal, a third of the time of an export.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
