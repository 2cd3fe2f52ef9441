"""A field takes so many characters and no more; what it did not take is said, never silent."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QPlainTextEdit, QWidget

from labapp.ui import theme
from labapp.ui.widgets.heard import announce
from labapp.ui.widgets.label import PlainLabel

NOTE_LIMIT = 100_000
"""Characters of a note: some thirty pages, and no burden for the journal."""
LOOK = (
    "background: #fff4ce; color: #1f2328; border: 1px solid #9a6700; border-radius: 6px;"
    "padding: 4px 8px;"
)


def units(text: str) -> int:
    """The length of a text as Qt counts it: a character such as an emoji counts as two."""
    return len(_encoded(text)) // 2


def _encoded(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")


class Limit(QObject):
    """Keeps a field at `longest` characters, counted as `units` does.

    What comes beyond is not taken, and a line over the window's other contents says so until the
    field is shorter again, or is left.

    Parameters
    ----------
    field : of one line or several.
    longest : characters at most.
    words : what is said, in the language of whoever types.
    """

    def __init__(self, field: QLineEdit | QPlainTextEdit, longest: int, words: str) -> None:
        super().__init__(field)
        self._field = field
        self._longest = longest
        self._words = words
        self._before = 0
        self.notice: QLabel | None = None
        field.installEventFilter(self)
        if isinstance(field, QLineEdit):
            field.setMaxLength(longest)
            field.inputRejected.connect(self._refused)
            field.textChanged.connect(self._changed)
        else:
            field.textChanged.connect(self._cut)

    def _refused(self) -> None:
        """A line edit takes no more. It also refuses keys that are no text, in a short text; and a
        character of two units where there is room for one."""
        if isinstance(self._field, QLineEdit) and units(self._field.text()) >= self._longest - 1:
            self._say()

    def _changed(self, text: str) -> None:
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
        blocked = self._field.blockSignals(True)
        cursor.removeSelectedText()
        self._field.blockSignals(blocked)
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
    unit = int.from_bytes(_encoded(text)[2 * place : 2 * place + 2], "little")
    return place - 1 if 0xDC00 <= unit < 0xE000 else place
