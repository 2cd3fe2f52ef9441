"""What lies between the bars of the participant's window: as large as there is room for, and where
that is less than it needs, it scrolls."""

from __future__ import annotations

from time import monotonic

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QStackedWidget, QWidget

from labapp.ui.participant.focus import InView

LOOKS = 4
"""So often layouts are looked at until all of them know their room."""
MOST_CHANGES, CALM_S = 8, 0.2
"""A screen that asks for more whenever it gets more is given no more than so often."""


class Body(QScrollArea):
    """A stack of screens.

    A screen fits its pictures into the room that it gets. So it is first given the room that there
    is, and more only where it still asks for more.
    """

    def __init__(self) -> None:
        super().__init__()
        self._beginning = False
        self._since, self._changes = 0.0, 0
        self.stack = QStackedWidget()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(self.stack)
        for inside in (self.stack, self.viewport()):
            inside.setAutoFillBackground(False)
        self.stack.installEventFilter(self)
        self.stack.currentChanged.connect(self._begin)
        InView(self)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._begin()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.stack and event.type() == QEvent.Type.LayoutRequest:
            self._settle()
        return super().eventFilter(watched, event)

    def _begin(self) -> None:
        """Give what is on top the room that there is, and once its pictures have taken what others
        leave them, more where it needs more."""
        if self._beginning:
            return
        self._beginning = True
        try:
            self.stack.resize(self.maximumViewportSize())
            for _ in range(LOOKS):
                QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
        finally:
            self._beginning = False
        self._settle()

    def _settle(self) -> None:
        """What is on top needs more than it did, or less: it keeps the pictures that it has."""
        if self._beginning:
            return
        room = self.maximumViewportSize()
        needed = least(self.stack.currentWidget(), room.width())
        if needed.height() > room.height():
            room.setWidth(room.width() - self.verticalScrollBar().sizeHint().width())
        if needed.width() > room.width():
            room.setHeight(room.height() - self.horizontalScrollBar().sizeHint().height())
        size, now = room.expandedTo(needed), monotonic()
        if now - self._since > CALM_S:
            self._since, self._changes = now, 0
        if size != self.stack.size() and self._changes < MOST_CHANGES:
            self._changes += 1
            self.stack.resize(size)


def least(widget: QWidget | None, width: int) -> QSize:
    """The least size that a widget's layout asks for, at a width if it can have that."""
    if widget is None or (layout := widget.layout()) is None:
        return QSize()
    layout.activate()
    size = layout.totalMinimumSize()
    pages = widget.findChild(QStackedWidget)
    if pages is not None:
        # Qt says what the highest page would like, not what the one that is seen needs.
        more = least(pages.currentWidget(), width).height() - pages.minimumSizeHint().height()
        size.setHeight(size.height() + max(0, more))
    elif layout.hasHeightForWidth():
        high = layout.minimumHeightForWidth(max(width, size.width()))
        size.setHeight(max(size.height(), high))
    return size
