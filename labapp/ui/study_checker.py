"""Checks of studies, in a thread: one with many pictures takes seconds, and the window goes on."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

from PySide6.QtCore import QObject, Signal, Slot

from labapp.base.errors import LabappError, StudyError
from labapp.session.gate import look_at
from labapp.ui import mistakes
from labapp.ui.language import counted, tr

Errors = tuple[LabappError, ...]


class StudyChecker(QObject):
    """Looks for every mistake in a study. ended(str, tuple): the study, by id or path, and what is
    wrong with it; in the window's thread."""

    ended = Signal(str, object)
    _done = Signal(str, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool: ThreadPoolExecutor | None = None
        self._running: set[str] = set()
        self._done.connect(self._tell)

    def check(self, study: str) -> None:
        """Begin to look, unless that study is being looked at."""
        if study in self._running:
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="checks")
        self._running.add(study)
        # The signal is emitted in the thread and received in the window's: Qt queues it.
        future = self._pool.submit(_mistakes, study)
        future.add_done_callback(
            lambda done: None if done.cancelled() else self._done.emit(study, done)
        )

    def close(self) -> None:
        """Forget what was not begun, wait for what was, and end the thread."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None
        self._running.clear()

    @Slot(str, object)
    def _tell(self, study: str, done: Future[Errors]) -> None:
        if study in self._running:
            self._running.discard(study)
            self.ended.emit(study, done.result())


def _mistakes(study: str) -> Errors:
    try:
        with mistakes.worded(tr("study.unusable")):
            return look_at(study).errors
    except LabappError as error:
        return (error,)


def told_in_place(study: str, error: LabappError) -> LabappError:
    """An error for the strip above the page. Faults with lines stand on the study's page: here is
    said how many there are."""
    if not any(fault.line for fault in error.faults):
        return error
    what = counted(len(error.faults), "study.faults", study=study)
    todo = tr("study.faults_on_page", page=tr("tab.study"))
    return StudyError(what, safe=error.safe, todo=todo)
