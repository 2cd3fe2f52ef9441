"""The bar below the timeline: play, time, speed, going back on play, loop, and the keys."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QStackedWidget

from labapp.errors import UsageError
from labapp.replay.times import time_ns
from labapp.ui import theme
from labapp.ui.language import number, tr
from labapp.ui.moderator import bits
from labapp.ui.replay.controller import shown_time
from labapp.ui.replay.keys import KeyMap
from labapp.ui.widgets.buttons import Button

NOTICE_MS, READ_MS = 4000, 70
"""So long a sentence is shown at least, and for each of its characters."""
WHOLE_WIDTH = 460
"""Of a sentence that has no room in its line, in logical pixels."""
TIME_WIDTH = 112
WIDEST_TIME = "0:00:00.0"
LONGEST = 100
"""Characters of a time, far more than any has."""


class Transport(QFrame):
    """A passive view: told through its setters, telling through its signals.

    Signals
    -------
    play_pressed(), loop_pressed(), keys_pressed()
        The buttons.
    speed_pressed(), back_pressed()
        The chips: the next speed; the next number of seconds.
    time_entered(int)
        A session time was typed, in nanoseconds.
    time_left()
        No time is typed any more.
    """

    play_pressed = Signal()
    speed_pressed = Signal()
    back_pressed = Signal()
    loop_pressed = Signal()
    keys_pressed = Signal()
    time_entered = Signal(object)
    time_left = Signal()

    def __init__(self, keys: KeyMap, end_ns: int) -> None:
        super().__init__()
        self._keys = keys
        self._hint_text = ""
        self.setProperty("role", "foot")
        self.play = Button("")
        self.play.setAccessibleName(tr("Play or pause"))
        self.time = bits.label("", "clock")
        self.time.setCursor(Qt.CursorShape.PointingHandCursor)
        self.time.mousePressEvent = lambda event: self.ask_time()  # type: ignore[method-assign]
        self.field = TimeField()
        bits.limit(self.field, LONGEST)
        self.field.setAccessibleName(tr("Time to go to, such as 12:34.5"))
        self.field.setPlaceholderText("12:34.5")
        self.times = QStackedWidget()
        self.times.addWidget(self.time)
        self.times.addWidget(self.field)
        self.total = bits.label(role="secondary")
        self.speed, self.back, self.loop = (_chip() for _ in range(3))
        self.loop.setCheckable(True)
        self.hint = bits.ElidedLabel(role="secondary")
        self.hint.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.all_keys = _chip()
        self.whole = QFrame(self)
        self.whole.setProperty("role", "band")
        self.whole.setProperty("tone", "warn")
        bits.column(self.whole, 0, theme.SPACE_S).addWidget(bits.label(wrap=True))
        self.whole.hide()
        row = self._row = bits.row(self, theme.SPACE_S, (theme.SPACE_L, theme.SPACE_S) * 2)
        row.addWidget(self.play)
        row.addWidget(self.times)
        row.addWidget(self.total)
        for chip in (self.speed, self.back, self.loop):
            row.addWidget(chip)
        row.addWidget(self.hint, 1)
        row.addWidget(self.all_keys)
        widest = self.time.fontMetrics().horizontalAdvance(WIDEST_TIME)
        self.times.setFixedWidth(max(TIME_WIDTH, widest))
        self.total.setText(tr("of {time}", time=shown_time(end_ns, 0)))
        self.all_keys.setText(tr("{key} all keys", key=keys.key_text("keys")))
        self._notice = QTimer(self)
        self._notice.setSingleShot(True)
        self._notice.timeout.connect(self._show_hint)
        self.play.clicked.connect(self.play_pressed)
        self.speed.clicked.connect(self.speed_pressed)
        self.back.clicked.connect(self.back_pressed)
        self.loop.clicked.connect(self.loop_pressed)
        self.all_keys.clicked.connect(self.keys_pressed)
        self.field.returnPressed.connect(self._entered)
        tips = {
            self.time: ("go_to",),
            self.speed: ("slower", "faster"),
            self.back: ("less_back", "more_back"),
            self.loop: ("loop",),
        }
        for widget, actions in tips.items():
            widget.setToolTip("  ".join(map(keys.key_text, actions)))
        self.set_playing(False)
        self.set_time(0)
        self.set_speed(1.0)
        self.set_loop(False)

    # --- what is shown ------------------------------------------------------------------------

    def set_low(self, low: bool) -> None:
        """Whether it is as low as can be."""
        edge = theme.SPACE_XS if low else theme.SPACE_S
        self._row.setContentsMargins(theme.SPACE_L, edge, theme.SPACE_L, edge)

    def set_playing(self, playing: bool) -> None:
        """Show whether it plays."""
        sign = "❚❚" if playing else "▶"
        self.play.setText(f"{sign}  {self._keys.key_text('play')}")

    def set_time(self, t_ns: int) -> None:
        """Show a session time."""
        bits.set_text(self.time, shown_time(t_ns))

    def set_speed(self, speed: float) -> None:
        """Show how many times as quick it plays."""
        self.speed.setText(tr("{speed}×", speed=number(f"{speed:g}")))
        self.speed.setAccessibleName(tr("Speed"))

    def set_back(self, seconds: float) -> None:
        """Show how far resuming goes back."""
        self.back.setText(tr("back {n} s on play", n=number(f"{seconds:g}")))

    def set_loop(self, on: bool) -> None:
        """Show whether a stretch is looped."""
        self.loop.setText(tr("looping") if on else tr("loop"))
        self.loop.setChecked(on)

    def set_hint(self, text: str) -> None:
        """Say what the most used keys are."""
        self._hint_text = text
        if not self._notice.isActive():
            self._show_hint()

    def tell(self, text: str) -> None:
        """Say a sentence for some seconds: in the line of the hint, or above it where it is
        longer."""
        bits.set_property(self.hint, "tone", "warn")
        self.hint.set_full(text)
        self._notice.start(max(NOTICE_MS, READ_MS * len(text)))
        needed = self.hint.fontMetrics().horizontalAdvance(text)
        self.whole.setVisible(needed > self.hint.contentsRect().width() and self.isVisible())
        if self.whole.isVisible():
            self._place_whole(text)

    def _place_whole(self, text: str) -> None:
        window, words = self.window(), self.whole.findChild(QLabel)
        assert words is not None
        self.whole.setParent(window)
        words.setText(text)
        width = min(WHOLE_WIDTH, window.width() - 2 * theme.SPACE_L)
        self.whole.setFixedSize(width, self.whole.heightForWidth(width))
        above = self.mapTo(window, self.rect().topLeft()).y() - theme.SPACE_S
        left = window.width() - width - theme.SPACE_L
        self.whole.move(left, above - self.whole.height())
        self.whole.show()
        self.whole.raise_()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.whole.hide()

    def _show_hint(self) -> None:
        self.whole.hide()
        bits.set_property(self.hint, "tone", "")
        self.hint.set_full(self._hint_text)

    # --- going to a time ----------------------------------------------------------------------

    def ask_time(self) -> None:
        """Let a time be typed in place of the one that is shown."""
        self.field.setText(self.time.text())
        self.times.setCurrentWidget(self.field)
        self.field.selectAll()
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def asking(self) -> bool:
        """Whether a time is being typed."""
        return self.times.currentWidget() is self.field

    def leave_time(self) -> None:
        """Type no time any more."""
        if self.asking:
            self.times.setCurrentWidget(self.time)
            self.time_left.emit()

    def _entered(self) -> None:
        try:
            t_ns = time_ns(self.field.text())
        except UsageError:
            self.tell(tr("A time is written as 12:34.5, or in seconds."))
            self.field.selectAll()
            return
        self.leave_time()
        self.time_entered.emit(t_ns)

    def rest(self) -> None:
        """Stop what waits."""
        self._notice.stop()


class TimeField(QLineEdit):
    """Where a time is typed: Enter is its own, and does nothing else behind it."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        super().keyPressEvent(event)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()


def _chip() -> Button:
    chip = Button("", "pill")
    chip.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return chip
