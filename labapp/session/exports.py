"""Writes the log of exports beside a study's sessions, which names every place with data.

The place is logged before anything is written there, and again when the bundle is whole. A program
that is killed in between leaves a hidden folder with data, or a whole bundle, and the log names it;
the next export, or a withdrawal, removes the folder and logs what became of it.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from labapp import __version__
from labapp.base import access, leftovers
from labapp.base.clock import utc_text
from labapp.base.errors import BundleError, DataFolderError
from labapp.record.journal import anchor
from labapp.record.journal.layout import EXPORTS, LOCK
from labapp.record.journal.sessions import BEGUN, DONE, GIVEN_UP, exports, there

PATIENCE_S = 0.1


@contextmanager
def log_export(folders: Sequence[Path], out: Path, facts: Mapping[str, Any]) -> Iterator[Path]:
    """Log an export of session folders to `out`, from before it begins. Gives the hidden folder
    beside `out` in which it is written; that folder is removed at the end whatever happens.

    Raises BundleError when it cannot be noted; OSError when the folder cannot be made.
    """
    hidden = out.parent / f".{out.name}.{uuid.uuid4().hex[:8]}"
    entry = {
        "export": uuid.uuid4().hex,
        "labapp": __version__,
        "bundle": str(out.resolve()),
        "hidden": str(hidden.resolve()),
        **facts,
    }
    by_study: dict[Path, list[str]] = {}
    for folder in folders:
        by_study.setdefault(folder.resolve().parent, []).append(folder.resolve().name)
    for study, names in by_study.items():
        _note(study, entry | {"sessions": names, "state": BEGUN})
    lock = FileLock(hidden / LOCK)
    try:
        access.make_above(out)
        access.own_folder(hidden, exist_ok=False)
        # Checking whether it is held takes the lock for a moment, too.
        with lock.acquire(timeout=PATIENCE_S):
            yield hidden
    finally:
        leftovers.drop(hidden)
        # The bundle's name decides, not whether all went well: an error can come after the rename.
        # What could not be removed stays begun, so that the next export or a withdrawal clears it.
        state = DONE if there(out) else GIVEN_UP if not there(hidden) else BEGUN
        # Where this fails the first line still tells of the place, and that something stands there.
        with suppress(BundleError):
            for study, names in by_study.items():
                _note(study, entry | {"sessions": names, "state": state})


def clear(study: Path) -> list[Path]:
    """Remove what killed exports of a study left, and log what became of them; returns the folders
    that were removed. What a running export writes is left alone.

    Raises DataFolderError when a folder cannot be removed, BundleError when that cannot be noted.
    """
    removed = []
    for entry in exports(study):
        if entry.get("state") != BEGUN or not isinstance(entry.get("hidden"), str):
            continue
        hidden, packed = Path(entry["hidden"]), there(entry.get("bundle"))
        if there(hidden):
            if not _ours(hidden, entry) or _is_held(hidden):
                continue
            _remove(hidden)
            removed.append(hidden)
        elif not packed:
            continue
        _note(
            study,
            entry | {"state": DONE if packed else GIVEN_UP},
            "The sessions and complete bundles are unchanged. Only what a killed export left "
            "behind is removed.",
            ", and try again.",
        )
    return removed


def running(study: Path, session: str) -> str:
    """The place of an export of a session that is running now; empty if there is none."""
    for entry in exports(study):
        begun = entry.get("state") == BEGUN and isinstance(entry.get("hidden"), str)
        if begun and session in entry["sessions"] and _is_held(Path(entry["hidden"])):
            return str(entry.get("bundle", ""))
    return ""


def _ours(hidden: Path, entry: Mapping[str, Any]) -> bool:
    """Whether an export made the folder: a path from a log is never deleted unchecked."""
    out = Path(str(entry.get("bundle", "")))
    named = hidden.parent == out.parent and hidden.name.startswith(f".{out.name}.")
    return named and hidden.is_dir() and not hidden.is_symlink()


def _is_held(hidden: Path) -> bool:
    if not there(hidden / LOCK):
        return False
    try:
        with FileLock(hidden / LOCK).acquire(timeout=0):
            return False
    except (Timeout, OSError):
        return True


def _remove(hidden: Path) -> None:
    try:
        shutil.rmtree(hidden)
    except OSError as error:
        raise DataFolderError(
            f"Files that a killed export left in {hidden} cannot be removed "
            f"({error.strerror or error}).",
            safe="The sessions are untouched.",
            todo="Make sure that you may write there, or remove that folder yourself: it "
            "contains data.",
        ) from error


def _note(
    study: Path,
    entry: Mapping[str, Any],
    safe: str = "No bundle was made, because it could not be found after a later withdrawal.",
    todo: str = ", or copy the sessions to a folder of your own and export them from there.",
) -> None:
    """Add a line to a study's log; on disk before it returns. Raises BundleError, which says that
    `safe` is so, and what to do instead of writing there."""
    path = study / EXPORTS
    try:
        anchor.add_line(path, {"utc": utc_text(datetime.now(UTC)), **entry})
    except OSError as error:
        raise BundleError(
            f"The export cannot be recorded in {path} ({error.strerror or error}).",
            safe=safe,
            todo=f"Make sure that you may write there{todo}",
        ) from error
