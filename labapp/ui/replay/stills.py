"""Pictures of the participant's screen at times of a session, without a window."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from labapp import durable, leftovers
from labapp.annotations.handed_out import note_handed_out, session_folders
from labapp.errors import LabappError, UsageError
from labapp.journal.layout import refuse_inside
from labapp.journal.record import Record
from labapp.replay.history import History
from labapp.replay.times import time_text


def write_still(
    record: Record, t_ns: int, path: Path, width: int, height: int, *, trails: bool = False
) -> tuple[str, ...]:
    """Write the participant's screen at a session time as a PNG that is not there yet.

    It is drawn on no display, so that it is the same picture on every one.

    Parameters
    ----------
    t_ns : session time.
    width, height : of the participant's window and of the picture, in pixels.
    trails : with the movements of the dials in the last seconds.

    Returns
    -------
    What may look otherwise than it was, a sentence each.

    Raises
    ------
    UsageError : the file is there already, or the time is not in the session.
    LabappError : there is no such screen.
    """
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    refuse_inside(path)
    leftovers.clear_of(session_folders(record))
    if path.exists():
        raise UsageError(
            f"{path} exists already.", safe="It was not changed.", todo="Name another."
        )
    with History(record) as history:
        if not history.begin_ns <= t_ns <= history.end_ns:
            raise UsageError(
                f"{time_text(t_ns)} is not in the session, which goes from "
                f"{time_text(history.begin_ns)} to {time_text(history.end_ns)}.",
                safe="No picture was written.",
                todo="Name a time between these.",
            )
        from PySide6.QtCore import QSize

        from labapp.ui.qtapp import make_app
        from labapp.ui.replay.picture import still

        make_app()
        image = still(history, t_ns, QSize(width, height), trails=trails)
        folders = session_folders(record)
        for folder in folders:
            note_handed_out(folder.parent, "still", path, [folder.name], t_ns=t_ns)
        try:
            with leftovers.on_its_way(folders, path) as (draft,):
                if not image.save(str(draft), "PNG"):  # type: ignore[call-overload]
                    raise OSError(errno.EIO, "the picture could not be written")
                durable.take_name(draft, path)
        except OSError as error:
            raise LabappError(
                f"{path} cannot be written ({error.strerror or error}).",
                todo="Make room, or name another place.",
            ) from error
        return history.problems
