"""Answers as cards, of which the right one is told at the end, and classes as tabs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QSizePolicy

from labapp.ui import theme
from labapp.ui.widgets.choice import Choice
from labapp.ui.widgets.painting import brush, color, draw_focus_ring, font, metrics, pen

HEIGHT = theme.TARGET_HEIGHT + 6
MOST_WIDTH = 128.0
ROOMY = 56.0
"""A narrower answer is written small, with its mark close by."""
RIGHT_MARK, WRONG_MARK = "✓", "✗"
TAB_HEIGHT = 48
LINE = 3
DONE, MISSING = "✓", "▸"


class AnswerRow(Choice):
    """Answers in words, or letters, which are keys then.

    `show_right` locks the row and marks the right answer and, where it is another one, the chosen.
    """

    def __init__(self, palette: theme.Palette, name: str) -> None:
        super().__init__(palette, name)
        self._texts: tuple[str, ...] = ()
        self._right: int | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_texts(self, texts: Sequence[str]) -> None:
        """What can be answered."""
        if self._texts != tuple(texts):
            self._texts = tuple(texts)
            self.show_options(texts)

    def show_right(self, right: int | None) -> None:
        """Tell the right answer; None opens the row for the next question."""
        if right != self._right:
            self._right = right
            self.set_locked(right is not None)
            self.update()

    def place_of(self, typed: str) -> int | None:
        if typed and typed.upper() in self._texts:
            return self._texts.index(typed.upper())
        return super().place_of(typed)

    def sizeHint(self) -> QSize:
        return QSize(round(MOST_WIDTH * 3), HEIGHT)

    def box(self, index: int) -> QRectF:
        count = max(len(self._texts), 1)
        gap = theme.SPACE_S if count <= 5 else theme.SPACE_XS
        wide = min((self.width() - (count - 1) * gap) / count, MOST_WIDTH)
        return QRectF(index * (wide + gap), 0, wide, HEIGHT)

    def paint(self, painter: QPainter) -> None:
        for index, text in enumerate(self._texts):
            self._paint_answer(painter, index, text)
        if self.hasFocus() and not self.locked:
            whole = self.box(0).united(self.box(len(self._texts) - 1))
            draw_focus_ring(painter, whole, theme.RADIUS, self._colors.accent)

    def _paint_answer(self, painter: QPainter, index: int, text: str) -> None:
        p = self._colors
        box = self.box(index).adjusted(3, 3, -3, -3)
        on, right = index == self.index, index == self._right
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


class ClassTabs(Choice):
    """The classes whose rows can be looked at, each with how many rows are rated. opened(option):
    the hand wants to look at this class, from 1.

    name: what the tabs are. said: a tab in words, of its name, how many rows are rated and of how
    many.
    """

    opened = Signal(int)

    def __init__(
        self,
        names: Sequence[str],
        palette: theme.Palette,
        name: str,
        text_of: Callable[[str, int, int], str],
    ) -> None:
        super().__init__(palette, name)
        self._names, self._said = tuple(names), text_of
        self._counts: tuple[tuple[int, int], ...] = ((0, 0),) * len(names)
        self._marked: tuple[bool, ...] = (False,) * len(names)
        self.setFixedHeight(TAB_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.show_options(names)
        self.chosen.connect(lambda index, _device: self.opened.emit(index + 1))

    def show_state(
        self, option: int, counts: Sequence[tuple[int, int]], marked: Sequence[bool]
    ) -> None:
        """The class that is looked at; of each how many rows are rated, of how many, and whether to
        mark it as one that lacks some."""
        self._counts, self._marked = tuple(counts), tuple(marked)
        for tab, name, count in zip(self.options, self._names, counts, strict=False):
            tab.setAccessibleName(self._said(name, *count))
        self.show_index(option - 1)
        self.update()

    def sizeHint(self) -> QSize:
        widest = max(metrics(bold=True).horizontalAdvance(name) for name in self._names)
        return QSize(round(widest + 2 * theme.SPACE_M) * len(self._names), TAB_HEIGHT)

    def box(self, index: int) -> QRectF:
        wide = self.width() / len(self._names)
        return QRectF(index * wide, 0, wide, TAB_HEIGHT)

    def pressed_by(self, key: Qt.Key) -> int | None:
        return None

    def paint(self, painter: QPainter) -> None:
        p = self._colors
        painter.fillRect(QRectF(0, TAB_HEIGHT - 1, self.width(), 1), brush(p.hairline))
        for index in range(len(self._counts)):
            self._paint_tab(painter, index)
        if self.hasFocus():
            ring = self.box(self._at).adjusted(1, 1, -1, -1)
            draw_focus_ring(painter, ring, theme.RADIUS, p.accent)

    def _paint_tab(self, painter: QPainter, index: int) -> None:
        p, box, on = self._colors, self.box(index), index == self.index
        done, of = self._counts[index]
        if on or index == self._hover:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(brush(p.accent_soft if on else p.track))
            painter.drawRoundedRect(box.adjusted(2, 2, -2, -LINE), theme.RADIUS, theme.RADIUS)
        if on:
            line = QRectF(box.left(), TAB_HEIGHT - LINE, box.width(), LINE)
            painter.fillRect(line, brush(p.accent))
        painter.setFont(font(bold=on))
        painter.setPen(color(p.accent if on else p.ink))
        upper = QRectF(box.left(), 5, box.width(), 20)
        painter.drawText(upper, Qt.AlignmentFlag.AlignCenter, self._names[index])
        whole, lacks = done == of, self._marked[index]
        painter.setFont(font(theme.SECONDARY_PX))
        painter.setPen(color(p.good if whole else p.warn if lacks else p.secondary))
        mark = f"{DONE} " if whole else f"{MISSING} " if lacks else ""
        lower = QRectF(box.left(), 24, box.width(), 18)
        painter.drawText(lower, Qt.AlignmentFlag.AlignCenter, f"{mark}{done} / {of}")
