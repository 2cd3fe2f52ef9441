"""The runner as Qt signals: what windows connect to."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from labapp.events import Event
from labapp.session.runner import Runner


class Bridge(QObject):
    """changed: the runner's state, pictures or `stalled` changed (GUI thread). happened: an event
    was appended, from any thread; Qt queues it into the GUI thread."""

    changed = Signal()
    happened = Signal(object)

    def __init__(self, runner: Runner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.runner = runner
        runner.listen(self.changed.emit)
        runner.journal.subscribe(self._publish)

    def _publish(self, event: Event) -> None:
        self.happened.emit(event)
