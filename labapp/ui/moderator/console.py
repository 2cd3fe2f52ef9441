"""The moderator's console during a session.

Everything on it is the runner's state or a fold over the journal's events. Events and changes only
leave a mark; one timer, 20 times a second, brings the widgets that are concerned up to date, so
that the console never stands between a dial and its picture. Both windows share a thread: while a
masked picture is about to appear on the participant's screen, the console waits.
"""

from __future__ import annotations

import shutil
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QGridLayout,
    QMainWindow,
    QWidget,
)

from labapp.audio.recorder import Level
from labapp.clock import NS
from labapp.errors import JournalError
from labapp.events import Event, Source
from labapp.events.commands import (
    AddDeviation,
    AddFlag,
    AddNote,
    Command,
    CorrectNote,
    GivePrompt,
)
from labapp.plugins.machine import LATE_NS
from labapp.session.opening import models_of
from labapp.study.loading import LoadedStudy
from labapp.ui import room, theme
from labapp.ui.bridge import Bridge
from labapp.ui.fitting import Fitted
from labapp.ui.keyboard import is_field, leave_focus_to_fields
from labapp.ui.language import tr
from labapp.ui.moderator import bits, notes_panel, style
from labapp.ui.moderator.alarm_bar import AlarmBar
from labapp.ui.moderator.console_header import PAUSE_KEY, ConsoleHeader
from labapp.ui.moderator.mirror import MirrorPanel
from labapp.ui.moderator.notes_panel import NotesPanel
from labapp.ui.moderator.part_words import chords_of
from labapp.ui.moderator.plan_panel import PlanPanel
from labapp.ui.moderator.state.alarms import SILENT, SOUND, Watch
from labapp.ui.moderator.state.console import ConsoleState, no_veil, veil_of
from labapp.ui.moderator.state.plan import rows_of, view_of
from labapp.ui.moderator.timeline_view import TimelinePanel
from labapp.ui.moderator.voice_panel import VoicePanel, key_of
from labapp.ui.participant.body import Body
from labapp.ui.participant.view import SessionView
from labapp.ui.strings import strings_of

PALETTE = theme.DARK
NOTE_KEY = "Ctrl+N"
TICK_MS = 50
MIRROR_TICKS = 2
"""The mirror is drawn at most ten times a second."""
MOVING_NS = 50_000_000
"""A hand that moved a dial so short a time ago moves it again: the console then draws right behind
the next picture, when the movement after it is farthest away."""
SECOND_TICKS = 1000 // TICK_MS
DISK_EVERY_TICKS = 5 * SECOND_TICKS
LEFT_WIDTH, VOICE_WIDTH = 276, 296
THREE_COLUMNS, WIDEST = 1080, 16_777_215
"""Logical pixels: the least width of a console of three columns, and Qt's QWIDGETSIZE_MAX."""
HIGH, LINES = 700, 8
"""From this height on, in logical pixels, so many lines of notes are seen; a long plan scrolls."""
BINS_A_TICK = 2
"""The envelope has 20 peaks a second and comes 10 times a second: two cover a tick."""

AHEAD_NS = 80_000_000
"""So long before a masked picture is due the console begins to wait for it: drawing takes up to
60 ms on a slow machine. It waits until the picture is there, or is not coming (LATE_NS)."""

LevelSource = Callable[[], Level | None]


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

    Signals
    -------
    done_requested : the session is over and the moderator goes back to the home.
    toggle_requested : Ctrl+Shift+M: bring the console to the front, or back behind.
    write_requested : Ctrl+N, in whichever window: something is to be written into `note_field`.
    asking_changed : another question is open on it, or none any more (`asking`).
    field_left : a click ended what was written.
    keyboard_back : the moderator gives the participant the keyboard.

    Only what is typed into a field and chords are the moderator's keys (`labapp.ui.keyboard`).

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
        level_source: LevelSource,
        *,
        past: Sequence[Event] = (),
        past_peaks: Sequence[tuple[int, float]] = (),
        blind: bool = False,
    ) -> None:
        super().__init__()
        self._bridge = bridge
        self._runner = runner = bridge.runner
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
        self._watch = Watch(sound=runner.recorder is not None)

        self.header = ConsoleHeader(PALETTE, runner, participant, study.title)
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
        self.setWindowTitle(f"labapp · {participant} · {tr('console')}")
        self.header.show_blind(blind)
        self._ground = self._body()
        self.setCentralWidget(self._ground)
        leave_focus_to_fields(self)
        self.leave_field()
        self.setMinimumSize(*room.CONSOLE)
        self.resize(1280, 720)
        self._connect()
        self.state.changed |= {"alarms", "notes", "deviations", "beside", "timeline"}
        self.refresh()
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.timeout.connect(self._draw)
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._tick)
        self._timer.start(TICK_MS)

    def mark_pilot(self) -> None:
        """Say above everything that the session is a trial run."""
        self.pilot.show()
        self.setWindowTitle(f"{tr('Pilot')} · {self.windowTitle()}")

    def _body(self) -> QWidget:
        body = QWidget()
        body.setProperty("role", "ground")
        body.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        body.setStyleSheet(style.stylesheet(PALETTE))
        outer = bits.column(body, 0)
        self.pilot = bits.label(tr("Pilot: a trial run, kept apart and never analysed"), "pilot")
        self.pilot.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.pilot.hide()
        outer.addWidget(self.pilot)
        outer.addWidget(self.header)
        self._grid = grid = QGridLayout()
        gap = theme.SPACE_M
        grid.setContentsMargins(gap, theme.SPACE_S, gap, gap)
        grid.setHorizontalSpacing(gap)
        grid.setVerticalSpacing(gap)
        self._left = bits.column(None, gap)
        self._left.addWidget(self.plan)
        grid.addLayout(self._left, 1, 0, 2, 1)
        grid.addWidget(self.mirror, 1, 1)
        grid.setColumnMinimumWidth(0, LEFT_WIDTH)
        grid.setColumnStretch(1, 1)
        grid.setRowStretch(1, 7)
        grid.setRowStretch(2, 3)
        self.plan.setFixedWidth(LEFT_WIDTH)
        inside = QWidget()
        inside.setLayout(grid)
        outer.addWidget(Body(inside), 1)
        self._arrange(narrow=False)
        return body

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange(narrow=self.width() < THREE_COLUMNS)
        self.notes.show_lines_at_least(LINES if self.height() >= HIGH else 0)

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

    def _connect(self) -> None:
        # Appends in the thread of the event: the journal's lock keeps them in order.
        self._bridge.happened.connect(self._take, Qt.ConnectionType.DirectConnection)
        self._bridge.changed.connect(self._changed)
        self.notes.note_saved.connect(self._keep_note)
        self.notes.deviation_saved.connect(self._keep_deviation)
        self.notes.flag_set.connect(self.set_flag)
        self.notes.corrected.connect(self._correct)
        self.notes.correction_begun.connect(self._begin_note)
        self.notes.correction_asked.connect(self.asking_changed)
        self.notes.correction_left.connect(self._left_correction)
        self.voice.prompt_given.connect(self.give_prompt)
        self.alarms.dismissed.connect(self._dismiss)
        self.alarms.keyboard_back.connect(self.keyboard_back)
        self.header.done_requested.connect(self.done_requested)
        self.header.asking_changed.connect(self.asking_changed)
        # The participant's window has this one of its own: two of a kind would cancel each other.
        self._shortcut("Ctrl+Shift+M", self.toggle_requested.emit)
        anywhere = Qt.ShortcutContext.ApplicationShortcut
        self._shortcut(PAUSE_KEY, self.header.press_pause, anywhere)
        self._shortcut(NOTE_KEY, self._begin_note, anywhere)
        self._shortcut(notes_panel.KEY, self.notes.correct_newest, anywhere)
        for place in range(len(self._study.recording.prompts)):
            self._shortcut(key_of(place), partial(self.give_prompt, place), anywhere)
        for key, command in chords_of(self._runner.machine.parts).items():
            self._shortcut(key, partial(self._ask, command), anywhere)
        for number in self._study.flags:
            self._shortcut(f"Ctrl+{number}", partial(self.set_flag, number), anywhere)

    def _shortcut(
        self,
        key: str,
        function: Callable[[], None],
        context: Qt.ShortcutContext = Qt.ShortcutContext.WindowShortcut,
    ) -> None:
        shortcut = QShortcut(QKeySequence(key), self)
        shortcut.setContext(context)
        shortcut.setAutoRepeat(False)
        shortcut.activated.connect(function)

    def set_flag(self, number: int) -> None:
        """Set one of the study's flags, now."""
        self._runner.send(AddFlag(number), Source.MODERATOR)

    def give_prompt(self, place: int = 0) -> None:
        """Record that the moderator said one of the study's prompts, counted from 0."""
        self._runner.send(GivePrompt(self._study.recording.prompts[place]), Source.MODERATOR)

    def _ask(self, command: Command) -> None:
        """Ask something of the session for the moderator."""
        self._runner.send(command, Source.MODERATOR)

    def _keep_note(self, text: str, began_ns: int) -> None:
        self._runner.send(AddNote(text, began_ns), Source.MODERATOR)

    def _keep_deviation(self, text: str, began_ns: int) -> None:
        self._runner.send(AddDeviation(text, began_ns), Source.MODERATOR)

    def _correct(self, seq: int, text: str, began_ns: int) -> None:
        self._runner.send(CorrectNote(seq, text, began_ns), Source.MODERATOR)

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
        hushed: set[str] = set()
        if self._runner.finished:
            hushed |= SOUND
        if not self._silence_counts:
            hushed.add(SILENT)
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
        expected_s = self._expected_s
        return expected_s is not None and expected_s >= self._study.recording.silence_prompt_s

    @property
    def _expected_s(self) -> float | None:
        """For how many seconds the participant has been expected to speak."""
        if self._talks_from_ns is None:
            return None
        return (self._runner.clock.now_ns() - self._talks_from_ns) / NS

    def _take(self, event: Event) -> None:
        self._inbox.append(event)

    def _changed(self) -> None:
        self._dirty = True
        self._changed_ns = time.perf_counter_ns()
        if self._waits:
            self._later.start(0)  # Qt paints what is to be painted before such a timer

    def _tick(self) -> None:
        if time.perf_counter_ns() - self._changed_ns > MOVING_NS:
            self._draw()
        elif not self._waits:
            self._waits = True
            self._later.start(TICK_MS)

    def _draw(self) -> None:
        if not self.stands_aside():
            self._waits = False
            self.refresh(mirror=self._ticks % MIRROR_TICKS == 0)

    def stands_aside(self) -> bool:
        """Whether a masked picture is to appear right now, which drawing here would delay."""
        state = self._runner.state
        if not state.running or state.pauses.held:
            return False
        due_ns = self._runner.machine.tasks[state.index].due_ns(state.part_state)
        if due_ns is None:
            return False
        ahead_ns = due_ns - self._runner.clock.now_ns()
        return -LATE_NS < ahead_ns < AHEAD_NS

    def refresh(self, *, mirror: bool = True) -> None:
        """Bring everything that changed up to date; mirror: also the participant's screen."""
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
            saved = runner.journal.saved_ago_s
            decodes = bool(state.warmed)
            self.voice.show_facts(level, state.sound, saved, self._free_bytes, p99, decodes=decodes)
            received = runner.streams is not None and runner.streams.received
            self.voice.show_lsl(state.lsl, received=received)

    def _look_at_disk(self) -> None:
        runner = self._runner
        try:
            self._free_bytes = shutil.disk_usage(runner.journal.path.parent).free
        except OSError:
            # A folder that is gone shows as a stalled journal, which is an alarm of its own.
            self._free_bytes = None
        if runner.finished:
            return
        for body in self._watch.check(self._free_bytes, self.state.latency.p99_ms()):
            try:
                runner.emit(body)
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
        self._bridge.changed.disconnect(self._changed)
        self.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._open:
            event.ignore()
            self.header.ask_end()
            return
        super().closeEvent(event)
