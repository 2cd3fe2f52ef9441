"""The window in which a recorded session is seen and heard; coding puts its own into its places.

`labapp replay` opens the window of one session until it is closed. Also what happened in a session,
in words and in order; a click goes there.
"""

from __future__ import annotations

import base64
import signal
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path

from PySide6.QtCore import QByteArray, QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QGuiApplication,
    QKeyEvent,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QFrame,
    QGridLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QSplitter,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from labapp.base.clock import NS
from labapp.base.errors import AnnotationsBusy, DataFolderError, LabappError
from labapp.base.parallel.processes import gc_paused
from labapp.coding.annotations.model import Redaction
from labapp.session.replay.lanes import Lane, LaneItem, next_after, previous_before
from labapp.ui import theme
from labapp.ui.fitting import Fitted
from labapp.ui.language import N_, in_words, tr, translate_message
from labapp.ui.moderator import bits
from labapp.ui.moderator.wording import format_time
from labapp.ui.remembered import read_choices, write_choices
from labapp.ui.replay.clips import ClipWork
from labapp.ui.replay.coding_state import doubtful
from labapp.ui.replay.controller import (
    BACK_S,
    LITTLE_NS,
    NONE_THERE,
    SPEEDS,
    STEP_NS,
    USUAL_BACK_S,
    USUAL_SPEED,
    OpenedSession,
    ReplayController,
    open_session,
)
from labapp.ui.replay.picture import Parts, ReplayPicture, VideoPanel, item_label, join_trials
from labapp.ui.replay.timeline import Timeline
from labapp.ui.replay.transport import (
    ACTIONS,
    REPEATING,
    Header,
    KeyMap,
    Notices,
    Side,
    Transport,
    TransportCard,
    read_keys,
    stroke_of,
    without_sound,
)
from labapp.ui.replay.units_list import UnitRow, UnitsList
from labapp.ui.widgets.controls import Button

LEAST_SIZE = (840, 460)
USUAL_SIZE = (1366, 768)
HIGH = 600
"""A window below this height is low: cards have no headings, and everything is closer."""
SEEN_NS = 120 * NS
"""Of the session the timeline shows so much at first; the strip above it shows all."""
WIDE = 1180
"""From this width on there is room for three columns, in logical pixels."""
PICTURE_SHARE, SIDE_SHARE = 5200, 4800
VIDEO_SHARE = 2600
"""Of the video, beside the picture."""
WIDEST_PICTURE = 16 / 9
"""Of its height: no wider is the card of the picture, so that the text has what is left."""
LOW_ROW_PX = 22
"""Of the timeline below the voice, in a low window."""
TOP_SHARE, TIMELINE_SHARE = 6400, 3600
"""How the window is divided at first: Qt scales these to the room there is."""
ZOOM = 2.0


class ReplayWindow(Fitted, QWidget):
    """One session: its picture, text, timeline and transport.

    Coding adds its commands to those of `router`, and takes letters by `router.unclaimed`; it puts
    others in the places of `units` and `events` by `side.set_text` and `side.set_panels`, and its
    codes below what is there in `upper`.

    Attributes
    ----------
    controller : the clock, and all that is done with it.
    filled : whether timeline and events tell of the whole session: soon after the first painting.

    Signals
    -------
    closed() : the window is closed, and the session let go.
    """

    closed = Signal()

    def __init__(
        self, session: OpenedSession, *, dark: bool | None = None, keys: KeyMap | None = None
    ) -> None:
        super().__init__()
        self.session = session
        self.choices, problem = read()
        self._dark = self.choices.dark if dark is None else "dark" if dark else "light"
        system_dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
        is_dark = self._dark == "dark" if self._dark else system_dark
        self.palette_ = theme.DARK if is_dark else theme.LIGHT
        self.keys = keys or read_keys()
        history = session.history
        self.controller = ReplayController(
            session.player, history.begin_ns, history.end_ns, parent=self
        )
        self.router = KeyRouter(self, self.keys)
        self.header = Header(session.title)
        self.header.set_chips(session.chips)
        self.notices = Notices()
        self.picture = ReplayPicture(history, withholds=session.record.redacted)
        redactions = session.annotations.redactions
        self.video = VideoPanel(session.videos, redactions) if session.videos else None
        self.units = UnitsList(self.palette_)
        self.events = EventsList()
        self.side = Side(self.units)
        self.side.set_panels([(tr("replay.events"), self.events)])
        self.timeline = Timeline(self.palette_)
        self.transport = Transport(self.keys, history.end_ns)
        self.sheet = KeySheet(self, self.keys)
        self._lanes: Sequence[Lane] | None = None
        self._painted = self.filled = False
        self._build()
        self._connect()
        self._bind()
        self._fill()
        errors = (problem, self.keys.problem)
        self._sentences = [*session.notices, *(in_words(error) for error in errors if error)]
        self._error = ""
        self._sound_problem = ""
        self._history_problems = history.problems
        self._show_notices()

    # --- making it ----------------------------------------------------------------------------

    def _build(self) -> None:
        self.setWindowTitle(tr("replay.title", session=self.session.title))
        self.setProperty("role", "ground")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumSize(*LEAST_SIZE)
        self.seen = TransportCard(tr("replay.what_was_seen"), self.picture)
        self.shown = _splitter(Qt.Orientation.Horizontal, self.seen)
        if self.video is not None:
            self.filmed = TransportCard(tr("replay.filmed"), self.video)
            self.shown.addWidget(self.filmed)
            self.shown.setSizes([PICTURE_SHARE, VIDEO_SHARE])
            self.filmed.setVisible(self.choices.video)
        self.timeline_card = TransportCard(tr("timeline.title"), self.timeline)
        self.timeline_card.set_remark(tr("replay.timeline_keys"))
        self.columns = _splitter(Qt.Orientation.Horizontal, self.shown, self.side)
        self.columns.setSizes([PICTURE_SHARE, SIDE_SHARE])
        upper = QWidget()
        self.upper = bits.fill(bits.column(upper, theme.SPACE_S), (self.columns, 1))
        self.rows = _splitter(Qt.Orientation.Vertical, upper, self.timeline_card)
        self.rows.setSizes([TOP_SHARE, TIMELINE_SHARE])
        whole: QVBoxLayout = bits.column(self, 0)
        whole.addWidget(self.header)
        body = self._body = bits.column(None, theme.SPACE_S, theme.SPACE_M)
        bits.fill(body, self.notices, (self.rows, 1))
        bits.fill(whole, (body, 1), self.transport)
        self.transport.set_hint(
            tr(
                "replay.keys",
                unit=f"{self.keys.key_text('previous_unit')} {self.keys.key_text('next_unit')}",
                again=self.keys.key_text("repeat_unit"),
                step=f"{self.keys.key_text('back')} {self.keys.key_text('forward')}",
                speed=f"{self.keys.key_text('slower')} {self.keys.key_text('faster')}",
            )
        )
        self.setStyleSheet(bits.stylesheet(self.palette_))  # last: whatever moves is styled again

    def _connect(self) -> None:
        controller, transport, timeline = self.controller, self.transport, self.timeline
        controller.moved.connect(transport.set_time)
        controller.moved.connect(timeline.set_playhead)
        controller.moved.connect(self.events.follow)
        controller.picture_due.connect(self._draw_picture)
        if self.video is not None:
            controller.moved.connect(self.video.view.show_time)
        controller.playing_changed.connect(transport.set_playing)
        controller.speed_changed.connect(transport.set_speed)
        controller.back_changed.connect(transport.set_back)
        controller.loop_changed.connect(lambda stretch: transport.set_loop(stretch is not None))
        controller.jumped.connect(timeline.reveal)
        controller.unit_changed.connect(self.units.set_current)
        controller.unit_changed.connect(timeline.set_current_unit)
        controller.notice.connect(transport.tell)
        controller.problem_changed.connect(self._tell_of_sound)
        controller.find = self._find
        timeline.seeked.connect(controller.seek_and_play)
        timeline.scrubbed.connect(controller.scrub)
        timeline.selected.connect(controller.set_selection)
        self.units.chosen.connect(self._go_to_unit)
        self.events.picked.connect(controller.seek)
        self.notices.again_pressed.connect(controller.player.try_again)
        transport.play_pressed.connect(controller.toggle)
        transport.loop_pressed.connect(self._loop_pressed)
        transport.speed_pressed.connect(self._next_speed)
        transport.back_pressed.connect(self._next_back)
        transport.keys_pressed.connect(self.sheet.toggle)
        self.clips = ClipWork(
            self, self.session.record, self._clip_stretch, filmed=bool(self.session.videos)
        )
        transport.clip_pressed.connect(self.clips.toggle)
        self.clips.notice.connect(transport.tell)
        self.clips.failed.connect(self.show_error)
        self.clips.changed.connect(lambda: transport.set_clipping(self.clips.busy))
        transport.time_entered.connect(controller.seek)
        transport.time_left.connect(self.setFocus)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.picture.installEventFilter(self)

    def _bind(self) -> None:
        do = self.controller
        commands = self.router.commands
        commands |= {
            "play": do.toggle,
            "play_from_here": lambda: do.pause() if do.playing else do.play(),
            "backwards": do.backwards,
            "back": partial(do.step, -STEP_NS),
            "forward": partial(do.step, STEP_NS),
            "back_a_little": partial(do.step, -LITTLE_NS),
            "forward_a_little": partial(do.step, LITTLE_NS),
            "slower": partial(do.change_speed, False),
            "faster": partial(do.change_speed, True),
            "usual_speed": partial(do.set_speed, USUAL_SPEED),
            "previous_unit": partial(do.go_to_unit, False),
            "next_unit": partial(do.go_to_unit, True),
            "repeat_unit": do.repeat_unit,
            "repeat_slowly": do.repeat_slowly,
            "loop": do.toggle_loop,
            "go_to": self.transport.ask_time,
            "to_begin": lambda: do.seek(do.begin_ns),
            "to_end": lambda: do.seek(do.end_ns),
            "zoom_in": partial(self.timeline.zoom, ZOOM),
            "zoom_out": partial(self.timeline.zoom, 1 / ZOOM),
            "less_back": partial(do.change_back, False),
            "more_back": partial(do.change_back, True),
            "keys": self.sheet.toggle,
            "video": self._toggle_video,
            "clip": self.clips.toggle,
            "leave": self.leave,
            "close": self.close,
        }
        for kind in NONE_THERE:
            commands[f"next_{kind}"] = partial(do.jump, kind, True)
            commands[f"previous_{kind}"] = partial(do.jump, kind, False)

    def _fill(self) -> None:
        session = self.session
        annotations = session.annotations
        units = annotations.segmentation.units
        self.controller.set_units(units)
        self.controller.set_back(self.choices.back_s)
        texts = annotations.texts
        rows = [
            UnitRow(
                unit,
                format_time(unit.t0_ns, 0),
                texts[unit.id].text if unit.id in texts else "",
                doubtful=doubtful(texts.get(unit.id)),
            )
            for unit in units
        ]
        none = tr("replay.no_units_todo") if session.sound.spans else tr("replay.silent_notice")
        self.units.set_rows(rows, none)
        machine = session.history.machine
        self._parts = {} if machine is None else {part.id: part for part in machine.parts}
        self.timeline.set_session(self.controller.begin_ns, self.controller.end_ns, self._parts)
        self.timeline.set_units(units)

    def _fill_on(self) -> None:
        """Read on in a turn of the event loop; all read, show it, and only then load networks."""
        if self.isHidden():
            return  # it was closed meanwhile
        with gc_paused():
            more = self.session.history.read_on()
        if more:
            QTimer.singleShot(0, self, self._fill_on)
            return
        self.timeline.set_peaks(self.session.peaks)
        if self._lanes is None:
            self.set_lanes(self.session.lanes)
        self.events.follow(self.controller.now_ns())
        self._tell_of_history()
        self.filled = True
        if self.picture.isVisible():
            self.picture.begin()

    # --- what others use ----------------------------------------------------------------------

    @property
    def lanes(self) -> Sequence[Lane]:
        """What jumps go by."""
        return self.session.lanes if self._lanes is None else self._lanes

    def set_lanes(self, lanes: Sequence[Lane]) -> None:
        """Show different lanes, for example for raters from whom something is hidden."""
        self._lanes = lanes
        self.timeline.set_lanes(lanes)
        self.events.set_lanes(lanes, self._parts)

    def withhold(self, redaction: Redaction) -> None:
        """Let a stretch be heard and seen no more, from now on."""
        begin_ns, end_ns = redaction.t0_ns, redaction.t1_ns
        self.session.sound.silence([(begin_ns, end_ns)])
        self.controller.pause()
        self.controller.seek(self.controller.now_ns())  # what was read ahead is read again
        self.controller.set_selection(0, 0)
        self.timeline.set_selection(None)
        self.timeline.set_peaks(self.session.peaks)
        if self.video is not None:
            self.video.view.withhold(redaction)

    def add_notice(self, sentence: str) -> None:
        """Say something that holds for the whole session, until it is put away."""
        self._sentences.append(sentence)
        self._show_notices()

    def show_error(self, error: LabappError) -> None:
        """Say what went wrong: a matter of files until it is put away, in the place of the one
        before; what was refused for some seconds."""
        if isinstance(error, AnnotationsBusy | DataFolderError) or isinstance(
            error.__cause__, OSError
        ):
            self._error = in_words(error)
            self._show_notices()
        else:
            self.transport.tell(in_words(error))

    def leave(self) -> None:
        """Leave what is open: the time that is typed, the keys, then the focus of a button."""
        if self.transport.asking:
            self.transport.leave_time()
        elif self.sheet.isVisible():
            self.sheet.hide()
        else:
            self.setFocus()

    def hide_screen(self) -> None:
        """Show nothing of the participant's screen, nor the video, on which it may be seen."""
        self.shown.hide()
        if self.video is not None:
            self.video.view.close_videos()

    # --- what is pressed ----------------------------------------------------------------------

    def _draw_picture(self, t_ns: int) -> None:
        """The models are loaded when they are needed: only then it is known which are not there."""
        self.picture.show_time(t_ns)
        self._tell_of_history()

    def _tell_of_history(self) -> None:
        if self.session.history.problems != self._history_problems:
            self._history_problems = self.session.history.problems
            self._show_notices()

    def _clip_stretch(self) -> tuple[int, int] | None:
        """What a clip is made of: the selection, else the unit that is looked at."""
        unit = self.controller.unit_here()
        return self.controller.selection or (None if unit is None else (unit.t0_ns, unit.t1_ns))

    def _toggle_video(self) -> None:
        if self.video is None:
            self.transport.tell(tr("replay.no_video"))
        elif self.shown.isHidden():
            self.transport.tell(tr("replay.video_hidden"))
        else:
            self.filmed.setVisible(self.filmed.isHidden())

    def _tell_of_sound(self, problem: str) -> None:
        self._sound_problem = without_sound(problem) if problem else ""
        self._show_notices()

    def _show_notices(self) -> None:
        told = [self._error, self._sound_problem, *self._history_problems, *self._sentences]
        sentences = [translate_message(sentence) for sentence in told if sentence]
        self.notices.set_sentences(sentences, can_try=bool(self._sound_problem))

    def _find(self, kind: str, t_ns: int, forward: bool) -> int | None:
        lanes = self.lanes
        if self.timeline.future_hidden:  # no jump tells when what is hidden begins
            lanes = [lane if lane.id == "sound" else lane.until(t_ns) for lane in lanes]
        search = next_after if forward else previous_before
        return search(lanes, t_ns, (kind,))  # type: ignore[arg-type]

    def _go_to_unit(self, unit_id: str) -> None:
        unit = self.session.annotations.segmentation.unit(unit_id)
        if unit is not None:
            self.controller.seek_and_play(unit.t0_ns)

    def _loop_pressed(self) -> None:
        self.controller.toggle_loop()
        self.transport.set_loop(self.controller.loop is not None)

    def _next_speed(self) -> None:
        quicker = (speed for speed in SPEEDS if speed > self.controller.speed)
        self.controller.set_speed(next(quicker, SPEEDS[0]))

    def _next_back(self) -> None:
        more = (seconds for seconds in BACK_S if seconds > self.controller.back_s)
        self.controller.set_back(next(more, BACK_S[0]))

    # --- what Qt asks -------------------------------------------------------------------------

    def open(self, at_ns: int | None = None) -> None:
        """Show it as it was last, within the screen there is.

        at_ns: the session time to begin with; None for where this session was left.
        """
        if not self.restoreGeometry(decode_state(self.choices.geometry)):
            self.resize(*USUAL_SIZE)
        left = self.choices.places.get(str(self.session.record.name), self.controller.begin_ns)
        # Before the window is shown: no other screen is then drawn first.
        self.controller.seek(left if at_ns is None else at_ns)
        self.show()
        self.columns.restoreState(decode_state(self.choices.columns))
        self.rows.restoreState(decode_state(self.choices.rows))
        if self.video is not None:
            self.shown.restoreState(decode_state(self.choices.shown))
        self.setFocus()
        begin_ns = self.controller.now_ns() - SEEN_NS // 3
        self.timeline.show_stretch(begin_ns, begin_ns + SEEN_NS)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.router.listen()
        if not event.spontaneous():  # a window that comes back from the taskbar goes nowhere
            self.controller.seek(self.controller.now_ns())

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._painted:
            self._painted = True
            QTimer.singleShot(0, self, self._fill_on)  # behind the rest of the first painting

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.side.set_wide(self.width() >= WIDE)
        low = self.height() < HIGH
        self.header.set_low(low)
        self.notices.set_low(low)
        self.transport.set_low(low)
        for card in (self.seen, self.timeline_card, self.side.text):
            card.set_low(low)
        if self.video is not None:
            self.filmed.set_low(low)
        edge = theme.SPACE_S if low else theme.SPACE_M
        self._body.setContentsMargins(edge, edge, edge, edge)
        self.rows.setHandleWidth(edge)
        least = self.timeline.minimumSizeHint().height()
        self.timeline.setMinimumHeight(least - LOW_ROW_PX if low else least)

    def _fit_picture(self) -> None:
        """No wider than the picture is at its height."""
        margins = self.seen.size() - self.picture.size()
        widest = round(self.picture.height() * WIDEST_PICTURE) + margins.width()
        most = max(widest, self.seen.minimumSizeHint().width())
        if most != self.seen.maximumWidth():
            self.seen.setMaximumWidth(most)
            # Asked for within its own layout, a splitter would leave one side over the other.
            QTimer.singleShot(0, self.columns, self.columns.refresh)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.picture:
            self._fit_picture()
        return super().eventFilter(watched, event)

    def closeEvent(self, event: QCloseEvent) -> None:
        self._remember()
        self.router.close()
        self.transport.rest()
        self.clips.close()
        self.controller.close()
        self.picture.close_picture()
        if self.video is not None:
            self.video.view.close_videos()
        self.session.history.close()
        super().closeEvent(event)
        self.closed.emit()

    def _remember(self) -> None:
        # The one that is left comes first; the oldest ones give way.
        left = {str(self.session.record.name): self.controller.now_ns()}
        places = left | {n: t_ns for n, t_ns in self.choices.places.items() if n not in left}
        choices = ReplayChoices(
            geometry=encode_state(self.saveGeometry()),
            rows=encode_state(self.rows.saveState()),
            columns=encode_state(self.columns.saveState()),
            back_s=self.controller.back_s,
            dark=self._dark,
            video=self.choices.video if self.video is None else not self.filmed.isHidden(),
            shown=self.choices.shown
            if self.video is None
            else encode_state(self.shown.saveState()),
            places=dict(islice(places.items(), MOST_PLACES)),
        )
        try:
            write(choices)
        except LabappError as error:
            from labapp.base.console import say

            say(str(error), err=True)


def _splitter(orientation: Qt.Orientation, *widgets: QWidget) -> QSplitter:
    split = QSplitter(orientation)
    split.setChildrenCollapsible(False)
    split.setHandleWidth(theme.SPACE_M)
    for widget in widgets:
        split.addWidget(widget)
    return split


FILE = "replay.json"
WINDOW = "replay window"
MOST_PLACES = 200
"""Sessions of which it is remembered where they were left."""


@dataclass(frozen=True)
class ReplayChoices:
    """The last choices in a replay window.

    Attributes
    ----------
    geometry, rows, columns : as Qt keeps them, in base64: of the window, of the timeline's height,
        of the picture's width. Empty for the usual.
    back_s : how far resuming goes back, in seconds.
    dark : `light` or `dark`; empty for what the system says.
    video : whether the video of a session that has one is shown.
    shown : as `columns`: of the picture's size beside the video's.
    places : by the names of session folders the session time in ns at which they were left.
    """

    geometry: str = ""
    rows: str = ""
    columns: str = ""
    back_s: float = USUAL_BACK_S
    dark: str = ""
    video: bool = True
    shown: str = ""
    places: dict[str, int] = field(default_factory=dict)


def read() -> tuple[ReplayChoices, LabappError | None]:
    """The last choices, or the usual ones and why the last ones are not used."""
    try:
        return read_choices(FILE, ReplayChoices(), WINDOW, _check), None
    except LabappError as error:
        return ReplayChoices(), error


def _check(choices: ReplayChoices) -> None:
    if not all(type(place) is int for place in choices.places.values()):
        raise ValueError("'places' is not as expected")


def write(choices: ReplayChoices) -> None:
    """Keep the choices for the next start. Raises DataFolderError."""
    write_choices(FILE, choices, WINDOW)


def encode_state(state: QByteArray) -> str:
    """What Qt says of a window or its divisions, as it is kept in the choices."""
    return base64.b64encode(state.data()).decode("ascii")


def decode_state(text: str) -> QByteArray:
    """The state that `encode_state` encoded; empty for any other text."""
    try:
        return QByteArray(base64.b64decode(text, validate=True))
    except ValueError:
        return QByteArray()


TITLES = {"replay": N_("button.replay"), "code": N_("tab.coding"), "text": N_("word.words")}
COLUMN_WIDTH = 330
"""Logical pixels of a column of keys."""
MARGIN = theme.SPACE_XL
HEAD_PX = 90
"""What the card needs besides the keys."""


class KeySheet(QFrame):
    """A card over the window with every key and what it does."""

    def __init__(self, window: QWidget, keys: KeyMap) -> None:
        super().__init__(window)
        self._columns = 0
        self._keys = keys
        self._coding = False
        self.setProperty("role", "sheet")
        self.setAccessibleName(tr("replay.all_keys"))
        layout = bits.column(self, theme.SPACE_M, theme.SPACE_L)
        head = bits.row(None, theme.SPACE_M)
        head.addWidget(bits.label(tr("replay.all_keys"), "title"), 1)
        self.leave = Button(tr("button.close"), "compact", pressed=self.hide)
        head.addWidget(self.leave)
        layout.addLayout(head)
        self._inside = QWidget()
        self._grid = QGridLayout(self._inside)
        self._grid.setContentsMargins(0, 0, theme.SPACE_M, 0)
        self._grid.setHorizontalSpacing(theme.SPACE_M)
        self._grid.setVerticalSpacing(theme.SPACE_XS)
        layout.addWidget(bits.Scrolling(self._inside, 120), 1)
        window.installEventFilter(self)
        self.hide()

    def set_coding(self, coding: bool) -> None:
        """Show the keys of coding, too."""
        self._coding, self._columns = coding, 0
        if self.isVisible():
            self._place()

    def toggle(self) -> None:
        if self.isVisible():
            self.hide()
            return
        self._place()
        self.show()
        self.raise_()

    def _rows(self) -> list[tuple[str, str]]:
        """Keys and what they do; without keys a heading."""
        rows: list[tuple[str, str]] = []
        sections = ("code", "text", "replay") if self._coding else ("replay",)
        for section in sections:
            actions = [
                ("   ".join(stroke.text() for stroke in keys), tr(words))
                for action, words in ACTIONS[section].items()
                if (keys := self._keys.keys(action))
            ]
            if actions and self._coding:
                rows.append(("", tr(TITLES[section])))
            rows += actions
        return rows

    def _fill(self, columns: int) -> None:
        if columns == self._columns:
            return
        self._columns = columns
        while (item := self._grid.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.deleteLater()
        rows = self._rows()
        high = -(-len(rows) // columns)
        for place, (keys, words) in enumerate(rows):
            column, row = divmod(place, high)
            if not keys:
                self._grid.addWidget(bits.label(words, "section"), row, column * 2, 1, 2)
                continue
            self._grid.addWidget(bits.label(keys, "key"), row, column * 2)
            self._grid.addWidget(bits.label(words, "fact", wrap=True), row, column * 2 + 1)
        for column in range(columns):
            self._grid.setColumnStretch(column * 2 + 1, 1)

    def _place(self) -> None:
        window = self.parentWidget()
        assert window is not None
        room = window.rect().adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)
        self._fill(max(1, min(3, room.width() // COLUMN_WIDTH)))
        height = self._inside.sizeHint().height() + HEAD_PX
        room.setHeight(min(room.height(), height))
        self.setGeometry(room)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.parent() and self.isVisible():
            self._place()
        return False


Command = Callable[[], object]
_KINDS = (QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride, QEvent.Type.KeyRelease)


class KeyRouter(QObject):
    """Looks at the keys of one window before its widgets do.

    Attributes
    ----------
    commands : what is done, by the names of actions.
    coding : whether keys of coding hold.
    unclaimed : asked of key presses and releases that are no action, while no text is typed; says
        whether it took them.
    """

    def __init__(self, window: QWidget, keys: KeyMap) -> None:
        super().__init__(window)
        self._window = window
        self.keys = keys
        self.commands: dict[str, Command] = {}
        self.coding = False
        self.unclaimed: Callable[[QKeyEvent], bool] | None = None

    def listen(self) -> None:
        """Look at keys from now on: each event of the application comes by here, thousands of them
        while the window is made."""
        application = QApplication.instance()
        assert application is not None
        application.installEventFilter(self)

    def close(self) -> None:
        """Look at no key any more."""
        application = QApplication.instance()
        if application is not None:
            application.removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() not in _KINDS or not isinstance(watched, QWidget):
            return False
        # What the focus does not take goes on to the widgets around it: that is no new key.
        focused = watched is (self._window.focusWidget() or self._window)
        if not focused or QApplication.activePopupWidget() is not None:
            return False
        assert isinstance(event, QKeyEvent)
        return self._handle_key(watched, event)

    def _handle_key(self, watched: QWidget, event: QKeyEvent) -> bool:
        texts = (QLineEdit, QPlainTextEdit, QTextEdit)
        typing = isinstance(watched, texts) and not watched.isReadOnly()
        stroke = stroke_of(event.key(), event.modifiers(), event.text())
        action = self.keys.action(stroke, coding=self.coding, typing=typing)
        if action not in self.commands or _takes(watched, event):
            # What is no action may be a code.
            if typing or self.unclaimed is None or event.type() == QEvent.Type.ShortcutOverride:
                return False
            return self.unclaimed(event)
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()  # no shortcut of Qt's own comes first
        elif event.type() == QEvent.Type.KeyPress and (
            not event.isAutoRepeat() or action in REPEATING
        ):
            self.commands[action]()
        return event.type() != QEvent.Type.KeyRelease


def _takes(widget: QWidget, event: QKeyEvent) -> bool:
    """Whether a key chooses from a list that opens, or Enter presses a button. Space does not: it
    plays, wherever the focus is."""
    if isinstance(widget, QComboBox):
        return event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down)
    enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
    plain = (event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier).value == 0
    return enter and plain and isinstance(widget, QAbstractButton)


SIGNAL_MS = 200


class Replay:
    """A replay window on the screen.

    Parameters
    ----------
    path : a session folder, or a bundle that holds one session.
    at_ns : the session time that is shown first; None for where it was left.
    dark : whether the window is dark from now on; None for as it was chosen last.

    Raises
    ------
    LabappError : the session cannot be shown.
    """

    def __init__(self, path: Path, at_ns: int | None = None, dark: bool | None = None) -> None:
        with gc_paused():
            session = open_session(path)
            session.history.decoders.load_in_background()
            self.window = ReplayWindow(session, dark=dark)
            self.window.open(at_ns)

    def run(self) -> int:
        """Go on until the window is closed, or the program is asked to end."""
        return end_with(self.window).exec()


def end_with(window: ReplayWindow) -> QApplication:
    """Let the program end with a window, and the window close when the program is asked to end."""
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    window.closed.connect(app.quit)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: window.close())
    # Python runs its signal handlers only when the event loop calls into Python.
    awake = QTimer(window)
    awake.timeout.connect(lambda: None)
    awake.start(SIGNAL_MS)
    return app


LISTED = ("screen", "pauses", "prompts", "answers", "flags", "notes", "alarms")
"""The lanes whose items are listed."""


class EventsList(QListWidget):
    """Questions, pauses, prompts, flags, notes and alarms.

    Signals
    -------
    picked(int) : the session time in ns of what was clicked.
    """

    picked = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._times: list[int] = []
        self.setProperty("role", "fine")
        self.setAccessibleName(tr("replay.events"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setUniformItemSizes(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.itemClicked.connect(lambda item: self.picked.emit(self._times[self.row(item)]))

    def set_lanes(self, lanes: Sequence[Lane], parts: Parts) -> None:
        """List what these lanes tell of."""
        items: list[LaneItem] = []
        for lane in lanes:
            if lane.id == "screen":
                items += join_trials(lane, parts)
            elif lane.id in LISTED:
                items += lane.items
            elif lane.id == "sound":
                items += [item for item in lane.items if item.kind == "lost"]
        items.sort(key=lambda item: item.t0_ns)
        self._times = [item.t0_ns for item in items]
        self.clear()
        for item in items:
            text = item_label(item, parts)
            row = QListWidgetItem(f"{format_time(item.t0_ns, 0)}   {text}")
            row.setToolTip(text)
            self.addItem(row)

    def follow(self, t_ns: int) -> None:
        """Mark the last thing that happened until a session time."""
        row = bisect_right(self._times, t_ns) - 1
        if row != self.currentRow():
            self.setCurrentRow(row)
            if row >= 0:
                self.scrollToItem(self.item(row), QAbstractItemView.ScrollHint.PositionAtCenter)
