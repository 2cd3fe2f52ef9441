"""A Dask cluster whose workers do long work as this machine would: with the same versions."""

from __future__ import annotations

import logging
import platform
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from labapp import __version__
from labapp.base import discovery
from labapp.base.errors import SetupError
from labapp.base.installation import install_command

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
            todo=f"Install it: {install_command('cluster')}; or leave --dask out to use this "
            "machine.",
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
            what = f"The connection to the Dask scheduler at {address!r} was lost."
            todo = "Check its log, restart it and its workers, and run the command again."
        else:
            killed = isinstance(error, distributed.KilledWorker)
            why = f" ({_first_line(error)})" if killed else ""
            what = f"The Dask cluster at {address!r} has lost its workers{why}."
            todo = (
                "Check the logs of the workers, which may have run out of memory. Then "
                "start them again "
            )
            todo += f"(dask worker {address}), and run the command again."
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
                todo="Install the same versions there, because other versions could give "
                "different numbers.",
            )
    return int(sum(client.nthreads().values()))


def _list_versions(names: Iterable[str], versions: Mapping[str, str]) -> str:
    """Versions in words; `no NAME` for a package that is not installed."""
    return ", ".join(
        f"{name} {versions[name]}" if name in versions else f"no {name}" for name in names
    )


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
