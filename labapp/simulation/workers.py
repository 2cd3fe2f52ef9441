"""Who simulates: several processes of this machine, or a Dask cluster."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from labapp import leftovers
from labapp.parallel.cluster import cluster
from labapp.parallel.processes import cores, processes


@dataclass(frozen=True)
class Workers:
    """slots: how many sessions are simulated at once. scratch: where they are made on this machine,
    a folder that goes with the workers; None on others, which have their own and send what is
    kept."""

    executor: Executor
    slots: int
    scratch: Path | None

    @property
    def here(self) -> bool:
        return self.scratch is not None


@contextmanager
def workers(
    number: int | None = None, dask: str | None = None, *, safe: str = ""
) -> Iterator[Workers]:
    """Workers until the block ends; see `computing.processes` for what then becomes of their work.

    number: of local processes, by default one a core; dask: address of a scheduler, whose workers
    are asked instead; safe: what a reader of an error is told is safe. Raises SetupError when the
    cluster cannot be used, or workers are lost.
    """
    if dask is not None:
        with cluster(dask, safe=safe) as (client, threads):
            yield Workers(client.get_executor(pure=False), threads, None)
        return
    slots = number or cores()
    with (
        # Not the workers': they may be killed, and would leave it behind.
        tempfile.TemporaryDirectory(prefix=leftovers.prefix("sessions")) as scratch,
        processes(slots, safe=safe) as pool,
    ):
        yield Workers(pool, slots, Path(scratch))
