"""The console's top line: who, what, how long, and the three things a moderator does to a session.

Pause pauses at once and asks why afterwards, in a second line; Skip stage and End ask once more in
the line itself: nothing ever covers the session. What was skipped or ended can be taken back here.

While a question is open, the moderator has the keyboard (`labapp.ui.keyboard`), and Escape leaves
it. None of the answers has the focus by itself. An answer that destroys something comes up away
from the button that was just clicked, and takes no click at first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

from PySide6.QtCore import QEvent, QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QGridLayout,
    QListWidget,
    QListWidgetItem,
    QSizePolicy,
    QWidget,
)

from labapp.base.clock import NS
from labapp.record.events.commands import (
    Command,
    EndSession,
    ExplainPause,
    Pause,
    Reopen,
    Resume,
    SkipStage,
    TakeBackSkip,
    Unblind,
)
from labapp.study.plugins.part import section_of
from labapp.ui import theme
from labapp.ui.keyboard import PURPOSE
from labapp.ui.language import ENDED, N_, WITHDREW, tr, translate_message
from labapp.ui.moderator import bits, wording
from labapp.ui.moderator.state.console import ConsoleState
from labapp.ui.moderator.wording import contents_of, pause_reason, section_title, title_of
from labapp.ui.participant.screen import PageStack
from labapp.ui.participant.view import ConsoleSession
from labapp.ui.theme import Palette
from labapp.ui.widgets.controls import Button

HEIGHT, ROOMY = 52, 1100
PAUSE_KEY = "F9"
RUN, CONFIRM, SKIPPING, CONTINUING = range(4)
LONGEST_CAPTION = 16
"""Letters of a part's title on the button that skips it."""
SHARE_SIGN = "⇄"
"""On the button that shares the session, where there is no room for a word."""
WIDE = 1300
"""Logical pixels of a header in which that button says what it skips; the question always does."""


class ConsoleHeader(QFrame):
    """done_requested: the session is over and the moderator goes back to the home. asking_changed:
    another question is asked, or none any more."""

    done_requested = Signal()
    asking_changed = Signal()

    def __init__(
        self,
        palette: Palette,
        runner: ConsoleSession,
        send: Callable[[Command], None],
        participant: str,
        study: str,
    ) -> None:
        super().__init__()
        self._runner, self._send = runner, send
        self._controls, self._reasons_due = True, False
        self._asked_of: int | None = None
        self._blind = False
        self._pressed_x: int | None = None
        self.setProperty("role", "bar")
        self.setFixedHeight(HEIGHT)
        self.elapsed = bits.label("00:00:00", "clock")
        self.recording = bits.label(role="state")
        self.pause = Button(tr("button.pause"))
        self.blind = Button(tr("console.blind"), "quiet")
        self.blind.setToolTip(tr("console.blind_tip"))
        self.blind.hide()
        self.skip = Button(tr("console.skip"))
        self.jump = Button(tr("console.continue_at"))
        self.jump.setToolTip(tr("console.continue_at_tip"))
        self.end = Button(tr("console.end"))
        self.reopen = Button(tr("console.take_end_back"))
        self.done = Button(tr("console.back_to_start"), "primary")
        self.reopen.hide()
        self.done.hide()
        self.share = Button(tr("console.share"), "quiet")
        self.share.setToolTip(tr("console.share_tip"))
        self.share.setAccessibleName(tr("console.share"))
        self.share.setCheckable(True)
        self.study = bits.ElidedLabel(study, "secondary")
        self.reasons = Reasons()
        self.reasons.hide()
        self.questions = Questions(participant, runner.name)
        self.questions.debriefs = lambda: runner.machine.can_debrief(runner.state)

        self.pages = PageStack()
        self.pages.addWidget(self._run_page())
        self.pages.addWidget(self.questions)
        self.skipping = SkipLine()
        self.pages.addWidget(self.skipping)
        self.continuing = ContinueAt()
        self.pages.addWidget(self.continuing)
        self.pages.currentChanged.connect(self._fit)
        lines = bits.column(self, 0, (theme.SPACE_XL, 0, theme.SPACE_M, 0))
        row = bits.row(None, theme.SPACE_L)
        bits.fill(lines, (row, 1), self.reasons)
        bits.fill(
            row, bits.label(participant, "brand"), self.elapsed, self.recording, (self.pages, 1)
        )
        self.over = QWidget()
        over = bits.row(self.over, theme.SPACE_S)
        for button in (self.reopen, self.done):
            over.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        self.over.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        row.addWidget(self.over)
        self.over.hide()
        self._row, self._arming = row, Arming(self.over)
        self.reasons.chosen.connect(lambda reason: self._leave_for(ExplainPause(reason)))
        self.reasons.left.connect(self._back)
        self.reasons.cancelled.connect(lambda: self._leave_for(Resume("moderator")))
        self.questions.decided.connect(self._send_decision)
        self.questions.left.connect(self._back)
        self.continuing.decided.connect(self._send_decision)
        self.continuing.left.connect(self._back)
        self.skipping.left.connect(lambda: self._send_decision(TakeBackSkip("part")))
        for button in self.findChildren(Button):
            button.pressed.connect(lambda button=button: self._remember_press(button))

    def _remember_press(self, button: Button) -> None:
        self._pressed_x = button.mapTo(self, button.rect().center()).x()

    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            self._fit()
        return handled

    def _fit(self) -> None:
        """In a narrow window a question takes the place of the clock, and more lines."""
        confirms = self.pages.currentIndex() in (CONFIRM, CONTINUING)
        self.elapsed.setVisible(not confirms or self.width() >= ROOMY)
        wraps = self.width() < ROOMY
        for button in (self.skip, self.jump, self.end):
            bits.set_property(button, "role", "compact" if wraps else "")
        tight = wraps or (self._blind and self.width() < WIDE)
        bits.set_text(self.share, SHARE_SIGN if tight else tr("console.share"))
        self.study.setVisible(not (wraps and self._blind))
        for button in (self.share, self.blind):
            bits.set_property(button, "role", "compact" if wraps else "quiet")
        if self._runner.part is not None:
            self._name_skip()
        if wraps != self.recording.wordWrap():  # a label asks for a new layout even if it is as set
            self.recording.setWordWrap(wraps)
        self.recording.setVisible(not confirms and self.elapsed.isVisibleTo(self))
        page = self.pages.currentWidget()
        assert page is not None
        layout = page.layout()
        assert layout is not None
        needed = layout.totalMinimumSize().height()
        if layout.hasHeightForWidth():
            needed = max(needed, layout.minimumHeightForWidth(page.width()))
        if self.recording.isVisibleTo(self):
            needed = max(needed, self.recording.heightForWidth(self.recording.width()))
        below = 0 if self.reasons.isHidden() else self.reasons.sizeHint().height()
        self.setFixedHeight(max(HEIGHT, needed + 2 * theme.SPACE_XS) + below)

    def _run_page(self) -> QWidget:
        page = QWidget()
        row = bits.fill(bits.row(page, theme.SPACE_S), (self.study, 1))
        for button in (self.share, self.blind, self.skip, self.jump, self.end, self.pause):
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        self.pause.clicked.connect(self.press_pause)
        self.blind.clicked.connect(lambda: self._ask(self.questions.ask_unblind))
        self.skip.clicked.connect(self._ask_skip)
        self.jump.clicked.connect(self._ask_where)
        self.end.clicked.connect(self.ask_end)
        self.reopen.clicked.connect(self._reopen)
        self.done.clicked.connect(self.done_requested)
        return page

    @property
    def asking(self) -> QWidget | None:
        """The question that is open; None for none."""
        if self.pages.currentIndex() != RUN:
            return self.pages.currentWidget()
        return None if self.reasons.isHidden() else self.reasons

    def press_pause(self) -> None:
        """Pause at once and ask why; paused, go on."""
        if self._runner.finished:
            return
        if self._is_paused():
            self._leave_for(Resume("moderator"))
            return
        self._send(Pause(wording.PAUSED))
        self._reasons_due = self._controls
        self._ask_why()

    def _ask_why(self) -> None:
        """Ask for the reason of a pause once it has begun, at another computer a moment later."""
        if self._reasons_due and self._is_paused():
            self._reasons_due = False
            self.pages.setCurrentIndex(RUN)
            self.reasons.open()
            self._show_reasons(True)

    def set_controls(self, controls: bool) -> None:
        """Whether the session is moderated here. If not, it is only watched."""
        self._controls = controls
        if not controls:
            self._back()
        for button in (self.pause, self.blind, self.end, self.reopen):
            button.setEnabled(controls)

    def _is_paused(self) -> bool:
        return self._runner.state.pauses.paused

    def ask_end(self) -> None:
        """Ask, in the line, how to end the session."""
        if self._runner.finished:
            self.done_requested.emit()
            return
        self._ask(self.questions.ask_end)

    def _ask_skip(self) -> None:
        index, machine = self._runner.state.index, self._runner.machine
        if self._runner.part is not None:
            self._asked_of = index
            end = section_of(machine.parts, index).stop
            title = section_title(machine.parts, index, blind=self._blind)
            whole = end > index + 1 or machine.parts[index].has_trials
            contents = self._contents(end) if whole else ""
            self._ask(lambda: self.questions.ask_skip(title, SkipStage(index, end), contents))

    def _contents(self, to: int) -> str:
        """What is left out if the session continues at a place in the plan: the sections by name
        where it is more than one, and what is in them."""
        runner, parts = self._runner, self._runner.machine.parts
        state = runner.state
        trial = runner.machine.tasks[state.index].trial(state.part_state)
        places = range(state.index, to)
        what = contents_of(parts, places, 0 if trial is None else trial[0] - 1)
        whole = [place for place in places if section_of(parts, place).stop <= to]
        titles = [section_title(parts, place, blind=self._blind) for place in whole]
        named = list(dict.fromkeys(titles))
        return f"{', '.join(named)} – {what}" if len(named) > 1 else what

    def _ask_where(self) -> None:
        """Ask at which later part the session continues."""
        machine, state = self._runner.machine, self._runner.state
        if self._runner.part is None:
            return
        self._show_reasons(False)
        self._asked_of = state.index
        places = [place for place in machine.later(state) if place < len(machine.parts)]
        offered = [(title_of(machine.parts, place, blind=self._blind), place) for place in places]
        self.continuing.ask(state.index, offered, self._contents)
        self.pages.setCurrentIndex(CONTINUING)
        self.asking_changed.emit()

    def _ask(self, ask: Callable[[], None]) -> None:
        """Ask in place of the buttons, which stand on the right."""
        self.questions.come_up(on_left=True)
        ask()
        self._show_reasons(False)
        self.pages.setCurrentIndex(CONFIRM)
        self.asking_changed.emit()

    def show_blind(self, blind: bool) -> None:
        """Whether the console hides the representations, and can be told to name them."""
        self._blind = blind
        self.blind.setVisible(blind)
        self._fit()

    def _leave_for(self, command: Command) -> None:
        self._back()
        self._send(command)

    def _reopen(self) -> None:
        if (seq := self._runner.state.end_seq) is not None:
            self._send(Reopen(seq))

    def _send_decision(self, command: Command) -> None:
        self._asked_of = None
        self._send(command)
        self.pages.setCurrentIndex(RUN)
        self._show_skipping(self._runner.clock.now_ns())
        self.asking_changed.emit()

    def _back(self) -> None:
        self._asked_of = None
        self.pages.setCurrentIndex(RUN)
        self._show_reasons(False)

    def leave_question(self) -> None:
        """Close the question unanswered; nothing is skipped or ended, and a pause goes on."""
        if self.pages.currentIndex() != SKIPPING:
            self._back()

    def _show_reasons(self, asked: bool) -> None:
        self.reasons.setVisible(asked)
        self._fit()
        self.asking_changed.emit()

    def take_key(self, event: QKeyEvent) -> bool:
        """Take a key for the question that is open; False if it is not one of its keys."""
        asking = self.asking
        return isinstance(asking, Asking) and asking.take_key(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.take_key(event):
            super().keyPressEvent(event)

    def show_state(self, state: ConsoleState, now_ns: int) -> None:
        """Bring clock, recording state and buttons up to date."""
        runner = self._runner
        paused, ended = runner.state.pauses.paused, runner.finished
        bits.set_text(self.elapsed, wording.long_time(state.work.working_ns(now_ns)))
        text, tone = self._recording(state, paused, ended, now_ns)
        bits.set_text(self.recording, text, tone)
        bits.set_text(self.pause, tr("button.continue") if paused else tr("button.pause"))
        bits.set_property(self.pause, "role", "primary" if paused else "")
        tip = N_("console.continue_tip") if paused else N_("console.pause_tip")
        self.pause.setToolTip(tr(tip, key=PAUSE_KEY))
        if not self.reasons.isHidden() and (ended or not paused):
            self._back()
        if self._asked_of is not None and self._asked_of != runner.state.index:
            self._back()  # the part that the question is about is over
        # A part that cannot be skipped (consent) is left by its own buttons, or by End.
        part = runner.part
        skippable = part is not None and not part.consents and (part.rests or not paused)
        skippable = skippable and self._controls
        self._ask_why()
        self.skip.setEnabled(skippable)
        self.jump.setEnabled(skippable and len(runner.machine.later(runner.state)) > 1)
        if part is not None:
            self._name_skip()
        self._show_skipping(now_ns)
        if ended == self.done.isHidden():
            self._show_end(ended)

    def _name_skip(self) -> None:
        """The button says what it skips."""
        parts, index = self._runner.machine.parts, self._runner.state.index
        title = section_title(parts, index, blind=True)
        short = len(title) <= LONGEST_CAPTION and self.width() >= WIDE
        bits.set_text(
            self.skip, tr("console.skip_part", part=title) if short else tr("console.skip")
        )
        self.skip.setToolTip(tr("console.skip_question", part=title))

    def _show_skipping(self, now_ns: int) -> None:
        """While a part is being skipped, say so in place of what could be done to it."""
        pending, part = self._runner.state.pending, self._runner.part
        shown = self.pages.currentIndex() == SKIPPING
        if pending is None or part is None or pending.what != "part":
            if shown:
                self._back()
            return
        machine, index, to = self._runner.machine, self._runner.state.index, pending.to
        title = wording.part_title(part.title)
        goal = ""
        if to == section_of(machine.parts, index).stop:
            title = section_title(machine.parts, index, blind=self._blind)
        elif to is not None:
            goal = title_of(machine.parts, to, blind=self._blind)
        self.skipping.show_left(title, max(0, ceil((pending.until_ns - now_ns) / NS)), goal)
        if self.pages.currentIndex() == RUN:
            self.pages.setCurrentIndex(SKIPPING)
            self.asking_changed.emit()

    def _show_end(self, ended: bool) -> None:
        """What can be done to a session that is over, or that goes on after all."""
        self._back()
        can_reopen = ended and self._runner.machine.can_reopen(self._runner.state)
        for button in (self.pause, self.skip, self.jump, self.end):
            button.setVisible(not ended)
        if ended:
            # At the other end of the line than the button that was pressed last.
            self._row.removeWidget(self.over)
            left = self._pressed_x is None or self._pressed_x > self.width() // 2
            self._row.insertWidget(0 if left else self._row.count(), self.over)
            self._arming.begin()
        self.reopen.setVisible(can_reopen)
        self.done.setVisible(ended)
        self.over.setVisible(ended)
        self._pressed_x = None

    def _recording(
        self, state: ConsoleState, paused: bool, ended: bool, now_ns: int
    ) -> tuple[str, str]:
        how = self._runner.state.ended
        if state.withdrawal:
            return tr(wording.WITHDRAWN[state.withdrawal]), "warn"
        if ended and how != "completed":
            return tr("console.ended", reason=translate_message(how or "")), "warn"
        if ended and state.not_counted:
            why = ", ".join(map(wording.not_counted, state.not_counted))
            return tr("console.not_counted", why=why), "warn"
        if ended:
            return tr("console.complete"), "good"
        if self._runner.stalled:
            return tr("console.waiting_for_disk"), "alarm"
        if paused:
            return self._describe_pause(state, now_ns), "warn"
        if self._runner.state.pauses.leaving:
            return tr("console.asked_to_stop"), "warn"
        return {
            "off": (tr("console.silent"), "warn"),
            "stopped": (tr("console.silent"), "warn"),
            "lost": (tr("console.no_microphone"), "alarm"),
            "waiting": (tr("console.awaits_consent"), "warn"),
            "on": (tr("console.recording"), "alarm"),
        }[self._runner.sound]

    def _describe_pause(self, state: ConsoleState, now_ns: int) -> str:
        """Why and how long, and whether one is heard meanwhile."""
        since_ns = self._runner.state.pauses.open_since_ns
        assert since_ns is not None
        name = pause_reason(state.pause_reason) or tr("console.paused")
        text = f"‖ {name}, {wording.short_time(now_ns - since_ns)}"
        part = self._runner.part
        if part is not None and part.rests and part.lasts_s:
            least = wording.short_time(round(part.lasts_s * NS))
            text = tr("console.time_of_least", time=text, least=least)
        sound = self._runner.sound
        if sound == "stopped":
            return tr("console.paused_silent", paused=text)
        return tr("console.paused_recording", paused=text) if sound == "on" else text


REASON_LEAST, REASON_WIDTH = 140, 168
ARMED_MS = 1000
"""What destroys something takes no click for so long after it came up."""


class Arming(QTimer):
    """Keeps buttons switched off for a moment after they came up, so that no click meant for
    something else reaches them."""

    def __init__(self, buttons: QWidget) -> None:
        super().__init__(buttons, singleShot=True)
        self._buttons = buttons
        self.timeout.connect(lambda: buttons.setEnabled(True))

    def begin(self) -> None:
        """The buttons come up now."""
        self._buttons.setEnabled(not ARMED_MS)
        self.start(ARMED_MS)


class Asking(QWidget):
    """What the line asks while it is open. left(): nobody answers."""

    left = Signal()

    def take_key(self, event: QKeyEvent) -> bool:
        """Escape leaves. False for any other key."""
        if event.key() != Qt.Key.Key_Escape:
            return False
        self.left.emit()
        return True


class Reasons(Asking):
    """Why the session is paused: one click each. chosen(reason); left(): nobody says; cancelled():
    the pause is taken back."""

    chosen = Signal(str)
    cancelled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.typed = bits.line_edit(tr("console.pause_reason"), tr("console.pause_reason_hint"))
        self.typed.setFixedWidth(REASON_WIDTH)
        self.typed.setProperty(PURPOSE, "reason")
        self.typed.returnPressed.connect(self.choose)
        self.buttons: list[Button] = []
        row = bits.row(self, theme.SPACE_XS, (0, 0, 0, theme.SPACE_XS))
        bits.fill(row, 1, bits.label(tr("console.why"), "strong"))
        for reason, text in wording.PAUSE_REASONS.items():
            self.buttons.append(Button(tr(text), "compact"))
            self.buttons[-1].clicked.connect(lambda _=False, why=reason: self.chosen.emit(why))
        self.buttons.append(Button(tr("console.other_reason"), "compact"))
        self.buttons[-1].clicked.connect(self._ask)
        self.no = Button(tr("button.cancel"), "compact", pressed=self.cancelled)
        self.no.setToolTip(tr("console.cancel_pause"))
        bits.fill(row, *self.buttons, self.typed, self.no)
        self.typed.hide()

    def open(self) -> None:
        """Ask again."""
        self.typed.clear()
        self.typed.hide()
        for button in self.buttons:
            button.show()

    def choose(self) -> None:
        """Take what was typed as the reason, if anything was."""
        if reason := self.typed.text().strip():
            self.chosen.emit(reason)
        else:
            self.left.emit()

    def _ask(self) -> None:
        for button in self.buttons:
            button.hide()
        self.typed.show()
        self.typed.setFocus()


@dataclass(frozen=True)
class _Answer:
    """then: what is sent, or the next question."""

    text: str
    then: Command | Callable[[], None]


class SkipLine(Asking):
    """A part that is being skipped, and for how long that can be taken back. left(): it is."""

    def __init__(self) -> None:
        super().__init__()
        self.text = bits.label(role="strong")
        self.back = Button(tr("console.take_back"), pressed=self.left)
        bits.fill(
            bits.row(self, theme.SPACE_S), 1, self.text, (self.back, Qt.AlignmentFlag.AlignVCenter)
        )

    def show_left(self, part: str, seconds: int, to: str = "") -> None:
        """Say what is skipped, or to what the session skips, and in how many seconds."""
        text = tr("console.skipping", part=part, seconds=seconds)
        if to:
            text = tr("console.continuing", part=to, seconds=seconds)
        bits.set_text(self.text, text)


class Questions(Asking):
    """Whether to skip, to end or to unblind, one question after the other. decided(command);
    left(): none of them.

    participant, folder: whose data would be deleted, and where they are. debriefs: says whether the
    debriefing can be shown at an early end; the moderator then chooses.
    """

    decided = Signal(object)

    def __init__(self, participant: str, folder: str) -> None:
        super().__init__()
        self._participant, self._folder = participant, folder
        self._answers: Sequence[_Answer] = ()
        self.question = bits.label(role="strong")
        self.detail = bits.label(role="caption", wrap=True)
        self.reason = bits.line_edit(tr("word.reason"), tr("word.reason_if_any"))
        self.reason.setMinimumWidth(REASON_LEAST)
        self.reason.setMaximumWidth(REASON_WIDTH)
        self.reason.setProperty(PURPOSE, "reason")
        self.debrief = QCheckBox(tr("console.show_debriefing"))
        self.debriefs: Callable[[], bool] = lambda: False
        self.yes, self.other, self.no = Button(), Button(), Button()
        self._words = QWidget()
        bits.fill(bits.column(self._words, 0), 1, self.question, self.detail, self.debrief, 1)
        self.answers, self._leaving = QWidget(), QWidget()
        for group, widgets in (
            (self.answers, (self.yes, self.other)),
            (self._leaving, (self.reason, self.no)),
        ):
            row = bits.row(group, theme.SPACE_S)
            for widget in widgets:
                row.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(theme.SPACE_L)
        self._grid.setVerticalSpacing(theme.SPACE_XS)
        self._grid.setColumnStretch(1, 1)
        self._placed: tuple[bool, bool] | None = None
        self._on_left = True
        self._arming = Arming(self.answers)
        self._fit()
        self.yes.clicked.connect(lambda: self._answer(0))
        self.other.clicked.connect(lambda: self._answer(1))
        self.no.clicked.connect(self.left)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """The answers at one end, the way out at the other, and the question between them, or above
        them where there is no room."""
        groups = (self.answers, self._leaving)
        asked = self.question.sizeHint().width() + sum(g.sizeHint().width() for g in groups)
        narrow = asked + 2 * theme.SPACE_L > self.width()
        if (narrow, self._on_left) == self._placed:
            return
        self._placed = narrow, self._on_left
        left, right = groups if self._on_left else groups[::-1]
        for widget in (left, self._words, right):
            self._grid.removeWidget(widget)
        side, row = Qt.AlignmentFlag, int(narrow)
        self._grid.addWidget(self._words, 0, *((0, 1, 3) if narrow else (1, 1, 1)))
        self._grid.addWidget(left, row, 0, side.AlignLeft | side.AlignVCenter)
        self._grid.addWidget(right, row, 2, side.AlignRight | side.AlignVCenter)

    def come_up(self, *, on_left: bool) -> None:
        """Put the answers at the left end or at the right one."""
        self._on_left = on_left
        self._fit()

    def ask_skip(self, title: str, skip: SkipStage, contents: str = "") -> None:
        """Whether to skip a stage or another part; contents: what is left out with it."""
        self._ask(
            tr("console.skip_question", part=title),
            _Answer(tr("console.skip_yes"), skip),
            detail=tr("console.left_out", what=contents) if contents else "",
            no=tr("console.skip_no"),
        )

    def ask_unblind(self) -> None:
        """Whether the representations are to be named from now on."""
        self._ask(
            tr("console.unblind_question"),
            _Answer(tr("console.unblind_yes"), Unblind()),
            detail=tr("console.unblind_note"),
            no=tr("console.unblind_no"),
        )

    def ask_end(self) -> None:
        """How to end the session."""
        self.reason.clear()
        self.debrief.setChecked(True)
        self._ask(
            tr("console.end_question"),
            _Answer(tr("console.end_keep"), EndSession(ENDED)),
            _Answer(tr("console.end_withdraw"), self._ask_withdrawal),
            reason=True,
        )

    def _ask_withdrawal(self) -> None:
        self._ask(
            tr("console.data_question"),
            _Answer(tr("console.data_keep"), EndSession(WITHDREW, "keep")),
            _Answer(tr("console.data_delete"), self._ask_deletion),
            detail=tr("console.withdraws", id=self._participant),
        )

    def _ask_deletion(self) -> None:
        self._ask(
            tr("console.delete_question"),
            _Answer(tr("console.delete_yes"), EndSession(WITHDREW, "delete")),
            detail=tr("console.delete_note", folder=self._folder, id=self._participant),
        )

    def _ask(
        self, question: str, *answers: _Answer, detail: str = "", reason: bool = False, no: str = ""
    ) -> None:
        self.no.setText(no or tr("console.end_no"))
        self._answers = answers
        bits.set_text(self.question, question)
        bits.set_text(self.detail, detail)
        self.detail.setVisible(bool(detail))
        self.reason.setVisible(reason)
        ends = any(isinstance(answer.then, EndSession) for answer in answers)
        self.debrief.setVisible(ends and self.debriefs())
        for button, answer in zip((self.yes, self.other), answers, strict=False):
            button.setText(answer.text)
            keeps = isinstance(answer.then, EndSession) and answer.then.withdrawal == "keep"
            grave = isinstance(answer.then, Command) and not keeps
            bits.set_property(button, "role", "danger" if grave else "")
        self.other.setVisible(len(answers) > 1)
        self._arming.begin()
        self._fit()

    def _answer(self, place: int) -> None:
        then = self._answers[place].then
        if not isinstance(then, Command):
            # The next answers come up at the other end.
            self.come_up(on_left=not self._on_left)
            then()
            return
        if isinstance(then, EndSession):
            reason = self.reason.text().strip() or then.reason
            then = EndSession(reason, then.withdrawal, self.debrief.isChecked())
        self.decided.emit(then)


ROW_PX, ROWS = 26, 5


class ContinueAt(Asking):
    """Asks at which later part of the plan the session continues, by clicks. decided(SkipStage);
    left(): it goes on as it was.

    Like every question of the line it has the keyboard while it is open, and Escape leaves it.
    *Continue there* comes up below the line, away from every button of it, and takes no click until
    a part is clicked.
    """

    decided = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._contents: Callable[[int], str] = str
        self._index = 0
        self.list = QListWidget()
        self.list.setAccessibleName(tr("console.continue_at"))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setFixedHeight(ROW_PX * ROWS)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.detail = bits.label(role="caption", wrap=True)
        self.cancel = Button(tr("console.skip_no"), pressed=self.left)
        self.go = Button(tr("console.continue_there"), pressed=self._answer)
        right = Qt.AlignmentFlag.AlignRight
        answers = bits.column(None, theme.SPACE_XS)
        bits.fill(answers, (self.cancel, right), (self.detail, 1), (self.go, right))
        bits.fill(bits.row(self, theme.SPACE_M), (self.list, 3), (answers, 2))
        self.list.itemSelectionChanged.connect(self._on_choice)

    def ask(
        self, index: int, places: Sequence[tuple[str, int]], contents: Callable[[int], str]
    ) -> None:
        """Offer parts by their titles and places in the plan. index: the part that runs; contents:
        what is left out on the way to a place."""
        self._index, self._contents = index, contents
        with QSignalBlocker(self.list):
            self.list.clear()
            for title, place in places:
                item = QListWidgetItem(title)
                item.setData(Qt.ItemDataRole.UserRole, place)
                item.setSizeHint(QSize(0, ROW_PX))
                self.list.addItem(item)
        self._on_choice()

    @property
    def place(self) -> int | None:
        """The place in the plan of the part that is chosen."""
        chosen = self.list.selectedItems()
        return int(chosen[0].data(Qt.ItemDataRole.UserRole)) if chosen else None

    def _on_choice(self) -> None:
        self.go.setEnabled(self.place is not None)
        self.list.scrollToItem(self.list.currentItem())
        text = tr("console.choose_part")
        if self.place is not None:
            text = tr("console.left_out", what=self._contents(self.place))
        bits.set_text(self.detail, text)

    def _answer(self) -> None:
        if self.place is not None:
            self.decided.emit(SkipStage(self._index, self.place))
