"""What was said in a session, how it was coded, and what the participant did meanwhile: the rows of
the tables `utterances`, `codes_all`, `codes` and `coded`.

Codes are joined with trials, dials and alignment by session time alone, which everything in a
journal has. A mark belongs to the trial that is on the screen at its onset.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np

from labapp.analysis.notes import Place, Trail
from labapp.analysis.speech_columns import AROUND_S, NOT_AGREED, NOT_WRITTEN, REDACTED, TABLES
from labapp.analysis.task_records import INTERRUPTED, Attempt, Row
from labapp.annotations.final import final_marks, planted_marks
from labapp.annotations.model import Assignment, Mark, RaterMarks, SessionAnnotations, Unit
from labapp.annotations.redaction import is_redacted
from labapp.annotations.texts import may_be_quoted
from labapp.clock import NS
from labapp.events import Event, Payload
from labapp.events.dials import Comparison, DialTurned
from labapp.events.durations import WorkingTime
from labapp.events.voice import AudioBlock, AudioGap, AudioStarted
from labapp.plugins.part import TrialsPart

AROUND_NS = AROUND_S * NS
SKIPPED = "skipped"


@dataclass(frozen=True)
class SessionSpeech:
    """What is known of the speech of a session.

    Attributes
    ----------
    annotations : units, texts without redacted words, marks.
    assignments : who codes what.
    transcript : whether the participant agreed that what was said is written down.
    code_names : by the SHA-256 of a version of a codebook and the id of a code what that calls it.
    codebook_ids : the ids of the codebooks by the SHA-256 of their versions.
    """

    annotations: SessionAnnotations
    assignments: tuple[Assignment, ...] = ()
    transcript: bool = True
    code_names: Mapping[tuple[str, str], str] = field(default_factory=dict)
    codebook_ids: Mapping[str, str] = field(default_factory=dict)

    @property
    def completed_codes(self) -> tuple[str, ...]:
        """The ids of the codes by which somebody finished coding the session: all those of the
        codebooks of people who did, or, where no person coded, of the one of a program."""
        raters = self.annotations.raters.values()
        books = {book for r in raters if not r.machine for book in _finished_books(r)}
        if planted := planted_marks(self.annotations):
            books |= {mark.codebook for mark in planted.marks}
        return tuple(sorted({code for book, code in self.code_names if book in books}))


def _finished_books(rater: RaterMarks) -> Iterator[str]:
    """The codebooks of the rounds that a rater finished, but for training. Where there was nothing
    to mark, it is the one by which the round was opened."""
    finished = {
        round_ for round_ in ("independent", "reconciled") if rater.status_of(round_) != "draft"
    }
    if rater.round in finished:
        yield rater.codebook
    yield from (mark.codebook for mark in rater.marks if mark.round in finished)


@dataclass(slots=True)
class TrialTrace:
    """What the hand did in an attempt at a trial, in session time.

    Attributes
    ----------
    moves_ns, dials : when a dial was turned, and which, from 0.
    compared_ns : when a picture was compared with the target.
    alignments : what came of it.
    """

    moves_ns: list[int] = field(default_factory=list)
    dials: list[int] = field(default_factory=list)
    compared_ns: list[int] = field(default_factory=list)
    alignments: list[float] = field(default_factory=list)

    def alignment(self, t_ns: int) -> float | None:
        """The one on the screen at a session time; the last one where the trial is over."""
        at = bisect_right(self.compared_ns, t_ns)
        return self.alignments[at - 1] if at else None

    def turned(self, t0_ns: int, t1_ns: int) -> list[int]:
        """The dials turned from t0_ns until before t1_ns, one entry a move."""
        return self.dials[bisect_left(self.moves_ns, t0_ns) : bisect_left(self.moves_ns, t1_ns)]


class Happenings:
    """Everything in a session's journal that a stretch of speech is joined with."""

    def __init__(self, events: Iterable[tuple[Event, Payload]]) -> None:
        self.trail = Trail()
        self.traces: dict[Place, TrialTrace] = {}
        self._sound = SoundLost()
        order: list[Event] = []
        for event, payload in events:
            if isinstance(payload, DialTurned):
                trace = self._trace(event)
                trace.moves_ns.append(event.t_ns)
                trace.dials.append(int(payload.as_dict()["dimension"]))
                continue
            if (moved := payload.moved_dial()) is not None:
                trace = self._trace(event)
                trace.moves_ns.append(event.t_ns)
                trace.dials.append(moved[0])
            if isinstance(payload, Comparison):
                trace = self._trace(event)
                trace.compared_ns.append(event.t_ns)
                trace.alignments.append(payload.alignment)
            self._sound.take(payload)
            self.trail.apply(event, payload)
            order.append(event)
        self.work = WorkingTime(order)

    def _trace(self, event: Event) -> TrialTrace:
        return self.traces.setdefault(event.key, TrialTrace())

    def working_ns(self, t_ns: int) -> int:
        return self.work.working_ns(max(0, t_ns))

    def lost(self, t0_ns: int, t1_ns: int) -> Row:
        """How much of a stretch nobody could speak or hear in."""
        working = self.working_ns(t1_ns) - self.working_ns(t0_ns)
        sound = self._sound.between(t0_ns, t1_ns)
        return {
            "paused_s": (t1_ns - t0_ns - working) / NS,
            "sound_lost_s": None if sound is None else sound / NS,
        }

    def times(self, t0_ns: int, t1_ns: int) -> Row:
        """The columns of onset and offset."""
        return {
            "onset_s": t0_ns / NS,
            "offset_s": t1_ns / NS,
            "onset_working_s": self.working_ns(t0_ns) / NS,
            "offset_working_s": self.working_ns(t1_ns) / NS,
        }


class SoundLost:
    """Where sound was lost, in session time."""

    def __init__(self) -> None:
        self._anchors: dict[str, list[tuple[int, int]]] = {}
        self._rates: dict[str, int] = {}
        self._gaps: list[AudioGap] = []
        self._stretches: list[tuple[int, int]] | None = None

    def take(self, payload: Payload) -> None:
        """Take in the next payload."""
        match payload:
            case AudioStarted():
                self._rates[payload.file] = payload.nominal_rate
            case AudioBlock():
                pairs = ((int(frame), int(t_ns)) for frame, _, t_ns in payload.anchors)
                self._anchors.setdefault(payload.file, []).extend(pairs)
            case AudioGap():
                self._gaps.append(payload)

    def between(self, t0_ns: int, t1_ns: int) -> int | None:
        """Nanoseconds of a stretch without its sound; None where nothing was recorded."""
        if not self._rates:
            return None
        if self._stretches is None:
            self._stretches = [
                (self._ns(gap.file, gap.at_frame), self._ns(gap.file, gap.at_frame + gap.frames))
                for gap in self._gaps
                if gap.frames and self._anchors.get(gap.file)
            ]
        return sum(max(0, min(t1_ns, e) - max(t0_ns, b)) for b, e in self._stretches)

    def _ns(self, file: str, frame: int) -> int:
        """When a frame was heard: between the moments at which the clocks were read together, and
        beyond them at the file's rate."""
        anchors = sorted(set(self._anchors[file]))
        first, last = anchors[0], anchors[-1]
        for at, t_ns in (first, last):
            beyond = frame < at if (at, t_ns) == first else frame > at
            if beyond:
                return t_ns + round((frame - at) * NS / self._rates[file])
        frames, times = zip(*anchors, strict=True)
        return round(float(np.interp(frame, frames, times)))


def speech_rows(
    speech: SessionSpeech,
    events: Iterable[tuple[Event, Payload]],
    parts: Mapping[str, TrialsPart],
    attempts: Iterable[Attempt],
    conditions: str | None,
) -> dict[str, list[Row]]:
    """The rows of a session, by table.

    Parameters
    ----------
    speech : units, texts and marks.
    events : all of the session, with the moves of dials.
    parts : the stages and practices of its plan, by id.
    attempts : every attempt at every trial.
    conditions : of the participant.

    Raises
    ------
    RecordError : several people coded the session, and nobody says whose coding counts.
    """
    annotations = speech.annotations
    if not annotations.segmentation.units and not any(
        rater.marks for rater in annotations.raters.values()
    ):
        return {name: [] for name in TABLES}
    return _Joined(speech, Happenings(events), parts, attempts, conditions).rows()


class _Joined:
    def __init__(
        self,
        speech: SessionSpeech,
        happenings: Happenings,
        parts: Mapping[str, TrialsPart],
        attempts: Iterable[Attempt],
        conditions: str | None,
    ) -> None:
        self._speech = speech
        self._annotations = speech.annotations
        self._units = sorted(speech.annotations.segmentation.units, key=lambda unit: unit.t0_ns)
        self._onsets = [unit.t0_ns for unit in self._units]
        self._ended = list(accumulate((unit.t1_ns for unit in self._units), max))
        self._by_id = {unit.id: unit for unit in self._units}
        self._happenings = happenings
        self._parts = parts
        self._attempts: dict[Place, Attempt] = {attempt.key: attempt for attempt in attempts}
        self._conditions = conditions

    def rows(self) -> dict[str, list[Row]]:
        speech = self._speech
        final = final_marks(speech.annotations, speech.assignments, speech.codebook_ids)
        raters = self._annotations.raters
        return {
            "utterances": [self._utterance(unit) for unit in self._units],
            "codes_all": [
                {
                    **self._mark(mark),
                    **self._from(mark),
                    "machine": raters[name].machine,
                    "status": raters[name].status_of(mark.round),
                    "blind": ";".join(mark.blind) or None,
                }
                for name in sorted(raters)
                for mark in raters[name].marks
            ],
            "codes": [{**self._mark(mark), **self._from(mark)} for mark in final],
            "coded": [self._coded(mark) for mark in final],
        }

    def _utterance(self, unit: Unit) -> Row:
        text = self._annotations.texts.get(unit.id)
        words = self._words(unit)
        return {
            "unit": unit.id,
            "speaker": unit.speaker,
            "origin": unit.origin,
            **self._happenings.times(unit.t0_ns, unit.t1_ns),
            **self._place(unit.t0_ns),
            **words,
            "n_words": None if words["text"] is None else len(words["text"].split()),
            "text_origin": None if text is None else text.origin,
            "reviewed": None if text is None else may_be_quoted(text),
            "speakers_said": self._annotations.segmentation.speakers_said,
            **self._happenings.lost(unit.t0_ns, unit.t1_ns),
        }

    def _mark(self, mark: Mark) -> Row:
        unit = self._unit_of(mark)
        return {
            "mark": mark.id,
            "rater": mark.rater,
            "round": mark.round,
            "tier": mark.tier,
            "code": mark.code,
            "code_name": self._speech.code_names.get((mark.codebook, mark.code)),
            "value": mark.value,
            "unit": mark.unit,
            "speaker": None if unit is None else unit.speaker,
            **self._happenings.times(mark.t0_ns, mark.t1_ns),
        }

    def _from(self, mark: Mark) -> Row:
        hidden = not self._speech.transcript or is_redacted(
            mark.t0_ns, mark.t1_ns, self._annotations.redactions
        )
        return {"memo": None if hidden else mark.memo or None, "codebook": mark.codebook or None}

    def _coded(self, mark: Mark) -> Row:
        unit = self._unit_of(mark)
        text = None if unit is None else self._annotations.texts.get(unit.id)
        return {
            **self._mark(mark),
            **self._place(mark.t0_ns),
            **self._moved(mark),
            **self._outcome(mark.t0_ns),
            **self._happenings.lost(mark.t0_ns, mark.t1_ns),
            **({"text": None, "text_withheld": NOT_WRITTEN} if unit is None else self._words(unit)),
            "reviewed": None if text is None else may_be_quoted(text),
        }

    def _moved(self, mark: Mark) -> Row:
        trace = self._happenings.traces.get(self._at(mark.t0_ns))
        if trace is None:
            return {}
        onset, offset = trace.alignment(mark.t0_ns), trace.alignment(mark.t1_ns)
        point = mark.t0_ns == mark.t1_ns
        around = trace.turned(mark.t0_ns - AROUND_NS, mark.t1_ns + AROUND_NS)
        return {
            "alignment_onset": onset,
            "alignment_offset": offset,
            "alignment_gain": None if onset is None or offset is None or point else offset - onset,
            "dial_moves": len(trace.turned(mark.t0_ns, mark.t1_ns)),
            "dial_moves_around": len(around),
            "dials_touched": ";".join(str(dial + 1) for dial in sorted(set(around))) or None,
        }

    def _outcome(self, t_ns: int) -> Row:
        attempt = self._attempts.get(self._at(t_ns))
        if attempt is None:
            return {}
        outcome = attempt.outcome or INTERRUPTED
        return {
            "outcome": outcome,
            "solved": attempt.solved,
            "skipped": outcome == SKIPPED,
            "correct": attempt.correct,
            "response_s": attempt.response_s,
            "excluded": attempt.excluded_because is not None,
        }

    def _at(self, t_ns: int) -> Place:
        return self._happenings.trail.at(t_ns)

    def _place(self, t_ns: int) -> Row:
        stage, trial, attempt = self._at(t_ns)
        part = self._parts.get(stage or "")
        return {
            "stage": stage,
            "model": None if part is None else part.model,
            "trial": trial,
            "attempt": attempt,
            "conditions": self._conditions,
        }

    def _unit_of(self, mark: Mark) -> Unit | None:
        """The unit that a mark is on, or shares most time with; the first of several."""
        if mark.unit is not None:
            return self._by_id.get(mark.unit)
        best, most = None, -1
        for place in reversed(range(bisect_right(self._onsets, max(mark.t0_ns, mark.t1_ns - 1)))):
            if self._ended[place] <= mark.t0_ns:
                break  # neither this one nor any before it lasts so long
            unit = self._units[place]
            shared = min(mark.t1_ns, unit.t1_ns) - max(mark.t0_ns, unit.t0_ns)
            inside = unit.t0_ns <= mark.t0_ns < unit.t1_ns
            if (shared > 0 or inside) and shared >= most:
                best, most = unit, shared
        return best

    def _words(self, unit: Unit) -> Row:
        """The words of a unit as far as they may be seen, and why others are not there."""
        if not self._speech.transcript:
            return {"text": None, "text_withheld": NOT_AGREED}
        text = self._annotations.texts.get(unit.id)
        if text is None:
            return {"text": None, "text_withheld": NOT_WRITTEN}
        hidden = is_redacted(unit.t0_ns, unit.t1_ns, self._annotations.redactions)
        return {"text": text.text, "text_withheld": REDACTED if hidden else None}


def counted(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Those of the participant, and of nobody's unit."""
    return [row for row in rows if row["speaker"] in (None, "participant")]
