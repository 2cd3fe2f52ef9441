"""Long work in this process: ended from outside, and without Python's cycle collector."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def stoppable() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into KeyboardInterrupt, as Ctrl-C is, while the block runs.

    So the end of the system or of the terminal, too, lets the work put in order what it has begun.
    A signal that is ignored (`nohup`) stays ignored. Outside the main thread, nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    candidates = (getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP"))
    changed = [
        number for number in candidates if number and signal.getsignal(number) == signal.SIG_DFL
    ]
    for number in changed:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause Python's cycle collector while the block runs.

    The events of a journal are many objects (up to hundreds of thousands) and form no cycle, but
    the collector walks them again and again: half of the time of reading a journal, a third of the
    time of an export.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
