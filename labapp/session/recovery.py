"""After a crash: what is there, what was lost, and how to make it whole again.

Nothing is ever deleted. SQLite replays its own write-ahead log on the next open; the hash chain
then says whether the journal is what was written; the sound files' headers are brought in line
with their length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from labapp.base.errors import RecordError
from labapp.record.audio.recorded_sound import repair_wav, tail
from labapp.record.events import Event, payload_of
from labapp.record.events.voice import AudioBlock, AudioStarted
from labapp.record.journal.integrity import check_rows
from labapp.record.journal.layout import JOURNAL
from labapp.record.journal.read import read_rows
from labapp.session.folder import SessionFolder


@dataclass(frozen=True)
class Recovery:
    """What `recover` found. finished: nothing to resume; sound: a line for each repaired file."""

    path: Path
    events: int
    last_kind: str
    length_s: float
    finished: bool
    sound: Sequence[str] = field(default_factory=tuple)

    def lines(self) -> list[str]:
        """The report for people."""
        state = "finished" if self.finished else "interrupted; it can be resumed"
        return [
            f"{self.path.name}: {state}.",
            f"{self.events} events are safe; the hash chain holds.",
            f"The last one ({self.last_kind}) is at {self.length_s:.1f} s.",
            *self.sound,
        ]


def recover(path: Path) -> Recovery:
    """Check and repair an interrupted session; calling it again changes nothing more.

    Raises SessionBusy while the session is open, RecordError when the journal is damaged.
    """
    home = SessionFolder(path)
    home.require_journal()
    lock = home.lock()
    try:
        events = read_verified_events(home.path)
        sound = repair_sound(home.path, events)
    finally:
        lock.release()
    last = events[-1]
    return Recovery(path, len(events), last.kind, last.t_ns / 1e9, finished(events), sound)


def tails(folder: Path, events: Sequence[Event]) -> tuple[AudioBlock, ...]:
    """Blocks for the sound that earlier runs left behind the last one, so that the journal of a
    resumed session covers all of it. A file that is missing or too short has none."""
    result = []
    for started, blocks in _sound_files(events):
        end = max((block.frames for block in blocks), default=0)
        if (block := tail(folder / started.file, started.file, end)) is not None:
            result.append(block)
    return tuple(result)


def _sound_files(events: Sequence[Event]) -> Iterator[tuple[AudioStarted, list[AudioBlock]]]:
    payloads = [payload_of(event) for event in events if event.kind.startswith("audio.")]
    for started in (payload for payload in payloads if isinstance(payload, AudioStarted)):
        blocks = (payload for payload in payloads if isinstance(payload, AudioBlock))
        yield started, [block for block in blocks if block.file == started.file]


def repair_sound(folder: Path, events: Sequence[Event]) -> tuple[str, ...]:
    """Make every sound file of the session whole; a line for each, for people."""
    lines = []
    for started, blocks in _sound_files(events):
        try:
            report = repair_wav(folder / started.file, started.nominal_rate, blocks)
        except RecordError as error:
            lines.append(f"{started.file}: {error.what}")
            continue
        seconds = report.frames / started.nominal_rate
        state = "whole" if report.whole else "DAMAGED"
        done = "header repaired" if report.changed else "nothing to repair"
        lines.append(f"{started.file}: {seconds:.1f} s of sound, {state}, {done}.")
        if report.missing:
            lines.append(f"{started.file}: {report.missing / started.nominal_rate:.2f} s missing.")
        lines += [f"{started.file}: the block at frame {f} is damaged." for f in report.damaged]
    return tuple(lines)


def read_verified_events(folder: Path) -> list[Event]:
    """All events of a session folder, in order.

    Raises RecordError when there is none, when one is missing, or when the hash chain is broken:
    a session is only continued on a record that is whole.
    """
    rows = read_rows(folder)
    if not rows:
        raise RecordError(
            f"The journal of {folder.name} holds no event: it was interrupted while being made.",
            safe="Nothing had been recorded.",
            todo="Start the session again: the empty folder is cleared away then.",
        )
    events: list[Event] = []
    if problems := check_rows(
        rows, JOURNAL, lambda pairs: events.extend(event for event, _ in pairs)
    ):
        raise RecordError(
            f"The journal of {folder.name} is not what was written: {problems[0]}.",
            safe="Nothing was changed now; the events before it are intact.",
            todo=f"Keep the folder and look at it with: labapp sessions verify {folder.name}",
        )
    return events


def withdrawal(events: Sequence[Event]) -> str:
    """What the participant who withdrew said of the data at the session's end, keep or delete;
    empty where nobody withdrew then."""
    wish = ""
    for event in events:
        if event.kind in ("session.completed", "session.ended", "session.reopened"):
            wish = str(event.payload.get("withdrawal", ""))
    return wish


def finished(events: Sequence[Event]) -> bool:
    """Whether the session came to an end, planned or early."""
    ended = False
    for event in events:
        if event.kind in ("session.completed", "session.ended", "session.reopened"):
            ended = event.kind != "session.reopened"
    return ended
