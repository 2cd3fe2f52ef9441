"""The one control for every choice: options of which a hand takes one, or several.

Every option is a button of Qt's, and all of them are a group with the question as its name: a
screen reader says "radio button, 3 of 5, checked". What differs is how the options look and where
they stand, which the subclasses say: segments, scale, cards and a list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QEnterEvent,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractButton, QApplication, QButtonGroup, QGroupBox, QWidget

from labapp.ui import theme
from labapp.ui.widgets.hands import KEYBOARD, device_of

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
    """chosen(index, device): the hand asks for an option, counted from 0; selected(device): it took
    hold of the whole; entered: the focus came to it.

    Nothing is taken at first, and it shows what the session says. It is one stop of Tab, and the
    focus is on the option that is taken, else on the first. Home, End and arrow keys take an
    option, or go to it where it is `looked_over` first: then Space or Enter takes it.

    name: what is asked, for who hears the screen. several: more than one can be taken.
    """

    chosen = Signal(int, str)
    selected = Signal(str)
    entered = Signal()

    looked_over = False
    steps: Mapping[Qt.Key, int] = _AHEAD
    """How far an arrow key goes."""
    first_digit: int | None = 1
    """The digit that takes the first option; None where digits take none."""

    def __init__(self, palette: theme.Palette, name: str = "", *, several: bool = False) -> None:
        super().__init__()
        self._colors = palette
        self._several = several
        self._taken: tuple[int, ...] = ()
        self._at = 0
        self._hover: int | None = None
        self._locked = self._announced = False
        self.options: list[Option] = []
        self._group = QButtonGroup(self)
        self._group.setExclusive(False)
        self._group.idPressed.connect(self._pressed)
        self._group.idToggled.connect(self._toggled)
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
        self._go(0)
        self.place_options()
        self.update()

    @property
    def index(self) -> int | None:
        """The option that is taken."""
        return self._taken[0] if self._taken else None

    @property
    def locked(self) -> bool:
        return self._locked

    def show_index(self, index: int | None) -> None:
        """Show what the session says."""
        self.show_taken(() if index is None else (index,))

    def show_taken(self, indexes: Iterable[int]) -> None:
        """Show all that are taken, as the session says."""
        indexes = tuple(indexes)
        if indexes == self._taken:
            return
        self._take(indexes)
        if (indexes and not self._several) or not self.hasFocus():
            self._go(indexes[0] if indexes else 0)
        self.update()

    def _take(self, indexes: tuple[int, ...]) -> None:
        self._taken = indexes
        for index, option in enumerate(self.options):
            option.setChecked(index in indexes)

    def set_locked(self, locked: bool) -> None:
        """Whether the answer can no longer be changed; then Tab leaves it out."""
        if locked == self._locked:
            return
        self._locked = locked
        self._hover = None
        for option in self.options:
            self._lock(option)
        self.update()

    def _lock(self, option: Option) -> None:
        option.setEnabled(not self._locked)
        arrow, hand = Qt.CursorShape.ArrowCursor, Qt.CursorShape.PointingHandCursor
        option.setCursor(arrow if self._locked else hand)

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

    def _toggled(self, index: int, checked: bool) -> None:
        """A screen reader turned an option over without pressing it: that only asks, too."""
        if checked != (index in self._taken) and not self._locked:
            self.options[index].setChecked(not checked)
            self._pressed(index)

    def ask(self, index: int, device: str) -> None:
        """The hand wants an option; of one that is taken it says nothing."""
        self._go(index)
        if (index,) != self._taken:
            self.chosen.emit(index, device)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, last = Qt.Key(event.key()), len(self.options) - 1
        wanted: int | None = None
        takes = not self.looked_over
        if key in self.steps:
            wanted = self._stepped(self.steps[key])
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            wanted = 0 if key == Qt.Key.Key_Home else last
        elif key in PRESSES:
            wanted, takes = self.pressed_by(key), True
        elif (place := self.place_of(event.text())) is not None:
            wanted, takes = place, True
        if wanted is None or self._locked or event.modifiers() & COMMANDS:
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

    def _stepped(self, step: int) -> int:
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
        self._at = self.options.index(option)
        self._go(self._at)
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
        self._hover = None if option is None or self._locked else self.options.index(option)
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
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.paint(painter)
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.place_options()
