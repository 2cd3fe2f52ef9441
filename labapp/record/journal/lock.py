"""Whether a session is open somewhere, without touching it."""

from __future__ import annotations

import sys
from pathlib import Path

from labapp.base.reading import files
from labapp.record.journal.layout import LOCK

if sys.platform == "win32":
    import msvcrt

    def _try(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try(descriptor: int) -> None:
        # flock belongs to the open file, so closing it here frees no lock of this process; the
        # writer's lock (filelock) is a flock too.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)


def held(folder: Path) -> bool:
    """True while a process, this one included, holds the session's lock."""
    try:
        with files.open_file(folder / LOCK) as file:
            _try(file.fileno())
    except FileNotFoundError:
        return False
    except OSError:
        # Refused: somebody holds it. A lock file that cannot be read counts as held, which costs
        # no more than the slower way of reading.
        return True
    return False
