"""Backups from the home: what has no copy yet is shown, and copied while no session runs.

Copying is `labapp sessions backup` in a process of its own. It begins by itself after a session,
and when the disk is there again.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QFileDialog

from labapp.base.errors import LabappError, ProgramError
from labapp.base.reading.values import json_value
from labapp.record.journal.sessions import SessionSummary
from labapp.session import backup
from labapp.session.backup import Place
from labapp.ui import mistakes, remembered
from labapp.ui.background import Worker
from labapp.ui.language import tr
from labapp.ui.moderator import checklist
from labapp.ui.moderator.home import HomeView
from labapp.ui.remembered import BackupChoice
from labapp.ui.researcher.job import Ended, Job
from labapp.ui.session_lists import SessionLists


@dataclass(frozen=True, slots=True)
class Standing:
    """sessions: how many are finished; waiting: those without a copy; there: the place is."""

    sessions: int = 0
    waiting: frozenset[str] = frozenset()
    there: bool = False


class BackupWork(QObject):
    """Shows what has no copy yet, and has it copied."""

    _looked = Signal(object)

    def __init__(self, data: Path, view: HomeView, lists: SessionLists, parent: QObject) -> None:
        super().__init__(parent)
        self._data, self._view, self._lists = data, view, lists
        self._choice = BackupChoice()
        with mistakes.show_errors(view.show_error, tr("home.backup_failed")):
            self._choice = remembered.read_backup()
        self.standing = Standing()
        self._tried: frozenset[str] = frozenset()
        self._held = True
        self._looking = False
        self._worker = Worker("backup")
        self._job = Job(self)
        self._job.ended.connect(self._on_end)
        self._looked.connect(self._take)
        lists.changed.connect(self.look)
        view.ready.backup_requested.connect(self.press)
        self._show()

    @property
    def running(self) -> bool:
        return self._job.running

    def begin(self) -> None:
        """No session runs: copy what has no copy."""
        self._held = False
        self.look()

    def hold(self) -> None:
        """A session begins, or the program ends: copy nothing. What was begun is done again."""
        self._held = True
        self._job.stop()
        self._worker.close(finish=True)
        self._looking = False

    def look(self) -> None:
        """Find out, in a thread, what has no copy: the place may be a slow network drive."""
        if self._held or self._looking:
            return
        if not self._choice.to:
            self._show()
            return
        self._looking = True
        place = Place(Path(self._choice.to), self._choice.id)
        done = self._worker.submit(_find_standing, self._lists.sessions, place)
        done.add_done_callback(self._looked.emit)

    @Slot(object)
    def _take(self, done: Future[Standing]) -> None:
        self._looking = False
        if self._held:
            return
        before, self.standing = self.standing, done.result()
        if self.standing.there and not before.there:
            self._tried = frozenset()
        if self.standing.there and self.standing.waiting - self._tried:
            self.start()
        self._show()

    def start(self) -> None:
        """Copy now."""
        if self._held or self._job.running:
            return
        self._tried = self.standing.waiting
        self._job.start(["sessions", "backup", "--json", "--data", str(self._data)])
        self._show()

    def press(self) -> None:
        """The button: choose the folder first, then copy."""
        if not self._choice.to or not self.standing.there:
            title = tr("home.backup_title")
            if folder := QFileDialog.getExistingDirectory(self._view, title, self._choice.to):
                self.choose(Path(folder))
            return
        self.start()

    def choose(self, folder: Path) -> None:
        """Copy to this folder from now on."""
        with mistakes.show_errors(self._view.show_error, tr("home.backup_failed")):
            place = backup.prepare_place(folder, self._data)
            choice = BackupChoice(str(place.folder), place.id)
            remembered.write_backup(choice)
            self._choice, self.standing = choice, Standing()
            self.look()

    @Slot(object)
    def _on_end(self, ended: Ended) -> None:
        if not ended.ok:
            self._tell(ended)
        self._show()
        self.look()

    def _tell(self, ended: Ended) -> None:
        """Say which sessions have no copy, and why; that the place is away is in the row."""
        try:
            left_out = json_value(ended.output.encode())["left_out"]
            why = " ".join(f"{entry['session']}: {entry['why']}" for entry in left_out)
        except (ValueError, KeyError, TypeError):
            why = ended.error.strip()
        if why:
            safe, what = tr("home.backup_safe"), tr("home.backup_failed")
            error: LabappError = ProgramError(what, safe=safe, todo=why)
            self._view.show_error(error)

    def _show(self) -> None:
        standing, folder = self.standing, self._choice.to
        row = checklist.backup_row(
            folder,
            standing.sessions,
            len(standing.waiting),
            there=standing.there,
            running=self._job.running,
        )
        self._view.set_checklist([row])
        chooses = not folder or not standing.there
        self._view.ready.show_backup(chooses=chooses, able=not self._job.running)


def _find_standing(lines: Sequence[SessionSummary], place: Place) -> Standing:
    finished = list(filter(backup.is_finished, lines))
    waiting = backup.missing(finished, place)
    return Standing(len(finished), frozenset(line.id for line in waiting), place.there)
