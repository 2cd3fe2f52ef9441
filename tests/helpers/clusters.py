"""A Dask cluster for tests: in this process, which starts sooner than others."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def local_cluster(folder: Path, workers: int = 1) -> Any:
    """A cluster of workers with one thread each, reached by TCP; folder: for what they spill."""
    from distributed import LocalCluster

    return LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=workers,
        threads_per_worker=1,
        processes=False,
        dashboard_address=":0",
        protocol="tcp",
        local_directory=str(folder),
    )
