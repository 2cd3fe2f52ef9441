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

from labapp import __version__, discovery
from labapp.errors import SetupError

ANSWERS_S = 10.0
"""How long a scheduler may take to answer, and its first worker to come."""
COMES_BACK_S = 30.0
"""How long a cluster may be without a worker; one that ended is started again in a few seconds."""
LOOKS_S = 1.0
"""Between two looks at whether there is one."""

_log = logging.getLogger(__name__)


def versions() -> dict[str, str]:
    """What has to be the same on every machine for the same numbers and for them to be read: what
    is installed, and the packages that add to labapp."""
    packages = {name: version(name) for name in ("distributed", "numpy", "pyarrow")}
    python = ".".join(platform.python_version_tuple()[:2])
    brought = {plugin.package: plugin.version for plugin in discovery.in_use()}
    return {"labapp": __version__, "Python": python, **packages, **brought}


@contextmanager
def cluster(address: str, *, safe: str = "") -> Iterator[tuple[Any, int]]:
    """A client of the scheduler at an address (`distributed.Client`), and the number of the
    workers' threads.

    safe: what a reader is told is safe when workers are lost on the way. Raises SetupError when
    Dask is not installed, nothing answers at the address, there is no worker, one of them runs
    other versions, or workers are lost.
    """
    try:
        import distributed
    except ModuleNotFoundError as error:
        raise SetupError(
            "A Dask cluster can only be asked where Dask is installed, and here it is not.",
            safe="Nothing was begun.",
            todo=f'Install it: {sys.executable} -m pip install "labapp[cluster]"; or leave --dask '
            "out to use this machine.",
        ) from error
    from distributed.comm.addressing import resolve_address
    from distributed.comm.core import CommClosedError

    from labapp.parallel.unprofiled import Unprofiled

    connect: Any = distributed.Client
    resolve: Any = resolve_address
    try:
        resolve(address)  # a client that cannot make sense of it waits for itself when it ends
        client = connect(address, timeout=ANSWERS_S, set_as_default=False)
    except (OSError, ValueError, TypeError, ImportError) as error:  # a TimeoutError is an OSError
        raise SetupError(
            f"No Dask scheduler answers at {address!r} ({_first_line(error)}).",
            safe="Nothing was begun.",
            todo="Start one (`dask scheduler`, `dask worker ADDRESS`) and give its address, for "
            "example tcp://127.0.0.1:8786; or leave --dask out to use this machine.",
        ) from error
    gone = False
    try:
        with _quiet(), client:
            threads = _checked(client, address)
            with _watched(client, address):
                client.register_plugin(Unprofiled())
                try:
                    yield client, threads
                except (CancelledError, CommClosedError):
                    gone = client.status == "connecting"  # again, as it does when it is cut off
                    raise
    except (distributed.KilledWorker, CancelledError, CommClosedError) as error:
        if gone:
            what = f"The Dask scheduler at {address!r} is gone."
            todo = "Look at its log, start it and its workers again, and give the command again."
        else:
            told = isinstance(error, distributed.KilledWorker)
            why = f" ({_first_line(error)})" if told else ""
            what = f"The Dask cluster at {address!r} lost its workers{why}."
            todo = "Look at the logs of the workers: perhaps memory ran out. Then start them again "
            todo += f"(dask worker {address}), and give the command again."
        raise SetupError(what, safe=safe, todo=todo) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what Dask prints when it is cut off: tracebacks of what is told here in words."""

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
def _watched(client: Any, address: str) -> Iterator[None]:
    """Dask would wait for a worker for ever: where none comes back, what waits is cancelled."""
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
    while not over.wait(LOOKS_S):
        try:
            threads = client.nthreads()
        except (OSError, CancelledError, RuntimeError, AttributeError):
            return  # the scheduler is gone, which whoever waits is told
        if threads:
            since = None
        elif since is None:
            since = time.monotonic()
            _log.warning(
                "The Dask cluster at %s has lost its last worker; waiting %.0f s for another.",
                address,
                COMES_BACK_S,
            )
        elif time.monotonic() - since > COMES_BACK_S:
            client.close()
            return


def _checked(client: Any, address: str) -> int:
    """The number of the cluster's threads. Raises SetupError when it cannot be used."""
    try:
        client.wait_for_workers(1, timeout=ANSWERS_S)
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
                f"The Dask worker {worker} runs {_told(names, theirs)}; here it is "
                f"{_told(ours | theirs, ours)}.",
                safe="Nothing was begun.",
                todo="Install the same versions there: the numbers could differ.",
            )
    return int(sum(client.nthreads().values()))


def _told(names: Iterable[str], versions: Mapping[str, str]) -> str:
    """Versions in words; `no NAME` where something is not installed."""
    return ", ".join(
        f"{name} {versions[name]}" if name in versions else f"no {name}" for name in names
    )


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
