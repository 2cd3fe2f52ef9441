"""Whether a window is quiet while nothing happens: a widget that asks for a new layout whenever it
gets one keeps a processor busy for a whole session, and nobody sees it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QWidget

ROUNDS, SETTLES, MOST = 40, 10, 4


class _Layouts(QObject):
    """Counts the new layouts of each widget."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[str, int] = {}

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest and isinstance(watched, QWidget):
            name = f"{type(watched).__name__} in {type(watched.window()).__name__}"
            self.counts[name] = self.counts.get(name, 0) + 1
        return False


def restless_widgets() -> dict[str, int]:
    """Widgets of all windows that are laid out again and again, and how often in 40 rounds of the
    event loop."""
    application = QApplication.instance()
    assert application is not None
    layouts = _Layouts()
    for _ in range(SETTLES):
        QApplication.processEvents()
    application.installEventFilter(layouts)
    for _ in range(ROUNDS):
        QApplication.processEvents()
    application.removeEventFilter(layouts)
    return {name: count for name, count in layouts.counts.items() if count > MOST}
