"""What a killed run leaves behind in temporary places, cleared when the next one uses the place.

A temporary file or folder carries the machine and the number of the process that made it: if
that process is gone, nobody needs it. Of another machine that writes to the same drive this cannot
be told: what it made is cleared once it is old. So are drafts beside their place (a folder that is
renamed when it is whole), for another process may be writing one just now.

What is made of participants' sessions is registered in the study before its first byte, so that the
next run clears it at once, wherever it lies, and so does a withdrawal: see `on_its_way`.
"""

from __future__ import annotations

import json
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
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from labapp.base import access, durable

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
            if not _alive(int(match[2])) if this_machine else _is_untouched(path, 24 * OLD_S):
                _remove(path)
    return f"{what}-{machine}-{os.getpid()}-"


def clear(folder: Path, name: re.Pattern[str], older_than_s: float = OLD_S) -> None:
    """Remove what has such a name in `folder` and was not written to for so many seconds."""
    for path in _children(folder):
        if name.fullmatch(path.name) and _is_untouched(path, older_than_s):
            _remove(path)


@contextmanager
def write_atomically(folder: Path) -> Iterator[Path]:
    """A new folder that appears whole or not at all.

    Gives a draft beside `folder`, which gets its name at the end of the block, or is removed after
    an error. Old drafts beside it are cleared. Raises OSError: `folder` cannot be written.
    """
    clear(folder.parent, DRAFT)
    draft = folder.with_name(f".{folder.name}-{uuid.uuid4().hex}")
    try:
        access.make_above(draft)
        draft.mkdir()
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


def _is_untouched(path: Path, for_s: float) -> bool:
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
    """Whether there is such a process; yes if that cannot be told. Not for Windows, where this
    would end it."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        """It is another user's, or the system does not say."""
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


REGISTER = ".on-its-way"
"""Folder of a study with a file for each place that something of its sessions is being written to
just now."""


@contextmanager
def on_its_way(
    sessions: Iterable[Path], *places: Path, needed: bool = True
) -> Iterator[tuple[Path, ...]]:
    """Hidden places for what is made of session folders, known to the sessions' studies.

    Before the first byte each study has on the disk where they lie. They are removed at the end of
    the block, whatever happens; after a kill they are removed when something is next made of the
    study, or when one of its participants withdraws. What is whole is renamed within the block.
    Raises OSError: it cannot be written down.

    Parameters
    ----------
    sessions : folders of sessions; none if only bundles are used.
    *places : what the files or folders will be called.
    needed : bool
        Whether nothing is made if that cannot be written down; else it is made all the same.

    Yields
    ------
    A hidden place beside each of `places`, of which nothing is there yet.
    """
    by_study: dict[Path, list[str]] = {}
    for session in sessions:
        session = session.absolute()
        by_study.setdefault(session.parent, []).append(session.name)
    name = uuid.uuid4().hex
    places = tuple(place.absolute() for place in places)
    hidden = tuple(place.with_name(f".{place.name[:50]}-{name}") for place in places)
    for place in places:  # of bundles, and of versions that registered nothing
        clear(place.parent, re.compile(rf"\.{re.escape(place.name[:50])}-[0-9a-f]{{8,32}}"))
    with ExitStack() as stack:
        for study, names in by_study.items():
            try:
                clear_registered(study)
                stack.enter_context(_register_hidden(study, name, names, hidden))
            except OSError:
                if needed:
                    raise
        try:
            yield hidden
        finally:
            for place in hidden:
                drop(place)  # what cannot be removed stays registered


@contextmanager
def _register_hidden(
    study: Path, name: str, sessions: list[str], hidden: tuple[Path, ...]
) -> Iterator[None]:
    from filelock import FileLock

    folder = study / REGISTER
    entry = folder / f"{name}.json"
    lock = FileLock(folder / f"{name}.lock", mode=access.file_mode())
    while True:
        folder.mkdir(exist_ok=True)
        try:
            lock.acquire()
            break
        except FileNotFoundError:
            continue  # the last of the others took the folder away meanwhile
    with lock:
        lock.release()  # `with` took it a second time
        try:
            facts = {"sessions": sorted(set(sessions)), "places": [str(p) for p in hidden]}
            durable.write(entry, json.dumps(facts).encode("utf-8", "surrogatepass"))
            durable.sync_folder(folder)
            durable.sync_folder(study)
            yield
        finally:
            if not any(os.path.lexists(place) for place in hidden):
                drop(entry)
    Path(lock.lock_file).unlink(missing_ok=True)
    with suppress(OSError):  # others are on their way, too
        folder.rmdir()


def clear_registered(study: Path) -> list[Path]:
    """Remove what killed programs left of what they made of a study's sessions; what was removed.
    What a program is still at work on is left alone. Raises OSError."""
    removed = []
    for entry, _, places in _registrations(study):
        if is_held(entry):
            continue
        for place in places:
            # A path that a file names is never removed unchecked: it has that file's own number.
            if place.name.startswith(".") and place.name.endswith(f"-{entry.stem}"):
                removed += [place] if os.path.lexists(place) else []
                _take_away(place)
        entry.unlink(missing_ok=True)
        entry.with_suffix(".lock").unlink(missing_ok=True)
    folder = study / REGISTER
    for lock in _children(folder):
        # A program that was killed before it wrote down where, or after all was removed.
        lost = lock.suffix == ".lock" and not lock.with_suffix(".json").exists()
        if lost and _is_untouched(lock, 60.0) and not is_held(lock):
            lock.unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()
    return removed


def clear_of(sessions: Iterable[Path]) -> None:
    """The same for the studies of session folders, and for temporary places, before anything is
    refused or made; what cannot be removed stays registered."""
    for study in dict.fromkeys(session.absolute().parent for session in sessions):
        with suppress(OSError):
            clear_registered(study)
    with suppress(OSError):
        clear_temporary()


def under_way(study: Path, session: str) -> str:
    """A place that something of a session is being written to just now; empty if there is
    none."""
    for entry, sessions, places in _registrations(study):
        if session in sessions and is_held(entry):
            return str(places[0]) if places else str(entry)
    return ""


def _registrations(study: Path) -> Iterator[tuple[Path, list[str], list[Path]]]:
    for entry in sorted(_children(study / REGISTER)):
        if entry.suffix != ".json":
            continue
        sessions, places = list[str](), list[Path]()
        with suppress(ValueError, KeyError, TypeError, OSError):
            # Where it was cut off while it was written, nothing was begun.
            facts = json.loads(entry.read_bytes().decode("utf-8", "surrogatepass"))
            sessions = [str(name) for name in facts["sessions"]]
            places = [Path(place) for place in facts["places"]]
        yield entry, sessions, places


def is_held(entry: Path) -> bool:
    """Whether a program is at work on what an entry of the register names."""
    from filelock import FileLock, Timeout

    lock = entry.with_suffix(".lock")
    if not lock.exists():
        return False
    try:
        with FileLock(lock, timeout=0, mode=access.file_mode()):
            return False
    except (Timeout, OSError):
        return True


def _take_away(place: Path) -> None:
    """Remove a file or folder. Raises OSError if it cannot be."""
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


def clear_temporary() -> list[Path]:
    """Remove what killed programs of this user left in the system's temporary folder; what was
    removed. See `prefix`."""
    name = re.compile(r"labapp-[a-z]+-(\d+)-(\d+)-\w+(\.\w+)?")
    machine, removed = zlib.crc32(platform.node().encode()), []
    for path in _children(Path(tempfile.gettempdir())):
        match = name.fullmatch(path.name)
        if match and int(match[1]) == machine and sys.platform != "win32":
            if not _alive(int(match[2])):
                _remove(path)
                removed += [] if os.path.lexists(path) else [path]
    return removed
