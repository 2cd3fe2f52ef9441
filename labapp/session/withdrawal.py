"""A participant withdraws: the data are kept or deleted, as the participant says.

Deleting goes in steps that may be interrupted anywhere and are gone on with by calling again: the
folder is renamed (from then on nothing reads it), the withdrawal is written down, the typed consent
is removed, and the folder's files are removed last.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from labapp.clock import utc_text
from labapp.errors import DataFolderError, RecordError
from labapp.records.journal import read_rows
from labapp.records.layout import LEAVING, WITHDRAWN, FolderName
from labapp.records.sessions import exports_of
from labapp.records.withdrawn import Withdrawal, withdrawals
from labapp.session import private
from labapp.session.allotment import drawn_cells
from labapp.session.folder import SessionFolder


@dataclass(frozen=True)
class Withdrawn:
    """What was done. exported: bundles made of the session before, which are not touched."""

    withdrawal: Withdrawal
    consents: int
    exported: tuple[str, ...]

    def lines(self) -> list[str]:
        """The report for people."""
        left = self.withdrawal
        done = [f"{left.folder}: withdrawn, its data are {'kept' if left.kept else 'deleted'}."]
        if self.consents:
            done.append("The typed consent was deleted.")
        if left.cells:
            done.append(f"Free again: {', '.join(left.cells)}.")
        if self.exported and not left.kept:
            done.append(f"Bundles that still hold it: {', '.join(self.exported)}")
        return done


def withdraw(folder: Path, private_root: Path, *, delete: bool) -> Withdrawn:
    """Write down that the participant of a session withdrew, and delete the data if so wanted.

    folder: the session folder; of one whose deletion was interrupted, its former path. Raises
    SessionBusy while it is open, RecordError when it is no session, DataFolderError when something
    could not be written or removed.
    """
    name = FolderName.parse(folder.name)
    study = folder.parent
    leaving = study / f"{LEAVING}{folder.name}"
    interrupted = leaving.is_dir()
    if name is None or not interrupted:
        home = SessionFolder(folder)
        home.require_journal()
        home.lock().release()
        name = home.name
    left = Withdrawal(
        folder.name,
        name.participant,
        name.session,
        utc_text(datetime.now(UTC)),
        not delete and not interrupted,
        _cells(leaving if interrupted else folder),
    )
    if not left.kept and not interrupted:
        _rename(folder, leaving)
    _write_down(study, left)
    consents = 0
    if not left.kept:
        consents = private.forget_consent(private_root, study.name, left.participant, left.session)
        _remove(leaving)
    return Withdrawn(left, consents, exports_of(folder))


def _cells(folder: Path) -> tuple[str, ...]:
    """The drawn cells of a session; none where its journal cannot be read any more."""
    try:
        rows = read_rows(folder, ("session.planned",))
        return drawn_cells(rows[0].event()) if rows else ()
    except RecordError:
        return ()


def _rename(folder: Path, leaving: Path) -> None:
    try:
        folder.rename(leaving)
    except OSError as error:
        raise DataFolderError(
            f"{folder} cannot be deleted ({error.strerror or error}).",
            safe="Nothing of it was deleted yet.",
            todo="Close what has files of it open, see that you may write there, and withdraw "
            "it again.",
        ) from error


def _write_down(study: Path, left: Withdrawal) -> None:
    """Add the withdrawal to the study's list; on disk before it returns."""
    known = withdrawals(study).get(left.folder)
    if known is not None and known.utc and known.kept == left.kept:
        return
    path = study / WITHDRAWN
    try:
        cut = path.is_file() and not path.read_bytes().endswith(b"\n")
        with path.open("a", encoding="utf-8") as file:
            file.write("\n" * cut + json.dumps(left.to_json(), ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        why = "the disk is full" if error.errno == errno.ENOSPC else error.strerror or str(error)
        raise DataFolderError(
            f"The withdrawal of {left.folder} cannot be written to {path} ({why}).",
            safe="Its participant's label stays taken.",
            todo="Make room, or see that you may write there, and withdraw it again.",
        ) from error


def _remove(leaving: Path) -> None:
    try:
        shutil.rmtree(leaving)
    except OSError as error:
        raise DataFolderError(
            f"Not all of {leaving} could be deleted ({error.strerror or error}).",
            safe="The withdrawal is written down; nothing of the session is listed any more.",
            todo="Close what has files of it open and withdraw it again: that goes on where it "
            "stopped.",
        ) from error
