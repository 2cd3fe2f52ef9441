"""What is recorded of reconstruction, and its rows of tables: trials, stages, names of dials,
dials, marks and snapshots."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from math import fsum
from statistics import fmean
from typing import Any

from labapp.analysis.column import TRIAL, WHERE, WHO, each, number, seconds, text, whole, yes
from labapp.analysis.task_records import Key, Ran, Row, TaskRecords, TaskTables
from labapp.clock import NS
from labapp.events import Event, Payload
from labapp.events.lifecycle import DecoderWarmed
from labapp.representations.space import Continuous
from labapp.study.design import Missing
from labapp.tasks.reconstruction.attempts import SOLVED_AT_START, Question, TrialRecord
from labapp.tasks.reconstruction.events import (
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
from labapp.tasks.reconstruction.movement import DEVICES
from labapp.tasks.reconstruction.plan import ReconstructionPart

_MEASURES = (
    seconds("solved_s", "from the pictures' appearance to the alignment"),
    seconds(
        "active_s",
        "active time: each stretch between two activities counts for at most the part's "
        "inactivity limit",
    ),
    seconds(
        "active_s_as_published",
        "active time as the published application counts it: the gaps between snapshots shorter "
        "than the inactivity limit",
    ),
    number(
        "slide_distance",
        "total movement; a change of a discrete dimension counts 1",
        "full slider widths",
    ),
    each("slide_distance_by_dimension", "the same for each dimension", "full slider widths"),
    number(
        "error_auc_sum",
        "integral over time of the sum over pixels of squared differences, constant between "
        "snapshots, idle time included",
        "sum of squares x s",
    ),
    number(
        "error_auc_mean",
        "the same with the mean over pixels",
        "mean of squares x s",
    ),
    number("alignment_start", "alignment at the start", "0-1"),
    number("alignment_final", "alignment at the end", "0-1"),
    number("target_alignment", "alignment that was asked for; empty in a calibration", "0-1"),
    yes("aligned_at_start", "solved before the first move, and so not counted"),
    whole(
        "redrawn",
        "pairs drawn before this one that were solved before the first move, and that nobody saw",
    ),
    seconds("skip_offered_s", "from the pictures' appearance to the offer to skip"),
)
_MOVEMENTS = (
    each("slides", "runs of moves of each dial"),
    each("selections", "times each dial was taken hold of"),
    whole("dimension_switches", "moves of another dial than the one moved before"),
    whole("direction_reversals", "moves of the same dial the other way"),
    whole("overlay_toggles", "changes between side by side and overlay"),
    whole("label_edits", "edits of dial names"),
    whole("n_moves", "dial movements, coalesced to one a frame"),
    *(number(f"moved_by_{device}", f"share of the moves by {device}", "0-1") for device in DEVICES),
    whole("n_snapshots", "snapshots of the question (table snapshots)"),
    each("z_start", "dial state at the start"),
    each("z_target", "the target's dial state"),
    each("z_end", "dial state at the end"),
)
_SOLVED = (
    whole("n_solved", "of these, solved; empty in a calibration"),
    number(
        "completion_rate",
        "solved / planned questions; / counted questions where the moderator skipped the stage or "
        "it has no end; without questions solved before the first move, and without those that the "
        "participant skipped, where the study leaves them out; empty in a calibration",
        "0-1",
    ),
)
_ERRORS = (
    number("slide_distance", "mean a question", "full slider widths"),
    number("error_auc_sum", "summed over the questions", "sum of squares x s"),
    number("error_auc_mean", "summed over the questions", "mean of squares x s"),
)

LABELS = (
    *WHO,
    *WHERE,
    text("model", "id of the representation"),
    whole("dimension", "the dial, from 1 as on the screen"),
    text("dimension_name", "the representation's own name of the dimension"),
    whole("trial", "question during which it was typed"),
    seconds("session_s", "session time (pauses included) of the edit"),
    text("text", "what was typed; empty takes the name away"),
    yes("final", "the last edit of this dial in this stage"),
)

DIALS = (
    text("study", "id of the study"),
    text("model", "id of the representation"),
    text("card_sha256", "hash of its model card; empty where the session recorded none"),
    whole("dimension", "the dial, from 1 as on the screen"),
    text("dimension_name", "the representation's own name of the dimension"),
    text("dial", "continuous (a slider) or discrete (a choice)"),
    number("low", "least value of a slider"),
    number("high", "greatest value of a slider"),
    whole("values", "values of a choice"),
    text("distance", "the study's distance between two pictures, by its name"),
    yes("labels_editable", "participants could name the dial"),
)
"""What the dials of the stages are, whether anybody named them or not: a row a dial of each model,
whoever met it. Practice is left out."""

MARKS = (
    *WHO,
    text("stage", "id of the plan's part, a calibration"),
    text("model", "id of the representation"),
    *TRIAL,
    text("mark", "far: “far away”, close: “close enough”"),
    number("alignment", "alignment of the picture that was on the screen", "0-1"),
    seconds("trial_s", "from the pictures' appearance to the mark, without pauses and gaps"),
    yes("excluded", "of a question that does not count, see the table trials"),
)

TABLES = TaskTables(
    words={
        "tasks_with_dials": "reconstruction, calibration (reconstruction without a target, "
        "in which marks are made)",
        "durations": "the response time of reconstruction where it ended by Next or Skip",
    },
    outcomes={
        "solved": "",
        "marked": "a calibration's question that was left once both were marked",
        "skipped": "by the participant",
    },
    own={"labels": LABELS, "dials": DIALS, "marks": MARKS},
    added={
        "trials": {"duration_s": _MEASURES, "skips_taken_back": _MOVEMENTS},
        "stages": {"n_trials": _SOLVED, "response_time_s": _ERRORS},
    },
    distinct={
        "dials": ("study", "model", "card_sha256", "dimension", "distance", "labels_editable")
    },
)


SHA256_PATTERN = r"[0-9a-f]{64}"


class ReconstructionRecords(TaskRecords[ReconstructionPart, Question]):
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
    ) -> Question:
        return Question(part, key, payload)

    def take_of_session(self, payload: Payload) -> None:
        """The hash of the model card of each decoder that ran, by model; the last one of several.

        De-identified copies of older versions hold a word in its place, and count as without one.
        """
        if isinstance(payload, DecoderWarmed) and re.fullmatch(SHA256_PATTERN, payload.card_sha256):
            self.cards[payload.model] = payload.card_sha256

    @cached_property
    def trials(self) -> tuple[TrialRecord, ...]:
        """The record of every attempt, in the order they were drawn; when nothing more comes."""
        return tuple(question.record() for question in self.attempts)

    @cached_property
    def _by_key(self) -> Mapping[Key, TrialRecord]:
        return {(trial.part.id, trial.trial, trial.attempt): trial for trial in self.trials}

    def traced(self) -> Sequence[TrialRecord]:
        return self.trials

    def trial_row(self, attempt: Question) -> Row:
        trial = self._by_key[attempt.key]
        movement, part = trial.movement, trial.part
        return {
            "duration_s": trial.duration_s,
            "solved_s": trial.solved_s,
            "active_s": trial.active_s,
            "active_s_as_published": trial.active_s_as_published,
            "slide_distance": fsum(movement.distance),
            "slide_distance_by_dimension": list(movement.distance),
            "error_auc_sum": trial.error_auc_sum,
            "error_auc_mean": trial.error_auc_mean,
            "alignment_start": trial.alignment_start,
            "alignment_final": trial.alignment_final,
            "target_alignment": part.solved_at,
            "aligned_at_start": trial.aligned_at_start,
            "redrawn": trial.redrawn,
            "skip_offered_s": trial.skip_offered_s,
            "slides": list(movement.slides),
            "selections": list(movement.selections),
            "dimension_switches": movement.switches,
            "direction_reversals": movement.reversals,
            "overlay_toggles": trial.overlay_toggles,
            "label_edits": trial.label_edits,
            "n_moves": movement.moves,
            **{f"moved_by_{device}": movement.share(device) for device in DEVICES},
            "n_snapshots": len(trial.snapshots),
            "z_start": list(trial.z_start),
            "z_target": list(trial.z_target),
            "z_end": list(movement.z),
        }

    def stage_row(self, part: ReconstructionPart, attempts: Sequence[Question], ran: Ran) -> Row:
        stage = stage_record(
            part, ran.outcome, [self._by_key[attempt.key] for attempt in attempts], ran.missing
        )
        measures = stage.measures
        return {
            "n_solved": None if part.solved_at is None else measures.solved,
            "completion_rate": stage.completion_rate,
            "response_time_s": measures.response_time_s,
            "slide_distance": measures.slide_distance,
            "error_auc_sum": measures.error_auc_sum,
            "error_auc_mean": measures.error_auc_mean,
            **{f"change_{name}": value for name, value in asdict(stage.change).items()},
        }

    def own_rows(self) -> Mapping[str, Iterable[Row]]:
        return {
            "labels": self._label_rows(),
            "dials": dial_rows(self.parts.values(), self.cards),
            "marks": self._mark_rows(),
        }

    def _mark_rows(self) -> list[Row]:
        """Every mark, in order."""
        marks = [
            (event.seq, question, mark, working_ns)
            for question in self.attempts
            for event, mark, working_ns in question.marks
        ]
        return [
            {
                "stage": question.part.id,
                "model": question.part.model,
                "trial": question.trial,
                "attempt": question.attempt,
                "mark": mark.mark,
                "alignment": mark.alignment,
                "trial_s": question.since_start(working_ns),
                "excluded": question.excluded_because is not None,
            }
            for _, question, mark, working_ns in sorted(marks, key=lambda mark: mark[0])
        ]

    def _label_rows(self) -> Iterator[Row]:
        """Every edit of a dial's name, in order; the last of a dial in a stage is final. An empty
        text takes the name away again."""
        edits = [edit for question in self.attempts for edit in question.edits]
        edits.sort(key=lambda edit: edit[0].seq)
        last = {(event.part_id, edit.dimension): event.seq for event, edit in edits}
        for event, edit in edits:
            part = self.parts[str(event.part_id)]
            yield {
                "stage": part.id,
                "stage_number": part.number,
                "model": part.model,
                "dimension": edit.dimension + 1,
                "dimension_name": part.space.dimensions[edit.dimension].name,
                "trial": event.trial,
                "session_s": event.t_ns / NS,
                "text": edit.text,
                "final": last[(event.part_id, edit.dimension)] == event.seq,
            }


def dial_rows(
    parts: Iterable[ReconstructionPart], cards: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """A row for each dial of each stage of reconstruction, in the order of the screen.

    cards: by model the hash of its card, see `ReconstructionRecords.take_of_session`.
    """
    for part in parts:
        if part.role != "stage":
            continue
        for place, dial in enumerate(part.space.dimensions, start=1):
            slider = isinstance(dial, Continuous)
            yield {
                "model": part.model,
                "card_sha256": cards.get(part.model),
                "dimension": place,
                "dimension_name": dial.name,
                "dial": "continuous" if slider else "discrete",
                "low": dial.low if isinstance(dial, Continuous) else None,
                "high": dial.high if isinstance(dial, Continuous) else None,
                "values": None if isinstance(dial, Continuous) else dial.k,
                "distance": part.distance,
                "labels_editable": part.labels_editable,
            }


@dataclass(frozen=True, slots=True)
class Measures:
    """Of some questions; None where there is no question to take it from.

    left_out: questions that do not count for the share that was solved. error_auc_sum and
    error_auc_mean are summed over the questions (error x s).
    """

    n: int
    solved: int
    left_out: int
    response_time_s: float | None
    slide_distance: float | None
    error_auc_sum: float | None
    error_auc_mean: float | None


@dataclass(frozen=True, slots=True)
class Change:
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

    part: ReconstructionPart
    completion_rate: float | None
    measures: Measures
    change: Change


def measure(trials: Sequence[TrialRecord], missing: Missing) -> Measures:
    """Metrics over questions that count (none of them excluded)."""
    solved = [missing.solved(t.outcome) for t in trials]
    responses = [t.duration_s for t in trials if t.left_by_participant]
    return Measures(
        n=len(trials),
        solved=solved.count(True),
        left_out=solved.count(None),
        response_time_s=_mean(responses),
        slide_distance=_mean(fsum(t.movement.distance) for t in trials),
        error_auc_sum=_sum(t.error_auc_sum for t in trials),
        error_auc_mean=_sum(t.error_auc_mean for t in trials),
    )


def stage_record(
    part: ReconstructionPart,
    outcome: str | None,
    trials: Sequence[TrialRecord],
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
    if part.solved_at is None:  # nothing can be solved in a calibration
        asked, change = 0, replace(change, completion_rate=None)
    return StageRecord(
        part=part,
        completion_rate=measures.solved / asked if asked else None,
        measures=measures,
        change=change,
    )


def first_to_last(trials: Sequence[TrialRecord], missing: Missing) -> Change:
    """The change from the first to the last (n - 1) / 2 of n questions."""
    size = max((len(trials) - 1) // 2, 0)
    if size == 0:
        return Change(0)
    first, last = measure(trials[:size], missing), measure(trials[-size:], missing)

    def change(metric: Callable[[Measures], float | None]) -> float | None:
        before, after = metric(first), metric(last)
        return None if before is None or after is None else after - before

    def rate(measures: Measures) -> float | None:
        asked = measures.n - measures.left_out
        return measures.solved / asked if asked else None

    def a_question(total: float | None) -> float | None:
        return None if total is None else total / size

    return Change(
        size,
        change(rate),
        change(lambda m: m.response_time_s),
        change(lambda m: m.slide_distance),
        change(lambda m: a_question(m.error_auc_sum)),
        change(lambda m: a_question(m.error_auc_mean)),
    )


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _mean(values: Iterable[float | None]) -> float | None:
    known = _known(values)
    return fmean(known) if known else None


def _sum(values: Iterable[float | None]) -> float | None:
    known = _known(values)
    return fsum(known) if known else None
