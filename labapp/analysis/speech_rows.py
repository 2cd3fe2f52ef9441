"""What was said in a session, how it was coded, and what the participant did meanwhile: the rows of
the tables `utterances`, `codes_all`, `codes` and `coded`.

Codes are joined with trials, dials and alignment only by session time, which everything in a
journal has. A mark belongs to the trial that is on the screen at its onset.

The columns of the tables of what was said and how it was coded. Where the speech of a recorded
session is read from.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np

from labapp.analysis.column import (
    INCLUDED,
    TRIAL,
    WHO,
    columns_in,
    number,
    seconds,
    text,
    whole,
    yes,
)
from labapp.analysis.deviations import Place, Trail
from labapp.analysis.task_records import INTERRUPTED, Attempt, Columns, Row
from labapp.base.clock import NS
from labapp.coding.annotations.final import final_marks, find_planted_marks
from labapp.coding.annotations.model import Assignment, Mark, SessionAnnotations, Unit
from labapp.coding.annotations.rounds import assignments_of
from labapp.coding.annotations.simulated import read_shipped_codebooks
from labapp.coding.annotations.store import annotations_of, codebooks_in
from labapp.coding.annotations.texts import is_redacted, may_be_quoted
from labapp.record.events import Event, Payload
from labapp.record.events.registry import WorkingTime
from labapp.record.events.trials import Comparison, DialTurned
from labapp.record.events.voice import AudioBlock, AudioGap, AudioStarted
from labapp.record.journal.record import Record
from labapp.study.design import SKIPPED
from labapp.study.plugins.part import TrialsPart

NOT_AGREED, REDACTED, NOT_WRITTEN = "not_agreed", "redacted", "not_written"
WITHHELD = {
    NOT_AGREED: "the participant did not agree that what was said is written down",
    REDACTED: "some or all of it was redacted",
    NOT_WRITTEN: "nobody has written it down, or the copy is without it",
}
"""Why words are not there."""

AROUND_S = 5
"""Seconds before its onset and after its offset in which moves are around a mark."""

_TIMES = (
    seconds("onset_s", "session time (pauses included) of the onset"),
    seconds("offset_s", "session time of the offset; of a point its onset"),
    seconds("onset_working_s", "the onset in working time: without pauses and gaps"),
    seconds("offset_working_s", "the offset in working time"),
)
_PLACE = (
    text("stage", "part that ran at the onset"),
    text("model", "what that stage is about; empty outside of stages"),
    *TRIAL,
    text("conditions", "the study's variables for this participant, drawn cells in their order"),
)
_WORDS = (
    text("text", "the words, if they may be transcribed; redacted ones are replaced"),
    text("text_withheld", "; ".join(f"{why}: {meaning}" for why, meaning in WITHHELD.items())),
)
_READ = yes(
    "reviewed",
    "a person wrote the text, corrected it, or read it against the sound; no other is quoted",
)
_LOST = (
    seconds("paused_s", "how much of it lies in pauses, breaks and gaps"),
    seconds("sound_lost_s", "how much of its sound was lost; empty without a recording"),
)
_SPEAKER = text(
    "speaker",
    "participant, moderator or other: speaker of the unit; for a mark without a unit, of the unit "
    "that it overlaps most, or empty if there is none",
)

UTTERANCES = (
    *WHO,
    text("unit", "id of the unit of speech"),
    _SPEAKER,
    text("origin", "what set its boundaries: detector, hand, import or simulated"),
    *_TIMES,
    *_PLACE,
    *_WORDS,
    whole("n_words", "how many words its text has"),
    text("text_origin", "who wrote it: hand, recogniser, import or simulated"),
    _READ,
    yes(
        "speakers_said",
        "somebody has set who speaks in the session; if not, all its units count as the "
        "participant's, no matter who spoke",
    ),
    *_LOST,
    INCLUDED,
)

_MARK = (
    *columns_in("""
        text mark: id of the mark in its session
        text rater: who gave it
        text round: training, independent or reconciled
        text tier: tier of the codebook
        text code: id of the code
        text code_name: its name in the version of the codebook with which it was given; empty if
            that is not known
        whole value: its value, on a tier with values
        text unit: id of the unit it is on; empty for a stretch or point of its own
    """),
    _SPEAKER,
    *_TIMES,
)
_FROM = (
    text("memo", "the rater's remark on it, if words may be transcribed"),
    text("codebook", "SHA-256 of the version of the codebook with which it was given"),
    INCLUDED,
)

CODES_ALL = (
    *WHO,
    *_MARK,
    yes("machine", "no person gave it: a flag or note of the journal, or simulated speech"),
    text("status", "status of the rater's work on the session: draft, done or locked"),
    text("blind", "what the rater was not shown: names, outcomes, future, screen"),
    *_FROM,
)

CODES = (*WHO, *_MARK, *_FROM)

CODED = (
    *WHO,
    *_MARK,
    *_PLACE,
    number("alignment_onset", "alignment on the screen at the onset; empty before there is one"),
    number("alignment_offset", "alignment at the offset, or at the trial's end before it"),
    number("alignment_gain", "alignment at the offset minus at the onset; empty for a point"),
    whole("dial_moves", "moves of dials of the trial from onset to offset"),
    whole(
        "dial_moves_around",
        f"moves of dials of the trial from {AROUND_S} s before the onset to {AROUND_S} s after the "
        "offset",
    ),
    text("dials_touched", "numbers of the dials that these moves turned, from 1, separated by ;"),
    text("outcome", "outcome of the trial at the onset, as in the table trials"),
    yes("solved", "that trial was solved; empty if it cannot be"),
    yes("skipped", "the participant skipped it"),
    yes("correct", "its answer was right; empty if there is none"),
    seconds("response_s", "its response time: from its appearance to the answer, Next or Skip"),
    yes("excluded", "the trial is not counted in the stage's metrics"),
    *_LOST,
    *_WORDS,
    _READ,
    INCLUDED,
)

TABLES: Mapping[str, Columns] = {
    "utterances": UTTERANCES,
    "codes_all": CODES_ALL,
    "codes": CODES,
    "coded": CODED,
}

AROUND_NS = AROUND_S * NS


@dataclass(frozen=True)
class SessionSpeech:
    """What is known of the speech of a session.

    Attributes
    ----------
    annotations : units, texts without redacted words, marks.
    assignments : who codes what.
    transcript : whether the participant agreed to a transcript.
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
        codebooks of people who did, or, if no person coded, of the one of a program."""
        books: set[str] = set()
        for rater in self.annotations.raters.values():
            rounds = [
                round_
                for round_ in ("independent", "reconciled")
                if not rater.machine and rater.status_of(round_) != "draft"
            ]
            books |= {mark.codebook for mark in rater.marks if mark.round in rounds}
            if rater.round in rounds:  # there may have been nothing to mark
                books.add(rater.codebook)
        if planted := find_planted_marks(self.annotations):
            books |= {mark.codebook for mark in planted.marks}
        return tuple(sorted({code for book, code in self.code_names if book in books}))


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
        """The one on the screen at a session time; the last one if the trial is over."""
        at = bisect_right(self.compared_ns, t_ns)
        return self.alignments[at - 1] if at else None

    def find_turned_dials(self, t0_ns: int, t1_ns: int) -> list[int]:
        """The dials moved from t0_ns to just before t1_ns, one entry per move."""
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
        """Nanoseconds of a stretch without its sound; None if nothing was recorded."""
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
            "coded": [self._make_code_row(mark) for mark in final],
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

    def _make_code_row(self, mark: Mark) -> Row:
        unit = self._unit_of(mark)
        text = None if unit is None else self._annotations.texts.get(unit.id)
        return {
            **self._mark(mark),
            **self._place(mark.t0_ns),
            **self._describe_moves(mark),
            **self._outcome(mark.t0_ns),
            **self._happenings.lost(mark.t0_ns, mark.t1_ns),
            **({"text": None, "text_withheld": NOT_WRITTEN} if unit is None else self._words(unit)),
            "reviewed": None if text is None else may_be_quoted(text),
        }

    def _describe_moves(self, mark: Mark) -> Row:
        trace = self._happenings.traces.get(self._at(mark.t0_ns))
        if trace is None:
            return {}
        onset, offset = trace.alignment(mark.t0_ns), trace.alignment(mark.t1_ns)
        point = mark.t0_ns == mark.t1_ns
        around = trace.find_turned_dials(mark.t0_ns - AROUND_NS, mark.t1_ns + AROUND_NS)
        return {
            "alignment_onset": onset,
            "alignment_offset": offset,
            "alignment_gain": None if onset is None or offset is None or point else offset - onset,
            "dial_moves": len(trace.find_turned_dials(mark.t0_ns, mark.t1_ns)),
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
        if not self._speech.transcript:
            return {"text": None, "text_withheld": NOT_AGREED}
        text = self._annotations.texts.get(unit.id)
        if text is None:
            return {"text": None, "text_withheld": NOT_WRITTEN}
        hidden = is_redacted(unit.t0_ns, unit.t1_ns, self._annotations.redactions)
        return {"text": text.text, "text_withheld": REDACTED if hidden else None}


def speech_of(record: Record, events: Iterable[tuple[Event, Payload]]) -> SessionSpeech:
    """Units, texts and marks of a session, and who codes it. events: its own.

    Raises AnnotationError if a file of them cannot be read.
    """
    annotations = annotations_of(record, events)
    raters = annotations.raters.values()
    used = {mark.codebook for rater in raters for mark in rater.marks}
    used = (used | {rater.codebook for rater in raters}) - {""}
    books = codebooks_in(record) if used else {}
    # Those of a program need no copy in the study.
    shipped = read_shipped_codebooks() if used - books.keys() else ()
    books = {book.sha256: book for book in shipped} | books
    return SessionSpeech(
        annotations,
        assignments_of(record),
        transcript=record.may("transcript"),
        code_names={
            (sha, code.id): code.name for sha, book in books.items() for code in book.codes
        },
        codebook_ids={sha: book.id for sha, book in books.items()},
    )
