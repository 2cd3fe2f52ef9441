"""The moderator's console during a session.

Everything on it is the runner's state or a fold over the journal's events. Events and changes only
leave a mark; one timer, 20 times a second, brings the widgets that are concerned up to date, so
that the console never stands between a dial and its picture. Both windows share a thread: while a
masked picture is about to appear on the participant's screen, the console waits.

Below the header is a line for each alarm, with what to do, or one that all is well. Also the plan
with ticks.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from math import ceil

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShortcut,
)
from PySide6.QtWidgets import QFrame, QGridLayout, QMainWindow, QSizePolicy, QToolTip, QWidget

from labapp.base.clock import NS
from labapp.base.errors import JournalError
from labapp.record.audio.recorder import Level
from labapp.record.events import Event, Source
from labapp.record.events.commands import (
    AddDeviation,
    AddFlag,
    AddNote,
    Command,
    CorrectNote,
    GivePrompt,
)
from labapp.session.opening import models_of
from labapp.study.loading import LoadedStudy
from labapp.study.plugins.machine import LATE_NS
from labapp.ui import fitting, theme, timers
from labapp.ui.fitting import Fitted
from labapp.ui.keyboard import is_field, leave_focus_to_fields
from labapp.ui.language import N_, tr
from labapp.ui.moderator import bits, keys_sheet, notes_panel, wording
from labapp.ui.moderator.console_header import PAUSE_KEY, ConsoleHeader
from labapp.ui.moderator.keys_sheet import KeysSheet
from labapp.ui.moderator.mirror import MirrorPanel
from labapp.ui.moderator.notes_panel import NotesPanel
from labapp.ui.moderator.state.alarms import SILENT, SOUND, Alarm, Watch
from labapp.ui.moderator.state.console import (
    ConsoleState,
    PlanView,
    no_veil,
    rows_of,
    veil_of,
    view_of,
)
from labapp.ui.moderator.timeline_view import TimelinePanel
from labapp.ui.moderator.voice_panel import VoicePanel, key_of
from labapp.ui.moderator.wording import chords_of
from labapp.ui.participant.screen import Body
from labapp.ui.participant.view import Bridge, ConsoleSession, SessionView
from labapp.ui.strings import strings_of
from labapp.ui.theme import Palette
from labapp.ui.widgets.controls import Button
from labapp.ui.widgets.painting import equip, metrics, smooth, write_with

PALETTE = theme.DARK
NOTE_KEY = "Ctrl+N"
TICK_MS = 50
MIRROR_TICKS = 2
"""The mirror is drawn at most ten times a second."""
MOVING_NS = 50_000_000
"""A hand that moved a dial so short a time ago moves it again: the console then draws right behind
the next picture, when the movement after it is farthest away."""
REMOTE_MS = 15
"""What comes over a link so shortly after one another is drawn together."""
SECOND_TICKS = 1000 // TICK_MS
DISK_EVERY_TICKS = 5 * SECOND_TICKS
LEFT_WIDTH, VOICE_WIDTH = 276, 296
THREE_COLUMNS, WIDEST = 1080, 16_777_215
"""Logical pixels: the least width of a console of three columns, and Qt's QWIDGETSIZE_MAX."""
HIGH, LINES, LEAST_LINES = 660, 8, 5
"""From this height on, in logical pixels, so many lines of notes are seen; a long plan scrolls. In
a lower window the whole console scrolls, and so many are seen at least."""
TIMELINE_HEIGHT = 176
"""Of the timeline at most, in logical pixels: the participant's screen gets the rest."""
NARROW_MIRROR = 244
"""The least height of the participant's screen where there are two columns, in logical pixels."""
BINS_A_TICK = 2
"""The envelope has 20 peaks a second and comes 10 times a second: two cover a tick."""

AHEAD_NS = 80_000_000
"""So long before a masked picture is due the console begins to wait for it: drawing takes up to
60 ms on a slow machine. It waits until the picture is there, or is not coming (LATE_NS)."""


class ConsoleWindow(Fitted, QMainWindow):
    """
    Parameters
    ----------
    bridge : of the session's runner; make both before the session begins.
    loaded : the study, for its title, flags and prompt.
    participant : for the header.
    level_source : what the microphone hears now, None without sound; called 20 times a second.
    past : the events of earlier runs of this session, from which the console is rebuilt.
    past_peaks : (working time in ns, peak 0 to 1) of their sound, where known.
    blind : representations are not named.
    remote : the session runs at another computer: nothing is watched over here, and closing the
        window leaves the session as it is.

    Attributes
    ----------
    controls : whether the session is moderated here; if not, it is watched, and notes are taken.

    Signals
    -------
    done_requested : the session is over and the moderator goes back to the home.
    toggle_requested : Ctrl+Shift+M: bring the console to the front, or back behind.
    write_requested : Ctrl+N, in whichever window: something is to be written into `note_field`.
    asking_changed : another question is open on it, or none any more (`asking`).
    field_left : a click ended what was written.
    keyboard_back : the moderator gives the participant the keyboard.

    The window cannot be closed while the session runs (it asks in its header instead); `shut` stops
    it for good and lets it close.
    """

    done_requested = Signal()
    toggle_requested = Signal()
    write_requested = Signal()
    asking_changed = Signal()
    field_left = Signal()
    keyboard_back = Signal()

    def __init__(
        self,
        bridge: Bridge,
        loaded: LoadedStudy,
        participant: str,
        level_source: Callable[[], Level | None],
        *,
        past: Sequence[Event] = (),
        past_peaks: Sequence[tuple[int, float]] = (),
        blind: bool = False,
        remote: bool = False,
    ) -> None:
        super().__init__()
        self._bridge = bridge
        self._remote, self.controls = remote, True
        self._runner: ConsoleSession = bridge.runner
        runner = self._runner
        self._study = study = loaded.study
        self._level_source = level_source
        self._inbox: deque[Event] = deque()
        self._dirty = True
        self._mirror_dirty = True
        self._changed_ns = 0
        self._waits = False
        self._ticks = 0
        self._talks_from_ns: int | None = None
        self._counted = False
        self._free_bytes: int | None = None
        self._level: Level | None = None
        self._open = True
        self._narrow: bool | None = None
        self._blind = blind
        self._finished = False
        veil = veil_of(models_of(runner.machine.parts)) if blind else no_veil
        self.state = ConsoleState(runner.machine.parts, past, veil)
        self._rows = rows_of(runner.machine.parts, blind=blind)
        self._watch = None if remote else Watch(sound=bridge.runner.recorder is not None)

        self.header = ConsoleHeader(PALETTE, runner, self._ask, participant, study.title)
        self.alarms = AlarmBar(PALETTE)
        self.plan = PlanPanel(PALETTE)
        self.notes = NotesPanel(PALETTE, study.flags, runner.clock.now_ns)
        # A resumed session may have fewer words than today's: the window refused what it must.
        words = strings_of(loaded, begun=True)
        session = SessionView(runner, loaded, words, theme.LIGHT, study.presentation, bridge.images)
        self.mirror = MirrorPanel(PALETTE, session, self.state, self._ask, blind=blind)
        self.voice = VoicePanel(PALETTE, study.recording.prompts, study.recording.silence_prompt_s)
        # Nobody is asked to keep talking who was not asked to talk.
        talks = any(getattr(part, "think_aloud", False) for part in runner.machine.parts)
        self.voice.prompts.setVisible(talks)
        self.timeline = TimelinePanel(PALETTE, self.state.timeline)
        self.timeline.view.show_past(past_peaks)
        self.setWindowTitle(f"labapp · {participant} · {tr('console.title')}")
        self.header.show_blind(blind)
        self._ground = self._body()
        self.setCentralWidget(self._ground)
        self.keys = KeysSheet(self)
        self._ground.setStyleSheet(bits.stylesheet(PALETTE))  # last: whatever moves is styled again
        leave_focus_to_fields(self)
        self.leave_field()
        self.setMinimumSize(*fitting.CONSOLE)
        self.resize(1280, 720)
        self._connect()
        self.state.changed |= {"alarms", "notes", "deviations", "beside", "timeline"}
        self.refresh()
        self._later = timers.once(self, self._draw)
        self._timer = timers.make_repeating_timer(self, self._tick, TICK_MS)
        self._timer.start()

    def mark_pilot(self) -> None:
        """Say above everything that the session is a trial run."""
        self.pilot.show()
        self.setWindowTitle(f"{tr('state.pilot')} · {self.windowTitle()}")

    def _body(self) -> QWidget:
        body = QWidget()
        body.setProperty("role", "ground")
        body.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        outer = bits.column(body, 0)
        self.pilot = bits.label(tr("console.pilot_tip"), "pilot")
        self.pilot.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.pilot.hide()
        self.others = QWidget()
        bits.fill(outer, self.pilot, self.header, self.others)
        bits.column(self.others, 0)
        self._grid = grid = QGridLayout()
        gap = theme.SPACE_M
        grid.setContentsMargins(gap, theme.SPACE_S, gap, gap)
        grid.setSpacing(gap)
        self._left = bits.fill(bits.column(None, gap), self.plan)
        grid.addLayout(self._left, 1, 0, 2, 1)
        grid.addWidget(self.mirror, 1, 1)
        grid.setColumnMinimumWidth(0, LEFT_WIDTH)
        grid.setColumnStretch(1, 1)
        grid.setRowStretch(1, 1)
        self.timeline.setMaximumHeight(TIMELINE_HEIGHT)
        self.plan.setFixedWidth(LEFT_WIDTH)
        inside = QWidget()
        inside.setLayout(grid)
        outer.addWidget(Body(inside), 1)
        self._arrange(narrow=False)
        return body

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange(narrow=self.width() < THREE_COLUMNS)
        self.notes.show_lines_at_least(LINES if self.height() >= HIGH else LEAST_LINES)
        self.keys.place()

    def _arrange(self, *, narrow: bool) -> None:
        """Where three columns have no room, voice and notes change places, and the timeline comes
        below everything else."""
        if narrow == self._narrow:
            return
        self._narrow = narrow
        grid, left = self._grid, self.voice if narrow else self.notes
        for widget in (self.alarms, self.voice, self.notes, self.timeline):
            (self._left if self._left.indexOf(widget) >= 0 else grid).removeWidget(widget)
        for widget in (self.voice, self.notes):
            widget.setMinimumWidth(0)
            widget.setMaximumWidth(WIDEST)
        self._left.addWidget(left, 1)
        grid.addWidget(self.alarms, 0, 0, 1, 2 if narrow else 3)
        if narrow:
            grid.addWidget(self.notes, 2, 1)
            grid.addWidget(self.timeline, 3, 0, 1, 2)
        else:
            grid.addWidget(self.voice, 1, 2)
            grid.addWidget(self.timeline, 2, 1, 1, 2)
            self.voice.setFixedWidth(VOICE_WIDTH)
        left.setFixedWidth(LEFT_WIDTH)
        self.mirror.setMinimumHeight(NARROW_MIRROR if narrow else 0)

    def _connect(self) -> None:
        # Appends in the thread of the event: the journal's lock keeps them in order.
        self._bridge.happened.connect(self._take, Qt.ConnectionType.DirectConnection)
        self._bridge.changed.connect(self._mark_dirty)
        notes, line = self.notes, self.notes.correction
        notes.input.committed.connect(lambda text, ns: self._ask(AddNote(text, ns)))
        notes.deviation.committed.connect(lambda text, ns: self._ask(AddDeviation(text, ns)))
        notes.flag_set.connect(self.set_flag)
        notes.correction_begun.connect(self._begin_note)
        notes.correction_asked.connect(self.asking_changed)
        line.corrected.connect(lambda seq, text, ns: self._ask(CorrectNote(seq, text, ns)))
        line.left.connect(self._left_correction)
        self.voice.prompt_given.connect(self.give_prompt)
        self.alarms.dismissed.connect(self._dismiss)
        self.alarms.keyboard_back.connect(self.keyboard_back)
        self.header.done_requested.connect(self.done_requested)
        self.header.asking_changed.connect(self.asking_changed)
        # The participant's window has this one of its own: two of a kind would cancel each other.
        here = Qt.ShortcutContext.WindowShortcut
        self._shortcut("Ctrl+Shift+M", tr("keys.front"), self.toggle_requested.emit, here)
        self._shortcut(PAUSE_KEY, tr("keys.pause"), self.header.press_pause)
        self._shortcut(NOTE_KEY, tr("keys.note"), self._begin_note)
        self._shortcut(notes_panel.KEY, tr("keys.correct"), self.notes.correct_newest)
        for number, meaning in self._study.flags.items():
            text = tr("keys.flag", meaning=meaning)
            self._shortcut(f"Ctrl+{number}", text, partial(self.set_flag, number))
        for place, prompt in enumerate(self._study.recording.prompts):
            text = tr("keys.prompt", prompt=prompt)
            self._shortcut(key_of(place), text, partial(self.give_prompt, place))
        for key, (command, text) in chords_of(self._runner.machine.parts).items():
            self._shortcut(key, text, partial(self._ask, command))
        self._shortcut(keys_sheet.KEY, tr("keys.keys"), self.keys.toggle)

    def _shortcut(
        self,
        key: str,
        text: str,
        function: Callable[[], None],
        context: Qt.ShortcutContext = Qt.ShortcutContext.ApplicationShortcut,
    ) -> None:
        """Connect a key. text: what it does, for the list of keys."""
        shortcut = QShortcut(QKeySequence(key), self)
        shortcut.setContext(context)
        shortcut.setAutoRepeat(False)
        shortcut.setWhatsThis(text)
        shortcut.activated.connect(function)

    def set_flag(self, number: int) -> None:
        """Set one of the study's flags, now."""
        self._ask(AddFlag(number))

    def give_prompt(self, place: int = 0) -> None:
        """Record that the moderator said one of the study's prompts, counted from 0."""
        self._ask(GivePrompt(self._study.recording.prompts[place]))

    def _ask(self, command: Command) -> None:
        if self.controls or isinstance(command, AddNote):
            self._runner.send(command, Source.MODERATOR)

    def add_others(self, bar: QWidget) -> None:
        """Show a line about other computers below the header."""
        layout = self.others.layout()
        assert layout is not None
        layout.addWidget(bar)
        bar.setStyleSheet(self._ground.styleSheet())
        leave_focus_to_fields(bar)

    def set_controls(self, controls: bool) -> None:
        """Whether the session is moderated here, or only watched."""
        if controls == self.controls:
            return
        self.controls = controls
        self.leave_question()
        self.header.set_controls(controls)
        for widget in (self.voice.prompts, self.voice.prompt, self.voice.offer, self.mirror.stack):
            widget.setEnabled(controls)
        self.notes.set_controls(controls)

    def _left_correction(self) -> None:
        self.leave_field()
        self.field_left.emit()
        self.asking_changed.emit()

    def _begin_note(self) -> None:
        """Write into the field that is in front."""
        self.note_field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.write_requested.emit()

    @property
    def note_field(self) -> QWidget:
        """Where something is written down: the field that is in front."""
        return self.notes.field

    @property
    def asking(self) -> QWidget | None:
        """The question that is open; None for none. Its keys are the moderator's until it is
        closed."""
        correction = self.notes.correction
        return self.header.asking or (correction if correction.asks else None)

    def leave_question(self) -> None:
        """Close the question unanswered: nothing that it asks about is done."""
        self.header.leave_question()
        if self.notes.correction.asks:
            self.notes.correction.close_line()

    def leave_field(self) -> None:
        """Nothing is written any more. The focus rests where keys do nothing: on the question that
        is open, else on the ground. Qt would put it on a button as soon as the window has the
        keyboard. After the end it rests in the notes."""
        rest = self.note_field if self._finished else self._ground
        (self.asking or rest).setFocus()
        self.notes.say_unfinished()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        asking = self.asking
        taker = self.header if asking is self.header.asking else self.notes.correction
        if asking is None or not taker.take_key(event):
            super().keyPressEvent(event)

    def show_keyboard(self, where: str) -> None:
        """Say where the keyboard is (`labapp.ui.keyboard.Standing`)."""
        self.alarms.show_keyboard(where)

    def _dismiss(self, key: str) -> None:
        self.state.alarms.dismiss(key)
        self._show_alarms()

    def _show_alarms(self) -> None:
        hushed = SOUND if self._runner.finished else set() if self._silence_counts else {SILENT}
        self.alarms.show_alarms([a for a in self.state.alarms.visible() if a.key not in hushed])

    def _talking(self) -> bool:
        """Whether the participant is to think aloud now."""
        part = self._runner.part
        thinks = part is not None and part.asks_to_think_aloud()
        return thinks and not self._runner.state.pauses.held

    def _count_silence(self, now_ns: int) -> None:
        """Silence counts from the moment the study expects somebody to speak."""
        if not self._talking():
            self._talks_from_ns = None
        elif self._talks_from_ns is None:
            self._talks_from_ns = now_ns

    @property
    def _silence_counts(self) -> bool:
        """Whether speech has been expected for so long that silence is an alarm."""
        expected_s, due_s = self._expected_s, self._study.recording.silence_prompt_s
        return expected_s is not None and expected_s >= due_s

    @property
    def _expected_s(self) -> float | None:
        """For how many seconds the participant has been expected to speak."""
        if self._talks_from_ns is None:
            return None
        return (self._runner.clock.now_ns() - self._talks_from_ns) / NS

    def _take(self, event: Event) -> None:
        self._inbox.append(event)

    def _mark_dirty(self) -> None:
        self._dirty = True
        self._changed_ns = time.perf_counter_ns()
        if self._remote:
            # No slider waits for this window: it shows what came over the link soon.
            if not self._later.isActive():
                self._later.start(REMOTE_MS)
        elif self._waits:
            self._later.start(0)  # Qt paints what is to be painted before such a timer

    def _tick(self) -> None:
        if self._remote or time.perf_counter_ns() - self._changed_ns > MOVING_NS:
            self._draw()
        elif not self._waits:
            self._waits = True
            self._later.start(TICK_MS)

    def _draw(self) -> None:
        if not self.stands_aside():
            self._waits = False
            self.refresh(mirror=self._remote or self._ticks % MIRROR_TICKS == 0)

    def stands_aside(self) -> bool:
        """Whether a masked picture is about to appear, which drawing here would delay."""
        state = self._runner.state
        if self._remote or not state.running or state.pauses.held:
            return False
        due_ns = self._runner.machine.tasks[state.index].due_ns(state.part_state)
        if due_ns is None:
            return False
        ahead_ns = due_ns - self._runner.clock.now_ns()
        return -LATE_NS < ahead_ns < AHEAD_NS

    def refresh(self, *, mirror: bool = True) -> None:
        """mirror: bring the participant's screen up to date, too."""
        while self._inbox:
            self.state.apply(self._inbox.popleft())
        runner, state = self._runner, self.state
        now_ns = runner.clock.now_ns()
        if state.ended_ns is not None:
            now_ns = min(now_ns, state.ended_ns)
        second = self._ticks % SECOND_TICKS == 0
        if self._ticks % DISK_EVERY_TICKS == 0:
            self._look_at_disk()
        self._ticks += 1
        if self._blind and runner.state.blind is False:
            self._unblind()
        changed, state.changed = state.changed, set()
        self._count_silence(now_ns)
        self.header.show_state(state, now_ns)
        if runner.finished != self._finished:
            self._finished = runner.finished
            if not (self._finished and is_field(self.focusWidget())):
                self.leave_field()
        if self._dirty or second:
            views = view_of(self._rows, runner.machine, runner.state, state.work, now_ns)
            self.plan.show_views(views)
            self.plan.show_length(None if runner.finished else self._study.minutes, state, now_ns)
        dirty, self._dirty = self._dirty, False
        self._mirror_dirty |= dirty or second or bool(changed & {"beside", "notes"})
        if self._mirror_dirty and mirror:
            self.mirror.show_session()
            self._mirror_dirty = not self.mirror.shown.rests
        if dirty or "alarms" in changed or self._silence_counts != self._counted:
            self._counted = self._silence_counts
            self._show_alarms()
        if "notes" in changed:
            self.notes.show_notes(state.notes)
        if "deviations" in changed:
            self.notes.show_deviations(state.deviations, state.work)
        if "notes" in changed or second:
            self.voice.prompts.show_last(state.notes, now_ns)
        self._show_voice(now_ns, facts=second or "sound" in changed, anew=dirty)

    def _unblind(self) -> None:
        """Name the representations from here on; what was said before stays veiled."""
        self._blind = False
        self._dirty = True
        self._rows = rows_of(self._runner.machine.parts)
        self.state.unveil()
        self.mirror.unblind()
        self.header.show_blind(False)

    def _show_voice(self, now_ns: int, *, facts: bool, anew: bool) -> None:
        runner, state = self._runner, self.state
        level = self._level_source()
        held = runner.state.pauses.held
        if level is not self._level or facts or anew:
            self._level = level
            self.voice.show_voice(level, state.sound, expected_s=self._expected_s)
        peak = None
        recorded = bool(state.sound.device) and not state.sound.lost
        if level is not None and level.envelope and recorded and not held and not runner.finished:
            peak = max(level.envelope[-BINS_A_TICK:])
        self.timeline.view.show_now(state.work.working_ns(now_ns), peak)
        if facts:
            p99 = state.latency.p99_ms()
            if p99 is None and state.warmed:
                p99 = max(ms for _, ms in state.warmed.values())
            saved = runner.saved_ago_s
            decodes = bool(state.warmed)
            self.voice.show_facts(level, state.sound, saved, self._free_bytes, p99, decodes=decodes)
            self.voice.show_lsl(state.lsl, received=runner.streams_received)

    def _look_at_disk(self) -> None:
        runner = self._runner
        self._free_bytes = runner.free_bytes()
        if runner.finished or self._watch is None:
            return
        for body in self._watch.check(self._free_bytes, self.state.latency.p99_ms()):
            try:
                self._bridge.runner.emit(body)
            except JournalError:
                # The session is being closed: nothing is watched any more.
                return

    def shut(self) -> None:
        """Stop for good and close. Call before the session is closed."""
        if not self._open:
            return
        with suppress(JournalError):  # the session is closed already
            self.notes.keep_begun()
        self._open = False
        self._timer.stop()
        self._later.stop()
        self.mirror.shown.close_picture()
        self._bridge.happened.disconnect(self._take)
        self._bridge.changed.disconnect(self._mark_dirty)
        self.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._open:
            event.ignore()
            if self._remote:
                self.done_requested.emit()
            else:
                self.header.ask_end()
            return
        super().closeEvent(event)


HEIGHT = 36
MOST = 4
"""Alarms that are shown before the others are asked for."""
ICON_PX = 16
TWICE_S = 0.8
"""A second click so soon is meant for the line that has just moved away."""


class _Line(QFrame):
    """An icon, words, and a button for what can be done about it."""

    def __init__(self, palette: Palette, todo: str) -> None:
        super().__init__()
        self.setProperty("role", "band")
        self.icon = bits.StatusIcon(palette, "warn", ICON_PX)
        self.text = bits.label(role="secondary", wrap=True)
        self.button = Button(todo, "chip")
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        row = bits.row(self, theme.SPACE_S, (theme.SPACE_M, 0, theme.SPACE_XS, 0))
        bits.fill(row, self.icon, (self.text, 1), self.button)

    def set_tone(self, tone: str) -> None:
        bits.set_property(self, "tone", tone)
        bits.set_property(self.text, "tone", tone)


class _Chip(_Line):
    def __init__(self, palette: Palette) -> None:
        super().__init__(palette, tr("button.dismiss"))
        self.key = ""

    def show_alarm(self, alarm: Alarm) -> None:
        self.key = alarm.key
        self.icon.set_state("missing" if alarm.severity == "alarm" else "warn")
        self.set_tone(alarm.severity)
        bits.set_text(self.text, alarm.sentence)
        self.button.setAccessibleName(tr("console.dismiss", alarm=alarm.sentence))


KEYBOARD: dict[str, str] = {
    "waiting": N_("console.keyboard.released"),
    "writing": N_("console.keyboard.note"),
    "asking": N_("console.keyboard.question"),
    "front": N_("console.keyboard.hidden"),
    "console": N_("console.keyboard.none"),
    "refused": N_("console.keyboard.system"),
    "elsewhere": N_("console.keyboard.other"),
}
"""What is said of the keyboard by where it is (`labapp.ui.keyboard.Standing`)."""


class AlarmBar(QWidget):
    """dismissed(key): the moderator has seen an alarm; keyboard_back(): gives the participant the
    keyboard."""

    dismissed = Signal(str)
    keyboard_back = Signal()

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._alarms: Sequence[Alarm] = ()
        self._all = False
        self._dismissed_s = 0.0
        self._palette = palette
        self.chips: list[_Chip] = []
        self.more = Button("", "chip", pressed=self._show_all)
        self.well = QWidget()
        calm = bits.row(self.well, theme.SPACE_S, (theme.SPACE_M, 0, 0, 0))
        words = bits.label(tr("console.all_well"), "secondary")
        bits.fill(calm, bits.StatusIcon(palette, "ok", ICON_PX), words, 1)
        self._lines = bits.column(self, theme.SPACE_XS)
        self.keyboard = _Line(palette, tr("console.give_back"))
        self.keyboard.set_tone("warn")
        self.keyboard.button.clicked.connect(self.keyboard_back)
        self.keyboard.hide()
        bits.fill(self._lines, self.well, self.keyboard, (self.more, Qt.AlignmentFlag.AlignLeft))
        self.more.hide()
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """As high as its lines are at this width: no end of a sentence is lost."""
        self.well.setVisible(not self._alarms and self.keyboard.isHidden())
        height = 0
        for line in (self.well, self.keyboard, *self.chips, self.more):
            if not line.isHidden():
                layout = line.layout()
                asks = line.sizeHint().height()
                if layout is not None and layout.hasHeightForWidth():
                    asks = layout.heightForWidth(self.width()) + 2 * theme.SPACE_XS
                line.setFixedHeight(max(HEIGHT, asks))
                height += line.height() + (self._lines.spacing() if height else 0)
        self.setFixedHeight(max(HEIGHT, height))

    def show_keyboard(self, where: str) -> None:
        text = KEYBOARD.get(where, "")
        if text:
            bits.set_text(self.keyboard.text, tr(text))
        self.keyboard.button.setVisible(where not in ("waiting", "refused"))
        self.keyboard.setVisible(bool(text))
        self._fit()

    def show_alarms(self, alarms: Sequence[Alarm]) -> None:
        """One line each, the gravest first; those beyond the first few are counted, and shown when
        asked for."""
        self._alarms = tuple(alarms)
        shown = self._alarms if self._all else self._alarms[:MOST]
        while len(self.chips) < len(shown):
            chip = _Chip(self._palette)
            chip.button.clicked.connect(lambda _=False, chip=chip: self._dismiss(chip))
            self._lines.insertWidget(self._lines.count() - 1, chip)
            self.chips.append(chip)
        for index, chip in enumerate(self.chips):
            chip.setVisible(index < len(shown))
            if index < len(shown):
                chip.show_alarm(shown[index])
        hidden = len(self._alarms) - len(shown)
        self._all &= len(self._alarms) > MOST
        self.more.setVisible(bool(hidden))
        self.more.setText(tr("console.more", n=hidden))
        self._fit()

    def _show_all(self) -> None:
        self._all = True
        self.show_alarms(self._alarms)

    def _dismiss(self, chip: _Chip) -> None:
        now_s = time.monotonic()
        if now_s - self._dismissed_s > TWICE_S:
            self._dismissed_s = now_s
            self.dismissed.emit(chip.key)


ROW_PX = 32
MOST_ROWS = 9
FEWEST_ROWS = 4
STATES = {
    "todo": N_("state.to_come"),
    "current": N_("state.now"),
    "done": N_("outcome.done"),
    "skipped": N_("outcome.skipped"),
    "left_out": N_("outcome.left_out"),
}


class PlanList(QWidget):
    """Painted rows; what stands in a row is one `PlanView`."""

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._palette = palette
        self.views: tuple[PlanView, ...] = ()
        self._seen: tuple[tuple[str, str, str, str], ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(200, ROW_PX * max(1, len(self.views)))

    def show_views(self, views: Sequence[PlanView]) -> None:
        """Repaints only when something a person can see changed."""
        if len(views) != len(self.views):
            self.updateGeometry()
        self.views = tuple(views)
        seen = tuple((v.row.detail, v.state, v.progress, self.time_of(v)) for v in views)
        if seen != self._seen:
            self._seen = seen
            self.setAccessibleName("; ".join(self._describe_for_reader(view) for view in views))
            self.update()

    def time_of(self, view: PlanView) -> str:
        """What a row says about time: what is left until a time limit, else how long it took."""
        if view.left_ns is not None:
            # The last second is not over before the limit is reached.
            left = wording.short_time(ceil(view.left_ns / NS) * NS)
            return tr(N_("plan.left") if view.state == "current" else N_("plan.at_most"), time=left)
        return "" if view.working_ns is None else wording.short_time(view.working_ns)

    def _describe_for_reader(self, view: PlanView) -> str:
        left = self.time_of(view) if view.left_ns is not None else ""
        words = (wording.part_title(view.row.title), tr(STATES[view.state]), view.progress, left)
        return " ".join(dict.fromkeys(filter(None, words)))

    def _has_room(self, view: PlanView, room: float) -> bool:
        """Whether a row can show its time beside its whole title; that tells stages apart."""
        small = metrics(theme.SECONDARY_PX)
        title = metrics(theme.BODY_PX - 1, view.state == "current")
        bold = metrics(theme.SECONDARY_PX, True)
        words = title.horizontalAdvance(wording.part_title(view.row.title))
        told = small.horizontalAdvance(self.time_of(view)) + bold.horizontalAdvance(view.progress)
        gaps = 4 * theme.SPACE_S + theme.SPACE_M + ICON_PX
        return words + told + gaps <= room

    def tip(self, y: float) -> str:
        """The whole title and detail of the row at a height, which has no room for both."""
        index = int(y // ROW_PX)
        if not 0 <= index < len(self.views):
            return ""
        row = self.views[index].row
        return "\n".join(filter(None, (wording.part_title(row.title), row.detail)))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.tip(event.pos().y()), self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = smooth(self)
        for index, view in enumerate(self.views):
            self._paint_row(painter, view, QRectF(0, index * ROW_PX, self.width(), ROW_PX))

    def _paint_row(self, painter: QPainter, view: PlanView, box: QRectF) -> None:
        p = self._palette
        current, quiet = view.state == "current", view.state in ("todo", "left_out")
        if current:
            equip(painter, Qt.PenStyle.NoPen, p.color("accent_soft"))
            painter.drawRoundedRect(box, theme.RADIUS, theme.RADIUS)
        inset = theme.SPACE_S
        icon = QRectF(inset, box.center().y() - ICON_PX / 2, ICON_PX, ICON_PX)
        bits.paint_status(painter, p, view.state, icon)
        right, small = box.right() - inset, theme.SECONDARY_PX
        middle = Qt.AlignmentFlag.AlignVCenter
        write_with(painter, p.color("secondary"), small)
        if (time := self.time_of(view)) and self._has_room(view, box.width()):
            width = metrics(small).horizontalAdvance(time)
            where = QRectF(right - width, box.top(), width, ROW_PX)
            painter.drawText(where, middle | Qt.AlignmentFlag.AlignRight, time)
            right = where.left() - theme.SPACE_S
        if view.progress:
            width = metrics(small, True).horizontalAdvance(view.progress)
            tone = "accent" if current else "secondary" if quiet else "warn"
            write_with(painter, p.color(tone), small, True)
            where = QRectF(right - width, box.top(), width, ROW_PX)
            painter.drawText(where, middle | Qt.AlignmentFlag.AlignRight, view.progress)
            right = where.left() - theme.SPACE_S
        left = icon.right() + theme.SPACE_M
        title = wording.part_title(view.row.title)
        write_with(painter, p.color("secondary" if quiet else "ink"), theme.BODY_PX - 1, current)
        fm = metrics(theme.BODY_PX - 1, current)
        room = QRectF(left, box.top(), right - left, ROW_PX)
        shown = fm.elidedText(title, Qt.TextElideMode.ElideRight, right - left)
        painter.drawText(room, middle, shown)
        if view.row.detail:
            left += fm.horizontalAdvance(title) + theme.SPACE_S
            small_fm = metrics(small)
            detail = small_fm.elidedText(
                view.row.detail, Qt.TextElideMode.ElideMiddle, max(0.0, right - left)
            )
            if len(detail) > 1:  # an ellipsis alone says nothing
                write_with(painter, p.color("secondary"), small)
                painter.drawText(QRectF(left, box.top(), right - left, ROW_PX), middle, detail)


class PlanPanel(bits.Card):
    """The list in its card; a long plan scrolls to where it is."""

    def __init__(self, palette: Palette) -> None:
        around = (theme.SPACE_S, theme.SPACE_M, theme.SPACE_S, theme.SPACE_S)
        super().__init__("", theme.SPACE_XS, around)
        self.list = PlanList(palette)
        self._area = bits.Scrolling(self.list)
        title = bits.label(tr("console.plan"), "section")
        self.length = bits.label("", "secondary")
        head = bits.row(None, theme.SPACE_S, (theme.SPACE_S, 0, theme.SPACE_S, 0))
        bits.fill(self.body, bits.fill(head, title, 1, self.length), self._area)
        self._current = -1
        # Where the list gets more or less room, too.
        self._area.verticalScrollBar().rangeChanged.connect(lambda *_: self._show_current())

    def show_length(self, minutes: int | None, state: ConsoleState, now_ns: int) -> None:
        """Say how much is left of the planned length of the session; nothing without one."""
        bits.set_text(self.length, wording.minutes_left(minutes, state.work.working_ns(now_ns)))

    def show_views(self, views: Sequence[PlanView]) -> None:
        rows = min(len(views), MOST_ROWS)
        if self._area.maximumHeight() != rows * ROW_PX:
            # It gives way to what is written below it.
            self._area.setMaximumHeight(rows * ROW_PX)
            self._area.setMinimumHeight(min(rows, FEWEST_ROWS) * ROW_PX)
        self.list.show_views(views)
        current = next((i for i, view in enumerate(views) if view.state == "current"), -1)
        if current not in (-1, self._current):
            self._current = current
            self._show_current()

    def _show_current(self) -> None:
        """Scroll to the part that runs, with a part after it where there is room for more."""
        around = ROW_PX if self._area.viewport().height() < FEWEST_ROWS * ROW_PX else 2 * ROW_PX
        self._area.ensureVisible(0, self._current * ROW_PX + ROW_PX // 2, 0, around)
