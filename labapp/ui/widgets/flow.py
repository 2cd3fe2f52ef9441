"""A layout that fills lines from left to right, as text does."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """An item wider than the line takes a line of its own, as high as it needs there."""

    def __init__(self, across: int, down: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._across, self._down = across, down
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._place(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._place(rect, move=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        widths = [item.minimumSize().width() for item in self._items]
        heights = [item.minimumSize().height() for item in self._items]
        return QSize(max(widths, default=0), max(heights, default=0))

    def _place(self, rect: QRect, *, move: bool) -> int:
        """Put the items where they belong; returns the height that they take."""
        x, y, line = rect.x(), rect.y(), 0
        for item in self._items:
            width = min(item.sizeHint().width(), rect.width())
            high = item.heightForWidth(width) if item.hasHeightForWidth() else -1
            height = high if high >= 0 else item.sizeHint().height()
            if x > rect.x() and x + width > rect.x() + rect.width():
                x, y, line = rect.x(), y + line + self._down, 0
            if move:
                item.setGeometry(QRect(QPoint(x, y), QSize(width, height)))
            x += width + self._across
            line = max(line, height)
        return y + line - rect.y()
