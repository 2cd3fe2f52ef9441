"""The console's top line: who, what, how long, and the three things a moderator does to a session.

Skip stage and End ask once more in the line itself; nothing ever covers the session.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QStackedWidget,
    QWidget,
)

from labapp.events import Source
from labapp.events.commands import EndSession, Pause, Resume, SkipStage
from labapp.session.runner import Runner
from labapp.ui import theme
from labapp.ui.moderator import bits, wording
from labapp.ui.moderator.state.console import ConsoleState
from labapp.ui.theme import Palette
from labapp.ui.widgets.buttons import Button

HEIGHT = 52
RUN, CONFIRM = range(2)


class ConsoleHeader(QFrame):
    """done_requested: the session is over and the moderator goes back to the home."""

    done_requested = Signal()

    def __init__(self, palette: Palette, runner: Runner, participant: str, study: str) -> None:
        super().__init__()
        self._runner = runner
        self._confirmed: EndSession | SkipStage | None = None
        self.setProperty("role", "bar")
        self.setFixedHeight(HEIGHT)
        self.elapsed = bits.label("00:00:00", "clock")
        self.recording = bits.label(role="state")
        self.pause = Button("Pause")
        self.skip = Button("Skip stage")
        self.end = Button("End…")
        self.done = Button("Back to start")
        self.done.setProperty("role", "primary")
        self.done.hide()
        study_label = bits.ElidedLabel(study, "secondary")

        row = QHBoxLayout(self)
        row.setContentsMargins(theme.SPACE_XL, 0, theme.SPACE_M, 0)
        row.setSpacing(theme.SPACE_L)
        row.addWidget(bits.label(participant, "brand"))
        row.addWidget(self.elapsed)
        row.addWidget(self.recording)
        row.addWidget(study_label, 1)
        self.pages = QStackedWidget()
        self.pages.addWidget(self._run_page())
        self.pages.addWidget(self._confirm_page())
        row.addWidget(self.pages, 0)

    def _run_page(self) -> QWidget:
        page = QWidget()
        row = QHBoxLayout(page)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_S)
        row.addStretch(1)
        for button in (self.pause, self.skip, self.end, self.done):
            button.setProperty("compactly", True)
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        self.pause.clicked.connect(self._toggle_pause)
        self.skip.clicked.connect(self._ask_skip)
        self.end.clicked.connect(self.ask_end)
        self.done.clicked.connect(self.done_requested)
        return page

    def _confirm_page(self) -> QWidget:
        page = QWidget()
        row = QHBoxLayout(page)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_S)
        self.question = bits.label(role="strong")
        self.reason = QLineEdit()
        self.reason.setPlaceholderText("Reason, for the record")
        self.reason.setAccessibleName("Reason")
        self.reason.setFixedWidth(200)
        self.yes = Button()
        self.yes.setProperty("role", "danger")
        self.no = Button("Go on")
        row.addStretch(1)
        for widget in (self.question, self.reason, self.yes, self.no):
            row.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        self.yes.clicked.connect(self._confirm)
        self.reason.returnPressed.connect(self._confirm)
        self.no.clicked.connect(self._back)
        return page

    def ask_end(self) -> None:
        """Ask, in the line, whether to end the session."""
        if self._runner.finished:
            self.done_requested.emit()
            return
        self._confirmed = EndSession("")
        self._ask("End the session? What was recorded is kept.", "End session", reason=True)

    def _ask_skip(self) -> None:
        part = self._runner.part
        if part is None:
            return
        self._confirmed = SkipStage()
        self._ask(f"Skip the rest of “{part.title}”?", "Skip it", reason=False)

    def _ask(self, question: str, yes: str, *, reason: bool) -> None:
        bits.set_text(self.question, question)
        self.yes.setText(yes)
        self.reason.setVisible(reason)
        self.reason.clear()
        self.pages.setCurrentIndex(CONFIRM)
        (self.reason if reason else self.no).setFocus()

    def _confirm(self) -> None:
        command, self._confirmed = self._confirmed, None
        if isinstance(command, EndSession):
            command = EndSession(self.reason.text().strip() or "ended by the moderator")
        self._back()
        if command is not None:
            self._runner.send(command, Source.MODERATOR)

    def _back(self) -> None:
        self._confirmed = None
        self.pages.setCurrentIndex(RUN)
        self.end.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.pages.currentIndex() == CONFIRM:
            self._back()
            return
        super().keyPressEvent(event)

    def _toggle_pause(self) -> None:
        paused = self._runner.state.pauses.paused
        command = Resume("moderator") if paused else Pause("moderator")
        self._runner.send(command, Source.MODERATOR)

    def show_state(self, state: ConsoleState, now_ns: int) -> None:
        """Bring clock, recording state and buttons up to date."""
        runner = self._runner
        paused, ended = runner.state.pauses.paused, runner.finished
        bits.set_text(self.elapsed, wording.long_time(state.work.working_ns(now_ns)))
        text, tone = self._recording(state, paused, ended)
        bits.set_property(self.recording, "tone", tone)
        bits.set_text(self.recording, text)
        caption = "Continue" if paused else "Pause"
        if self.pause.text() != caption:
            self.pause.setText(caption)
            bits.set_property(self.pause, "role", "primary" if paused else "")
        # A part that cannot be skipped (consent) is left by its own buttons, or by End.
        part = runner.part
        skippable = part is not None and part.part != "consent" and not paused
        self.skip.setEnabled(skippable)
        if ended and not self.done.isVisible():
            self.pages.setCurrentIndex(RUN)
            for button in (self.pause, self.skip, self.end):
                button.hide()
            self.done.show()
            self.done.setFocus()

    def _recording(self, state: ConsoleState, paused: bool, ended: bool) -> tuple[str, str]:
        if ended:
            how = self._runner.state.ended
            return ("✓ complete", "good") if how == "completed" else (f"■ ended: {how}", "warn")
        if self._runner.stalled:
            return "! waiting for the disk", "alarm"
        if paused:
            heard = bool(state.sound.device) and not state.sound.lost
            return ("‖ paused, sound goes on" if heard else "‖ paused"), "warn"
        if state.sound.off is not None:
            return "○ running, no sound", "warn"
        if state.sound.lost:
            return "! no microphone", "alarm"
        if not state.sound.device:
            return "○ sound begins with consent", "warn"
        return "● recording", "alarm"
