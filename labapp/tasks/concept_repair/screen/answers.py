"""The rule card: the names that the model can say, what each can be told by, and how probable the
model finds it; or, while that is hidden, a choice of what it will say."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QSizePolicy

from labapp.tasks.concept_repair.plan import PlannedClass
from labapp.ui import theme
from labapp.ui.strings import Strings
from labapp.ui.widgets.choice import Choice
from labapp.ui.widgets.painting import brush, color, draw_focus_ring, font, metrics, pen

LEAST_HEIGHT, MOST_HEIGHT = 34, 52
"""Logical pixels of a row: two lines of text, and what a finger needs."""
BAR_HEIGHT = 12
LEAST_BAR, GOOD_BAR, ARROW_WIDTH, ROUND_WIDTH = 48, 112, 16, 24
CHANGED = 0.01
"""From which difference on a bar that is now longer or shorter is marked by an arrow."""
HIGHER, LOWER = "▲", "▼"
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class AnswerCard(Choice):
    """The names in their order, a row each, and where something is foretold a last row for "the
    same as now". chosen(place, device): the hand wants the answer in a row, from 0.

    Where the bars were before the last change is drawn as a line at their former end, as long as
    that is the last change.

    Attributes
    ----------
    shares, former : tuple of float
        How probable the names are, and were before the last change; empty before there was one.
    """

    first_digit = None

    def __init__(
        self,
        classes: Sequence[PlannedClass],
        words: Strings,
        palette: theme.Palette,
        *,
        foretells: bool,
    ) -> None:
        super().__init__(palette, words("concept_answers"))
        self._classes, self._words, self._foretells = tuple(classes), words, foretells
        self.shares: tuple[float, ...] = ()
        self.former: tuple[float, ...] = ()
        self._hidden = False
        self._same = ""
        self._row = LEAST_HEIGHT
        self._left = ROUND_WIDTH if foretells else theme.SPACE_S
        percent = metrics(bold=True).horizontalAdvance(self._percent(1.0))
        self._right = ARROW_WIDTH + ceil(percent) + theme.SPACE_S
        self._text_width = ceil(
            max(
                max(
                    metrics(bold=True).horizontalAdvance(known.name),
                    metrics(theme.SECONDARY_PX).horizontalAdvance(known.marks),
                )
                for known in classes
            )
        )
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        names = [known.name for known in classes]
        self.show_options([*names, words("concept_same", name="")] if foretells else names)
        self.set_locked(True)

    @property
    def rows(self) -> int:
        """How many rows it has room for."""
        return len(self.options)

    def needed_width(self, bar: int = LEAST_BAR) -> int:
        """Logical pixels that names, marks and bars of that length need."""
        return self._left + self._text_width + theme.SPACE_S + bar + self._right

    def set_row_height(self, high: int) -> None:
        """Make each row so many logical pixels high, within what can be read and touched."""
        self._row = min(max(high, LEAST_HEIGHT), MOST_HEIGHT)
        self.setFixedHeight(self.rows * self._row + 2)
        self.place_options()

    def show_answer(
        self, now: Sequence[float], before: Sequence[float], *, hidden: bool, same: str
    ) -> None:
        """Show the probabilities. before: those before the last change, empty for none; hidden: no
        bars, but a choice; same: the answer as it is now, in words."""
        shown = (tuple(now), tuple(before), hidden, same)
        if shown == (self.shares, self.former, self._hidden, self._same):
            return
        self.shares, self.former, self._hidden, self._same = shown
        for place, known in enumerate(self._classes):
            text = f"{known.name}: {known.marks}" if known.marks else known.name
            if not hidden:
                text = f"{text}, {self._percent(now[place])}"
            self.options[place].setAccessibleName(text)
        if self._foretells:
            self.options[-1].setAccessibleName(self._words("concept_same", name=same))
        self.update()

    def _percent(self, share: float) -> str:
        return f"{100 * share:.0f}\N{NO-BREAK SPACE}%"

    def sizeHint(self) -> QSize:
        return QSize(self.needed_width(), self.rows * self._row + 2)

    def box(self, index: int) -> QRectF:
        return QRectF(1, 1 + index * self._row, self.width() - 2, self._row)

    def paint(self, painter: QPainter) -> None:
        p = self._colors
        best = max(range(len(self.shares)), key=self.shares.__getitem__, default=None)
        for index, known in enumerate(self._classes):
            box = self.box(index)
            strong = index == (self.index if self._hidden else best)
            self._paint_ground(painter, index, box, strong=strong)
            self._paint_words(painter, box, known, strong=strong)
            if not self._hidden and self.shares:
                self._paint_bar(painter, box, index, strong=strong)
        if self._hidden:
            index, box = len(self._classes), self.box(len(self._classes))
            self._paint_ground(painter, index, box, strong=index == self.index)
            painter.setFont(font(bold=index == self.index))
            painter.setPen(color(p.ink))
            text = self._words("concept_same", name=self._same)
            painter.drawText(box.adjusted(self._left, 0, 0, 0), _LEFT, text)
        if self.hasFocus():
            draw_focus_ring(painter, QRectF(self.rect()), theme.RADIUS, p.accent)

    def _paint_ground(self, painter: QPainter, index: int, box: QRectF, *, strong: bool) -> None:
        p = self._colors
        painter.setPen(pen(p.hairline))
        if index:
            painter.drawLine(box.topLeft(), box.topRight())
        if strong or index == self._hover:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(brush(p.accent_soft if strong else p.track))
            painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), theme.RADIUS - 2, theme.RADIUS - 2)
        if self._hidden:
            at = QPointF(box.left() + ROUND_WIDTH / 2, box.center().y())
            painter.setPen(pen(p.accent if strong else p.secondary, 1.4))
            painter.setBrush(brush(p.accent if strong else p.card))
            painter.drawEllipse(at, 7.0, 7.0)
            if strong:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(brush(p.on_accent))
                painter.drawEllipse(at, 3.0, 3.0)

    def _paint_words(
        self, painter: QPainter, box: QRectF, known: PlannedClass, *, strong: bool
    ) -> None:
        p = self._colors
        words = box.adjusted(self._left, 0, 0, 0)
        half = box.height() / 2
        upper = words.adjusted(0, 1, 0, 3 - half) if known.marks else words
        painter.setFont(font(bold=True))
        painter.setPen(color(p.accent if strong else p.ink))
        painter.drawText(upper, _LEFT, known.name)
        painter.setFont(font(theme.SECONDARY_PX))
        painter.setPen(color(p.secondary))
        painter.drawText(words.adjusted(0, half - 1, 0, -2), _LEFT, known.marks)

    def _paint_bar(self, painter: QPainter, box: QRectF, index: int, *, strong: bool) -> None:
        p, share = self._colors, self.shares[index]
        left = box.left() + self._left + self._text_width + theme.SPACE_S
        top, wide = box.center().y() - BAR_HEIGHT / 2, box.right() - self._right - left
        painter.fillRect(QRectF(left, top, wide, BAR_HEIGHT), brush(p.track))
        filled = QRectF(left, top, max(share * wide, 1.0), BAR_HEIGHT)
        painter.fillRect(filled, brush(p.accent if strong else p.secondary))
        changed = self.former[index] if self.former else share
        arrow = ""
        if abs(changed - share) >= CHANGED:
            arrow = HIGHER if share > changed else LOWER
            at = left + changed * wide
            painter.fillRect(QRectF(at - 1, top - 4, 2, BAR_HEIGHT + 8), brush(p.ink))
        painter.setFont(font(bold=strong))
        painter.setPen(color(p.accent if strong else p.ink))
        painter.drawText(box.adjusted(0, 0, -theme.SPACE_XS, 0), _RIGHT, self._percent(share))
        painter.setFont(font(theme.SECONDARY_PX - 2))
        painter.setPen(color(p.secondary))
        at_bar = QRectF(box.right() - self._right, box.top(), ARROW_WIDTH, box.height())
        painter.drawText(at_bar, Qt.AlignmentFlag.AlignCenter, arrow)
