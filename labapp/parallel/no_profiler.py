"""Dask's profiler of the workers, switched off where it can make their interpreter hang."""

from __future__ import annotations

import sys
from typing import Any

from distributed.diagnostics.plugin import WorkerPlugin

FAULTY = sys.version_info[:2] == (3, 11)
"""Whether this Python can hang under the profiler, which asks for the frames of all threads a
hundred times a second: Python 3.11 can deadlock when it collects garbage meanwhile (CPython issue
106883). There Dask leaves out the profiler of its own loop, but not the one of the tasks."""


class NoProfilerPlugin(WorkerPlugin):
    """Removes the profiler from every worker, also from those that connect later.

    Several clients may register it (`idempotent`).
    """

    name = "labapp-no-profiler"
    idempotent = True

    def setup(self, worker: Any) -> None:
        # Removed and stopped: a worker that is starting has not started its callbacks yet.
        if FAULTY and (profile := worker.periodic_callbacks.pop("profile", None)) is not None:
            profile.stop()
