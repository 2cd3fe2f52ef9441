"""The console's top line: who, what, how long, and the three things a moderator does to a session.

Pause offers reasons beside itself and, pressed once more, pauses without one; Skip stage and End
ask once more in the line itself. What was skipped or ended can be taken back here, too.
"""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QStackedWidget, QWidget

from labapp.clock import NS
from labapp.events import Source
from labapp.events.commands import Command, Pause, Reopen, Resume, TakeBackSkip
from labapp.session.runner import Runner
from labapp.ui import theme
from labapp.ui.language import N_, tr, translate_message
from labapp.ui.moderator import bits, wording
from labapp.ui.moderator.header_questions import Questions, Reasons, SkipLine
from labapp.ui.moderator.state.console import ConsoleState
from labapp.ui.moderator.wording import pause_reason
from labapp.ui.theme import Palette
from labapp.ui.widgets.buttons import Button

HEIGHT, ROOMY = 52, 1100
PAUSE_KEY = "F9"
RUN, CONFIRM, SKIPPING = range(3)


class _PauseButton(Button):
    """The second press of a double click counts: it pauses without a reason."""

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.mousePressEvent(event)


class ConsoleHeader(QFrame):
    """done_requested: the session is over and the moderator goes back to the home."""

    done_requested = Signal()

    def __init__(self, palette: Palette, runner: Runner, participant: str, study: str) -> None:
        super().__init__()
        self._runner = runner
        self._asked_of: int | None = None
        self.setProperty("role", "bar")
        self.setFixedHeight(HEIGHT)
        self.elapsed = bits.label("00:00:00", "clock")
        self.recording = bits.label(role="state")
        self.pause = _PauseButton(tr("Pause"))
        self.blind = Button(tr("Blind"))
        self.blind.setProperty("role", "quiet")
        self.blind.setToolTip(
            tr(
                "The console names no representation. Press to have them named: that is recorded "
                "and cannot be taken back"
            )
        )
        self.blind.hide()
        self.skip = Button(tr("Skip stage"))
        self.end = Button(tr("End…"))
        self.reopen = Button(tr("Take the end back"))
        self.done = Button(tr("Back to start"))
        self.done.setProperty("role", "primary")
        self.reopen.hide()
        self.done.hide()
        self.study = bits.ElidedLabel(study, "secondary")
        self.reasons = Reasons()
        self.reasons.hide()
        self.questions = Questions(participant, runner.journal.path.parent.name)
        self.questions.debriefs = lambda: runner.machine.can_debrief(runner.state)

        self.pages = QStackedWidget()
        self.pages.addWidget(self._run_page())
        self.pages.addWidget(self.questions)
        self.skipping = SkipLine()
        self.pages.addWidget(self.skipping)
        self.pages.currentChanged.connect(self._fit)
        row = bits.row(self, theme.SPACE_L, (theme.SPACE_XL, 0, theme.SPACE_M, 0))
        row.addWidget(bits.label(participant, "brand"))
        row.addWidget(self.elapsed)
        row.addWidget(self.recording)
        row.addWidget(self.pages, 1)
        self.reasons.chosen.connect(self._pause)
        self.reasons.left.connect(self._back)
        self.questions.decided.connect(self._decided)
        self.questions.left.connect(self._back)
        self.skipping.taken_back.connect(lambda: self._send(TakeBackSkip("part")))

    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            self._fit()
        return handled

    def _fit(self) -> None:
        """In a narrow window a question takes the place of the clock, and more lines."""
        asked = self.pages.currentIndex() == CONFIRM or not self.reasons.isHidden()
        self.elapsed.setVisible(not asked or self.width() >= ROOMY)
        confirms = self.pages.currentIndex() == CONFIRM
        wraps = self.width() < ROOMY
        if wraps != self.recording.wordWrap():  # a label asks for a new layout even if it is as set
            self.recording.setWordWrap(wraps)
        self.recording.setVisible(not confirms and self.elapsed.isVisibleTo(self))
        page = self.pages.currentWidget()
        layout = None if page is None else page.layout()
        needed = 0
        if self.recording.isVisibleTo(self):
            needed = self.recording.heightForWidth(self.recording.width())
        if page is not None and layout is not None:
            needed = max(needed, layout.totalMinimumSize().height())
            if layout.hasHeightForWidth():
                needed = max(needed, layout.minimumHeightForWidth(page.width()))
        self.setFixedHeight(max(HEIGHT, needed + 2 * theme.SPACE_XS))

    def _run_page(self) -> QWidget:
        page = QWidget()
        row = bits.row(page, theme.SPACE_S)
        row.addWidget(self.study, 1)
        row.addWidget(self.reasons, 1)
        self.others = QWidget()
        others = bits.row(self.others, theme.SPACE_S)
        for button in (self.blind, self.skip, self.end, self.reopen, self.done):
            others.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.others)
        # On the right: it stays where it is when the reasons come, for a second press.
        row.addWidget(self.pause, 0, Qt.AlignmentFlag.AlignVCenter)
        self.pause.clicked.connect(self.press_pause)
        self.blind.clicked.connect(self._ask_unblind)
        self.skip.clicked.connect(self._ask_skip)
        self.end.clicked.connect(self.ask_end)
        self.reopen.clicked.connect(self._reopen)
        self.done.clicked.connect(self.done_requested)
        return page

    def press_pause(self) -> None:
        """Ask why; asked already, pause at once; paused, go on."""
        if self._runner.finished:
            return
        self.pages.setCurrentIndex(RUN)
        if self._runner.state.pauses.paused:
            self._send(Resume("moderator"))
        elif self.reasons.isHidden():
            self.reasons.open()
            self._show_reasons(True)
        else:
            self.reasons.choose()

    def ask_end(self) -> None:
        """Ask, in the line, how to end the session."""
        if self._runner.finished:
            self.done_requested.emit()
            return
        self._show_reasons(False)
        self.pages.setCurrentIndex(CONFIRM)
        self.questions.ask_end()

    def _ask_skip(self) -> None:
        part = self._runner.part
        if part is not None:
            self._show_reasons(False)
            self.pages.setCurrentIndex(CONFIRM)
            self._asked_of = self._runner.state.index
            self.questions.ask_skip(part.title, self._asked_of)

    def _ask_unblind(self) -> None:
        self._show_reasons(False)
        self.pages.setCurrentIndex(CONFIRM)
        self.questions.ask_unblind()

    def show_blind(self, blind: bool) -> None:
        """Whether the console hides the representations, and can be told to name them."""
        self.blind.setVisible(blind)

    def _pause(self, reason: str) -> None:
        self._show_reasons(False)
        self._send(Pause(reason))

    def _reopen(self) -> None:
        if (seq := self._runner.state.end_seq) is not None:
            self._send(Reopen(seq))

    def _decided(self, command: Command) -> None:
        self._back()
        self._send(command)

    def _send(self, command: Command) -> None:
        self._runner.send(command, Source.MODERATOR)

    def _back(self) -> None:
        self._asked_of = None
        self._show_reasons(False)
        self.pages.setCurrentIndex(RUN)

    def _show_reasons(self, asked: bool) -> None:
        self.reasons.setVisible(asked)
        for widget in (self.study, self.others):
            widget.setVisible(not asked)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        page = self.pages.currentWidget()
        asked = page if isinstance(page, Questions | SkipLine) else self.reasons
        if asked.isHidden() or not asked.take_key(event):
            super().keyPressEvent(event)

    def show_state(self, state: ConsoleState, now_ns: int) -> None:
        """Bring clock, recording state and buttons up to date."""
        runner = self._runner
        paused, ended = runner.state.pauses.paused, runner.finished
        bits.set_text(self.elapsed, wording.long_time(state.work.working_ns(now_ns)))
        text, tone = self._recording(state, paused, ended, now_ns)
        bits.set_property(self.recording, "tone", tone)
        bits.set_text(self.recording, text)
        caption = tr("Continue") if paused else tr("Pause")
        if self.pause.text() != caption:
            self.pause.setText(caption)
            bits.set_property(self.pause, "role", "primary" if paused else "")
        tip = N_("{key} continues") if paused else N_("{key} asks why; once more pauses at once")
        self.pause.setToolTip(tr(tip, key=PAUSE_KEY))
        if paused or ended:
            self._show_reasons(False)
        if self._asked_of is not None and self._asked_of != runner.state.index:
            self._back()  # the part that the question is about is over
        # A part that cannot be skipped (consent) is left by its own buttons, or by End.
        part = runner.part
        skippable = part is not None and not part.consents and (part.rests or not paused)
        self.skip.setEnabled(skippable)
        self._show_skipping(now_ns)
        if ended == self.done.isHidden():
            self._show_end(ended)

    def _show_skipping(self, now_ns: int) -> None:
        """While a part is being skipped, say so in place of what could be done to it."""
        pending, part = self._runner.state.pending, self._runner.part
        shown = self.pages.currentIndex() == SKIPPING
        if pending is None or part is None or pending.what != "part":
            if shown:
                self._back()
            return
        self.skipping.show_left(part.title, max(0, ceil((pending.until_ns - now_ns) / NS)))
        if self.pages.currentIndex() == RUN:
            self.pages.setCurrentIndex(SKIPPING)

    def _show_end(self, ended: bool) -> None:
        """What can be done to a session that is over, or that goes on after all."""
        self.pages.setCurrentIndex(RUN)
        can_reopen = ended and self._runner.machine.can_reopen(self._runner.state)
        for button in (self.pause, self.skip, self.end):
            button.setVisible(not ended)
        self.reopen.setVisible(can_reopen)
        self.done.setVisible(ended)
        # Going on makes an early end final: the focus never comes to stand on that by itself.
        if ended:
            (self.reopen if can_reopen else self.done).setFocus()

    def _recording(
        self, state: ConsoleState, paused: bool, ended: bool, now_ns: int
    ) -> tuple[str, str]:
        how = self._runner.state.ended
        if state.withdrawal:
            return tr(wording.WITHDRAWN[state.withdrawal]), "warn"
        if ended:
            if how == "completed" and state.not_counted:
                why = ", ".join(map(wording.not_counted, state.not_counted))
                return tr("■ complete, does not count: {why}", why=why), "warn"
            if how == "completed":
                return tr("✓ complete"), "good"
            return tr("■ ended: {reason}", reason=translate_message(how or "")), "warn"
        if self._runner.stalled:
            return tr("! waiting for the disk"), "alarm"
        if paused:
            return self._paused(state, now_ns), "warn"
        if self._runner.state.pauses.leaving:
            return tr("‖ asked whether to stop"), "warn"
        return {
            "off": (tr("○ running, no sound"), "warn"),
            "stopped": (tr("○ running, no sound"), "warn"),
            "lost": (tr("! no microphone"), "alarm"),
            "waiting": (tr("○ sound begins with consent"), "warn"),
            "on": (tr("● recording"), "alarm"),
        }[self._runner.sound]

    def _paused(self, state: ConsoleState, now_ns: int) -> str:
        """Why and how long, and whether one is heard meanwhile."""
        since_ns = self._runner.state.pauses.open_since_ns
        assert since_ns is not None
        name = pause_reason(state.pause_reason) or tr("paused")
        text = f"‖ {name}, {wording.short_time(now_ns - since_ns)}"
        part = self._runner.part
        if part is not None and part.rests and part.lasts_s:
            least = wording.short_time(round(part.lasts_s * NS))
            text = tr("{time} of {least}", time=text, least=least)
        sound = self._runner.sound
        if sound == "stopped":
            return tr("{paused}, sound has stopped", paused=text)
        return tr("{paused}, sound goes on", paused=text) if sound == "on" else text
