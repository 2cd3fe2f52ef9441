"""A row of answers in words: one can be taken, and the right one is told at the end."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from labapp.ui import theme
from labapp.ui.widgets.painting import brush, color, draw_focus_ring, font, pen

HEIGHT = theme.TARGET_HEIGHT + 6
MOST_WIDTH = 128.0
ROOMY = 56.0
"""A narrower answer is written small, with its mark close by."""
RIGHT_MARK, WRONG_MARK = "✓", "✗"


class AnswerRow(QWidget):
    """chosen(index, device): the hand asks for an answer; index counts from 0.

    Nothing is chosen at first. `show_right` locks the row and marks the right answer and, where it
    is another one, the chosen.
    """

    chosen = Signal(int, str)

    def __init__(self, palette: theme.Palette) -> None:
        super().__init__()
        self._colors = palette
        self._texts: tuple[str, ...] = ()
        self._index: int | None = None
        self._right: int | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    @property
    def index(self) -> int | None:
        return self._index

    @property
    def locked(self) -> bool:
        return self._right is not None

    def show_texts(self, texts: Sequence[str]) -> None:
        """What can be answered."""
        if self._texts != tuple(texts):
            self._texts = tuple(texts)
            self.setAccessibleName(" / ".join(texts))
            self.update()

    def show_index(self, index: int | None) -> None:
        if index != self._index:
            self._index = index
            self.setAccessibleDescription("" if index is None else self._texts[index])
            self.update()

    def show_right(self, right: int | None) -> None:
        """Tell the right answer; None opens the row for the next question."""
        if right == self._right:
            return
        self._right = right
        locked = right is not None
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus if locked else Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.ArrowCursor if locked else Qt.CursorShape.PointingHandCursor)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(MOST_WIDTH * 3), HEIGHT)

    def box(self, index: int) -> QRectF:
        """Where an answer is drawn."""
        count = max(len(self._texts), 1)
        gap = theme.SPACE_S if count <= 5 else theme.SPACE_XS
        wide = min((self.width() - (count - 1) * gap) / count, MOST_WIDTH)
        return QRectF(index * (wide + gap), 0, wide, HEIGHT)

    def _ask(self, index: int, device: str) -> None:
        index = min(max(index, 0), len(self._texts) - 1)
        if not self.locked and index != self._index:
            self.chosen.emit(index, device)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            for index in range(len(self._texts)):
                if self.box(index).contains(event.position()):
                    self._ask(index, "mouse")

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        last, at = len(self._texts) - 1, self._index
        match event.key():
            case Qt.Key.Key_Right | Qt.Key.Key_Down:
                self._ask(0 if at is None else at + 1, "keyboard")
            case Qt.Key.Key_Left | Qt.Key.Key_Up:
                self._ask(last if at is None else at - 1, "keyboard")
            case Qt.Key.Key_Home:
                self._ask(0, "keyboard")
            case Qt.Key.Key_End:
                self._ask(last, "keyboard")
            case Qt.Key.Key_Space if at is None:
                self._ask(0, "keyboard")
            case _ if event.text().upper() in self._texts:  # answers that are letters
                self._ask(self._texts.index(event.text().upper()), "keyboard")
            case _ if event.text().isdigit() and 1 <= int(event.text()) <= last + 1:
                self._ask(int(event.text()) - 1, "keyboard")
            case _:
                event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for index, text in enumerate(self._texts):
            self._paint_answer(painter, index, text)
        if self.hasFocus() and not self.locked:
            whole = self.box(0).united(self.box(len(self._texts) - 1))
            draw_focus_ring(painter, whole, theme.RADIUS, self._colors.accent)
        painter.end()

    def _paint_answer(self, painter: QPainter, index: int, text: str) -> None:
        p = self._colors
        box = self.box(index).adjusted(3, 3, -3, -3)
        on, right = index == self._index, index == self._right
        roomy = box.width() >= ROOMY
        tone, ground = (p.accent, p.accent_soft) if on else (p.hairline, p.card)
        if self.locked and (on or right):
            tone = p.good if right else p.alarm
            text = f"{RIGHT_MARK if right else WRONG_MARK}{' ' if roomy else ''}{text}"
        painter.setPen(pen(tone, 2.0 if on or right else 1.0))
        painter.setBrush(brush(ground))
        painter.drawRoundedRect(box, theme.RADIUS - 2, theme.RADIUS - 2)
        px = theme.BODY_PX if roomy else theme.SECONDARY_PX
        painter.setFont(font(px, bold=on or right))
        painter.setPen(color(p.ink if tone == p.hairline else tone))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
