"""Keeping the hand's path quick while other threads work: what is set for the time of a session."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

SWITCH_S = 0.0005
"""How long a thread may hold the interpreter while the window waits for it (Python's own 5 ms is
more than the whole way from hand to picture)."""


@contextmanager
def responsive() -> Iterator[None]:
    """Short turns for background threads, and a collector that leaves what is loaded alone.

    Everything that exists now (Qt, decoders, the window) is taken out of the collector's sight: a
    full collection over it takes tens of milliseconds, over what a session adds under one.
    """
    before = sys.getswitchinterval()
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(SWITCH_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
        gc.unfreeze()
