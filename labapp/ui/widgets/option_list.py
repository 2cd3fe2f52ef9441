"""Answers one beside or below the other, each with a mark: round where one can be taken, square
where several can; and a tick box by itself."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy

from labapp.ui import theme
from labapp.ui.widgets.choice import PRESSES, Choice, Option
from labapp.ui.widgets.flow import FlowLayout
from labapp.ui.widgets.painting import brush, color, draw_focus_ring, font, metrics, pen

MARK = 20.0
_LEFT = theme.SPACE_XS + round(MARK) + theme.SPACE_S
_WRAPPED = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


def height_of(words: str, width: int, right: int, around: int) -> int:
    """Logical pixels that a mark and its words need, with room on the right and around."""
    room = QRectF(0, 0, width - _LEFT - right, 1000)
    needed = metrics().boundingRect(room, int(_WRAPPED), words).height()
    return max(theme.TARGET_HEIGHT, round(needed) + around)


def paint_marked(
    button: QAbstractButton, p: theme.Palette, *, square: bool, strong: bool, right: int
) -> None:
    """A mark and the words of a button. strong: with a strong rim; right: room behind the words."""
    painter = QPainter(button)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    on = button.isChecked()
    box = QRectF(theme.SPACE_XS, (button.height() - MARK) / 2, MARK, MARK)
    painter.setPen(pen(p.accent if on or strong else p.secondary, 1.6))
    painter.setBrush(brush(p.accent if on else p.card))
    if square:
        painter.drawRoundedRect(box, 4, 4)
    else:
        painter.drawEllipse(box.adjusted(1, 1, -1, -1))
    x, y = box.center().x(), box.center().y()
    if on and square:
        painter.setPen(pen(p.on_accent, 2.4))
        painter.drawPolyline([QPointF(x - 5, y), QPointF(x - 1.5, y + 4), QPointF(x + 5, y - 4)])
    elif on:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(brush(p.on_accent))
        painter.drawEllipse(box.center(), 4.0, 4.0)
    painter.setFont(font())
    painter.setPen(color(p.ink))
    words = QRect(_LEFT, 0, button.width() - _LEFT - right, button.height())
    painter.drawText(words, int(_WRAPPED), button.accessibleName())
    if button.hasFocus():
        draw_focus_ring(painter, QRectF(button.rect()), theme.RADIUS, p.accent)
    painter.end()


class MarkedOption(Option):
    """An answer with its mark, which is as high as its words need."""

    def __init__(self, choice: OptionList, palette: theme.Palette, *, several: bool) -> None:
        super().__init__(choice, several=several)
        self._colors, self._square = palette, several
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def heightForWidth(self, width: int) -> int:
        return height_of(self.accessibleName(), width, theme.SPACE_S, theme.SPACE_XS)

    def sizeHint(self) -> QSize:
        words = round(metrics().horizontalAdvance(self.accessibleName()))
        return QSize(max(_LEFT + words + theme.SPACE_S + 2, self.minimumWidth()), self._low)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, self._low)

    _low = theme.TARGET_HEIGHT

    def paintEvent(self, event: QPaintEvent) -> None:
        strong = self.choice.pointed is self
        paint_marked(self, self._colors, square=self._square, strong=strong, right=theme.SPACE_XS)


class OptionList(Choice):
    """Answers that are looked over before one is taken, or given back: it asks for one that is
    taken, too. least_width: of an answer, in logical pixels."""

    looked_over = True

    def __init__(
        self,
        texts: Sequence[str],
        palette: theme.Palette,
        name: str,
        *,
        several: bool = False,
        least_width: int = 0,
    ) -> None:
        super().__init__(palette, name, several=several)
        self.flow = FlowLayout(theme.SPACE_L, theme.SPACE_XS, self)
        self._group.idPressed.disconnect(self._pressed)
        self._group.idClicked.connect(self._pressed)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.show_options(texts)
        for option in self.options:
            option.setMinimumWidth(least_width)

    def make_option(self) -> Option:
        option = MarkedOption(self, self._colors, several=self._several)
        self.flow.addWidget(option)
        return option

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # A field that stands among the answers leaves some of its keys to what is around it.
        if self.hasFocus():
            super().keyPressEvent(event)
        else:
            event.ignore()

    def ask(self, index: int, device: str) -> None:
        self._go(index)
        self.chosen.emit(index, device)

    def place_options(self) -> None:
        """The layout places them."""

    def paint(self, painter: QPainter) -> None:
        """Each option paints itself."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The layout follows by itself."""


class CheckBox(QAbstractButton):
    """A tick box with its words beside it, wrapped where they are long. Space or Enter ticks it."""

    def __init__(self, text: str, palette: theme.Palette) -> None:
        super().__init__()
        self._colors = palette
        self.setAccessibleName(text)
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def heightForWidth(self, width: int) -> int:
        return height_of(self.accessibleName(), width, theme.SPACE_M, theme.SPACE_S)

    def sizeHint(self) -> QSize:
        return QSize(300, self.heightForWidth(300))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() not in PRESSES:
            event.ignore()
        elif not event.isAutoRepeat():
            self.click()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_marked(self, self._colors, square=True, strong=False, right=theme.SPACE_S)
