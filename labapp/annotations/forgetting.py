"""A participant withdraws: the annotations of the session are deleted."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from labapp.annotations.places import LINES, RATERS, TRANSCRIPT, UNITS, annotations_folder
from labapp.errors import DataFolderError, SessionBusy
from labapp.journal import anchor
from labapp.reading import files


def refuse_open(
    session: Path,
    safe: str = "Nothing was deleted yet.",
    todo: str = "Close the coding window, and withdraw the session again.",
) -> None:
    """Raises SessionBusy where a window has annotations of a session open: it would go on writing
    to what is deleted or written anew.

    Parameters
    ----------
    session : its folder, which need not exist any more.
    safe, todo : what is safe then, and what to do.
    """
    folder = annotations_folder(session)
    if not files.is_folder(folder):
        return
    for path in sorted(folder.rglob(".*.lock")):
        lock = FileLock(path, timeout=0, thread_local=False)
        try:
            lock.acquire()
        except Timeout as error:
            raise SessionBusy(
                f"The annotations of {session.name} are open in a window just now.",
                safe=safe,
                todo=todo,
            ) from error
        except OSError:
            continue  # what cannot be locked is told when it is deleted
        lock.release()


Kind = Literal["units", "texts", "codes"]


def forget_annotations(session: Path) -> tuple[Kind, ...]:
    """Delete all units, texts and marks of a session, and its videos.

    Returns
    -------
    Which of units, texts and codes there were.

    Raises
    ------
    DataFolderError : not all of it could be deleted; calling it again goes on.
    """
    folder = annotations_folder(session)
    if not files.exists(folder):
        return ()
    kinds = _kinds(folder)
    try:
        anchor.note_gone(session.absolute().parent, folder, "withdrawal")
        shutil.rmtree(folder)
    except OSError as error:
        raise DataFolderError(
            f"The annotations of {session.name} in {folder} could not all be deleted "
            f"({error.strerror or error}).",
            safe="The withdrawal is written down.",
            todo="Close what has files of it open, and withdraw the session again; that goes on "
            "where it stopped.",
        ) from error
    return kinds


def _kinds(folder: Path) -> tuple[Kind, ...]:
    there: dict[Kind, bool] = {
        "units": files.exists(folder / UNITS),
        "texts": files.exists(folder / TRANSCRIPT),
        "codes": any((folder / RATERS).glob(f"*{LINES}")),
    }
    return tuple(kind for kind, is_there in there.items() if is_there)
