"""Waiting for what other threads and processes do, as long as that takes on a busy machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

PATIENCE_S = 60.0


def wait_for(
    holds: Callable[[], object],
    meanwhile: Callable[[], object] = lambda: None,
    about: Callable[[], object] = lambda: "",
) -> None:
    """Until something holds. meanwhile: what is done between two looks; about: what a failure
    shows."""
    ends = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < ends, f"it never came {about()}"
        meanwhile()
        time.sleep(0.005)


def wait_for_threads(running: Callable[[threading.Thread], bool]) -> None:
    """Until there are no such threads."""

    def left() -> list[str]:
        return [thread.name for thread in threading.enumerate() if running(thread)]

    wait_for(lambda: not left(), about=left)
