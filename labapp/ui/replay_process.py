"""Replays that the home opens: a process each, so that none of them disturbs a session."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QPoint, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractButton, QMenu, QWidget

from labapp.base.errors import ProgramError
from labapp.record.journal.sessions import SessionSummary
from labapp.ui.language import tr
from labapp.ui.researcher.job import Ended, Job


class ReplayProcesses(QObject):
    """Runs `labapp replay` for each session that is asked for, once at a time for each.
    failed(LabappError): why one could not be replayed."""

    failed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs: dict[Path, Job] = {}

    @property
    def running(self) -> tuple[Path, ...]:
        """The sessions whose windows are open."""
        return tuple(self._jobs)

    def open(self, session: Path) -> None:
        """Show a session; one that is shown already stays as it is."""
        if session in self._jobs:
            return
        job = self._jobs[session] = Job(self)
        job.ended.connect(partial(self._ended, session))
        job.start(["replay", str(session)])

    def stop(self) -> None:
        """Close all windows: a session begins, or the program ends."""
        # Taken out first: that they end now is no failure, however far they had come.
        jobs, self._jobs = self._jobs, {}
        for job in jobs.values():
            job.stop()
            job.deleteLater()

    def _ended(self, session: Path, ended: Ended) -> None:
        job = self._jobs.pop(session, None)
        if job is None:
            return
        job.deleteLater()
        if not ended.ok:
            self.failed.emit(
                ProgramError(
                    tr("replay.failed", session=session.name),
                    safe=tr("replay.only_reads"),
                    todo=ended.error.strip(),
                )
            )


def replayable(line: SessionSummary | None) -> bool:
    """Whether a session may be replayed: nobody withdrew from it."""
    return line is not None and not line.withdrawn


def menu_of(widget: QWidget, place: QPoint, buttons: Sequence[QAbstractButton]) -> QMenu:
    """A menu at a place of a widget that has what these buttons do; it goes when it is left."""
    menu = QMenu(widget)
    menu.aboutToHide.connect(menu.deleteLater)
    for button in buttons:
        action = QAction(button.text(), menu)
        action.setEnabled(button.isEnabled())
        action.triggered.connect(button.click)
        menu.addAction(action)
    menu.popup(widget.mapToGlobal(place))
    return menu
