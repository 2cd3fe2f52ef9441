"""A Dask cluster for tests: in this process, which starts sooner than others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROFILE = "distributed.worker.profile"


@contextmanager
def local_cluster(folder: Path, workers: int = 1, *, profiled: bool = False) -> Iterator[Any]:
    """A cluster of workers with one thread each, reached by TCP; folder: for what they spill.

    profiled: with the profiler of tasks, though it never looks at any: that can stop this process
    for ever, see `labapp.base.parallel.processes`.
    """
    import dask
    from distributed import LocalCluster

    with (
        dask.config.set({f"{PROFILE}.enabled": profiled, f"{PROFILE}.interval": "1 hour"}),
        LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=workers,
            threads_per_worker=1,
            processes=False,
            dashboard_address=":0",
            protocol="tcp",
            local_directory=str(folder),
        ) as made,
    ):
        yield made
