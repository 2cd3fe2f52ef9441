"""Who simulates: several processes of this machine, or a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass

from labapp.computing.cluster import cluster
from labapp.computing.processes import cores, processes

SAFE = "The sessions before are whole."


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
    are asked instead. Raises SetupError when the cluster cannot be used, or workers are lost.
    """
    if dask is not None:
        with cluster(dask, safe=SAFE) as (client, threads):
            yield Workers(client.get_executor(pure=False), threads, here=False)
        return
    slots = number or cores()
    with processes(slots, safe=SAFE) as pool:
        yield Workers(pool, slots, here=True)
