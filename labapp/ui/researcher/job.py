"""A command of labapp in a process of its own: what the window says is what the command says.

Analyses load pandas and matplotlib and compute for seconds; neither belongs into the process that
runs sessions.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, Signal

from labapp.ui import display

PATIENCE_MS = 5000
"""After being asked to stop a command may take so long to leave things whole."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended. status: its exit status, None where it was stopped or did not start;
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


class Job(QObject):
    """Runs one command at a time; `ended(Ended)` when it is over, never after `stop`."""

    ended = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._process: QProcess | None = None

    @property
    def running(self) -> bool:
        return self._process is not None

    def start(self, arguments: Sequence[str]) -> None:
        """Run `labapp` with arguments. Nothing may be running."""
        assert self._process is None
        process = QProcess(self)
        environment = QProcessEnvironment.systemEnvironment()
        # What comes back is read as text, whatever the system's code page is.
        environment.insert("PYTHONIOENCODING", "utf-8")
        for name, value in display.answered().items():
            environment.insert(name, value)
        process.setProcessEnvironment(environment)
        process.finished.connect(self._finished)
        process.errorOccurred.connect(self._failed)
        self._process = process
        process.start(sys.executable, ["-m", "labapp", *arguments])

    def stop(self) -> None:
        """End what is running and wait for it; nobody is told."""
        process, self._process = self._process, None
        if process is None:
            return
        process.finished.disconnect(self._finished)
        process.errorOccurred.disconnect(self._failed)
        process.terminate()
        if not process.waitForFinished(PATIENCE_MS):
            process.kill()
            process.waitForFinished(PATIENCE_MS)
        process.deleteLater()

    def _finished(self, status: int, how: QProcess.ExitStatus) -> None:
        self._tell(status if how == QProcess.ExitStatus.NormalExit else None)

    def _failed(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            self._tell(None)

    def _tell(self, status: int | None) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        output = bytes(process.readAllStandardOutput().data()).decode("utf-8", "replace")
        error = bytes(process.readAllStandardError().data()).decode("utf-8", "replace")
        if status is None and not error:
            error = process.errorString()
        process.deleteLater()
        self.ended.emit(Ended(status, output, error))
