"""What lies between the bars of a window: as large as there is room for, and where that is less
than it needs, it scrolls."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from types import FunctionType

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QSize, Qt
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QStackedWidget, QWidget

from labapp.ui.participant.focus import InView

LOOKS = 4
"""So often layouts are looked at until all of them know their room."""
MOST_CHANGES, CALM_S = 8, 0.2
"""A screen that asks for more whenever it gets more is given no more than so often."""


class Body(QScrollArea):
    """inside: what scrolls; of a stack, what is on top counts. takes_key: asked before a key
    scrolls, which would take every arrow key from a page that announces it.

    A screen fits its pictures into the room that it gets. So it is first given the room that there
    is, and more only where it still asks for more.
    """

    def __init__(self, inside: QWidget) -> None:
        super().__init__()
        self.takes_key: Callable[[QKeyEvent], bool] = lambda event: False
        self._beginning = False
        self._room = QSize()
        self._since, self._changes = 0.0, 0
        self._inside = inside
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(inside)
        for widget in (inside, self.viewport()):
            widget.setAutoFillBackground(False)
        inside.installEventFilter(self)
        if isinstance(inside, QStackedWidget):
            inside.currentChanged.connect(self._begin)
        self._in_view = InView(self)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, 0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.takes_key(event):
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # Bars that come or go change the viewport, too.
        if self.maximumViewportSize() != self._room:
            self._begin()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._inside and event.type() == QEvent.Type.LayoutRequest:
            self._settle()
        return super().eventFilter(watched, event)

    def begin(self, focused: QWidget) -> None:
        """Show the top of what came up, where this has the focus."""
        self._in_view.begin(focused)

    @property
    def _top(self) -> QWidget | None:
        inside = self._inside
        return inside.currentWidget() if isinstance(inside, QStackedWidget) else inside

    def _begin(self) -> None:
        """Give what is on top the room that there is, and once its pictures have taken what others
        leave them, more where it needs more."""
        if self._beginning:
            return
        self._beginning = True
        try:
            self._room, self._changes = self.maximumViewportSize(), 0
            self._inside.resize(self._room)
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
        needed = least(self._top, room.width())
        if needed.height() > room.height():
            room.setWidth(room.width() - self.verticalScrollBar().sizeHint().width())
        if needed.width() > room.width():
            room.setHeight(room.height() - self.horizontalScrollBar().sizeHint().height())
        size, now = room.expandedTo(needed), monotonic()
        if now - self._since > CALM_S:
            self._since, self._changes = now, 0
        if size != self._inside.size() and self._changes < MOST_CHANGES:
            self._changes += 1
            self._inside.resize(size)


class PageStack(QStackedWidget):
    """Pages of a screen. It asks for the room of the page that is seen: one that was seen before
    keeps the size of its pictures, for which there may be no room any more."""

    def __init__(self) -> None:
        super().__init__()
        self.currentChanged.connect(self.updateGeometry)

    def minimumSizeHint(self) -> QSize:
        page = self.currentWidget()
        return QSize() if page is None else page.minimumSizeHint()


def least(widget: QWidget | None, width: int) -> QSize:
    """The least size that a widget's layout asks for, at a width if it can have that."""
    if widget is None or (layout := widget.layout()) is None:
        return QSize()
    layout.activate()
    size = widget.minimumSizeHint()
    pages = widget.findChild(QStackedWidget)
    if pages is not None:
        # Qt says what the highest page would like, not what the one that is seen needs.
        more = least(pages.currentWidget(), width).height() - pages.minimumSizeHint().height()
        size.setHeight(size.height() + max(0, more))
    elif layout.hasHeightForWidth() and not isinstance(type(widget).minimumSizeHint, FunctionType):
        # A page that says itself how little it can do with does not ask for the pictures it has.
        high = layout.minimumHeightForWidth(max(width, size.width()))
        size.setHeight(max(size.height(), high))
    return size
