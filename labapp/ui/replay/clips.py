"""A clip from the replay or coding window: the selection, or the unit that is looked at, as a file.

It is written in a thread, so that what plays goes on. The same button stops it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from labapp.base.errors import LabappError
from labapp.coding.annotations.model import time_text
from labapp.coding.videos.reels import FILM, SOUND, Cut, Reel, write_reel
from labapp.record.journal.record import Record
from labapp.ui.background import Background
from labapp.ui.language import number, tr
from labapp.ui.moderator import bits


class ClipWork(QObject):
    """Writes clips of a session.

    Parameters
    ----------
    window : over which the file is asked for.
    stretch : the session time that is meant now, as begin and end; None for none.
    filmed : whether the session has a video.

    Signals
    -------
    notice(str) : something to tell in a line.
    failed(LabappError) : why there is no clip.
    changed() : it began or ended.
    """

    notice = Signal(str)
    failed = Signal(object)
    changed = Signal()
    _told = Signal(float)

    def __init__(
        self,
        window: QWidget,
        record: Record,
        stretch: Callable[[], tuple[int, int] | None],
        *,
        filmed: bool,
    ) -> None:
        super().__init__(window)
        self._window, self._record, self._stretch, self._filmed = window, record, stretch, filmed
        self._background = Background("clip", self)
        self._stop = threading.Event()
        self._told.connect(self._tell_share)

    @property
    def busy(self) -> bool:
        """Whether a clip is being written."""
        return self._background.busy

    def toggle(self) -> None:
        """Ask for a file and write a clip; or stop the one that is being written."""
        if self.busy:
            self._stop.set()
            return
        stretch = self._stretch()
        if stretch is None:
            self.notice.emit(tr("coding.clip_select"))
            return
        at = time_text(stretch[0], 0).replace(":", ".")
        name = f"{self._record.name}-{at}{FILM if self._filmed else SOUND}"
        if path := bits.ask_new_path(self._window, tr("coding.clip_file"), name):
            self.write(stretch, path)

    def write(self, stretch: tuple[int, int], path: Path) -> None:
        """Write a clip of a stretch of session time."""
        cut = Cut(Path(self._record.source), *stretch)
        self._stop.clear()

        def tell(share: float | None, what: str) -> None:
            if self._stop.is_set():
                raise LabappError(tr("researcher.work_stopped"))
            self._told.emit(share or 0.0)

        if self._background.begin(
            lambda: write_reel([cut], path, tell=tell), self._finish, self._fail
        ):
            self.notice.emit(tr("coding.clip_writing"))
            self.changed.emit()

    def close(self) -> None:
        """Stop, and wait for it."""
        self._stop.set()
        self._background.close()

    def _tell_share(self, share: float) -> None:
        if self.busy and share:
            percent = number(f"{100 * share:.0f}")
            self.notice.emit(f"{tr('coding.clip_writing')} {percent} %")

    def _finish(self, reel: Reel) -> None:
        self.changed.emit()
        self.notice.emit(tr("coding.clip_made", path=reel.path))

    def _fail(self, error: LabappError) -> None:
        self.changed.emit()
        self.failed.emit(error)
