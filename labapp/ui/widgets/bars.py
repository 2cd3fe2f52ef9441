"""The thin bar on top and the bar at the bottom: the same place on every screen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from labapp.ui import theme
from labapp.ui.widgets.buttons import Button
from labapp.ui.widgets.heard import announce
from labapp.ui.widgets.label import PlainLabel
from labapp.ui.widgets.painting import brush, pen, restyle

TOP_HEIGHT = 48
BOTTOM_HEIGHT = 68
DOT_R = 4.5
DOT_PITCH = 15.0
MOST_DOTS = 24
BUTTON_WIDTH = 180


@dataclass(frozen=True, slots=True)
class Head:
    """What the top bar says. done and of count questions or pages; of = 0 for none. help: what the
    button says that opens a description; empty for none."""

    stage: str = ""
    question: str = ""
    done: int = 0
    of: int = 0
    help: str = ""


@dataclass(frozen=True, slots=True)
class Foot:
    """What the bottom bar offers; an empty text leaves the place free.

    enabled: whether the right button can be pressed. ready: False where it looks unready although
    it can be pressed to be told what is missing. note: said between the buttons; warn: in the
    warning tone. leaves: the left button leaves a question or the study, so that the focus comes to
    it last, and never by itself.
    """

    left: str = ""
    right: str = ""
    enabled: bool = True
    ready: bool = True
    note: str = ""
    warn: bool = False
    leaves: bool = False


class Dots(QWidget):
    """Progress as dots: full for what is done and what is on the screen."""

    def __init__(self, palette: theme.Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._colors = palette
        self._done, self._of = 0, 0
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def show_progress(self, done: int, of: int) -> None:
        if (done, of) != (self._done, self._of):
            self._done, self._of = done, of if of <= MOST_DOTS else 0
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(self._of * DOT_PITCH), 16)

    def paintEvent(self, event: QPaintEvent) -> None:
        p = self._colors
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for index in range(self._of):
            full = index < self._done
            painter.setPen(pen(p.accent if full else p.secondary, 1.2))
            painter.setBrush(brush(p.accent if full else p.card))
            centre = QPointF(DOT_PITCH * index + DOT_PITCH / 2, self.height() / 2)
            painter.drawEllipse(centre, DOT_R, DOT_R)
        painter.end()


class RecordingMark(QWidget):
    """A red disc while sound is recorded, a hollow one while not; the word stands beside it."""

    def __init__(self, palette: theme.Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._colors = palette
        self._on = False
        self.setFixedSize(14, 14)

    def show_on(self, on: bool) -> None:
        self._on = on
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        mark = self._colors.alarm if self._on else self._colors.secondary
        painter.setPen(pen(mark, 1.4))
        painter.setBrush(brush(mark if self._on else self._colors.card))
        painter.drawEllipse(QRectF(2, 2, 10, 10))
        painter.end()


class _Bar(QWidget):
    """A card-coloured bar with a hairline towards the content."""

    def __init__(
        self,
        palette: theme.Palette,
        *,
        towards: Literal["top", "bottom"],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._colors = palette
        self._towards = towards

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), brush(self._colors.card))
        line = 0 if self._towards == "top" else self.height() - 1
        painter.fillRect(0, line, self.width(), 1, brush(self._colors.hairline))
        painter.end()


class TopBar(_Bar):
    """Where one is, and whether sound is recorded; nothing else, but for what can be opened at any
    time: help_pressed."""

    help_pressed = Signal()

    def __init__(self, palette: theme.Palette, parent: QWidget | None = None) -> None:
        super().__init__(palette, towards="bottom", parent=parent)
        self.setFixedHeight(TOP_HEIGHT)
        self._stage, self._question, self._recording = PlainLabel(), PlainLabel(), PlainLabel()
        for label in (self._stage, self._question, self._recording):
            label.setProperty("role", "secondary")
        self._dots = Dots(palette)
        self._mark = RecordingMark(palette)
        row = QHBoxLayout()
        row.setContentsMargins(theme.SPACE_XXL, 0, theme.SPACE_XXL, 0)
        row.setSpacing(theme.SPACE_XL)
        for widget in (self._stage, self._question, self._dots):
            row.addWidget(widget)
        self.help = Button(role="link")
        self.help.hide()
        self.help.clicked.connect(self.help_pressed)
        self.keyboard = PlainLabel()
        self.keyboard.setProperty("role", "secondary")
        self.keyboard.hide()
        row.addStretch(1)
        row.addWidget(self.keyboard)
        row.addWidget(self.help)
        row.addWidget(self._mark)
        row.addSpacing(theme.SPACE_S - theme.SPACE_XL)
        row.addWidget(self._recording)
        self.setLayout(row)
        self._head = Head()

    def show_head(self, head: Head) -> None:
        if head == self._head:
            return
        self._head = head
        self._stage.setText(head.stage)
        self._stage.setVisible(bool(head.stage))
        self._question.setText(head.question)
        self._question.setVisible(bool(head.question))
        self._dots.show_progress(head.done, head.of)
        self.help.setText(head.help)
        if self.help.hasFocus() and not head.help:
            self.help.clearFocus()
        self.help.setVisible(bool(head.help))

    def hide_help(self) -> None:
        """Offer nothing to open, until the next head is shown."""
        self.show_head(replace(self._head, help=""))

    def show_keyboard(self, text: str) -> None:
        """Say that the keyboard is away; nothing for empty words."""
        self.keyboard.setText(text)
        self.keyboard.setVisible(bool(text))

    def show_recording(self, on: bool, text: str) -> None:
        self._mark.show_on(on)
        self._recording.setText(text)


class BottomBar(_Bar):
    """Skip, Back or a way out on the left, the way on on the right."""

    left_pressed = Signal()
    right_pressed = Signal()

    def __init__(self, palette: theme.Palette, parent: QWidget | None = None) -> None:
        super().__init__(palette, towards="top", parent=parent)
        self.setFixedHeight(BOTTOM_HEIGHT)
        self.left = Button(role="quiet")
        self.left.setProperty("side", "left")
        self.right = Button(role="primary")
        self.note = PlainLabel()
        self.note.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.note.setWordWrap(True)
        self.note.setProperty("role", "secondary")
        self.left.clicked.connect(self.left_pressed)
        self.right.clicked.connect(self.right_pressed)
        row = QHBoxLayout()
        row.setContentsMargins(theme.SPACE_L, 0, theme.SPACE_XXL, 0)
        row.setSpacing(theme.SPACE_XL)
        for button in (self.left, self.right):
            button.setMinimumWidth(BUTTON_WIDTH)
            button.setFixedHeight(theme.TARGET_HEIGHT + theme.SPACE_S)
            policy = button.sizePolicy()
            policy.setRetainSizeWhenHidden(True)
            button.setSizePolicy(policy)
            button.hide()
        row.addWidget(self.left)
        row.addWidget(self.note, 1)
        row.addWidget(self.right)
        self.setLayout(row)
        self._foot = Foot()

    @property
    def foot(self) -> Foot:
        return self._foot

    def show_foot(self, foot: Foot) -> None:
        if foot == self._foot:
            return
        before, self._foot = self._foot, foot
        for button, text in ((self.left, foot.left), (self.right, foot.right)):
            if text and button.text() != text:
                button.setText(text)
            usable = bool(text) and (foot.enabled or button is self.left)
            if button.hasFocus() and not usable:
                button.clearFocus()  # else Qt would move the focus on to some dial
            button.setVisible(bool(text))
        self.right.setEnabled(foot.enabled)
        restyle(self.right, "unready", not foot.ready)
        if before.note != foot.note:
            self.note.setText(foot.note)
        if foot.warn and (before.warn, before.note) != (True, foot.note):
            announce(self.note, foot.note, urgent=True)
        restyle(self.note, "tone", "warn" if foot.warn else "")
