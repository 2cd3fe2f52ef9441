"""What a killed run leaves behind in temporary places, cleared when the next one uses the place.

A temporary file or folder carries the machine and the number of the process that made it: where
that process is gone, nobody needs it. Of another machine that writes to the same drive this cannot
be told: what it made is cleared once it is old. So are drafts beside their place (a folder that is
renamed when it is whole), for another process may be writing one just now.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import stat
import sys
import tempfile
import time
import uuid
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

OLD_S = 3600.0
"""A draft is written in seconds; one that nobody touched for an hour is nobody's."""
DRAFT = re.compile(r"\..+-[0-9a-f]{32}")
"""Names of drafts: a point, the name it is to get, and a random number."""
PROBE = re.compile(r"\.labapp-probe-[0-9a-f]{32}")


def prefix(what: str) -> str:
    """How the name of a temporary file or folder of this process begins; what: one word of letters.
    Those of the same kind are removed whose process is gone."""
    return prefix_in(Path(tempfile.gettempdir()), f"labapp-{what}")


def prefix_in(folder: Path, what: str) -> str:
    """The same for a file or folder in `folder`, whose name begins with `what`."""
    name = re.compile(rf"{re.escape(what)}-(\d+)-(\d+)-\w+(\.\w+)?")
    machine = zlib.crc32(platform.node().encode())
    for path in _children(folder):
        if match := name.fullmatch(path.name):
            # Windows does not say of a process whether it is there.
            this_machine = int(match[1]) == machine and sys.platform != "win32"
            if not _alive(int(match[2])) if this_machine else _untouched(path, 24 * OLD_S):
                _remove(path)
    return f"{what}-{machine}-{os.getpid()}-"


def clear(folder: Path, name: re.Pattern[str], older_than_s: float = OLD_S) -> None:
    """Remove what has such a name in `folder` and was not written to for so many seconds."""
    for path in _children(folder):
        if name.fullmatch(path.name) and _untouched(path, older_than_s):
            _remove(path)


@contextmanager
def drafted(folder: Path) -> Iterator[Path]:
    """A new folder, written whole or not at all.

    Gives a draft beside `folder`, which gets its name at the end of the block, or is removed after
    an error. Old drafts beside it are cleared. Raises OSError: `folder` cannot be written.
    """
    clear(folder.parent, DRAFT)
    draft = folder.with_name(f".{folder.name}-{uuid.uuid4().hex}")
    try:
        draft.mkdir(parents=True)
        yield draft
        draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def drop(path: Path) -> None:
    """Remove a file or folder that is not needed any more, as far as that can be done.

    For clean-ups after an error: what cannot be removed must not hide why something failed.
    """
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _untouched(path: Path, for_s: float) -> bool:
    try:
        return time.time() - path.lstat().st_mtime > for_s
    except OSError:
        return False


def _children(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _alive(process: int) -> bool:
    """Whether there is such a process; yes where that cannot be told. Not for Windows, where this
    would end it."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _remove(path: Path) -> None:
    """Remove a file or folder of this user's; links are not followed, and what cannot be removed
    stays."""
    with suppress(OSError):
        status = path.lstat()
        if hasattr(os, "getuid") and status.st_uid != os.getuid():
            return
        if stat.S_ISDIR(status.st_mode):
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
