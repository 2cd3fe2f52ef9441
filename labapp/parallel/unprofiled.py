"""Dask's profiler of the workers, left out where it can bring their interpreter to a standstill."""

from __future__ import annotations

import sys
from typing import Any

from distributed.diagnostics.plugin import WorkerPlugin

FAULTY = sys.version_info[:2] == (3, 11)
"""The profiler asks a hundred times a second for the frames of all threads. Where Python 3.11
collects garbage meanwhile it can wait for itself for ever (CPython, issue 106883), and does not
answer any more. Dask leaves out the profiler of its own loop there, but not that of the tasks."""


class Unprofiled(WorkerPlugin):
    """On every worker, also those that come later; other clients may give it too."""

    name = "labapp-unprofiled"
    idempotent = True

    def setup(self, worker: Any) -> None:
        # Taken out besides: a worker that is starting has not begun with them.
        if FAULTY and (profile := worker.periodic_callbacks.pop("profile", None)) is not None:
            profile.stop()
