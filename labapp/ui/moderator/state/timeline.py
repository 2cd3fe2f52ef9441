"""The session's timeline: parts and questions as blocks, pauses, notes, flags and alarms as marks.

Masked pictures are many and short: a sequence of them is one block. All times are working time in
ns, so that a pause or a crash gap is one line and not a hole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

from labapp.events import Event
from labapp.plugins import registry
from labapp.plugins.part import PlannedPart
from labapp.ui.language import counted, tr
from labapp.ui.moderator import wording
from labapp.ui.moderator.part_words import every_mark, words_of
from labapp.ui.moderator.state.fold import WorkTime
from labapp.ui.moderator.state.notes import note_of
from labapp.ui.moderator.wording import gap

MarkKind = Literal[
    "note", "flag", "prompt", "question", "answer", "deviation", "alarm", "pause", "gap"
]


@dataclass(frozen=True, slots=True)
class Block:
    """A part or a question; end_ns and outcome are None while it runs. of: index of its part."""

    start_ns: int
    label: str
    of: int
    end_ns: int | None = None
    outcome: str | None = None

    def end_or(self, now_ns: int) -> int:
        """Where it ends, or now."""
        return now_ns if self.end_ns is None else self.end_ns


@dataclass(frozen=True, slots=True)
class Mark:
    """seq: of the event that noted it, where it can be corrected."""

    at_ns: int
    kind: MarkKind
    text: str
    seq: int = 0


@dataclass(frozen=True, slots=True)
class Hearing:
    """A change of what the microphone hears (`audio.state`)."""

    at_ns: int
    state: str


class Timeline:
    """parts, trials, marks, hearing: in the order of their events. version counts the changes."""

    def __init__(self, parts: Sequence[PlannedPart]) -> None:
        self._plan = parts
        lanes = frozenset().union(*(words_of(part).lanes(part) for part in parts))
        self.answers, self.asks = "answer" in lanes, "question" in lanes
        self._shown = registry.shown_kinds()
        self.parts: list[Block] = []
        self.trials: list[Block] = []
        self.marks: list[Mark] = []
        self._first: dict[int, Mark] = {}
        self.hearing: list[Hearing] = []
        self.version = 0

    def apply(self, event: Event, work: WorkTime) -> bool:
        """Take in an event (after `work` did); True when the timeline changed."""
        changed = self._apply(event, work, work.working_ns(event.t_ns))
        self.version += changed
        return changed

    def _apply(self, event: Event, work: WorkTime, at: int) -> bool:
        p = event.payload
        match event.kind:
            case "part.started":
                index = int(p["index"])
                self.parts.append(Block(at, wording.part_title(self._plan[index].title), index))
            case "part.ended":
                _close(self.parts, at, str(p["outcome"]))
                _close(self.trials, at, None)
            case kind if kind in self._shown and self.parts:
                return self._trial(event.trial or 1, at)
            case "trial.ended":
                return self._ended(event.trial or 1, at, str(p["outcome"]))
            case "part.restarted":
                _close(self.trials, at, None)
            case "session.paused":
                self.marks.append(Mark(at, "pause", wording.paused(str(p["reason"]))))
            case "pause.explained":
                return self._explained(str(p["reason"]))
            case "session.resumed":
                self._resumed(work)
            case "segment.started" if p["gap_from_ns"] is not None:
                self.marks.append(Mark(at, "gap", tr("Gap: the program was not running")))
            case "audio.state":
                since = work.working_ns(int(p["since_ns"]))
                self.hearing.append(Hearing(since, str(p["state"])))
            case kind if (text := wording.alarm_text(kind, p)) is not None:
                self.marks.append(Mark(at, "alarm", text))
            case "skip.taken_back":
                self.marks.append(Mark(at, "deviation", tr("A skip was taken back")))
            case kind if (words := every_mark().get(kind)) is not None and self.parts:
                said = words.mark(self._plan[self.parts[-1].of], p)
                self.marks.append(Mark(at, cast(MarkKind, words.marks[kind]), said))
            case "deviation.noted":
                since = work.working_ns(int(p["typing_began_ns"]))
                self._noted(Mark(since, "deviation", p["text"], event.seq))
            case "note.corrected":
                return self._corrected(int(p["seq"]), str(p["text"]))
            case "audio.gap":
                lost = counted(
                    int(p["frames"]),
                    "{n} frame of sound lost ({cause})",
                    "{n} frames of sound lost ({cause})",
                    cause=gap(str(p["cause"])),
                )
                self.marks.append(Mark(at, "alarm", lost))
            case _:
                return self._note(event, work)
        return True

    def _trial(self, trial: int, at: int) -> bool:
        """A trial is on the screen: its block begins, or goes on."""
        index = self.parts[-1].of
        part = self._plan[index]
        words = words_of(part)
        label = words.trial(part, trial)
        last = self.trials[-1] if self.trials else None
        open_ = last is not None and last.end_ns is None
        if open_ and words.joins and last is not None and (last.of, last.label) == (index, label):
            return False
        _close(self.trials, at, None)  # an attempt that a crash cut off has no end
        self.trials.append(Block(at, label, index))
        return True

    def _ended(self, trial: int, at: int, outcome: str) -> bool:
        part = self._plan[self.parts[-1].of] if self.parts else None
        if part is not None and words_of(part).goes_on(part, trial, outcome):
            return False
        _close(self.trials, at, outcome)
        return True

    def _note(self, event: Event, work: WorkTime) -> bool:
        note = note_of(event, work)
        if note is None:
            return False
        text = note.text
        if note.kind == "flag":
            text = tr("Flag {number} {meaning}", number=note.number, meaning=note.text)
        if note.kind == "prompt":
            text = tr("Prompt given: {prompt}", prompt=note.text)
        if note.kind == "question":
            text = tr("Asked: {question}", question=note.text)
        self._noted(Mark(note.working_ns, note.kind, text, event.seq))
        return True

    def _noted(self, mark: Mark) -> None:
        """Keep what a mark of the moderator was at first, for it may be corrected."""
        self._first[mark.seq] = mark
        self.marks.append(_worded(mark))

    def _corrected(self, seq: int, text: str) -> bool:
        """What was taken back has no mark; what only the study words gets its own words back."""
        mark = self._first.get(seq)
        if mark is None:
            return False
        self.marks = [mark for mark in self.marks if mark.seq != seq]
        if text:
            words = text if mark.kind in ("note", "deviation") else mark.text
            self.marks.append(_worded(replace(mark, text=words)))
        return True

    def _explained(self, reason: str) -> bool:
        """Say at the mark of the pause why it was made."""
        for index in range(len(self.marks) - 1, -1, -1):
            if self.marks[index].kind == "pause":
                self.marks[index] = replace(self.marks[index], text=wording.paused(reason))
                return True
        return False

    def _resumed(self, work: WorkTime) -> None:
        """Tell at the mark how long the pause or gap was."""
        if not work.closed:
            return
        start, end = work.closed[-1]
        for index in range(len(self.marks) - 1, -1, -1):
            mark = self.marks[index]
            if mark.kind in ("pause", "gap"):
                length = wording.short_time(end - start)
                self.marks[index] = replace(mark, text=f"{mark.text}, {length}")
                return


def _worded(mark: Mark) -> Mark:
    if mark.kind != "deviation":
        return mark
    return replace(mark, text=tr("Deviation: {said}", said=mark.text))


def _close(blocks: list[Block], at: int, outcome: str | None) -> None:
    if blocks and blocks[-1].end_ns is None:
        blocks[-1] = replace(blocks[-1], end_ns=at, outcome=outcome)
