"""The runner as Qt signals: what windows connect to."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from labapp.events import Event
from labapp.session.runner import Runner
from labapp.ui.images import Images


class Bridge(QObject):
    """changed: the runner's state, pictures or `stalled` changed (GUI thread). happened: an event
    was appended, from any thread; Qt queues it into the GUI thread. images: the kept pictures of
    the session, where it shows any; windows share them."""

    changed = Signal()
    happened = Signal(object)

    def __init__(self, runner: Runner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.runner = runner
        self.images = None if runner.gallery is None else Images(runner.gallery)
        runner.listen(self.changed.emit)
        runner.journal.subscribe(self._publish)

    def _publish(self, event: Event) -> None:
        self.happened.emit(event)
