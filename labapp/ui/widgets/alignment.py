"""How near the picture is to the target: a bar, with a target's mark if there is one, and the
number."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy

from labapp.ui import theme
from labapp.ui.widgets.heard import Picture
from labapp.ui.widgets.painting import brush, color, font, metrics, pen

BAR_H = 14.0
HEAD_H = 36.0
FOOT_H = 20.0
MARK_OUT = 5.0
CHECK_R = 11.0


class AlignmentBar(Picture):
    """Alignment in 0..1, shown in per cent with one decimal. Solved, it turns good, with a check
    mark and a word beside the colour. number: writes a number as the language does."""

    def __init__(
        self,
        title: str,
        solved_text: str,
        palette: theme.Palette,
        number: Callable[[str], str] = str,
    ) -> None:
        super().__init__()
        self._title = title
        self._solved_text = solved_text
        self._colors = palette
        self._target: float | None = None
        self._target_text = ""
        self._alignment = 0.0
        self._number = number
        self._percent = number("0.0 %")
        self._solved = False
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(title)

    @property
    def percent(self) -> str:
        """The number as shown."""
        return self._percent

    @property
    def solved(self) -> bool:
        return self._solved

    def set_target(self, target: float, text: str) -> None:
        """The mark, at a share of the bar, and its words."""
        self._target, self._target_text = target, text
        self.update()

    def show_alignment(self, alignment: float, solved: bool) -> None:
        if alignment == self._alignment and solved == self._solved:
            return
        self._alignment, self._solved = alignment, solved
        self._percent = self._number(f"{alignment * 100:.1f} %")
        text = self._solved_text if solved else self._target_text
        self.setAccessibleDescription(f"{self._percent}, {text}" if text else self._percent)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(400, round(HEAD_H + BAR_H + 2 * MARK_OUT + FOOT_H))

    def paintEvent(self, event: QPaintEvent) -> None:
        p = self._colors
        width = float(self.width())
        painter = QPainter(self)
        painter.fillRect(self.rect(), brush(p.ground))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        head = QRectF(0, 0, width, HEAD_H)
        low_left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom
        low_right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom
        strong = p.good if self._solved else p.ink
        painter.setFont(font())
        painter.setPen(color(p.ink))
        painter.drawText(head.adjusted(0, 0, 0, -4), low_left, self._title)
        painter.setFont(font(theme.NUMBER_PX, True))
        painter.setPen(color(strong))
        painter.drawText(head, low_right, self._percent)
        if self._solved:
            self._paint_solved(painter, head)
        bar = QRectF(0, HEAD_H + MARK_OUT, width, BAR_H)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(brush(p.track))
        painter.drawRoundedRect(bar, BAR_H / 2, BAR_H / 2)
        filled = width * min(max(self._alignment, 0.0), 1.0)
        if filled >= 1:
            painter.setBrush(brush(p.good if self._solved else p.accent))
            part = QRectF(0, bar.top(), max(filled, BAR_H), BAR_H)
            painter.drawRoundedRect(part, BAR_H / 2, BAR_H / 2)
        if self._target is not None:
            self._paint_target(painter, bar, self._target)
        painter.end()

    def _paint_target(self, painter: QPainter, bar: QRectF, target: float) -> None:
        p, width = self._colors, bar.width()
        x = min(width * target, width - 1)
        painter.setPen(pen(p.ink, 2.0))
        painter.drawLine(
            QPointF(x, bar.top() - MARK_OUT + 1), QPointF(x, bar.bottom() + MARK_OUT - 1)
        )
        painter.setFont(font(theme.SECONDARY_PX))
        painter.setPen(color(p.secondary))
        half = metrics(theme.SECONDARY_PX).horizontalAdvance(self._target_text) / 2 + 1
        middle = min(max(x, half), width - half)
        foot = QRectF(middle - half, bar.bottom() + MARK_OUT, 2 * half, FOOT_H)
        painter.drawText(foot, Qt.AlignmentFlag.AlignCenter, self._target_text)

    def _paint_solved(self, painter: QPainter, head: QRectF) -> None:
        """A check mark in a disc, and the word, left of the number."""
        p = self._colors
        number = metrics(theme.NUMBER_PX, True).horizontalAdvance(self._percent)
        word = metrics(theme.BODY_PX, True).horizontalAdvance(self._solved_text)
        right = head.right() - number - theme.SPACE_L
        painter.setFont(font(theme.BODY_PX, True))
        painter.setPen(color(p.good))
        box = QRectF(right - word, 0, word + 1, HEAD_H - 4)
        painter.drawText(
            box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom, self._solved_text
        )
        centre = QPointF(right - word - theme.SPACE_S - CHECK_R, HEAD_H - 4 - CHECK_R)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(brush(p.good))
        painter.drawEllipse(centre, CHECK_R, CHECK_R)
        painter.setPen(pen(p.on_accent, 2.4))
        x, y = centre.x(), centre.y()
        painter.drawPolyline([QPointF(x - 5, y), QPointF(x - 1.5, y + 4), QPointF(x + 5, y - 4)])
