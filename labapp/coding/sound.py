"""The sound of a recorded session, from its folder or from a bundle.

The waveform of a session: the lowest and highest sample of every column of a picture.

A stretch of a session's sound as a file of its own, for a talk or a paper.

What consent does not allow is not written, what is redacted is silent in it, and the study's list
of what was handed out names it, so that a withdrawal can say where it lies.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from labapp.base import durable, leftovers
from labapp.base.clock import NS
from labapp.base.errors import AudioError, LabappError, TargetExists, UsageError
from labapp.base.reading.files import MIB
from labapp.coding.annotations.model import time_text
from labapp.coding.annotations.redacting import CLIP, note_handed_out, session_folders
from labapp.coding.annotations.store import annotations_of
from labapp.record.audio import recorded_sound
from labapp.record.audio.capture import WavWriter
from labapp.record.audio.pyramid import BASE, Pyramid, pyramid_of
from labapp.record.audio.recorded_sound import (
    RecordedSound,
    SoundSpan,
    Stretch,
    decode_files,
    encode_files,
    place_files,
)
from labapp.record.journal.layout import refuse_inside
from labapp.record.journal.read import Row, payloads
from labapp.record.journal.record import Record

__all__ = ["SessionSound", "SoundSpan"]

_LARGEST = 16 * MIB


class SessionSound(RecordedSound):
    """The sound of a session; see `RecordedSound` for what can be asked of it.

    Where its files lie in time is kept in the cache: reading and fitting 50,000 time marks takes
    longer than all else.

    Parameters
    ----------
    record : of a session with or without sound: a de-identified bundle has none as a rule, and then
        everything is a gap.
    silenced : iterable of (int, int)
        Stretches of session time in ns that are not to be heard, such as those of redactions.
    """

    def __init__(self, record: Record, silenced: Iterable[Stretch] = ()) -> None:
        rows = [row for row in record.rows if row.kind.startswith("audio.")]
        last_ns = max((row.t_ns for row in record.rows), default=0)
        key = recorded_sound.place("sounds", f"{_digest(rows)}.json")
        known = recorded_sound.get(key, _LARGEST) if rows else None
        placed = decode_files(known) if known is not None else None
        new = placed is None
        if placed is None:
            placed = place_files(payload for _, payload in payloads(rows))
        super().__init__(record.tree.open, (), last_ns, silenced, placed=placed)
        if new and placed and (content := encode_files(placed)) is not None:
            recorded_sound.put(key, content)


def _digest(rows: Sequence[Row]) -> str:
    """Of all that the journal says of the sound."""
    hashed = hashlib.sha256()
    for row in rows:
        hashed.update(f"{row.kind}\0{row.v}\0{row.payload}\n".encode("utf-8", "surrogatepass"))
    return hashed.hexdigest()


if TYPE_CHECKING:
    from numpy.typing import NDArray

    from labapp.record.audio.alignment import ClockFit

    Pair = tuple[NDArray[np.int16], NDArray[np.int16]]


class Peaks:
    """The waveform of a session, whose files are gone through once and then known from the cache;
    what is silenced in its sound is flat here, too."""

    def __init__(self, sound: RecordedSound) -> None:
        self._sound = sound
        self._files: list[tuple[int, int, ClockFit, Pyramid]] = [
            (span.t0_ns, span.t1_ns, sound.fit(span.file), pyramid_of(sound.samples(span.file)))
            for span in sound.spans
        ]

    def between(self, t0_ns: int, t1_ns: int, columns: int) -> Pair:
        """The lowest and highest samples of so many columns of a picture, which begins and ends at
        two session times, each of shape (columns,); zeros where nothing was recorded."""
        if columns < 1 or t1_ns <= t0_ns:
            none = np.zeros(max(0, columns), np.int16)
            return none, none.copy()
        edges = t0_ns + np.linspace(0.0, t1_ns - t0_ns, columns + 1)
        if (t1_ns - t0_ns) * self._sound.rate < columns * BASE * NS:
            return self._samples(t0_ns, edges)
        low, high = self._ranges(edges[:-1], edges[1:])
        silenced = [(a, b) for a, b in self._sound.silenced if a < t1_ns and t0_ns < b]
        for begins, ends in silenced:
            within = (begins <= edges[:-1]) & (edges[1:] <= ends)
            low[within] = high[within] = 0
            partly = (edges[:-1] < ends) & (begins < edges[1:]) & ~within
            for column in np.flatnonzero(partly):
                left = self._without(edges[column], edges[column + 1], silenced)
                starts, stops = np.array(left, np.float64).reshape(-1, 2).T
                lows, highs = self._ranges(starts, stops, finest=True)  # of all of them together
                low[column], high[column] = lows.min(initial=0), highs.max(initial=0)
        return low, high

    def _samples(self, t0_ns: int, edges: NDArray[np.float64]) -> Pair:
        """Of columns of few samples each, or of less than one."""
        rate = self._sound.rate
        first = np.floor((edges - t0_ns) * rate / NS).astype(np.int64)
        heard = self._sound.read(t0_ns, int(first[-1]) + 1)
        at = first[:-1]
        return np.minimum.reduceat(heard, at), np.maximum.reduceat(heard, at)

    def _ranges(
        self, begins: NDArray[np.float64], ends: NDArray[np.float64], *, finest: bool = False
    ) -> Pair:
        """Of many stretches of session time in ns."""
        low, high = np.zeros(begins.size, np.int16), np.zeros(begins.size, np.int16)
        for t0_ns, t1_ns, fit, pyramid in self._files:
            touched = np.flatnonzero((begins < t1_ns) & (t0_ns < ends))
            if touched.size == 0:
                continue
            first, last = (
                (np.clip(edge[touched], t0_ns, t1_ns) - fit.offset_ns) * (fit.rate / NS)
                for edge in (begins, ends)
            )
            lowest, highest = pyramid.between(first, last, finest=finest)
            # Of two files in a column the louder counts; beside nothing, what is there.
            both = (low[touched] != 0) | (high[touched] != 0)
            low[touched] = np.where(both, np.minimum(low[touched], lowest), lowest)
            high[touched] = np.where(both, np.maximum(high[touched], highest), highest)
        return low, high

    def _without(
        self, begins: float, ends: float, silenced: list[tuple[int, int]]
    ) -> list[tuple[float, float]]:
        """What is left of a stretch, less a pair of the finest level beside what is silenced:
        that pair holds something of it."""
        beside = BASE * NS / self._sound.rate
        left, at = [], begins
        for first, last in silenced:
            if at < first - beside and at < ends:
                left.append((at, min(ends, first - beside)))
            at = max(at, last + beside)
        if at < ends:
            left.append((at, ends))
        return left


_CHUNK_S = 30
FRAME_NS = NS // 1000
"""A redaction is taken a millisecond wider on either side: rounding lets nothing of it through."""


@dataclass(frozen=True, slots=True)
class Clip:
    """What was written, in session time.

    Attributes
    ----------
    path : the WAV file, 16 bits and mono.
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
    """Write the sound of a session between two session times as a WAV that is not there yet. Raises
    TargetExists: the file is there already; UsageError: the times are not in the session;
    LabappError: the participant does not allow it, nothing was recorded there, or it cannot be
    written."""
    refuse_unallowed(record)
    refuse_inside(path)
    leftovers.clear_of(session_folders(record))
    if path.exists():
        raise TargetExists(
            f"{path} exists already.", safe="It was not changed.", todo="Choose another name."
        )
    redactions = annotations_of(record).redactions
    silenced = [(r.t0_ns - FRAME_NS, r.t1_ns + FRAME_NS) for r in redactions]
    sound = SessionSound(record, silenced)
    try:
        if not sound.begin_ns <= t0_ns < t1_ns <= sound.end_ns:
            raise UsageError(
                f"{time_text(t0_ns)} to {time_text(t1_ns)} is not within the session, which "
                f"lasts from {time_text(sound.begin_ns)} to {time_text(sound.end_ns)}.",
                safe="No clip was written.",
                todo="Give two times within it, the earlier one first.",
            )
        if not any(span.t0_ns < t1_ns and t0_ns < span.t1_ns for span in sound.spans):
            raise AudioError(
                f"{record.name} has no sound from {time_text(t0_ns)} to {time_text(t1_ns)}."
                + "".join(f" {problem}." for problem in sound.problems),
                safe="No clip was written.",
                todo="Choose another stretch. A bundle may have been made without sound.",
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
            tuple(
                (max(begins, t0_ns), min(ends, t1_ns), cause)
                for begins, ends, cause in sound.gaps
                if begins < t1_ns and t0_ns < ends
            ),
            sound.problems,
        )
    finally:
        sound.close()


def refuse_unallowed(record: Record) -> None:
    """Raises LabappError if nothing of a session may be heard outside the lab."""
    if record.withdrawn:
        raise LabappError(
            f"The participant of {record.name} withdrew.",
            safe="No clip was written.",
            todo="Choose another session.",
        )
    if not record.may("share_audio"):
        raise LabappError(
            f"The participant of {record.name} did not agree to share their voice.",
            safe="No clip was written.",
            todo="Quote what they said, if they agreed to that, or choose another session.",
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
        f"{path} could not be written ({error.strerror or error}).",
        safe="No clip was written.",
        todo="Free some space, or choose another place.",
    )
