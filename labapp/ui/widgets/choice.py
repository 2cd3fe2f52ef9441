"""The one control for every choice: options of which a hand takes one, or several.

Every option is a button of Qt's, and all of them are a group with the question as its name: a
screen reader says "radio button, 3 of 5, checked". What differs is how the options look and where
they stand, which the subclasses say: segments, scale, cards and a list.

Answers one beside or below the other, each with a mark: round where one can be taken, square where
several can; and a tick box by itself. A row of places on a scale, one of which can be taken, and
the words at its places; also the values of a discrete dial.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QEnterEvent,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QButtonGroup,
    QGroupBox,
    QSizePolicy,
    QWidget,
)

from labapp.ui import theme
from labapp.ui.widgets.controls import FlowLayout
from labapp.ui.widgets.painting import (
    KEYBOARD,
    brush,
    color,
    device_of,
    draw_focus_ring,
    equip,
    font,
    metrics,
    pen,
    smooth,
    write_with,
)
from labapp.ui.widgets.study_picture import scaled, size_of

COMMANDS = (
    Qt.KeyboardModifier.ControlModifier
    | Qt.KeyboardModifier.AltModifier
    | Qt.KeyboardModifier.MetaModifier
)
"""With one of these a key is somebody else's."""
PRESSES = (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)
_AHEAD = {Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1, Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1}
_TAB_REASONS = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)


class Option(QAbstractButton):
    """An option. It shows what its question says: a press only asks. words: for who hears it."""

    def __init__(self, choice: Choice, *, several: bool) -> None:
        super().__init__(choice)
        self.choice = choice
        self.pressed_by = KEYBOARD
        self.setCheckable(True)
        self.setAutoExclusive(not several)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)

    def nextCheckState(self) -> None:
        """Left as it is: the question says what became of the press."""

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.pressed_by = device_of(event)
        super().mousePressEvent(event)
        self.pressed_by = KEYBOARD

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.pressed_by = device_of(event)
        super().mouseReleaseEvent(event)
        self.pressed_by = KEYBOARD

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()  # it is for the choice as a whole

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.choice.focus_came(self, event.reason())

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.choice.focus_went()

    def enterEvent(self, event: QEnterEvent) -> None:
        self.choice.point_at(self)

    def leaveEvent(self, event: QEvent) -> None:
        self.choice.point_at(None)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The choice paints its options."""


class Group(QGroupBox):
    """What a screen reader knows as a group, by its accessible name. A group box of Qt's makes room
    for a frame and a title; this one has neither."""

    def __init__(self) -> None:
        super().__init__()
        self.setContentsMargins(0, 0, 0, 0)

    def minimumSizeHint(self) -> QSize:
        return QWidget.minimumSizeHint(self)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The group box would make its room here."""

    def changeEvent(self, event: QEvent) -> None:
        QWidget.changeEvent(self, event)
        if event.type() == QEvent.Type.EnabledChange:
            self.update()


class Choice(Group):
    """wanted(index, device): the hand asks for an option, counted from 0; chosen(index, device):
    for one that is not taken; selected(device): it took hold of the whole; entered: the focus came.

    Nothing is taken at first, and it shows what the session says. It is one stop of Tab, and the
    focus is on the option that is taken, else on the first. Home, End and arrow keys take an
    option, or go to it where it is `looked_over` first: then Space or Enter takes it.

    name: what is asked, for who hears the screen. several: more than one can be taken.
    """

    wanted = Signal(int, str)
    chosen = Signal(int, str)
    selected = Signal(str)
    entered = Signal()

    looked_over = False
    steps: Mapping[Qt.Key, int] = _AHEAD
    """How far an arrow key goes."""
    begins_at = 0
    """The option that Tab comes to while none is taken."""
    first_digit: int | None = 1
    """The digit that takes the first option; None if digits take none."""

    def __init__(self, palette: theme.Palette, name: str = "", *, several: bool = False) -> None:
        super().__init__()
        self._colors = palette
        self._several = several
        self._taken: tuple[int, ...] = ()
        self._at = 0
        self._hover: int | None = None
        self.locked = self._announced = False
        self.options: list[Option] = []
        self._group = QButtonGroup(self)
        self._group.setExclusive(False)
        self._group.idPressed.connect(self._pressed)
        self._group.idToggled.connect(self._on_toggle)
        self.setAccessibleName(name)

    def make_option(self) -> Option:
        """Another option of the kind."""
        return Option(self, several=self._several)

    def show_options(self, words: Sequence[str]) -> None:
        """What can be chosen, in words for who hears the screen; what was taken is no more."""
        while len(self.options) > len(words):
            option = self.options.pop()
            self._group.removeButton(option)
            option.hide()
            option.deleteLater()
        while len(self.options) < len(words):
            option = self.make_option()
            self._lock(option)
            self._group.addButton(option, len(self.options))
            self.options.append(option)
            if self.isVisible():
                option.show()
        for option, word in zip(self.options, words, strict=True):
            option.setAccessibleName(word)
        self._take(())
        if self.options:
            self._go(self.begins_at)
        self.place_options()
        self.update()

    @property
    def index(self) -> int | None:
        """The option that is taken."""
        return self._taken[0] if self._taken else None

    def show_index(self, index: int | None) -> None:
        """Show what the session says."""
        self.show_taken(() if index is None else (index,))

    def show_taken(self, indexes: Iterable[int]) -> None:
        """Show all that are taken, as the session says."""
        indexes = tuple(indexes)
        if indexes == self._taken:
            return
        self._take(indexes)
        if self.options and ((indexes and not self._several) or not self.hasFocus()):
            self._go(indexes[0] if indexes else self.begins_at)
        self.update()

    def _take(self, indexes: tuple[int, ...]) -> None:
        self._taken = indexes
        for index, option in enumerate(self.options):
            option.setChecked(index in indexes)

    def set_locked(self, locked: bool) -> None:
        """Whether the answer can no longer be changed; then Tab leaves it out."""
        if locked == self.locked:
            return
        self.locked = locked
        self._hover = None
        for option in self.options:
            self._lock(option)
        self.update()

    def _lock(self, option: Option) -> None:
        option.setEnabled(not self.locked)
        arrow, hand = Qt.CursorShape.ArrowCursor, Qt.CursorShape.PointingHandCursor
        option.setCursor(arrow if self.locked else hand)

    def entrance(self) -> QWidget:
        """The option that Tab comes to."""
        return self.options[self._at]

    def _go(self, index: int) -> None:
        """Let Tab come to an option, and the focus go there where it is in the choice."""
        here = self.hasFocus()
        self._at = index
        for place, option in enumerate(self.options):
            if option.focusPolicy() != Qt.FocusPolicy.NoFocus:  # on a screen that is only read
                on = place == index
                policy = Qt.FocusPolicy.StrongFocus if on else Qt.FocusPolicy.ClickFocus
                option.setFocusPolicy(policy)
        self.setFocusProxy(self.options[index])
        if here and not self.options[index].hasFocus():
            self.options[index].setFocus(Qt.FocusReason.OtherFocusReason)
        self.update()

    def _announce(self, device: str) -> None:
        self._announced = True
        self.selected.emit(device)

    def _pressed(self, index: int) -> None:
        device = self.options[index].pressed_by
        self._announce(device)
        self.ask(index, device)

    def _on_toggle(self, index: int, checked: bool) -> None:
        """A screen reader turned an option over without pressing it: that only asks, too."""
        if checked != (index in self._taken) and not self.locked:
            self.options[index].setChecked(not checked)
            self._pressed(index)

    def ask(self, index: int, device: str) -> None:
        """The hand wants an option."""
        self._go(index)
        self.wanted.emit(index, device)
        if (index,) != self._taken:
            self.chosen.emit(index, device)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, last = Qt.Key(event.key()), len(self.options) - 1
        wanted: int | None = None
        takes = not self.looked_over
        if key in self.steps:
            wanted = self._find_step(self.steps[key])
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            wanted = 0 if key == Qt.Key.Key_Home else last
        elif key in PRESSES:
            wanted, takes = self.pressed_by(key), True
        elif (place := self.place_of(event.text())) is not None:
            wanted, takes = place, True
        if wanted is None or self.locked or event.modifiers() & COMMANDS:
            event.ignore()
            return
        if event.isAutoRepeat() and (key in PRESSES or event.text().isdigit()):
            return
        if not self._announced:
            self._announce("keyboard")
        if takes:
            self.ask(wanted, "keyboard")
        else:
            self._go(wanted)

    def _find_step(self, step: int) -> int:
        """Where an arrow key leads: with nothing taken yet, to the nearer end."""
        last = len(self.options) - 1
        if not self.looked_over and not self._taken:
            return 0 if step > 0 else last
        return min(max(self._at + step, 0), last)

    def pressed_by(self, key: Qt.Key) -> int | None:
        """The option that Space or Enter takes."""
        if self.looked_over:
            return self._at
        return 0 if key == Qt.Key.Key_Space and not self._taken else None

    def place_of(self, typed: str) -> int | None:
        """The option that a key with this text takes."""
        if self.first_digit is None or len(typed) != 1 or not typed.isdecimal():
            return None
        place = int(typed) - self.first_digit
        return place if 0 <= place < len(self.options) else None

    def focus_came(self, option: Option, reason: Qt.FocusReason) -> None:
        """The focus came to an option, from outside or from another one."""
        self._go(self.options.index(option))
        if reason in _TAB_REASONS:
            self._announce("keyboard")
        self.entered.emit()

    def focus_went(self) -> None:
        """The focus went from an option, perhaps to another one."""
        if QApplication.focusWidget() not in self.options:
            self._announced = False
        self.update()

    def point_at(self, option: Option | None) -> None:
        """The mouse came over an option, or left."""
        self._hover = None if option is None or self.locked else self.options.index(option)
        self.update()

    @property
    def pointed(self) -> Option | None:
        """The option under the mouse."""
        return None if self._hover is None else self.options[self._hover]

    def place_options(self) -> None:
        """Put the options where they are painted."""
        for index, option in enumerate(self.options):
            option.setGeometry(self.box(index).toRect())

    def box(self, index: int) -> QRectF:
        """Where an option is painted and pressed."""
        raise NotImplementedError

    def paint(self, painter: QPainter) -> None:
        """Paint all options."""
        raise NotImplementedError

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = smooth(self)
        self.paint(painter)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.place_options()


MARK = 20.0
WIDEST_OPTION = 320
"""Logical pixels of a picture of an option."""
_LEFT = theme.SPACE_XS + round(MARK) + theme.SPACE_S
_WRAPPED = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


def height_of(words: str, width: int, right: int, around: int) -> int:
    """Logical pixels that a mark and its words need, with room on the right and around."""
    room = QRectF(0, 0, width - _LEFT - right, 1000)
    needed = metrics().boundingRect(room, int(_WRAPPED), words).height()
    return max(theme.TARGET_HEIGHT, round(needed) + around)


def paint_marked(
    button: QAbstractButton,
    p: theme.Palette,
    *,
    square: bool,
    strong: bool,
    right: int,
    mark: str = "",
    above: int = 0,
) -> None:
    """A mark and the words of a button. strong: with a strong rim; right: room behind the words;
    mark: a number in the mark, instead of a tick; above: room above both."""
    painter = smooth(button)
    on = button.isChecked()
    box = QRectF(theme.SPACE_XS, above + (button.height() - above - MARK) / 2, MARK, MARK)
    painter.setPen(pen(p.accent if on or strong else p.secondary, 1.6))
    painter.setBrush(brush(p.accent if on else p.card))
    if square:
        painter.drawRoundedRect(box, 4, 4)
    else:
        painter.drawEllipse(box.adjusted(1, 1, -1, -1))
    x, y = box.center().x(), box.center().y()
    if mark:
        write_with(painter, color(p.on_accent if on else p.ink), theme.SECONDARY_PX, bold=True)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, mark)
    elif on and square:
        painter.setPen(pen(p.on_accent, 2.4))
        painter.drawPolyline([QPointF(x - 5, y), QPointF(x - 1.5, y + 4), QPointF(x + 5, y - 4)])
    elif on:
        equip(painter, Qt.PenStyle.NoPen, brush(p.on_accent))
        painter.drawEllipse(box.center(), 4.0, 4.0)
    write_with(painter, color(p.ink))
    words = QRect(_LEFT, above, button.width() - _LEFT - right, button.height() - above)
    painter.drawText(words, int(_WRAPPED), button.accessibleName())
    if button.hasFocus():
        draw_focus_ring(painter, QRectF(button.rect()), theme.RADIUS, p.accent)


def high_for_width(across: QSizePolicy.Policy, down: QSizePolicy.Policy) -> QSizePolicy:
    """A policy for what is as high as its words need at its width."""
    policy = QSizePolicy(across, down)
    policy.setHeightForWidth(True)
    return policy


class MarkedOption(Option):
    """An answer with its mark, which is as high as its words need."""

    def __init__(self, choice: OptionList, palette: theme.Palette, *, several: bool) -> None:
        super().__init__(choice, several=several)
        self._colors, self._square = palette, several
        self.setSizePolicy(high_for_width(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed))

    def show_picture(self, content: bytes, width: int | None) -> None:
        """Show a picture above the words, which must not be wider than an option can be."""
        self._picture = content
        self._room = size_of(content, width, WIDEST_OPTION)
        self.updateGeometry()

    @property
    def _above(self) -> int:
        """Logical pixels that the picture takes above the words."""
        return 0 if self._picture is None else self._room.height() + theme.SPACE_XS

    def heightForWidth(self, width: int) -> int:
        words = height_of(self.accessibleName(), width, theme.SPACE_S, theme.SPACE_XS)
        return words + self._above

    def sizeHint(self) -> QSize:
        words = round(metrics().horizontalAdvance(self.accessibleName()))
        needed = max(_LEFT + words + theme.SPACE_S + 2, self.minimumWidth())
        if self._picture is None:
            return QSize(needed, self._low)
        width = _LEFT + self._room.width() + theme.SPACE_S
        return QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        return QSize(80, self._low)

    _low = theme.TARGET_HEIGHT
    _picture: bytes | None = None
    _room = QSize()

    def paintEvent(self, event: QPaintEvent) -> None:
        strong = self.choice.pointed is self
        paint_marked(
            self,
            self._colors,
            square=self._square,
            strong=strong,
            right=theme.SPACE_XS,
            mark=self.place,
            above=self._above,
        )
        if self._picture is not None:
            painter = QPainter(self)
            width = min(self._room.width(), self.width() - _LEFT)
            height = round(width * self._room.height() / self._room.width())
            box = QRectF(_LEFT, theme.SPACE_XS / 2, width, height)
            painter.drawImage(box, scaled(self._picture, width, self.devicePixelRatioF()))
            painter.end()

    place = ""
    """A number in the mark, instead of a tick."""


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
        expanding = QSizePolicy.Policy.Expanding
        self.setSizePolicy(high_for_width(expanding, QSizePolicy.Policy.Preferred))
        self.show_options(texts)
        for option in self.options:
            option.setMinimumWidth(least_width)

    def show_pictures(self, pictures: Iterable[tuple[bytes | None, str, int | None]]) -> None:
        """Pictures of the options: each its content, what it shows, and its width."""
        for option, (content, alt, width) in zip(self.options, pictures, strict=True):
            if content is not None:
                assert isinstance(option, MarkedOption)
                option.show_picture(content, width)
                option.setAccessibleDescription(alt)

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
        self.setSizePolicy(high_for_width(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed))

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


CIRCLE_R = 9.0
LEAST_GAP = 5.0
MARGIN = 14.0
MOST_CIRCLES = 11
"""A scale with more points is drawn as a line with ticks."""
_GAP = 6.0
_WRAP = Qt.TextFlag.TextWordWrap
_SIDES = {
    -1: Qt.AlignmentFlag.AlignLeft,
    0: Qt.AlignmentFlag.AlignHCenter,
    1: Qt.AlignmentFlag.AlignRight,
}


UPWARDS = {Qt.Key.Key_Right: 1, Qt.Key.Key_Up: 1, Qt.Key.Key_Left: -1, Qt.Key.Key_Down: -1}


@dataclass(frozen=True, slots=True)
class Look:
    """numbered: numbers from `first` under the choices; digits: keys take them by these numbers;
    pitch: pixels between choices, or None to fill the width; even: as much room round the first
    and last choice as between two, for words under each; ticks: a line with ticks instead of
    circles; ground: the token behind."""

    numbered: bool = False
    digits: bool = False
    first: int = 1
    pitch: float | None = None
    even: bool = False
    ticks: bool = False
    ground: str = "ground"


class Scale(Choice):
    """anchors: the words at some places, counted from 0, for who hears the screen. It shows at once
    what the hand takes."""

    steps = UPWARDS

    def __init__(
        self,
        count: int,
        palette: theme.Palette,
        look: Look | None = None,
        name: str = "",
        anchors: Mapping[int, str] | None = None,
    ) -> None:
        super().__init__(palette, name)
        self._count = count
        self._look = look or Look()
        self._line = self._look.ticks or count > MOST_CIRCLES
        self.first_digit = self._look.first if self._look.numbered or self._look.digits else None
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        words = anchors or {}
        numbers = ((index, str(index + self._look.first)) for index in range(count))
        self.show_options(
            [f"{number}: {words[index]}" if index in words else number for index, number in numbers]
        )

    def ask(self, index: int, device: str) -> None:
        if index != self.index:
            self.show_index(index)
            self.chosen.emit(index, device)

    def sizeHint(self) -> QSize:
        height = theme.TARGET_HEIGHT + (theme.SPACE_L if self._look.numbered else 0)
        pitch = self._look.pitch or 24.0
        return QSize(round(2 * MARGIN + pitch * (self._count - 1)), height)

    def minimumSizeHint(self) -> QSize:
        return QSize(round(2 * MARGIN + 18 * (self._count - 1)), self.sizeHint().height())

    def centre(self, index: int) -> QPointF:
        """Where a choice is drawn, in the widget's pixels."""
        return QPointF(self._margin() + index * self._pitch(), theme.TARGET_HEIGHT / 2)

    def _margin(self) -> float:
        return self.width() / (2 * self._count) if self._look.even else MARGIN

    def _pitch(self) -> float:
        room = (self.width() - 2 * self._margin()) / (self._count - 1)
        return room if self._look.pitch is None else min(room, self._look.pitch)

    def handle_x(self, value: float) -> float:
        """Where the middle of the choice with the number `value` is, in logical pixels."""
        return self.box(round(value)).center().x()

    def box(self, index: int) -> QRectF:
        """What is nearest to a place, if it is near at all."""
        x, half = self.centre(index).x(), self._pitch() / 2
        left = x - (half if index else max(half, MARGIN))
        right = x + (half if index < self._count - 1 else max(half, MARGIN))
        return QRectF(left, 0, right - left, self.height())

    def paint(self, painter: QPainter) -> None:
        # At 150 % its edges lie within pixels, which would be left half black.
        whole = self.rect().adjusted(-1, -1, 1, 1)
        painter.fillRect(whole, brush(getattr(self._colors, self._look.ground)))
        if self._line:
            self._paint_line(painter)
        else:
            for index in range(self._count):
                self._paint_circle(painter, index)
        if self._look.numbered:
            self._paint_numbers(painter)
        if self.hasFocus():
            start = max(self.centre(0).x() - MARGIN, 0)
            end = min(self.centre(self._count - 1).x() + MARGIN, self.width())
            ring = QRectF(start, 0, end - start, theme.TARGET_HEIGHT)
            draw_focus_ring(painter, ring, theme.RADIUS, self._colors.accent)

    def _paint_circle(self, painter: QPainter, index: int) -> None:
        p = self._colors
        on = index == self.index
        locked = self.locked or not self.isEnabled()
        strong = p.secondary if locked else p.accent
        led_to = self.looked_over and index == self._at and self.hasFocus()
        near = on or led_to or index == self._hover
        painter.setPen(pen(strong if near else p.secondary, 2.0 if near else 1.4))
        painter.setBrush(brush(strong if on else p.track if locked else p.card))
        radius = min(CIRCLE_R, self._pitch() / 2 - LEAST_GAP / 2)
        painter.drawEllipse(self.centre(index), radius, radius)
        if on:
            equip(painter, Qt.PenStyle.NoPen, brush(p.on_accent))
            painter.drawEllipse(self.centre(index), radius / 2, radius / 2)

    def _paint_line(self, painter: QPainter) -> None:
        p = self._colors
        first, last = self.centre(0), self.centre(self._count - 1)
        painter.setPen(pen(p.secondary, 1.4))
        painter.drawLine(first, last)
        for index in range(self._count):
            at = self.centre(index)
            half = 8.0 if index in (0, self._count - 1, (self._count - 1) / 2) else 5.0
            painter.drawLine(QPointF(at.x(), at.y() - half), QPointF(at.x(), at.y() + half))
        if self._hover is not None and self._hover != self.index:
            equip(painter, pen(p.accent, 2.0), brush(p.card))
            painter.drawEllipse(self.centre(self._hover), CIRCLE_R, CIRCLE_R)
        if self.index is not None:
            equip(painter, pen(p.card, 2.0), brush(p.accent))
            painter.drawEllipse(self.centre(self.index), CIRCLE_R + 1, CIRCLE_R + 1)

    def _paint_numbers(self, painter: QPainter) -> None:
        painter.setFont(font(theme.SECONDARY_PX))
        for index in range(self._count):
            if self._line and index not in (0, self._count - 1):
                continue
            ink = self._colors.ink if index == self.index else self._colors.secondary
            painter.setPen(color(ink))
            box = QRectF(self.centre(index).x() - 20, theme.TARGET_HEIGHT - 1, 40, theme.SPACE_L)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(index + self._look.first))


class AnchorRow(QWidget):
    """The words of a scale, each under (or over) its place. words: by place, counted from 0.

    Where every place has words (`even`), each stands centred at its place; else the first and last
    stand at the ends."""

    def __init__(
        self, count: int, words: Mapping[int, str], palette: theme.Palette, *, over: bool = False
    ) -> None:
        super().__init__()
        self._count = count
        self._words = dict(words)
        self._even = len(words) == count > 2
        self._upright = Qt.AlignmentFlag.AlignBottom if over else Qt.AlignmentFlag.AlignTop
        self._colors = palette
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._fit()

    def needed_width(self) -> int:
        """Logical pixels in which no word is cut."""
        advance = metrics(theme.SECONDARY_PX).horizontalAdvance
        words = (word for text in self._words.values() for word in text.split())
        widest = max(map(advance, words), default=0)
        places = self._count if self._even else len(self._words)
        return ceil(places * (widest + _GAP))

    def _boxes(self) -> dict[int, tuple[QRectF, int]]:
        each = self.width() / (self._count if self._even else len(self._words))
        boxes = {}
        for number, place in enumerate(sorted(self._words)):
            box = QRectF(number * each, 0, each, self.height())
            if self._even:
                boxes[place] = (box.adjusted(_GAP / 2, 0, -_GAP / 2, 0), 0)
            else:
                side = -1 if place == 0 else 1 if place == self._count - 1 else 0
                boxes[place] = (box, side)
        return boxes

    def _fit(self) -> None:
        needed = 0.0
        for place, (box, side) in self._boxes().items():
            room = QRectF(0, 0, max(box.width(), 40), 1000)
            flags = int(_WRAP | _SIDES[side])
            words = metrics(theme.SECONDARY_PX).boundingRect(room, flags, self._words[place])
            needed = max(needed, words.height())
        if ceil(needed) != self.height():
            self.setFixedHeight(ceil(needed))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        write_with(painter, color(self._colors.secondary), theme.SECONDARY_PX)
        for place, (box, side) in self._boxes().items():
            painter.drawText(box, int(_WRAP | _SIDES[side] | self._upright), self._words[place])
