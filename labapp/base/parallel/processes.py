"""Processes of this machine that do long work.

Long work in this process: ended from outside, and without Python's cycle collector. A Dask cluster
whose workers do long work as this machine would: with the same versions.
"""

from __future__ import annotations

import gc
import logging
import os
import platform
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from importlib.metadata import version
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from labapp import __version__
from labapp.base import discovery
from labapp.base.errors import SetupError


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
            todo="Was the memory used up? Try fewer processes: --workers 1.",
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

    So the end of the system or of the terminal, too, lets the work put in order what it has begun.
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

    The events of a journal are many objects (up to hundreds of thousands) and form no cycle, but
    the collector walks them again and again: half of the time of reading a journal, a third of the
    time of an export.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


ANSWER_TIMEOUT_S = 10.0
"""How long a scheduler may take to answer, and its first worker to connect."""
WORKER_TIMEOUT_S = 30.0
"""How long a cluster may be without a worker: Dask restarts one in a few seconds."""
POLL_S = 1.0
"""Seconds between two checks that there is a worker."""

_log = logging.getLogger(__name__)


def versions() -> dict[str, str]:
    """Versions that must be the same on every machine, so that it computes the same numbers and
    reads what the others write: of labapp, Python, some libraries and the plugins in use."""
    packages = {name: version(name) for name in ("distributed", "numpy", "pyarrow")}
    python = ".".join(platform.python_version_tuple()[:2])
    plugins = {plugin.package: plugin.version for plugin in discovery.in_use()}
    return {"labapp": __version__, "Python": python, **packages, **plugins}


@contextmanager
def cluster(address: str, *, safe: str = "") -> Iterator[tuple[Any, int]]:
    """Connect to the scheduler at an address: its client (`distributed.Client`) and the number of
    threads of all workers. Raises SetupError: Dask is not installed, no scheduler answers, it has
    no worker, a worker runs other versions, or all workers are lost.

    safe: what an error says is safe when workers are lost on the way.
    """
    try:
        import distributed
    except ModuleNotFoundError as error:
        raise SetupError(
            "Dask is not installed here, so a Dask cluster cannot be used.",
            safe="Nothing was begun.",
            todo=f'Install it: {sys.executable} -m pip install "labapp[cluster]"; or leave --dask '
            "out to use this machine.",
        ) from error
    from distributed.comm.addressing import resolve_address
    from distributed.comm.core import CommClosedError

    connect: Any = distributed.Client
    resolve: Any = resolve_address
    try:
        resolve(address)  # before the client, which hangs when it closes after a bad address
        client = connect(address, timeout=ANSWER_TIMEOUT_S, set_as_default=False)
    except (OSError, ValueError, TypeError, ImportError) as error:  # a TimeoutError is an OSError
        raise SetupError(
            f"No Dask scheduler answers at {address!r} ({_first_line(error)}).",
            safe="Nothing was begun.",
            todo="Start one (`dask scheduler`, `dask worker ADDRESS`) and give its address, for "
            "example tcp://127.0.0.1:8786; or leave --dask out to use this machine.",
        ) from error
    scheduler_lost = False
    try:
        with _quiet(), client:
            threads = _check_workers(client, address)
            with _worker_watch(client, address):
                client.register_plugin(_no_profiler())
                try:
                    yield client, threads
                except (CancelledError, CommClosedError):
                    # A client that has lost its scheduler tries to connect again.
                    scheduler_lost = client.status == "connecting"
                    raise
    except (distributed.KilledWorker, CancelledError, CommClosedError) as error:
        if scheduler_lost:
            what = f"The Dask scheduler at {address!r} is gone."
            todo = "Look at its log, start it and its workers again, and give the command again."
        else:
            killed = isinstance(error, distributed.KilledWorker)
            why = f" ({_first_line(error)})" if killed else ""
            what = f"The Dask cluster at {address!r} lost its workers{why}."
            todo = "Look at the logs of the workers: perhaps memory ran out. Then start them again "
            todo += f"(dask worker {address}), and give the command again."
        raise SetupError(what, safe=safe, todo=todo) from error


FAULTY = sys.version_info[:2] == (3, 11)
"""Whether this Python can hang under the profiler, which asks for the frames of all threads a
hundred times a second: Python 3.11 can deadlock when it collects garbage meanwhile (CPython issue
106883). There Dask leaves out the profiler of its own loop, but not the one of the tasks."""


def _no_profiler() -> Any:
    """A plugin that removes the profiler from every worker, also from those that connect later."""
    from distributed.diagnostics.plugin import WorkerPlugin

    class NoProfilerPlugin(WorkerPlugin):
        name = "labapp-no-profiler"
        idempotent = True  # several clients may register it

        def setup(self, worker: Any) -> None:
            # Removed and stopped: a worker that is starting has not started its callbacks yet.
            if FAULTY and (profile := worker.periodic_callbacks.pop("profile", None)) is not None:
                profile.stop()

    return NoProfilerPlugin()


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress Dask's log: it prints tracebacks of errors that are reported here in words."""

    def none(record: logging.LogRecord) -> bool:
        return False

    handlers = logging.getLogger("distributed").handlers[:]
    for handler in handlers:
        handler.addFilter(none)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(none)


@contextmanager
def _worker_watch(client: Any, address: str) -> Iterator[None]:
    """Cancel the work when no worker comes back: Dask would wait for one for ever."""
    over = threading.Event()
    thread = threading.Thread(target=_watch, args=(client, address, over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _watch(client: Any, address: str, over: threading.Event) -> None:
    since: float | None = None
    while not over.wait(POLL_S):
        try:
            threads = client.nthreads()
        except (OSError, CancelledError, RuntimeError, AttributeError):
            return  # the scheduler is gone: the caller's own call raises
        if threads:
            since = None
        elif since is None:
            since = time.monotonic()
            _log.warning(
                "The Dask cluster at %s has lost its last worker; waiting %.0f s for another.",
                address,
                WORKER_TIMEOUT_S,
            )
        elif time.monotonic() - since > WORKER_TIMEOUT_S:
            client.close()
            return


def _check_workers(client: Any, address: str) -> int:
    """The number of the cluster's threads. Raises SetupError when its workers cannot be used."""
    try:
        client.wait_for_workers(1, timeout=ANSWER_TIMEOUT_S)
    except TimeoutError as error:
        raise SetupError(
            f"The Dask scheduler at {address!r} has no workers.",
            safe="Nothing was begun.",
            todo=f"Start some: dask worker {address}",
        ) from error
    ours = versions()
    try:
        process = client.run(versions)
    except ImportError as error:
        raise SetupError(
            f"A worker of the Dask cluster at {address!r} cannot load labapp "
            f"({_first_line(error)}).",
            safe="Nothing was begun.",
            todo=f"Install labapp {__version__} where `dask worker` is started.",
        ) from error
    for worker, theirs in process.items():
        names = [name for name in {**ours, **theirs} if theirs.get(name) != ours.get(name)]
        if names:
            raise SetupError(
                f"The Dask worker {worker} runs {_list_versions(names, theirs)}; this machine runs "
                f"{_list_versions(ours | theirs, ours)}.",
                safe="Nothing was begun.",
                todo="Install the same versions there: otherwise the numbers could differ.",
            )
    return int(sum(client.nthreads().values()))


def _list_versions(names: Iterable[str], versions: Mapping[str, str]) -> str:
    """Versions in words; `no NAME` for a package that is not installed."""
    return ", ".join(
        f"{name} {versions[name]}" if name in versions else f"no {name}" for name in names
    )


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
