"""A stretch of a session's sound as a file of its own, for a talk or a paper.

What consent does not allow is not written, what is redacted is silent in it, and the study's list
of what was handed out names it, so that a withdrawal can say where it lies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from labapp import durable, leftovers
from labapp.annotations.handed_out import CLIP, note_handed_out, session_folders
from labapp.annotations.store import annotations_of
from labapp.audio.writer import WavWriter
from labapp.clock import NS
from labapp.errors import AudioError, LabappError, UsageError
from labapp.journal.layout import refuse_inside
from labapp.journal.record import Record
from labapp.replay.sound import SessionSound
from labapp.replay.times import time_text

_CHUNK_S = 30
_FRAME_NS = NS // 1000
"""A redaction is taken a millisecond wider on either side: rounding lets nothing of it through."""


@dataclass(frozen=True, slots=True)
class Clip:
    """What was written.

    Attributes
    ----------
    path : the WAV file, 16 bits and mono.
    t0_ns, t1_ns : session time.
    redacted : how many redactions are silent in it.
    gaps : where in it nothing was recorded, see `RecordedSound.gaps`.
    problems : what is wrong with the session's sound files.
    """

    path: Path
    t0_ns: int
    t1_ns: int
    redacted: int
    gaps: tuple[tuple[int, int, str], ...]
    problems: tuple[str, ...]

    def lines(self) -> list[str]:
        """For people."""
        told = [f"clip: {self.path} ({(self.t1_ns - self.t0_ns) / NS:.1f} s)"]
        if self.redacted:
            noun = "redaction is" if self.redacted == 1 else "redactions are"
            told.append(f"{self.redacted} {noun} silent in it.")
        told += [
            f"Silent from {time_text(begins)} to {time_text(ends)}: no sound there "
            f"({cause.replace('_', ' ')})."
            for begins, ends, cause in self.gaps
        ]
        return [*told, *(f"{problem}." for problem in self.problems)]


def write_clip(record: Record, t0_ns: int, t1_ns: int, path: Path) -> Clip:
    """Write the sound of a session between two session times as a WAV that is not there yet.

    Raises
    ------
    UsageError : the file is there already, or the times are not in the session.
    LabappError
        The participant does not allow it, nothing was recorded there, or it cannot be written.
    """
    _refuse_unallowed(record)
    refuse_inside(path)
    leftovers.clear_of(session_folders(record))
    if path.exists():
        raise UsageError(
            f"{path} exists already.", safe="It was not changed.", todo="Name another."
        )
    redactions = annotations_of(record).redactions
    silenced = [(r.t0_ns - _FRAME_NS, r.t1_ns + _FRAME_NS) for r in redactions]
    sound = SessionSound(record, silenced)
    try:
        if not sound.begin_ns <= t0_ns < t1_ns <= sound.end_ns:
            raise UsageError(
                f"{time_text(t0_ns)} to {time_text(t1_ns)} is no stretch of the session, which "
                f"goes from {time_text(sound.begin_ns)} to {time_text(sound.end_ns)}.",
                safe="No clip was written.",
                todo="Name two times between these, the earlier first.",
            )
        if not any(span.t0_ns < t1_ns and t0_ns < span.t1_ns for span in sound.spans):
            raise AudioError(
                f"No sound of {record.name} is there from {time_text(t0_ns)} to "
                f"{time_text(t1_ns)}." + "".join(f" {problem}." for problem in sound.problems),
                safe="No clip was written.",
                todo="Take another stretch; a bundle may have been made without sound.",
            )
        folders = session_folders(record)
        for folder in folders:
            note_handed_out(folder.parent, CLIP, path, [folder.name], t0_ns=t0_ns, t1_ns=t1_ns)
        try:
            with leftovers.on_its_way(folders, path) as (draft,):
                write_sound(sound, t0_ns, t1_ns, draft)
                durable.take_name(draft, path)
        except OSError as error:
            raise _unwritable(path, error) from error
        return Clip(
            path,
            t0_ns,
            t1_ns,
            sum(a < t1_ns and t0_ns < b for a, b in silenced),
            _within(sound.gaps, t0_ns, t1_ns),
            sound.problems,
        )
    finally:
        sound.close()


def _refuse_unallowed(record: Record) -> None:
    if record.withdrawn:
        raise LabappError(
            f"The participant of {record.name} withdrew.",
            safe="No clip was written.",
            todo="Take a clip of another session.",
        )
    if not record.may("share_audio"):
        raise LabappError(
            f"The participant of {record.name} did not agree that their voice is passed on.",
            safe="No clip was written.",
            todo="Quote what they said, if they agreed to that, or take another session.",
        )


def _within(
    gaps: Sequence[tuple[int, int, str]], t0_ns: int, t1_ns: int
) -> tuple[tuple[int, int, str], ...]:
    return tuple(
        (max(begins, t0_ns), min(ends, t1_ns), cause)
        for begins, ends, cause in gaps
        if begins < t1_ns and t0_ns < ends
    )


def write_sound(sound: SessionSound, t0_ns: int, t1_ns: int, path: Path) -> None:
    """Write a stretch of a session's sound as a new WAV. Raises LabappError."""
    frames = round((t1_ns - t0_ns) * sound.rate / NS)
    try:
        file = WavWriter(path, sound.rate)
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        for first in range(0, frames, _CHUNK_S * sound.rate):
            at_ns = t0_ns + round(first * NS / sound.rate)
            part = sound.read(at_ns, min(_CHUNK_S * sound.rate, frames - first))
            file.append(part.astype("<i2").tobytes())
            file.flush()
        file.sync()
        file.close()
    except OSError as error:
        file.close()
        leftovers.drop(path)
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> LabappError:
    return LabappError(
        f"{path} cannot be written ({error.strerror or error}).",
        safe="No clip was written.",
        todo="Make room, or name another place.",
    )
