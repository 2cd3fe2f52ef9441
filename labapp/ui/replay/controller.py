"""The clock of the replay: what is heard says what is seen, never the reverse.

A timer asks the player for the session time that is heard now, and moves playhead and picture after
it. A picture that takes long to draw is drawn less often, always for the newest time.

Opening a recorded session for its replay, and saying what of it cannot be had.

Also pictures of the participant's screen at times of a session, without a window.
"""

from __future__ import annotations

import errno
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from labapp.base import durable, leftovers
from labapp.base.clock import NS
from labapp.base.errors import LabappError, RecordError, TargetExists, UsageError
from labapp.base.parallel.processes import gc_paused
from labapp.coding.annotations.model import SessionAnnotations, Unit, time_text
from labapp.coding.annotations.redacting import note_handed_out, session_folders
from labapp.record.journal.layout import ZipTree, refuse_inside
from labapp.record.journal.opening import open_record
from labapp.record.journal.record import Record
from labapp.session.replay.history import History
from labapp.ui import timers
from labapp.ui.language import N_all, in_words, tr, translate_message
from labapp.ui.moderator.wording import every_mark, format_time

if TYPE_CHECKING:
    from labapp.coding.annotations.video_files import PlacedVideo
    from labapp.coding.sound import Peaks, SessionSound
    from labapp.coding.videos.decoding import OpenVideo
    from labapp.record.audio.player import Player
    from labapp.session.replay.lanes import Lane, LaneFold


LONGEST_WAIT_S = 0.1
"""After a picture that took longer, as one whose model was loaded first, no more is waited."""
TICK_MS = 16
"""Between two looks at the player's clock while it plays."""
HEALTH_MS = 500
"""Between two looks at whether sound is heard."""
SPEEDS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0)
USUAL_SPEED = 1.0
BACK_S = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)
"""What may be gone back when playing is resumed, in seconds."""
USUAL_BACK_S = 2.0
STEP_NS, LITTLE_NS = NS, NS // 10
REPEATED_NS = 3 * NS
REPEAT_SPEED = 0.75
GRAIN_MS = 60
"""Of sound in scrubbing and playing backwards."""
BACKWARDS = (1.0, 2.0, 4.0)
MOMENT_NS = NS // 4
"""A jump back from just behind a mark goes to the mark before it."""

Find = Callable[[str, int, bool], int | None]
"""The session time of the next (True) or previous thing of a kind, seen from a time."""

NONE_THERE: dict[str, str] = N_all("replay.none", "trial", "note", "flag", "silence", "dial")
"""What is said where a jump finds nothing."""


class ReplayController(QObject):
    """Plays, pauses, jumps and loops, and says what time it is.

    Signals
    -------
    moved(int) : the playhead stands at another session time in ns. At most once a tick.
    jumped(int) : it goes there at once, and not by playing: by a key, a click, a drag or a list.
    picture_due(int) : the picture of that time is to be drawn now.
    playing_changed(bool), speed_changed(float), back_changed(float) : playing or not; times as
        quick; seconds gone back when playing is resumed.
    loop_changed(object) : the stretch that is looped as (t0_ns, t1_ns), or None.
    unit_changed(str) : the id of the unit at the playhead; empty if there is none.
    notice(str) : a sentence for the person who pressed a key that could do nothing.
    problem_changed(str) : why nothing is heard; empty if all is well again.
    """

    moved = Signal(object)
    jumped = Signal(object)
    picture_due = Signal(object)
    playing_changed = Signal(bool)
    speed_changed = Signal(float)
    back_changed = Signal(float)
    loop_changed = Signal(object)
    unit_changed = Signal(str)
    notice = Signal(str)
    problem_changed = Signal(str)

    def __init__(
        self, player: Player, begin_ns: int, end_ns: int, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.player = player
        self.begin_ns, self.end_ns = begin_ns, max(end_ns, begin_ns)
        self.find: Find = lambda kind, t_ns, forward: None
        self.speed = USUAL_SPEED
        self.back_s = USUAL_BACK_S
        self.loop: tuple[int, int] | None = None
        self.selection: tuple[int, int] | None = None
        self._units: tuple[Unit, ...] = ()
        self._unit = ""
        self.unit_here: Callable[[], Unit | None] = self._unit_at_playhead
        self._now = begin_ns
        self._drawn: int | None = None
        self._paused_at: int | None = None
        self._slow_until: int | None = None
        self._usual = USUAL_SPEED
        self._backwards = 0.0
        self._picture_free = 0.0
        self._timer = timers.make_repeating_timer(self, self.tick, TICK_MS)
        self._grains = timers.make_repeating_timer(self, self._grain, GRAIN_MS)
        self._problem = ""
        self._health = timers.make_repeating_timer(self, self._look_at_sound, HEALTH_MS)
        self._health.start()
        self._late_picture = timers.once(self, self._draw)

    # --- what it is told ----------------------------------------------------------------------

    def set_units(self, units: Sequence[Unit]) -> None:
        """The units of the session, in order of their beginnings."""
        self._units = tuple(units)
        self._tell_unit()

    def set_selection(self, t0_ns: int, t1_ns: int) -> None:
        """A stretch that was selected; an empty one selects nothing."""
        self.selection = (t0_ns, t1_ns) if t1_ns > t0_ns else None

    # --- what it says -------------------------------------------------------------------------

    def now_ns(self) -> int:
        """Session time of the playhead, which is what is heard."""
        return self._now

    @property
    def playing(self) -> bool:
        """Whether time passes, forwards or backwards."""
        return self._timer.isActive() or self._grains.isActive()

    @property
    def unit(self) -> Unit | None:
        """The unit that is looked at; `unit_here` says which: in coding the one that keys code."""
        return self.unit_here()

    def _unit_at_playhead(self) -> Unit | None:
        """The unit that is heard, else the last one before it."""
        return next((unit for unit in self._units if unit.id == self._unit), None)

    # --- playing ------------------------------------------------------------------------------

    def toggle(self) -> None:
        """Play, a little back where it was paused just here; or pause."""
        if self.playing:
            self.pause()
            return
        if self._paused_at == self._now and self.back_s:
            self._place(self._now - round(self.back_s * NS))
        self.play()

    def play(self) -> None:
        """Play exactly from here; from the beginning where it is at the end."""
        self._stop_backwards()
        if self._now >= self.end_ns:
            self._place(self.begin_ns)
        self._paused_at = None
        self.player.seek(self._now)
        self.player.play()
        self._timer.start()
        self.playing_changed.emit(True)

    def pause(self) -> None:
        """Stop where it is; resuming here goes a little back."""
        was_playing = self.playing
        self._end_slow()
        if self._timer.isActive():
            self._timer.stop()
            self.player.pause()
            self._arrive(self.player.heard_ns())
        self._stop_backwards()
        self._paused_at = self._now
        if was_playing:
            self.playing_changed.emit(False)
        self._draw()

    def backwards(self) -> None:
        """Play backwards by grains of sound; again, faster."""
        if self._grains.isActive():
            at = BACKWARDS.index(self._backwards)
            self._backwards = BACKWARDS[min(at + 1, len(BACKWARDS) - 1)]
            return
        if self._timer.isActive():
            self.pause()
        self._backwards = BACKWARDS[0]
        self._grains.start()
        self.playing_changed.emit(True)

    def _stop_backwards(self) -> None:
        if self._grains.isActive():
            self._grains.stop()
            self.player.pause()
        self._backwards = 0.0

    def _grain(self) -> None:
        self._arrive(self._now - round(GRAIN_MS * 1e6 * self._backwards))
        self.player.scrub(self._now)
        if self._now <= self.begin_ns:
            self.pause()

    def close(self) -> None:
        """Stop for good, and let the sound go."""
        for timer in (self._timer, self._grains, self._late_picture, self._health):
            timer.stop()
        self.player.close()

    # --- going ---------------------------------------------------------------------------------

    def seek(self, t_ns: int) -> None:
        """Go to a session time; playing goes on from there."""
        self._end_slow()
        if self.loop is not None and not self.loop[0] <= t_ns < self.loop[1]:
            self.set_loop(None)
        self._place(t_ns)
        self._paused_at = None

    def seek_and_play(self, t_ns: int) -> None:
        self.seek(t_ns)
        if not self._timer.isActive():
            self.play()

    def scrub(self, t_ns: int) -> None:
        """Go with the pointer: a grain of sound at each place."""
        if self._timer.isActive():
            self.pause()
        self._stop_backwards()
        self._paused_at = None
        self.jumped.emit(t_ns)
        self._arrive(t_ns)
        self.player.scrub(self._now)

    def step(self, by_ns: int) -> None:
        self.seek(self._now + by_ns)

    def jump(self, kind: str, forward: bool) -> None:
        """Go to the next or the previous thing of a kind, see `NONE_THERE`."""
        t_ns = self.find(kind, self._now if forward else self._before, forward)
        if t_ns is None:
            self.notice.emit(tr(NONE_THERE[kind]))
        else:
            self.seek(t_ns)

    @property
    def _before(self) -> int:
        """From where a jump back is seen: while it plays, not just behind where it was."""
        return self._now - (MOMENT_NS if self.playing else 0)

    def go_to_unit(self, forward: bool) -> None:
        """Go to the beginning of the next unit, or of this one and then of the one before."""
        begins = [unit.t0_ns for unit in self._units]
        back = bisect_left(begins, self._before) - 1
        at = bisect_right(begins, self._now) if forward else back
        if not self._units:
            self.notice.emit(tr("replay.no_units"))
        elif not 0 <= at < len(begins):
            self.notice.emit(tr("replay.none.unit"))
        else:
            self.seek(begins[at])

    # --- speed, repeating, loops --------------------------------------------------------------

    def set_speed(self, speed: float) -> None:
        """Play so many times as quick, with the pitch kept."""
        self._slow_until = None
        self._set_speed(speed)

    def _set_speed(self, speed: float) -> None:
        if speed != self.speed:
            self.speed = speed
            self.player.set_speed(speed)
            self.speed_changed.emit(speed)

    def change_speed(self, quicker: bool) -> None:
        """To the next speed up or down."""
        at = SPEEDS.index(min(SPEEDS, key=lambda speed: abs(speed - self.speed)))
        self.set_speed(SPEEDS[min(max(at + (1 if quicker else -1), 0), len(SPEEDS) - 1)])

    def set_back(self, seconds: float) -> None:
        """How far resuming goes back, within `BACK_S`."""
        self.back_s = min(max(seconds, BACK_S[0]), BACK_S[-1])
        self.back_changed.emit(self.back_s)

    def change_back(self, more: bool) -> None:
        """A second more or less."""
        self.set_back(self.back_s + (1.0 if more else -1.0))

    def repeat_unit(self) -> None:
        """Play the unit at the playhead from its beginning."""
        unit = self.unit
        if unit is None:
            self.notice.emit(tr("replay.no_unit_here"))
            return
        self.seek_and_play(unit.t0_ns)

    def repeat_slowly(self) -> None:
        """Play the last 3 s at 0.75×, and go on as before from here."""
        until = self._now if self._slow_until is None else self._slow_until
        self.seek(until - REPEATED_NS)
        usual = self._usual = self.speed
        self._slow_until = until
        self._set_speed(min(REPEAT_SPEED, usual))
        if not self._timer.isActive():
            self.play()

    def _end_slow(self) -> None:
        if self._slow_until is not None:
            self._slow_until = None
            self._set_speed(self._usual)

    def toggle_loop(self) -> None:
        """Loop the selection, or else the unit at the playhead; or loop no longer."""
        if self.loop is not None:
            self.set_loop(None)
            return
        unit = self.unit
        stretch = self.selection or (None if unit is None else (unit.t0_ns, unit.t1_ns))
        if stretch is None:
            self.notice.emit(tr("coding.select_first"))
            return
        self.set_loop(stretch)
        if not stretch[0] <= self._now < stretch[1]:
            self._place(stretch[0])

    def set_loop(self, stretch: tuple[int, int] | None) -> None:
        """Play a stretch again and again; None: no longer."""
        self.loop = stretch
        if stretch is None:
            self.player.set_loop(None, None)
        else:
            self.player.set_loop(*stretch)
        self.loop_changed.emit(stretch)

    def _look_at_sound(self) -> None:
        """The loudspeaker is opened in the background, and may go while it plays."""
        if self.player.problem != self._problem:
            self._problem = self.player.problem
            self.problem_changed.emit(translate_message(self._problem))

    # --- the clock -----------------------------------------------------------------------------

    def tick(self) -> None:
        """Follow what is heard."""
        self._arrive(self.player.heard_ns())
        if self._slow_until is not None and self._now >= self._slow_until:
            self._end_slow()
        if self._now >= self.end_ns or not self.player.playing:
            self.pause()

    def _place(self, t_ns: int) -> None:
        """Go there, with the sound."""
        t_ns = min(max(t_ns, self.begin_ns), self.end_ns)
        self.player.seek(t_ns)
        self.jumped.emit(t_ns)  # first: what follows the playhead learns that it was not played
        self._arrive(t_ns)

    def _arrive(self, t_ns: int) -> None:
        t_ns = min(max(t_ns, self.begin_ns), self.end_ns)
        if t_ns == self._now and self._drawn is not None:
            return
        self._now = t_ns
        self.moved.emit(t_ns)
        self._tell_unit()
        self._draw()

    def _draw(self) -> None:
        """Have the picture drawn, or later where the last one took long: half of the time is left
        to the keys."""
        if self._drawn == self._now:
            return
        begun = perf_counter()
        if begun < self._picture_free:
            if not self._late_picture.isActive():
                self._late_picture.start(max(1, round((self._picture_free - begun) * 1000)))
            return
        self._drawn = self._now
        self.picture_due.emit(self._now)
        ended = perf_counter()
        self._picture_free = ended + min(ended - begun, LONGEST_WAIT_S)

    def _tell_unit(self) -> None:
        at = bisect_right([unit.t0_ns for unit in self._units], self._now) - 1
        unit = self._units[at].id if at >= 0 else ""
        if unit != self._unit:
            self._unit = unit
            self.unit_changed.emit(unit)


@dataclass(frozen=True)
class OpenedSession:
    """Everything that a replay shows. Of the history, no more is read than what is asked for.

    Attributes
    ----------
    history : its state at any time.
    player, sound : what it plays, to be closed with the window; what the player plays.
    folded : what happened when, as far as the history was read.
    annotations : units, text and marks.
    chips : a few words each on what the session is.
    notices : a sentence each on what cannot be shown, or not all of it.
    videos : of the participant, each with what opens its file.
    """

    record: Record
    history: History
    player: Player
    sound: SessionSound
    folded: LaneFold
    annotations: SessionAnnotations
    chips: Sequence[str] = ()
    notices: Sequence[str] = ()
    videos: Sequence[tuple[PlacedVideo, OpenVideo]] = ()

    @cached_property
    def lanes(self) -> Sequence[Lane]:
        """What happened when. What of the history was not read yet is read first."""
        from labapp.session.replay.lanes import lanes_of

        while self.history.read_on():
            pass
        return lanes_of(self.record, sound=self.sound, folded=self.folded)

    @cached_property
    def peaks(self) -> Peaks | None:
        """The waveform; None if there is no sound."""
        from labapp.coding.sound import Peaks

        return Peaks(self.sound) if self.sound.spans else None

    @property
    def title(self) -> str:
        """Participant and session."""
        record = self.record
        return tr("replay.head", participant=record.participant, session=record.session)

    def close(self) -> None:
        self.player.close()
        self.history.close()


def readable_record(path: Path) -> Record:
    """A session that may be replayed. Raises RecordError: it cannot be read, or its participant
    withdrew."""
    record = open_record(path)
    if record.withdrawn:
        raise RecordError(
            tr("replay.withdrew", participant=record.participant),
            safe=tr("replay.nothing_shown"),
            todo=tr("replay.see_sessions"),
        )
    return record


@gc_paused()
def open_session(path: Path) -> OpenedSession:
    """A session with its sound, lanes and annotations, up to now where it still runs. Raises
    RecordError as `readable_record` does."""
    from labapp.coding.annotations.store import annotations_of
    from labapp.coding.sound import SessionSound
    from labapp.record.audio.player import DEFAULT
    from labapp.record.audio.player import Player as SoundPlayer
    from labapp.session.replay.lanes import LaneFold

    record = readable_record(path)
    folded = LaneFold(every_mark())
    history = History(record, folded.apply, in_parts=True)
    notices = _states(record, history)
    try:
        annotations = annotations_of(record)
        notices.extend(annotations.remarks)
    except LabappError as error:
        annotations = SessionAnnotations(str(record.name))
        notices.append(in_words(error))
    # What is redacted is heard by nobody who sits around the table, and drawn as silence.
    sound = SessionSound(record, [(r.t0_ns, r.t1_ns) for r in annotations.redactions])
    player = SoundPlayer(sound, DEFAULT if sound.spans else None)
    chips = [record.study]
    if record.state in ("running", "interrupted"):
        chips.append(tr("replay.running") if record.state == "running" else tr("state.interrupted"))
    if not sound.spans:
        chips.append(tr("state.no_sound"))
    if record.redacted:
        chips.append(tr("replay.deidentified"))
    videos, problem = _videos(record)
    if problem:
        notices.append(problem)
    return OpenedSession(
        record, history, player, sound, folded, annotations, chips, notices, videos
    )


def _videos(record: Record) -> tuple[Sequence[tuple[PlacedVideo, OpenVideo]], str]:
    """The videos of a session with what opens them, and what is wrong with them, in words."""
    from labapp.coding.annotations.video_files import video_tree, videos_of

    try:
        videos, tree = videos_of(record), video_tree(record)
    except LabappError as error:
        return (), in_words(error)
    if videos and isinstance(tree, ZipTree):
        return (), tr("replay.video_in_archive")
    return [(placed, partial(tree.open, placed.video.file)) for placed in videos], ""


def _states(record: Record, history: History) -> list[str]:
    """What is to be known of a session before it is looked at, a sentence each."""
    result = []
    if record.state == "running":
        result.append(tr("replay.running_notice", time=format_time(history.end_ns)))
    if not history.shown_windows and not history.simulated:
        result.append(tr("replay.no_sizes"))
    if record.redacted:
        result.append(tr("replay.deidentified_notice"))
    return result


def write_still(
    record: Record, t_ns: int, path: Path, width: int, height: int, *, trails: bool = False
) -> tuple[str, ...]:
    """Write the participant's screen at a session time as a PNG that is not there yet.

    It is drawn on no display, so that it is the same picture on every one. Raises UsageError: the
    file is there already, or the time is not in the session; LabappError: there is no such screen.

    Parameters
    ----------
    t_ns : session time.
    width, height : of the participant's window and of the picture, in pixels.
    trails : with the movements of the dials in the last seconds.

    Returns
    -------
    What may look otherwise than it was, a sentence each.
    """
    refuse_inside(path)
    leftovers.clear_of(session_folders(record))
    if path.exists():
        raise TargetExists(
            f"{path} exists already.", safe="It was not changed.", todo="Choose another name."
        )
    with History(record) as history:
        if not history.begin_ns <= t_ns <= history.end_ns:
            raise UsageError(
                f"{time_text(t_ns)} is not in the session, which lasts from "
                f"{time_text(history.begin_ns)} to {time_text(history.end_ns)}.",
                safe="No picture was written.",
                todo="Give a time between these.",
            )
        from PySide6.QtCore import QSize

        from labapp.ui.qtapp import make_offscreen_app
        from labapp.ui.replay.picture import still

        make_offscreen_app()
        image = still(history, t_ns, QSize(width, height), trails=trails)
        folders = session_folders(record)
        for folder in folders:
            note_handed_out(folder.parent, "still", path, [folder.name], t_ns=t_ns)
        try:
            with leftovers.on_its_way(folders, path) as (draft,):
                if not image.save(str(draft), "PNG"):  # type: ignore[call-overload]
                    raise OSError(errno.EIO, "the picture could not be written")
                durable.take_name(draft, path)
        except OSError as error:
            raise LabappError(
                f"{path} could not be written ({error.strerror or error}).",
                todo="Free some space, or choose another place.",
            ) from error
        return history.problems
