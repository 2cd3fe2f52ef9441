"""What is recorded of reconstruction, and its rows of tables: trials, stages, names of dials,
dials, marks and snapshots."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from math import fsum
from statistics import fmean

from msgspec import structs

from labapp.analysis.column import (
    TRIAL,
    WHERE,
    WHO,
    Column,
    columns_in,
    each,
    number,
    of,
    seconds,
    since_start,
    text,
    through,
    whole,
    yes,
)
from labapp.analysis.task_records import INTERRUPTED, Attempt, Key, Ran, TaskRecords, TaskTables
from labapp.base.clock import NS
from labapp.models.representations.space import Continuous, Dimension
from labapp.record.events import Event, Payload
from labapp.record.events.lifecycle import DecoderWarmed
from labapp.record.events.trials import TrialEnded
from labapp.study.design import Missing
from labapp.study.plugins.part import Snapshot
from labapp.tasks.reconstruction.events import (
    Activity,
    AlignmentMarked,
    DialMoved,
    DialSelected,
    LabelEdited,
    OverlayToggled,
    PictureDecoded,
    SkipOffered,
    TrialDrawn,
    TrialSolved,
    TrialStarted,
)
from labapp.tasks.reconstruction.plan import ReconstructionPart
from labapp.tasks.reconstruction.snapshots import ActiveTime, SnapshotFold

DEVICES = ("mouse", "keyboard", "wheel", "touch", "simulated")
"""The inputs that `dial.moved` names."""


class Movement:
    """Adds up the movements of one question.

    slide_distance_by_dimension: in full slider widths by dimension, where a change of a discrete
    dimension counts 1 (paper 000, 4.4). A *slide* is a run of moves of one dial: it ends when
    another dial is moved or a dial is taken hold of again. A *switch* is a move of another dial
    than the one moved before; a *reversal* is a move of the same dial the other way.
    """

    def __init__(self, part: ReconstructionPart, z: tuple[float, ...]) -> None:
        self._widths = [part.width(dimension) for dimension in range(len(z))]
        self._z = list(z)
        self.slide_distance_by_dimension = [0.0] * len(z)
        self.slides = [0] * len(z)
        self.selections = [0] * len(z)
        self.dimension_switches = 0
        self.direction_reversals = 0
        self.n_moves = 0
        self._devices: Counter[str] = Counter()
        self._dimension: int | None = None
        self._direction = 0
        self._held_anew = True

    def selected(self, dimension: int) -> None:
        self.selections[dimension] += 1
        self._held_anew = True

    def moved(self, dimension: int, value: float, device: str) -> None:
        change = value - self._z[dimension]
        if change == 0:
            return
        width = self._widths[dimension]
        direction = 0 if width is None else (1 if change > 0 else -1)
        if dimension != self._dimension:
            self.dimension_switches += self._dimension is not None
        elif direction and direction == -self._direction:
            self.direction_reversals += 1
        if dimension != self._dimension or self._held_anew:
            self.slides[dimension] += 1
        self.slide_distance_by_dimension[dimension] += 1.0 if width is None else abs(change) / width
        self.n_moves += 1
        self._devices[device] += 1
        self._z[dimension] = value
        self._dimension, self._direction, self._held_anew = dimension, direction, False

    def locked(self, z: tuple[float, ...]) -> None:
        """The dials were set to the solution by the program; that is nobody's movement."""
        self._z = list(z)

    @property
    def z(self) -> tuple[float, ...]:
        return tuple(self._z)

    def share(self, device: str) -> float | None:
        """Share of the moves made with a device, None without a move."""
        return self._devices[device] / self.n_moves if self.n_moves else None


LEFT = ("solved", "marked", "skipped")
"""Outcomes of questions that the participant left, by Next or Skip."""
SOLVED_AT_START = "solved before the first move"


def error_auc(snapshots: Sequence[Snapshot]) -> tuple[float, float]:
    """Integral of the error over working time, as (error sum x s, error mean x s).

    The error is taken as constant from each snapshot to the next; idle time counts. The paper
    calls the error a mean, its application and tables use the sum: both are given.
    """
    total_sum = total_mean = 0.0
    for pair, following in pairwise(snapshots):
        seconds = (following.t_ns - pair.t_ns) / NS
        total_sum += pair.error_sum * seconds
        total_mean += pair.error_mean * seconds
    return total_sum, total_mean


class QuestionAttempt(Attempt):
    """One attempt at a question. Seconds are working time (pauses and gaps taken out) from
    `trial.started`, which the times of its snapshots count from, too; None if the thing did not
    happen."""

    part: ReconstructionPart
    drawn: TrialDrawn
    movement: Movement
    snapshots: list[Snapshot]
    started: TrialStarted | None = None
    overlay_toggles = 0
    label_edits = 0

    def __init__(self, part: ReconstructionPart, key: Key, drawn: TrialDrawn) -> None:
        super().__init__(key)
        self.part = part
        self.drawn = drawn
        self.movement = Movement(part, drawn.z_start)
        self.active = ActiveTime(round(part.inactivity_s * NS))
        self.last_ns = 0
        self.measures = (0.0, 0.0, 0.0)
        self.fold: SnapshotFold | None = None
        self.snapshots = []
        self.snapshot_z_seq = 0
        self.edits: list[tuple[Event, LabelEdited]] = []
        self.marks: list[Marked] = []
        self.solved_ns: int | None = None
        self.skip_offered_ns: int | None = None

    def take(self, event: Event, payload: Payload, working: int) -> None:
        if isinstance(payload, TrialStarted):
            self._start(event, payload, working)
        elif isinstance(payload, TrialEnded) and self.outcome is None:
            self.last_ns = working
            self._end(working)
        fold = self.fold
        if fold is None or self.outcome is not None:
            self._record_note(event, payload, working)
            return
        self.last_ns = working
        if isinstance(payload, PictureDecoded):  # every other event, and no activity
            self.measures = (payload.alignment, payload.error_sum, payload.error_mean)
            now = self._shown_ns(working)
            self.fold, taken = fold.decoded(now, payload.z_seq, *self.measures)
            if taken is not None:
                self.snapshots.append(taken)
                self.snapshot_z_seq = payload.z_seq
            return
        if isinstance(payload, Activity):
            self.active = self.active.add_action(working)
        match payload:
            case DialMoved():
                self.movement.moved(payload.dimension, payload.value, payload.device)
                self.fold = fold.moved(
                    self._shown_ns(working), payload.z_seq, payload.dimension, payload.value
                )
            case DialSelected():
                self.movement.selected(payload.dimension)
            case OverlayToggled():
                self.overlay_toggles += 1
            case LabelEdited():
                self.label_edits += 1
                self._record_note(event, payload, working)
            case AlignmentMarked():
                self._record_note(event, payload, working)
            case SkipOffered():
                self.skip_offered_ns = working
            case TrialSolved():
                self._record_solution(fold, payload, working)

    def _record_note(self, event: Event, payload: Payload, working: int) -> None:
        """Names and marks have tables of their own, whether the question was shown or was over."""
        if isinstance(payload, LabelEdited):
            self.edits.append((event, payload))
        elif isinstance(payload, AlignmentMarked) and self.started_ns is not None:
            self.marks.append(Marked(self, event.seq, payload, working))

    def _start(self, event: Event, payload: TrialStarted, working: int) -> None:
        self.started = payload
        self.started_session_ns = event.t_ns
        self.started_ns = working
        self.active = structs.replace(self.active, last_ns=working)
        self.measures = (payload.alignment, payload.error_sum, payload.error_mean)
        self.fold, first = SnapshotFold.begin(
            0, self.drawn.z_start, self.part.discrete, self.measures
        )
        self.snapshots.append(first)

    def _record_solution(self, fold: SnapshotFold, payload: TrialSolved, working: int) -> None:
        # The dials lock here: the question's movements end, and there is always a snapshot. Without
        # it, an older error would count until the click on Next.
        self.solved_ns = working
        self.movement.locked(payload.z)
        self.fold = structs.replace(fold, z=payload.z)
        if payload.z_seq != self.snapshot_z_seq:
            self._end(working)

    def _end(self, working: int) -> None:
        """The snapshot at an end of the question's movements, where it was shown at all."""
        if self.fold is not None:
            self.snapshots.append(self.fold.ended(self._shown_ns(working), self.measures))

    def _shown_ns(self, working: int) -> int:
        """How long the question has been shown, which is a snapshot's time."""
        return working - (self.started_ns or 0)

    def finish(self) -> None:
        """Nothing more comes: what has no end was interrupted."""
        if self.outcome is None:
            self._end(self.last_ns)
            self.outcome = INTERRUPTED

    @property
    def excluded_because(self) -> str | None:
        why = super().excluded_because
        return SOLVED_AT_START if why is None and self.aligned_at_start else why

    @property
    def solved(self) -> bool | None:
        return None if self.part.solved_at is None else self.outcome == "solved"

    @property
    def duration_s(self) -> float | None:
        return self.since_start(self.last_ns)

    @property
    def response_s(self) -> float | None:
        return self.duration_s if self.outcome in LEFT else None

    @property
    def active_s(self) -> float | None:
        return None if self.started is None else self.active.at(self.last_ns) / NS

    @property
    def active_s_as_published(self) -> float | None:
        """As the published application counts it: the gaps between snapshots that are shorter than
        the part's inactivity limit."""
        if self.started is None:
            return None
        active = ActiveTime(self.active.limit_ns)
        for snapshot in self.snapshots:
            active = active.seen(snapshot.t_ns)
        return active.total_ns / NS

    @property
    def slide_distance(self) -> float:
        return fsum(self.movement.slide_distance_by_dimension)

    @property
    def aligned_at_start(self) -> bool:
        return self.started is not None and self.started.aligned_at_start

    @cached_property
    def _error_auc(self) -> tuple[float | None, float | None]:
        return (None, None) if self.started is None else error_auc(self.snapshots)

    @property
    def error_auc_sum(self) -> float | None:
        return self._error_auc[0]

    @property
    def error_auc_mean(self) -> float | None:
        return self._error_auc[1]


@dataclass(frozen=True, slots=True)
class Measures:
    """Of some questions; None if there is no question to take it from. left_out: questions that
    do not count for the share that was solved. error_auc_sum and error_auc_mean are summed over the
    questions (error x s)."""

    n: int
    solved: int
    left_out: int
    response_time_s: float | None
    slide_distance: float | None
    error_auc_sum: float | None
    error_auc_mean: float | None

    @property
    def rate(self) -> float | None:
        asked = self.n - self.left_out
        return self.solved / asked if asked else None


@dataclass(frozen=True, slots=True)
class StageChange:
    """Last minus first (n - 1) / 2 questions, n being the questions counted; error AUC a
    question. `questions` is the size of each group; all None when it is 0 (Figure 10)."""

    questions: int
    completion_rate: float | None = None
    response_time_s: float | None = None
    slide_distance: float | None = None
    error_auc_sum: float | None = None
    error_auc_mean: float | None = None


@dataclass(frozen=True, slots=True)
class StageRecord:
    """A stage that was begun."""

    n_solved: int | None
    completion_rate: float | None
    measures: Measures
    change: StageChange


def measure(trials: Sequence[QuestionAttempt], missing: Missing) -> Measures:
    """Metrics over questions that count (none of them excluded)."""

    def aggregate(
        total: Callable[[list[float]], float], values: Iterable[float | None]
    ) -> float | None:
        there = [value for value in values if value is not None]
        return total(there) if there else None

    solved = [missing.solved(t.outcome) for t in trials]
    return Measures(
        n=len(trials),
        solved=solved.count(True),
        left_out=solved.count(None),
        response_time_s=aggregate(fmean, (t.response_s for t in trials)),
        slide_distance=aggregate(fmean, (t.slide_distance for t in trials)),
        error_auc_sum=aggregate(fsum, (t.error_auc_sum for t in trials)),
        error_auc_mean=aggregate(fsum, (t.error_auc_mean for t in trials)),
    )


def stage_record(
    part: ReconstructionPart,
    outcome: str | None,
    trials: Sequence[QuestionAttempt],
    missing: Missing,
) -> StageRecord:
    """The metrics of a stage from all of its attempts; outcome: of the stage, None without an end.

    Questions that the time limit kept from being asked count as not completed; questions that
    were not asked because the moderator skipped the stage, or the session broke off, do not count,
    nor do those that were solved before the first move. Skipped ones count as the study declares
    (missing).
    """
    counted = sorted(
        (t for t in trials if t.excluded_because is None), key=lambda trial: trial.trial
    )
    measures = measure(counted, missing)
    done = outcome in ("completed", "time_expired")
    at_start = sum(t.excluded_because == SOLVED_AT_START for t in trials)
    asked = (part.trials - at_start if done else measures.n) - measures.left_out
    change = first_to_last(counted, missing)
    solved: int | None = measures.solved
    if part.solved_at is None:  # nothing can be solved in a calibration
        solved, asked, change = None, 0, replace(change, completion_rate=None)
    return StageRecord(solved, measures.solved / asked if asked else None, measures, change)


def first_to_last(trials: Sequence[QuestionAttempt], missing: Missing) -> StageChange:
    """The change from the first to the last (n - 1) / 2 of n questions."""
    size = max((len(trials) - 1) // 2, 0)
    if size == 0:
        return StageChange(0)
    first, last = measure(trials[:size], missing), measure(trials[-size:], missing)

    def change(before: float | None, after: float | None, of: int = 1) -> float | None:
        return None if before is None or after is None else after / of - before / of

    return StageChange(
        size,
        change(first.rate, last.rate),
        change(first.response_time_s, last.response_time_s),
        change(first.slide_distance, last.slide_distance),
        change(first.error_auc_sum, last.error_auc_sum, size),
        change(first.error_auc_mean, last.error_auc_mean, size),
    )


def _make_share_column(device: str) -> Column:
    share = f"share of the moves by {device}"
    return number(f"moved_by_{device}", share, "0-1", lambda row: row.movement.share(device))


_MEASURES = of(
    QuestionAttempt,
    since_start("solved_s", "from the pictures' appearance to the alignment"),
    *columns_in("""
        seconds active_s: active time: each stretch between two activities counts for at most the
            part's inactivity limit
        seconds active_s_as_published: active time as the published application counts it: the gaps
            between snapshots shorter than the inactivity limit
        number slide_distance [full slider widths]: total movement; a change of a discrete dimension
            counts as 1
        each slide_distance_by_dimension [full slider widths]: the same for each dimension
        number error_auc_sum [sum of squares x s]: integral over time of the sum over pixels of
            squared differences, constant between snapshots, idle time included
        number error_auc_mean [mean of squares x s]: the same with the mean over pixels
        number alignment_start [0-1]: alignment at the start
        number alignment_final [0-1]: alignment at the end
        number target_alignment [0-1]: required alignment; empty in a calibration
        yes aligned_at_start: solved before the first move, and so not counted
        whole redrawn: earlier pairs that were already solved before the first move, and that nobody
            saw
    """),
    since_start("skip_offered_s", "from the pictures' appearance to the offer to skip"),
    via=("movement", "drawn"),
    target_alignment="part.solved_at",
    alignment_start="started.alignment",
    alignment_final=lambda row: None if row.started is None else row.measures[0],
)
_MOVEMENTS = of(
    QuestionAttempt,
    each("slides", "runs of moves of each slider"),
    each("selections", "times each slider was grabbed"),
    whole("dimension_switches", "moves of a different slider from the move before"),
    whole("direction_reversals", "moves of the same slider in the opposite direction"),
    whole("overlay_toggles", "changes between side by side and overlay"),
    whole("label_edits", "edits of sliders' names"),
    whole("n_moves", "slider movements, at most one per frame"),
    *map(_make_share_column, DEVICES),
    whole("n_snapshots", "snapshots of the question (table snapshots)"),
    each("z_start", "positions of the sliders at the start"),
    each("z_target", "positions of the sliders in the target"),
    each("z_end", "positions of the sliders at the end", get="movement.z"),
    via=("movement", "drawn"),
    n_snapshots=lambda question: len(question.snapshots),
)
_SOLVED = of(
    StageRecord,
    whole("n_solved", "how many of them were solved; empty in a calibration"),
    number(
        "completion_rate",
        "share of planned questions that were solved; of counted questions if the moderator "
        "skipped the stage or it has no end; without questions solved before the first move, and "
        "without those that the participant skipped if the study leaves them out; empty in a "
        "calibration",
        "0-1",
    ),
)
_ERRORS = through(
    "measures",
    *of(
        Measures,
        number("slide_distance", "mean movement of sliders per question", "full slider widths"),
        number("error_auc_sum", "error over time, summed over the questions", "sum of squares x s"),
        number(
            "error_auc_mean", "error over time, summed over the questions", "mean of squares x s"
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class NamedDial:
    """An edit of a dial's name. final: the last of this dial in this stage; an empty text takes the
    name away again."""

    part: ReconstructionPart
    event: Event
    edit: LabelEdited
    final: bool


LABELS = of(
    NamedDial,
    *WHO,
    *WHERE,
    text("model", "id of the representation"),
    whole("dimension", "the dial, from 1 as on the screen"),
    text("dimension_name", "the representation's own name of the dimension"),
    whole("trial", "question during which it was typed"),
    seconds("session_s", "session time (pauses included) of the edit"),
    text("text", "what was typed; empty if the name was removed"),
    yes("final", "the last edit of this slider in this stage"),
    via=("part", "event", "edit"),
    dimension=lambda named: named.edit.dimension + 1,
    dimension_name=lambda named: named.part.space.dimensions[named.edit.dimension].name,
    session_s=lambda named: named.event.t_ns / NS,
)


@dataclass(frozen=True, slots=True)
class DialOfStage:
    """A dial of a stage; number: from 1; card_sha256: of its model's card, None without one."""

    part: ReconstructionPart
    number: int
    dial: Dimension
    card_sha256: str | None

    @property
    def slider(self) -> Continuous | None:
        return self.dial if isinstance(self.dial, Continuous) else None


DIALS = of(
    DialOfStage,
    text("study", "id of the study"),
    text("model", "id of the representation"),
    text("card_sha256", "hash of its model card; empty if the session recorded none"),
    whole("dimension", "the dial, from 1 as on the screen", get="number"),
    text("dimension_name", "the representation's own name of the dimension", "dial.name"),
    text("dial", "continuous (a slider) or discrete (a choice)"),
    number("low", "lowest value of a slider", get=lambda row: row.slider and row.slider.low),
    number("high", "highest value of a slider", get=lambda row: row.slider and row.slider.high),
    whole("values", "values of a choice"),
    text("distance", "the study's distance between two pictures, by its name"),
    yes("labels_editable", "participants could name the slider"),
    via=("part",),
    dial=lambda row: "discrete" if row.slider is None else "continuous",
    values=lambda row: row.dial.k if row.slider is None else None,
)
"""What the dials of the stages are, whether anybody named them or not: a row per dial of each
model, no matter who met it. Practice is left out."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A mark of a calibration. working_ns: working time."""

    question: QuestionAttempt
    seq: int
    given: AlignmentMarked
    working_ns: int


MARKS = of(
    Marked,
    *WHO,
    text("stage", "id of the plan's part, a calibration", "question.part.id"),
    text("model", "id of the representation", "question.part.model"),
    *TRIAL,
    text("mark", "far: “far away”, close: “close enough”"),
    number("alignment", "alignment of the picture that was on the screen", "0-1"),
    seconds("trial_s", "from the pictures' appearance to the mark, without pauses and gaps"),
    yes("excluded", "belongs to a question that does not count; see the table trials"),
    via=("given", "question"),
    trial_s=lambda marked: marked.question.since_start(marked.working_ns),
)

TABLES = TaskTables(
    words={
        "tasks_with_dials": "reconstruction, calibration (reconstruction without a target, "
        "in which marks are made)",
        "durations": "the response time of reconstruction if it ended by Next or Skip",
    },
    outcomes={
        "solved": "",
        "marked": "a calibration's question that was left once both were marked",
        "skipped": "by the participant",
    },
    own={"labels": LABELS, "dials": DIALS, "marks": MARKS},
    row_is={
        "labels": "an edit of the name of a dial",
        "dials": "a dial of a model",
        "marks": "a mark of a calibration",
    },
    rows={
        "labels": lambda records: records.walk_name_edits(),
        "dials": lambda records: dials_of(records.parts.values(), records.cards),
        "marks": lambda records: records.marks(),
    },
    added={
        "trials": {"duration_s": _MEASURES, "skips_taken_back": _MOVEMENTS},
        "stages": {"n_trials": _SOLVED, "response_time_s": _ERRORS},
    },
    shared={
        "trials": {"duration_s": "duration_s"},
        "stages": {
            "response_time_s": "measures.response_time_s",
            **{f"change_{known.name}": f"change.{known.name}" for known in fields(StageChange)},
        },
    },
    distinct={
        "dials": ("study", "model", "card_sha256", "dimension", "distance", "labels_editable")
    },
)


SHA256_PATTERN = r"[0-9a-f]{64}"


class ReconstructionRecords(TaskRecords[ReconstructionPart, QuestionAttempt]):
    """Every attempt at every question, every edit of a dial's name and every mark."""

    tables = TABLES
    begins = TrialDrawn.kind
    kinds = frozenset(
        payload.kind
        for payload in (
            TrialStarted,
            DialMoved,
            DialSelected,
            PictureDecoded,
            TrialSolved,
            OverlayToggled,
            LabelEdited,
            SkipOffered,
            AlignmentMarked,
        )
    )
    of_session = frozenset({DecoderWarmed.kind})

    def __init__(self, parts: Mapping[str, ReconstructionPart]) -> None:
        super().__init__(parts)
        self.cards: dict[str, str] = {}

    def begin(
        self, part: ReconstructionPart, key: Key, event: Event, payload: TrialDrawn
    ) -> QuestionAttempt:
        return QuestionAttempt(part, key, payload)

    def take_of_session(self, payload: Payload) -> None:
        """The hash of the model card of each decoder that ran, by model; the last one of several.

        De-identified copies of older versions hold a word in its place, and count as without one.
        """
        if isinstance(payload, DecoderWarmed) and re.fullmatch(SHA256_PATTERN, payload.card_sha256):
            self.cards[payload.model] = payload.card_sha256

    def end(self, working_ns: int) -> None:
        super().end(working_ns)
        for question in self.attempts:
            question.finish()

    def traced(self) -> Sequence[QuestionAttempt]:
        return self.attempts

    def stage(
        self, part: ReconstructionPart, attempts: Sequence[QuestionAttempt], ran: Ran
    ) -> StageRecord:
        return stage_record(part, ran.outcome, attempts, ran.missing)

    def marks(self) -> list[Marked]:
        """Every mark, in order."""
        marks = (mark for question in self.attempts for mark in question.marks)
        return sorted(marks, key=lambda mark: mark.seq)

    def walk_name_edits(self) -> Iterator[NamedDial]:
        """Every edit of a dial's name, in order."""
        edits = [edit for question in self.attempts for edit in question.edits]
        edits.sort(key=lambda edit: edit[0].seq)
        last = {(event.part_id, edit.dimension): event.seq for event, edit in edits}
        for event, edit in edits:
            final = last[(event.part_id, edit.dimension)] == event.seq
            yield NamedDial(self.parts[str(event.part_id)], event, edit, final)


def dials_of(
    parts: Iterable[ReconstructionPart], cards: Mapping[str, str]
) -> Iterator[DialOfStage]:
    """The dials of each stage of reconstruction, in the order of the screen. cards: by model the
    hash of its card, see `ReconstructionRecords.take_of_session`."""
    for part in parts:
        for place, dial in enumerate(part.space.dimensions if part.role == "stage" else (), 1):
            yield DialOfStage(part, place, dial, cards.get(part.model))
