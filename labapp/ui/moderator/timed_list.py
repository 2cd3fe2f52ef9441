"""A list of what happened: its time, then its words in as many lines as they need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QSizePolicy,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from labapp.ui import theme
from labapp.ui.language import tr
from labapp.ui.moderator import wording
from labapp.ui.theme import Palette
from labapp.ui.widgets.painting import font, metrics

LINE_ROLE = Qt.ItemDataRole.UserRole
TEXT_PX = theme.BODY_PX - 1
GAP = theme.SPACE_S
LINE_PX, LEAST_HEIGHT = 24, 60
"""Logical pixels of a line that is not wrapped, and of the list where there is little room."""
BAR = 3
RIGHT = 6
WRAP = int(Qt.TextFlag.TextWordWrap)


@dataclass(frozen=True, slots=True)
class Line:
    """token: the colour of the bar that tells kinds apart; struck: it was taken back."""

    working_ns: int
    text: str
    token: str
    struck: bool = False

    @property
    def time(self) -> str:
        return wording.short_time(self.working_ns)


class _Delegate(QStyledItemDelegate):
    def __init__(self, palette: Palette, parent: QListWidget) -> None:
        super().__init__(parent)
        self._palette = palette
        self._list = parent

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        line: Line = index.data(LINE_ROLE)
        box: QRect = option.rect
        bar = QRect(box.left(), box.top() + 2, BAR, box.height() - 4)
        painter.fillRect(bar, self._palette.color(line.token))
        left = box.left() + BAR + GAP
        painter.setFont(font(theme.SECONDARY_PX))
        painter.setPen(self._palette.color("secondary"))
        width = metrics(theme.SECONDARY_PX).horizontalAdvance(line.time)
        painter.drawText(QRectF(left, box.top() + 4, width + 1, 20), 0, line.time)
        words = font(TEXT_PX)
        words.setStrikeOut(line.struck)
        painter.setFont(words)
        painter.setPen(self._palette.color("secondary" if line.struck else "ink"))
        left += ceil(width) + GAP
        room = QRectF(left, box.top() + 3, box.right() - RIGHT - left, box.height())
        painter.drawText(room, WRAP, line.text)

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        line: Line = index.data(LINE_ROLE)
        time = ceil(metrics(theme.SECONDARY_PX).horizontalAdvance(line.time))
        width = max(40, self._list.viewport().width() - BAR - 2 * GAP - RIGHT - time)
        text = metrics(TEXT_PX).boundingRect(QRectF(0, 0, width, 10_000), WRAP, line.text)
        return QSize(width, max(LINE_PX, ceil(text.height()) + 8))


class TimedList(QListWidget):
    """Newest first. A click in it leaves the keyboard where it is.

    chosen(place): a line was double-clicked, counted from the oldest.
    """

    chosen = Signal(int)

    def __init__(self, palette: Palette, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setItemDelegate(_Delegate(palette, self))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSelectionMode(QListWidget.SelectionMode.NoSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.setMinimumHeight(LEAST_HEIGHT)
        # It takes the room that is left, and pushes nothing away.
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.doubleClicked.connect(lambda at: self.chosen.emit(self.count() - 1 - at.row()))

    def height_of(self, lines: int) -> int:
        """Logical pixels in which so many short lines are seen, and never less than the least."""
        line = max(LINE_PX, ceil(metrics(TEXT_PX).height()) + 8)
        return max(LEAST_HEIGHT, lines * line + 2 * self.frameWidth())

    def show_lines(self, lines: Sequence[Line]) -> None:
        """Lines in the order they happened; only those that are new or changed are touched."""
        for _ in range(self.count(), len(lines)):
            self.insertItem(0, QListWidgetItem())
        for place, line in enumerate(reversed(lines)):
            item = self.item(place)
            if item.data(LINE_ROLE) != line:
                item.setData(LINE_ROLE, line)
                text = tr("taken back: {text}", text=line.text) if line.struck else line.text
                item.setData(Qt.ItemDataRole.AccessibleTextRole, text)
        self.scrollToTop()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.scheduleDelayedItemsLayout()
