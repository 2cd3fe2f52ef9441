"""Opening a recorded session for its replay, and saying what of it cannot be had.

Also pictures of the participant's screen at times of a session, without a window.
"""

from __future__ import annotations

import errno
import gc
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from labapp.base import durable, leftovers
from labapp.base.errors import LabappError, RecordError, UsageError
from labapp.coding.annotations.model import SessionAnnotations
from labapp.coding.annotations.redacting import note_handed_out, session_folders
from labapp.coding.times import time_text
from labapp.record.journal.layout import refuse_inside
from labapp.record.journal.opening import open_record
from labapp.record.journal.record import Record
from labapp.record.journal.tree import ZipTree
from labapp.session.replay.history import History
from labapp.ui.language import in_words, tr
from labapp.ui.moderator.wording import every_mark
from labapp.ui.replay.controller import shown_time

if TYPE_CHECKING:
    from labapp.coding.annotations.video_files import PlacedVideo
    from labapp.coding.sound import Peaks, SessionSound
    from labapp.coding.videos.decoding import OpenVideo
    from labapp.record.audio.player import Player
    from labapp.session.replay.lanes import Lane, LaneFold


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
        """The waveform; None where there is no sound."""
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
    """A session that may be replayed.

    Raises
    ------
    RecordError : it cannot be read, or its participant withdrew.
    """
    record = open_record(path)
    if record.withdrawn:
        raise RecordError(
            tr("replay.withdrew", participant=record.participant),
            safe=tr("replay.nothing_shown"),
            todo=tr("replay.see_sessions"),
        )
    return record


@contextmanager
def no_collection() -> Iterator[None]:
    """Look for no garbage meanwhile: among the tens of thousands of objects that a journal and a
    window become, there is none, and each look at them takes longer than to make them."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@no_collection()
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
        result.append(tr("replay.running_notice", time=shown_time(history.end_ns)))
    if not history.shown_windows and not history.simulated:
        result.append(tr("replay.no_sizes"))
    if record.redacted:
        result.append(tr("replay.deidentified_notice"))
    return result


def write_still(
    record: Record, t_ns: int, path: Path, width: int, height: int, *, trails: bool = False
) -> tuple[str, ...]:
    """Write the participant's screen at a session time as a PNG that is not there yet.

    It is drawn on no display, so that it is the same picture on every one.

    Parameters
    ----------
    t_ns : session time.
    width, height : of the participant's window and of the picture, in pixels.
    trails : with the movements of the dials in the last seconds.

    Returns
    -------
    What may look otherwise than it was, a sentence each.

    Raises
    ------
    UsageError : the file is there already, or the time is not in the session.
    LabappError : there is no such screen.
    """
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    refuse_inside(path)
    leftovers.clear_of(session_folders(record))
    if path.exists():
        raise UsageError(
            f"{path} exists already.", safe="It was not changed.", todo="Name another."
        )
    with History(record) as history:
        if not history.begin_ns <= t_ns <= history.end_ns:
            raise UsageError(
                f"{time_text(t_ns)} is not in the session, which goes from "
                f"{time_text(history.begin_ns)} to {time_text(history.end_ns)}.",
                safe="No picture was written.",
                todo="Name a time between these.",
            )
        from PySide6.QtCore import QSize

        from labapp.ui.qtapp import make_app
        from labapp.ui.replay.picture import still

        make_app()
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
                f"{path} cannot be written ({error.strerror or error}).",
                todo="Make room, or name another place.",
            ) from error
        return history.problems
