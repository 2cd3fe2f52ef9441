"""The preview that the home opens: a process of its own, which no session has to wait for."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from labapp.errors import ProgramError
from labapp.ui.language import tr
from labapp.ui.moderator.study_page import StudyPage
from labapp.ui.researcher.job import Ended, Job


class PreviewProcess(QObject):
    """Runs `labapp studies preview` when the study's page asks for it, one at a time.

    Signals
    -------
    failed(LabappError)
        Why it could not be shown.
    """

    failed = Signal(object)

    def __init__(self, page: StudyPage, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._page = page
        self._arguments: Sequence[str] = ()
        self._job = Job(self)
        self._job.ended.connect(self._ended)
        page.preview_requested.connect(self._open)

    def choose(self, study: str, participant: str, drawn: Sequence[str]) -> None:
        """Say what would be shown.

        Parameters
        ----------
        study : id or path.
        participant : the label whose plan it is.
        drawn : the conditions that the participant gets; empty where none is drawn.
        """
        condition = [f"--condition={','.join(drawn)}"] if drawn else []
        self._arguments = [f"--participant={participant}", *condition, "--", study]

    def stop(self) -> None:
        """Close it: a session begins, or the program ends."""
        self._job.stop()
        self._page.set_previewing(False)

    def _open(self) -> None:
        if not self._job.running:
            self._job.start(["studies", "preview", *self._arguments])
            self._page.set_previewing(True)

    def _ended(self, ended: Ended) -> None:
        self._page.set_previewing(False)
        if not ended.ok:
            self.failed.emit(
                ProgramError(
                    tr("The preview could not be shown."),
                    safe=tr("A preview keeps nothing, and changes nothing."),
                    todo=ended.error.strip(),
                )
            )
