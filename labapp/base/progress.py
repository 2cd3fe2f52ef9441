"""How far long work is, for logs and pipes: a line every ten seconds.

On a terminal people see a bar; if the standard error is a file or a pipe, nothing would move.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from labapp.base.console import say_line

EVERY_S = 10.0
Tell = Callable[[float | None, str], None]
"""Takes the share that is done (0..1, None if nobody knows), and what is being done."""


@contextmanager
def lines(what: str = "") -> Iterator[Tell]:
    """Say on the standard error every ten seconds how far the work in the block is. Work that is
    done sooner says nothing.

    what : what is being done, until the function that this gives says more.
    """
    began = time.monotonic()
    latest: tuple[float | None, str] = (None, what)
    done = threading.Event()

    def tell(share: float | None, what: str) -> None:
        nonlocal latest
        latest = share, what

    def report() -> None:
        while not done.wait(EVERY_S):
            share, doing = latest
            minutes, seconds = divmod(int(time.monotonic() - began), 60)
            far = "" if share is None else f"{share:.0%}"
            say_line(f"{minutes}:{seconds:02d}  {far:>4}  {doing}".rstrip(), err=True)

    thread = threading.Thread(target=report, name="progress", daemon=True)
    thread.start()
    try:
        yield tell
    finally:
        done.set()
        thread.join()
