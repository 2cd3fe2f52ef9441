"""Long work that is ended from outside."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def stoppable() -> Iterator[None]:
    """Let the end of the system or of the terminal end the work as Ctrl-C does: KeyboardInterrupt
    is raised, and what was begun is put in order. What is ignored (`nohup`) stays so."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are for the main thread
        return
    wanted = (getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP"))
    changed = [number for number in wanted if number and signal.getsignal(number) == signal.SIG_DFL]
    for number in changed:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)
