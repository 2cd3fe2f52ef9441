"""Python's cycle collector, kept out of the way of work that makes many objects and no cycle."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Without the collector, which would walk the events of a journal (thousands, or hundreds of
    thousands), none of them in a cycle, again and again: half of the time of reading one, a third
    of that of an export."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
