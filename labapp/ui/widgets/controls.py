"""Small controls (buttons, fields, labels), and rows and columns of widgets.

Space and Enter press a button; a double click counts once, and so does holding a key. A field to
write in gives its text when it is kept, never key by key. It takes a limited number of characters,
and says what it did not take. Also a layout that fills lines from left to right, as text does; a
label for words of any author; and what a screen reader is told where Qt tells nothing by itself:
that a widget is a picture, and what is said without the focus coming to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from PySide6.QtCore import (
    QElapsedTimer,
    QEvent,
    QObject,
    QPoint,
    QRect,
    QSignalBlocker,
    QSize,
    Qt,
    Signal,
    SignalInstance,
)
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QAccessibleInterface,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPaintEvent,
    QTextCursor,
)
from PySide6.QtWidgets import (
    QAccessibleWidget,
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLayoutItem,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QVBoxLayout,
    QWidget,
)

from labapp.ui import theme, timers
from labapp.ui.widgets.painting import KEYBOARD, device_of

_PRESSES = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


class Button(QPushButton):
    """role: primary, quiet, link, or empty for the plain one (see theme.stylesheet).

    pressed: called, or emitted, when it is clicked.
    pressed_by: while it is clicked, what did so: mouse, touch or keyboard.
    """

    def __init__(
        self,
        text: str = "",
        role: str = "",
        parent: QWidget | None = None,
        *,
        pressed: Callable[..., object] | SignalInstance | None = None,
    ) -> None:
        super().__init__(text, parent)
        if pressed is not None:
            self.clicked.connect(pressed)
        if role:
            self.setProperty("role", role)
        self.setAutoDefault(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.pressed_by = KEYBOARD

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.pressed_by = device_of(event)
        super().mouseReleaseEvent(event)
        self.pressed_by = KEYBOARD

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Swallowed: the second click of a double click would act on the next screen."""
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in _PRESSES:
            if not event.isAutoRepeat():
                self.click()
            return
        # Not to the base class: there, arrow keys would move the focus.
        event.ignore()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        event.ignore()


class ElidedButton(Button):
    """A button that may be narrower than its text: that ends in an ellipsis then. The caller puts
    all of it into the tool tip."""

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.SPACE_XL, super().minimumSizeHint().height())

    def shown_text(self) -> str:
        """As much of the text as there is room for."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        inside = self.style().subElementRect(QStyle.SubElement.SE_PushButtonContents, option, self)
        end = Qt.TextElideMode.ElideRight
        return self.fontMetrics().elidedText(self.text(), end, inside.width())

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = self.shown_text()
        QStylePainter(self).drawControl(QStyle.ControlElement.CE_PushButton, option)


QUIET_MS = 1000
"""A text is kept after so long without a key."""
LONGEST_MS = 5000
"""People who write without a rest lose no more than this to a power cut."""
LINE_PX = 20


def comes_back(event: QEvent) -> bool:
    """Whether an editor loses the focus only while the keyboard is elsewhere: with the moderator,
    with another program, or while something covers the page. It stays as it is until then."""
    return isinstance(event, QFocusEvent) and event.reason() in (
        Qt.FocusReason.ActiveWindowFocusReason,
        Qt.FocusReason.PopupFocusReason,
    )


class TextField(QWidget):
    """kept(text): the focus went elsewhere on the page, Enter was pressed in a single line, a
    second went by without a key, or five seconds of writing. Only what a hand wrote is ever given.

    longest: characters at most; too_long: what is said to who writes more.
    """

    committed = Signal(str)

    def __init__(self, name: str, *, lines: int = 1, longest: int, too_long: str) -> None:
        super().__init__()
        self._given = ""
        self._written = False
        self._timer = timers.once(self, self.keep)
        self._writing = QElapsedTimer()
        self.edit: QLineEdit | QPlainTextEdit
        if lines == 1:
            line = QLineEdit()
            line.returnPressed.connect(self.keep)
            line.textEdited.connect(self._on_edit)
            self.edit = line
        else:
            area = QPlainTextEdit()
            area.setTabChangesFocus(True)
            area.setFixedHeight(lines * LINE_PX + 2 * theme.SPACE_M)
            self.edit = area
        self.limit = Limit(self.edit, longest, too_long)
        if isinstance(self.edit, QPlainTextEdit):
            self.edit.textChanged.connect(self._on_edit)
        self.edit.setAccessibleName(name)
        self.edit.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)  # in Qt's own words
        self.edit.installEventFilter(self)
        self.setFocusProxy(self.edit)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(self.edit)

    def text(self) -> str:
        """What stands there."""
        return self.edit.text() if isinstance(self.edit, QLineEdit) else self.edit.toPlainText()

    def show_text(self, text: str) -> None:
        """Show the session's text, unless the participant typed something not yet stored."""
        self._given = text
        if self.text().strip() == text:
            self._written = False
        elif not self._written:
            with QSignalBlocker(self.edit):
                if isinstance(self.edit, QLineEdit):
                    self.edit.setText(text)
                else:
                    self.edit.setPlainText(text)
                    self.edit.moveCursor(QTextCursor.MoveOperation.End)

    def uncommitted_text(self) -> str | None:
        """The text, if a hand wrote it and it is another than was given."""
        text = self.text().strip()
        return text if self._written and text != self._given else None

    def keep(self) -> None:
        """Give the text, if a hand wrote it and it is another than was given."""
        self._timer.stop()
        if (text := self.uncommitted_text()) is not None:
            self.committed.emit(text)

    def _on_edit(self) -> None:
        self._written = True
        if not self._timer.isActive():
            self._writing.start()
        left = LONGEST_MS - self._writing.elapsed()
        self._timer.start(max(0, min(QUIET_MS, left)))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusOut and not comes_back(event):
            self.keep()
        elif event.type() == QEvent.Type.Hide:
            self._timer.stop()
        return super().eventFilter(watched, event)


NOTE_LIMIT = 100_000
"""Characters of a note: some thirty pages, and no burden for the journal."""
LOOK = (
    "background: #fff4ce; color: #1f2328; border: 1px solid #9a6700; border-radius: 6px;"
    "padding: 4px 8px;"
)


def units(text: str) -> int:
    """The length of a text as Qt counts it: a character such as an emoji counts as two."""
    return len(_encode(text)) // 2


def _encode(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")


class Limit(QObject):
    """Keeps a field at `longest` characters, counted as `units` does.

    What comes beyond is not taken, and a line over the window's other contents says so, in the
    words given, until the field is shorter again, or is left.
    """

    def __init__(self, field: QLineEdit | QPlainTextEdit, longest: int, words: str) -> None:
        super().__init__(field)
        self._field, self._longest, self._words = field, longest, words
        self._before = 0
        self.notice: QLabel | None = None
        field.installEventFilter(self)
        if isinstance(field, QLineEdit):
            field.setMaxLength(longest)
            field.inputRejected.connect(self._on_refusal)
            field.textChanged.connect(self._on_text_change)
        else:
            field.textChanged.connect(self._cut)

    def _on_refusal(self) -> None:
        """A line edit takes no more. It also refuses keys that are no text, in a short text; and a
        character of two units where there is room for one."""
        if isinstance(self._field, QLineEdit) and units(self._field.text()) >= self._longest - 1:
            self._say()

    def _on_text_change(self, text: str) -> None:
        """Qt tells of a refusal first and then of the text, changed or not: with a character too
        large for the room that is left, one unit is free, and there is still something to say."""
        length, before = units(text), self._before
        self._before = length
        if length < self._longest - 1 or length < min(before, self._longest):
            self.hide()

    def _cut(self) -> None:
        """An area has no limit of its own: what was put in before the cursor goes again, so that
        nothing that stood there is lost."""
        assert isinstance(self._field, QPlainTextEdit)
        text = self._field.toPlainText()
        beyond = units(text) - self._longest
        if beyond <= 0:
            if beyond < 0:
                self.hide()
            return
        cursor = self._field.textCursor()
        end = max(beyond, cursor.position())
        cursor.setPosition(_whole(text, end - beyond))
        cursor.setPosition(end, cursor.MoveMode.KeepAnchor)
        with QSignalBlocker(self._field):
            cursor.removeSelectedText()
        self._say()

    def _say(self) -> None:
        if self.notice is None:
            self.notice = PlainLabel(self._words)
            self.notice.setStyleSheet(LOOK)
            self.notice.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            self.notice.setWordWrap(True)
        notice, window = self.notice, self._field.window()
        notice.setParent(window)
        notice.setFixedWidth(min(window.width() - 2 * theme.SPACE_M, 340))
        notice.adjustSize()
        notice.move(self._place(window, notice))
        notice.show()
        notice.raise_()
        self._field.setAccessibleDescription(self._words)
        announce(self._field, self._words, urgent=True)

    def _place(self, window: QWidget, notice: QWidget) -> QPoint:
        """Below the field where there is room, else above it."""
        below = self._field.mapTo(window, QPoint(0, self._field.height() + 2))
        x = max(theme.SPACE_M, min(below.x(), window.width() - notice.width() - theme.SPACE_M))
        if below.y() + notice.height() <= window.height():
            return QPoint(x, below.y())
        above = self._field.mapTo(window, QPoint(0, -2))
        return QPoint(x, max(0, above.y() - notice.height()))

    def hide(self) -> None:
        """Say nothing any more."""
        if self.notice is not None and not self.notice.isHidden():
            self.notice.hide()
            self._field.setAccessibleDescription("")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FocusOut, QEvent.Type.Hide):
            self.hide()
        return super().eventFilter(watched, event)


def _whole(text: str, place: int) -> int:
    """A place in a text, in units, or the one before where that would halve a character."""
    unit = int.from_bytes(_encode(text)[2 * place : 2 * place + 2], "little")
    return place - 1 if 0xDC00 <= unit < 0xE000 else place


class FlowLayout(QLayout):
    """Items of a line have their middles on one height. An item wider than the line takes a line of
    its own, as high as it needs there."""

    def __init__(
        self, across: int, down: int, parent: QWidget | None = None, widgets: Sequence[QWidget] = ()
    ) -> None:
        super().__init__(parent)
        self._across, self._down = across, down
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        for widget in widgets:
            self.addWidget(widget)

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
        x, y, high = rect.x(), rect.y(), 0
        line: list[tuple[QLayoutItem, QRect]] = []

        def end_line() -> None:
            for item, box in line if move else ():
                item.setGeometry(box.translated(0, (high - box.height()) // 2))
            line.clear()

        for item in self._items:
            width = min(item.sizeHint().width(), rect.width())
            height = item.heightForWidth(width) if item.hasHeightForWidth() else -1
            height = height if height >= 0 else item.sizeHint().height()
            if line and x + width > rect.x() + rect.width():
                end_line()
                x, y, high = rect.x(), y + high + self._down, 0
            line.append((item, QRect(QPoint(x, y), QSize(width, height))))
            x += width + self._across
            high = max(high, height)
        end_line()
        return y + high - rect.y()


class Measured(QObject):
    """Calls `fit` now, and again when the widget gets its style: a size that is taken from a widget
    before that is the size of another font and padding."""

    STYLED = frozenset({QEvent.Type.Polish, QEvent.Type.StyleChange, QEvent.Type.FontChange})

    def __init__(self, widget: QWidget, fit: Callable[[], None]) -> None:
        super().__init__(widget)
        self._fit = fit
        widget.installEventFilter(self)
        fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in self.STYLED:
            self._fit()
        return super().eventFilter(watched, event)


class Picture(QWidget):
    """A painted widget that is told as a picture, by its accessible name."""


def announce(widget: QWidget, text: str, *, urgent: bool = False) -> None:
    """Say something now; urgent: before anything else that is being said."""
    event = QAccessibleAnnouncementEvent(widget, text)
    if urgent:
        event.setPoliteness(QAccessible.AnnouncementPoliteness.Assertive)
    QAccessible.updateAccessibility(event)


def _interface(_kind: str, made: QObject) -> QAccessibleInterface | None:
    return QAccessibleWidget(made, QAccessible.Role.Graphic) if isinstance(made, Picture) else None


QAccessible.installFactory(_interface)


class PlainLabel(QLabel):
    """Shows its words as they stand. Qt's own would take those with tags in them for HTML, and load
    what these name."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)


def make_label(text: str = "", role: str = "", *, wrap: bool = False, tone: str = "") -> QLabel:
    """A label with a role of the style sheet; its text is always plain."""
    made = PlainLabel(text)
    made.setWordWrap(wrap)
    if role:
        made.setProperty("role", role)
    if tone:
        made.setProperty("tone", tone)
    return made


class Gap(int):
    """Empty room of so many logical pixels, as an item of `fill`."""


Box = TypeVar("Box", bound=QBoxLayout)
Margins = int | tuple[int, int, int, int]
"""Logical pixels around what is laid out: left, top, right and bottom, or the same all around."""
Item = QWidget | QLayout | int | tuple[QWidget | QLayout, int | Qt.AlignmentFlag]


def row(parent: QWidget | None, spacing: int, margins: Margins = 0) -> QHBoxLayout:
    """Widgets beside each other, in a widget or in another layout."""
    return _set_spacing(QHBoxLayout() if parent is None else QHBoxLayout(parent), spacing, margins)


def column(parent: QWidget | None, spacing: int, margins: Margins = 0) -> QVBoxLayout:
    """Widgets below each other, in a widget or in another layout."""
    return _set_spacing(QVBoxLayout() if parent is None else QVBoxLayout(parent), spacing, margins)


def _set_spacing(layout: Box, spacing: int, margins: Margins) -> Box:
    layout.setContentsMargins(*([margins] * 4 if isinstance(margins, int) else margins))
    layout.setSpacing(spacing)
    return layout


def fill(layout: Box, *items: Item) -> Box:
    """Add widgets and layouts one after another. In a pair the number says how far one stretches,
    a flag at which side of its place it stands; a number is empty space that stretches, unless
    it is a `Gap`."""
    for item in items:
        inside, how = item if isinstance(item, tuple) else (item, 0)
        if isinstance(inside, Gap):
            layout.addSpacing(inside)
        elif isinstance(inside, int):
            layout.addStretch(inside)
        elif isinstance(inside, QLayout):
            layout.addLayout(inside, int(how))
        elif isinstance(how, Qt.AlignmentFlag):
            layout.addWidget(inside, 0, how)
        else:
            layout.addWidget(inside, how)
    return layout


def hairline() -> QFrame:
    """A line between rows."""
    line = QFrame()
    line.setProperty("role", "hairline")
    line.setFixedHeight(1)
    return line
