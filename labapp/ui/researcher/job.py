"""A command of labapp in a process of its own: what the window says is what the command says.

Analyses load pandas and matplotlib and compute for seconds; neither belongs into the process that
runs sessions.

Replays that the home opens have a process each, so that none of them disturbs a session.

Showing a file in whatever the system opens it with.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import (
    QCoreApplication,
    QObject,
    QPoint,
    QProcess,
    QProcessEnvironment,
    QTimer,
    QUrl,
    Signal,
)
from PySide6.QtGui import QAction, QDesktopServices
from PySide6.QtWidgets import QAbstractButton, QMenu, QWidget

from labapp.base.console import PROGRESS, PROGRESS_LINE
from labapp.base.errors import ProgramError
from labapp.base.installation import child_environment, module_command
from labapp.record.journal.sessions import SessionSummary
from labapp.ui import qtapp
from labapp.ui.language import tr

PATIENCE_MS = 5000
"""After being asked to stop a command may take so long to leave things whole."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended. status: its exit status, None if it was stopped or did not start;
    output, error: what it said."""

    status: int | None
    output: str
    error: str

    @property
    def ok(self) -> bool:
        return self.status == 0

    def after(self, word: str) -> str:
        """What stands behind `word: ` in the last line of the output that begins so, else ''."""
        lines = self.output.splitlines()
        begin = f"{word}: "
        return next((line[len(begin) :] for line in reversed(lines) if line.startswith(begin)), "")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a command is. share: 0 to 1, None if nobody knows; what: is being done; left_s: as
    long as it may still take, in s, None while that cannot be told."""

    share: float | None
    what: str
    left_s: float | None


class Job(QObject):
    """Runs one command at a time. ended(Ended): it is over; never after `stop`.
    progressed(Progress): how far it is, of commands that say it."""

    ended = Signal(object)
    progressed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._process: QProcess | None = None
        self._error = b""
        self._begun: float | None = None
        self._first = 0.0

    @property
    def running(self) -> bool:
        return self._process is not None

    def start(self, arguments: Sequence[str]) -> None:
        """Run `labapp` with arguments. Nothing may be running."""
        assert self._process is None
        process = QProcess(self)
        environment = QProcessEnvironment()
        # What comes back is read as text, whatever the system's code page is.
        known = {"PYTHONIOENCODING": "utf-8", PROGRESS: "1", **qtapp.make_child_environment()}
        for name, value in child_environment(**known).items():
            environment.insert(name, value)
        process.setProcessEnvironment(environment)
        process.finished.connect(self._on_finish)
        process.errorOccurred.connect(self._on_failure)
        process.readyReadStandardError.connect(self._read_progress)
        self._error, self._begun = b"", None
        self._process = process
        program, *given = module_command("labapp", *arguments)
        process.start(program, given)

    def ask_to_end(self) -> None:
        """Ask what is running to end; how it did is told when it has."""
        if self._process is None:
            return
        if sys.platform == "win32":
            self._process.kill()  # nothing else reaches a process without a window
        else:
            self._process.terminate()

    def stop(self) -> None:
        """End what is running and wait for it; nobody is told."""
        process, self._process = self._process, None
        if process is None:
            return
        process.finished.disconnect(self._on_finish)
        process.errorOccurred.disconnect(self._on_failure)
        process.readyReadStandardError.disconnect(self._read_progress)
        process.terminate()
        if not process.waitForFinished(PATIENCE_MS):
            process.kill()
            process.waitForFinished(PATIENCE_MS)
        process.deleteLater()

    def _read_progress(self) -> None:
        """Take the lines that say how far it is out of what else it says."""
        process = self._process
        if process is None:
            return
        head = PROGRESS_LINE.encode()
        *lines, rest = (self._error + bytes(process.readAllStandardError().data())).split(b"\n")
        self._error = b"".join(line + b"\n" for line in lines if not line.startswith(head)) + rest
        if told := [line for line in lines if line.startswith(head)]:
            share, _, what = told[-1][len(head) :].decode("utf-8", "replace").partition("\t")
            self.progressed.emit(self._progress(share, what.strip()))

    def _progress(self, text: str, what: str) -> Progress:
        try:
            share = float(text)
        except ValueError:
            return Progress(None, what, None)
        now = time.monotonic()
        if self._begun is None:
            self._begun, self._first = now, share
        gone = share - self._first
        left = (now - self._begun) * (1 - share) / gone if gone > 0 else None
        return Progress(share, what, left)

    def _on_finish(self, status: int, how: QProcess.ExitStatus) -> None:
        self._read_progress()
        self._tell(status if how == QProcess.ExitStatus.NormalExit else None)

    def _on_failure(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            self._tell(None)

    def _tell(self, status: int | None) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        output = bytes(process.readAllStandardOutput().data()).decode("utf-8", "replace")
        error = self._error.decode("utf-8", "replace")
        if status is None and not error:
            error = process.errorString()
        process.deleteLater()
        self.ended.emit(Ended(status, output, error))


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
        job.ended.connect(partial(self._on_end, session))
        job.start(["replay", str(session)])

    def stop(self) -> None:
        """Close all windows: a session begins, or the program ends."""
        # Taken out first: that they end now is no failure, however far they had come.
        jobs, self._jobs = self._jobs, {}
        for job in jobs.values():
            job.stop()
            job.deleteLater()

    def _on_end(self, session: Path, ended: Ended) -> None:
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
    """Whether a session may be replayed, i.e. the participant has not withdrawn."""
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


OPENER = "xdg-open"
LOOK_MS = 200


def open_outside(path: Path, tell: Callable[[str], None]) -> None:
    """Open a file in the program that the system has for it.

    On Linux Qt says that a file is open as soon as it has asked for it; the system's own command
    says by its exit status whether anything opened it.

    Parameters
    ----------
    path : a file or a folder.
    tell : is given a sentence where nothing opens it, now or soon after.
    """
    sentence = tr("system.no_program", path=path)
    opener = shutil.which(OPENER) if sys.platform.startswith("linux") else None
    if opener is None:
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
            tell(sentence)
        return
    # A process of its own session: some programs are over only when the person closes them, and
    # they stay open when labapp is closed.
    process = subprocess.Popen(
        [opener, str(path)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    timer = QTimer(QCoreApplication.instance())

    def look() -> None:
        if process.poll() is None:
            return
        timer.stop()
        timer.deleteLater()
        if process.returncode:
            tell(sentence)

    timer.timeout.connect(look)
    timer.start(LOOK_MS)
