"""Who simulates: several processes of this machine, or a Dask cluster."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator
from concurrent.futures import CancelledError, Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from labapp import __version__
from labapp.errors import SetupError

ANSWERS_S = 10.0
"""How long a Dask scheduler may take to answer, and its first worker to come."""


@dataclass(frozen=True)
class Workers:
    """slots: how many sessions are simulated at once; here: on this machine, so that folders need
    not be sent."""

    executor: Executor
    slots: int
    here: bool


@contextmanager
def workers(number: int | None = None, dask: str | None = None) -> Iterator[Workers]:
    """Workers until the block ends; what they have begun then is waited for, the rest dropped.

    number: of local processes, by default one a core; dask: address of a scheduler, whose workers
    are asked instead. Raises SetupError when the cluster cannot be used.
    """
    if dask is not None:
        with _cluster(dask) as found:
            yield found
        return
    slots = number or cores()
    pool = ProcessPoolExecutor(
        # A fork would copy the locks of threads that do not go on in it (torch's, the journal's).
        slots,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_leave_interrupts,
    )
    try:
        yield Workers(pool, slots, here=True)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def cores() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _leave_interrupts() -> None:
    """Ctrl+C ends the program that asked; its workers finish what they do and are then let go."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _cluster(address: str) -> Iterator[Workers]:
    import distributed

    connect: Any = distributed.Client
    try:
        client = connect(address, timeout=ANSWERS_S, set_as_default=False)
    except (OSError, ValueError) as error:  # a TimeoutError is an OSError
        raise SetupError(
            f"No Dask scheduler answers at {address!r} ({_first_line(error)}).",
            todo="Start one (`dask scheduler`, `dask worker ADDRESS`) and give its address, for "
            "example tcp://127.0.0.1:8786; or leave --dask out to use this machine.",
        ) from error
    with client:
        slots = _slots(client, address)
        try:
            yield Workers(client.get_executor(pure=False), slots, here=False)
        except (distributed.KilledWorker, CancelledError) as error:
            raise SetupError(
                f"The Dask cluster at {address!r} lost its workers ({_first_line(error)}).",
                safe="The sessions before are whole.",
                todo="Look at the logs of the workers: perhaps memory ran out.",
            ) from error


def _slots(client: Any, address: str) -> int:
    """Threads of the cluster's workers, each of which has this version of labapp."""
    try:
        client.wait_for_workers(1, timeout=ANSWERS_S)
    except TimeoutError as error:
        raise SetupError(
            f"The Dask scheduler at {address!r} has no workers.",
            todo=f"Start some: dask worker {address}",
        ) from error
    try:
        versions = client.run(_version)
    except ImportError as error:
        raise SetupError(
            f"A Dask worker cannot import what it needs ({_first_line(error)}).",
            todo=f"Install labapp {__version__} on every worker.",
        ) from error
    others = sorted({version for version in versions.values() if version != __version__})
    if others:
        raise SetupError(
            f"The Dask workers have labapp {', '.join(others)}; this is {__version__}.",
            todo="Install the same version everywhere: others may simulate other sessions.",
        )
    return sum(client.nthreads().values())


def _version() -> str:
    return __version__


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
