"""A question's options as joined segments, in a row or one below the other; nothing is taken at
first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import ceil

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QTextDocument,
    QTextOption,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from labapp.ui import theme
from labapp.ui.widgets.painting import brush, color, draw_focus_ring, font, metrics, pen

HEIGHT = theme.TARGET_HEIGHT + 4
LINE = 18
"""Logical pixels from line to line of an option that takes several."""
PAD = 8
LINES_MOST = 3
MARKUP = re.compile(r"<[^>]+>")


def spoken(text: str) -> str:
    """An option without its markup."""
    return MARKUP.sub("", text)


class SegmentedChoice(QWidget):
    """chosen(index, device): the hand asks for an option, counted from 0.

    Arrow keys go from option to option, Space or Enter takes one, and so does the digit of its
    place. Options may name italics and underlining (`<i>`, `<u>`). It shows what the session says:
    a click only asks.

    name: what is asked, for who hears the screen. each: logical pixels of a segment; None: as wide
    as its words in as many lines as `lines`. px: of the type.
    """

    chosen = Signal(int, str)

    def __init__(
        self,
        texts: Sequence[str],
        palette: theme.Palette,
        name: str,
        *,
        upright: bool = False,
        each: int | None = None,
        lines: int = 1,
        px: int = theme.BODY_PX,
    ) -> None:
        super().__init__()
        self._colors = palette
        self._name = name
        self._upright = upright
        self._px = px
        self._index: int | None = None
        self._at = 0
        self._hover: int | None = None
        self._locked = False
        self._texts: tuple[str, ...] = ()
        self._each, self._lines_wanted = each, lines
        self._said: list[tuple[QTextDocument, QTextDocument]] = []
        self._widths: list[int] = []
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.show_texts(texts)

    @property
    def texts(self) -> tuple[str, ...]:
        return self._texts

    @property
    def index(self) -> int | None:
        return self._index

    @property
    def locked(self) -> bool:
        return self._locked

    def show_texts(self, texts: Sequence[str]) -> None:
        """What can be chosen."""
        if tuple(texts) == self._texts:
            return
        self._texts = tuple(texts)
        self._index, self._at = None, 0
        self._said = [
            (self._words(text, bold=False), self._words(text, bold=True)) for text in texts
        ]
        self._widths = self._measure()
        lines = self._lines()
        self._high = max(HEIGHT, lines * LINE + theme.SPACE_M)
        self._tell()
        self.setFixedSize(self.sizeHint())
        self.update()

    def _words(self, text: str, *, bold: bool) -> QTextDocument:
        """An option, laid out: static text would lose its underlining."""
        made = QTextDocument(self)
        made.setDocumentMargin(0)
        made.setDefaultFont(font(self._px, bold=bold))
        side = Qt.AlignmentFlag.AlignLeft if self._upright else Qt.AlignmentFlag.AlignHCenter
        option = QTextOption(side)
        option.setWrapMode(QTextOption.WrapMode.WordWrap)
        made.setDefaultTextOption(option)
        made.setHtml(text)
        return made

    def _measure(self) -> list[int]:
        """How wide each segment is: of one below the other all as the widest."""
        said = [spoken(text) for text in self._texts]
        measure = metrics(self._px, bold=True)
        whole = [ceil(measure.horizontalAdvance(text)) for text in said]
        if self._upright:
            return [max(self._each or 0, *(wide + 2 * PAD + MARK for wide in whole))] * len(said)
        if self._each is not None:
            return [self._each] * len(said)
        return [
            max(HEIGHT, broken_width(text, self._lines_wanted, self._px) + 2 * PAD) for text in said
        ]

    def _lines(self) -> int:
        """Lines of the option that takes most."""
        needed = 1
        for (_, strong), wide in zip(self._said, self._widths, strict=True):
            strong.setTextWidth(wide - 2 * PAD - (MARK if self._upright else 0))
            needed = max(needed, round(strong.size().height() / metrics(self._px).lineSpacing()))
        return min(needed, LINES_MOST)

    def show_index(self, index: int | None) -> None:
        """Show what the session says."""
        if index == self._index:
            return
        self._index = index
        if index is not None:
            self._at = index
        self._tell()
        self.update()

    def set_locked(self, locked: bool) -> None:
        """Whether the answer can no longer be changed."""
        if locked == self._locked:
            return
        self._locked = locked
        self._hover = None
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus if locked else Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.ArrowCursor if locked else Qt.CursorShape.PointingHandCursor)
        self.update()

    def set_name(self, name: str) -> None:
        """What is asked, for who hears the screen."""
        self._name = name
        self._tell()

    def _tell(self) -> None:
        options = " / ".join(spoken(text) for text in self._texts)
        self.setAccessibleName(f"{self._name}: {options}")
        self.setAccessibleDescription(
            "" if self._index is None else spoken(self._texts[self._index])
        )

    def sizeHint(self) -> QSize:
        if self._upright:
            return QSize(self._widths[0] + 2, self._high * len(self._texts) + 2)
        return QSize(sum(self._widths) + 2, self._high + 2)

    def box(self, index: int) -> QRectF:
        """Where an option is drawn."""
        if self._upright:
            return QRectF(1, 1 + index * self._high, self._widths[0], self._high)
        return QRectF(1 + sum(self._widths[:index]), 1, self._widths[index], self._high)

    def _under(self, place: QPointF) -> int | None:
        found = (n for n in range(len(self._texts)) if self.box(n).contains(place))
        return None if self._locked else next(found, None)

    def _ask(self, index: int, device: str) -> None:
        self._at = index
        self.update()
        if index != self._index:
            self.chosen.emit(index, device)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self._under(event.position())
        if index is None or event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        self._ask(index, "mouse")

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        hover = self._under(event.position())
        if hover != self._hover:
            self._hover = hover
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._hover = None
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        last = len(self._texts) - 1
        if self._locked:
            event.ignore()
            return
        match event.key():
            case Qt.Key.Key_Right | Qt.Key.Key_Down:
                self._step(min(self._at + 1, last))
            case Qt.Key.Key_Left | Qt.Key.Key_Up:
                self._step(max(self._at - 1, 0))
            case Qt.Key.Key_Home:
                self._step(0)
            case Qt.Key.Key_End:
                self._step(last)
            case Qt.Key.Key_Space | Qt.Key.Key_Return | Qt.Key.Key_Enter:
                if not event.isAutoRepeat():
                    self._ask(self._at, "keyboard")
            case _ if event.text().isdigit() and 1 <= int(event.text()) <= last + 1:
                if not event.isAutoRepeat():
                    self._ask(int(event.text()) - 1, "keyboard")
            case _:
                event.ignore()

    def _step(self, index: int) -> None:
        self._at = index
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.EnabledChange:
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        p = self._colors
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        whole = QRectF(self.rect())
        painter.setPen(pen(p.hairline))
        painter.setBrush(brush(p.card if self.isEnabled() else p.ground))
        painter.drawRoundedRect(whole.adjusted(0.5, 0.5, -0.5, -0.5), theme.RADIUS, theme.RADIUS)
        for index in range(1, len(self._texts)):
            box = self.box(index)
            painter.setPen(pen(p.hairline))
            end = box.topRight() if self._upright else box.bottomLeft()
            painter.drawLine(box.topLeft(), end)
        for index in range(len(self._texts)):
            self._paint_option(painter, index)
        if self.hasFocus():
            # Inside the frame: which option the keys are at.
            inner = self.box(self._at).adjusted(2, 2, -2, -2)
            draw_focus_ring(painter, inner, theme.RADIUS - 2, p.accent)
        painter.end()

    def _paint_option(self, painter: QPainter, index: int) -> None:
        p, box, on = self._colors, self.box(index), index == self._index
        able = self.isEnabled()
        if on or index == self._hover:
            painter.setPen(pen(p.accent if on else p.track, 1.4) if able else pen(p.secondary))
            painter.setBrush(brush(p.accent_soft if on and able else p.card))
            inner = box.adjusted(2, 2, -2, -2)
            painter.drawRoundedRect(inner, theme.RADIUS - 2, theme.RADIUS - 2)
        left = box.left() + PAD
        if self._upright:
            self._paint_mark(painter, QPointF(box.left() + PAD + 8, box.center().y()), on=on)
            left += MARK
        words = self._said[index][on]
        words.setTextWidth(box.right() - left - PAD)
        context = QAbstractTextDocumentLayout.PaintContext()
        tone = p.secondary if not able else p.accent if on else p.ink
        context.palette.setColor(QPalette.ColorRole.Text, color(tone))
        painter.save()
        painter.translate(left, box.center().y() - words.size().height() / 2)
        words.documentLayout().draw(painter, context)
        painter.restore()

    def _paint_mark(self, painter: QPainter, at: QPointF, *, on: bool) -> None:
        p = self._colors
        strong = p.accent if self.isEnabled() else p.secondary
        painter.setPen(pen(strong if on else p.secondary, 1.4))
        painter.setBrush(brush(strong if on else p.card))
        painter.drawEllipse(at, 8.0, 8.0)
        if on:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(brush(p.on_accent))
            painter.drawEllipse(at, 3.5, 3.5)


MARK = 28
"""Room of the round mark of options that stand one below the other."""


def broken_width(text: str, lines: int, px: int) -> int:
    """Logical pixels that a text needs in at most so many lines, broken at its spaces."""
    measure, words = metrics(px, bold=True), text.split()
    widths = sorted(
        {
            ceil(measure.horizontalAdvance(" ".join(words[a:b])))
            for a in range(len(words))
            for b in range(a + 1, len(words) + 1)
        }
    )
    for wide in widths:
        used, line = 1, ""
        for word in words:
            longer = f"{line} {word}".strip()
            if measure.horizontalAdvance(longer) <= wide:
                line = longer
            else:
                used, line = used + 1, word
                if measure.horizontalAdvance(word) > wide:
                    used = lines + 1
        if used <= lines:
            return wide + 2
    return 0
