"""The rows that one session gives to every table."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import fsum
from typing import Any

from labapp.analysis.answer_rows import answer_row, score_row
from labapp.analysis.attempt import INTERRUPTED, Key
from labapp.analysis.calibration import MarkRecord, fold_marks
from labapp.analysis.course import UNFINISHED, Course, fold_course
from labapp.analysis.deviations import Deviation, fold_deviations
from labapp.analysis.inclusion import Standing, conditions, fold_standing
from labapp.analysis.judging.photos import PhotoRecord, fold_performance, fold_photos
from labapp.analysis.judging.rows import judgement_row, similarity_rows
from labapp.analysis.judging.rows import stage_row as judging_stage_row
from labapp.analysis.judging.rows import trial_row as judging_trial_row
from labapp.analysis.keyboard import trials_away
from labapp.analysis.labels.rows import dial_rows, fold_cards
from labapp.analysis.movement import DEVICES
from labapp.analysis.notes import fold_notes, note_rows
from labapp.analysis.parts import Parts
from labapp.analysis.questionnaires import AnswerRecord, fold_answers, fold_labels
from labapp.analysis.scores import fold_scores
from labapp.analysis.single_dimension import (
    QuestionRecord,
    fold_questions,
    practice_row,
)
from labapp.analysis.single_dimension import stage_row as single_stage_row
from labapp.analysis.stages import SEQ, StageRecord, stage_record
from labapp.analysis.taking_back import Place, fold_taken_back
from labapp.analysis.trials import TrialRecord, fold_trials
from labapp.analysis.unmasking.rows import annotation_row, masked_prediction_rows, pool_rows
from labapp.analysis.unmasking.rows import stage_row as unmasking_stage_row
from labapp.analysis.unmasking.rows import trial_row as unmasking_trial_row
from labapp.analysis.unmasking.stimuli import StimulusRecord, fold_stimuli
from labapp.clock import NS
from labapp.events import Body, Event
from labapp.events.durations import WorkingTime
from labapp.events.pointer import PointerMoved
from labapp.events.registry import frequent_kinds
from labapp.study.consent import USES
from labapp.tasks.judging.events import PerformanceComputed

Row = dict[str, Any]
Attempt = TrialRecord | QuestionRecord | PhotoRecord | StimulusRecord


@dataclass(frozen=True, slots=True)
class SessionRecords:
    """Everything the folds found in one session; source: the name of the file or folder."""

    source: str
    deidentified: bool
    course: Course
    standing: Standing
    parts: Parts
    trials: tuple[TrialRecord, ...]
    questions: tuple[QuestionRecord, ...]
    stages: tuple[StageRecord, ...]
    answers: tuple[AnswerRecord, ...]
    deviations: tuple[Deviation, ...]
    notes: tuple[Row, ...]
    labels: tuple[Row, ...]
    dials: tuple[Row, ...]
    marks: tuple[MarkRecord, ...]
    photos: tuple[PhotoRecord, ...]
    performances: Mapping[str, PerformanceComputed]
    stimuli: tuple[StimulusRecord, ...]
    pointer: tuple[Row, ...]
    keyboard_away: frozenset[Key]
    taken_back: Counter[Place]

    @classmethod
    def of(
        cls,
        events: Sequence[tuple[Event, Body]],
        source: str,
        *,
        deidentified: bool = False,
        withdrawn: bool = False,
    ) -> SessionRecords:
        """Fold all events of one session; withdrawn: see `fold_standing`.

        Raises RecordError when its plan cannot be read.
        """
        course = fold_course(events)
        parts = Parts.of(course.planned.plan)
        trials = fold_trials(events, parts.stages.values())
        # All other folds look past these anyway.
        frequent = frequent_kinds()
        events = [(event, body) for event, body in events if event.kind not in frequent]
        answers = fold_answers(events)
        stages = [
            stage_record(
                part,
                course.spans[part.id],
                [trial for trial in trials if trial.part.id == part.id],
                _seq(answers, parts, part.id),
            )
            for part in parts.stages.values()
            if part.role == "stage" and part.id in course.spans
        ]
        labels = [
            {
                "stage": edit.part,
                "stage_number": parts.stages[edit.part].number,
                "model": parts.stages[edit.part].model,
                "dimension": edit.dimension + 1,
                "dimension_name": parts.stages[edit.part].space.dimensions[edit.dimension].name,
                "trial": edit.trial,
                "session_s": edit.session_s,
                "text": edit.text,
                "final": edit.final,
            }
            for edit in fold_labels(events, parts)
        ]
        questions = fold_questions(events, parts.singles)
        photos = fold_photos(events, parts.judged)
        stimuli = fold_stimuli(events, parts.unmasked)
        attempts: list[Attempt] = [*trials, *questions, *photos, *stimuli]
        away = trials_away(events, (_start(attempt) for attempt in attempts))
        deviations = [*fold_deviations(events), *_unended(course, attempts)]
        deviations.sort(key=lambda deviation: deviation.session_s)
        return cls(
            source,
            deidentified,
            course,
            fold_standing(events, withdrawn=withdrawn),
            parts,
            tuple(trials),
            tuple(questions),
            tuple(stages),
            tuple(answers),
            tuple(deviations),
            tuple(note_rows(fold_notes(events), WorkingTime(event for event, _ in events))),
            tuple(labels),
            tuple(dial_rows(course.planned.plan, parts.stages, fold_cards(events))),
            tuple(fold_marks(events, parts.stages)),
            tuple(photos),
            fold_performance(events, parts.judged),
            tuple(stimuli),
            tuple(pointer_rows(events)),
            away,
            fold_taken_back(events),
        )

    @property
    def who(self) -> Row:
        planned = self.course.planned
        return {
            "study": planned.study,
            "participant": planned.participant,
            "session": planned.session,
        }

    def rows(self) -> dict[str, list[Row]]:
        """By table, but for the snapshots (see `folding.snapshots`)."""
        scores = fold_scores(self.answers, self.parts)
        tables: dict[str, list[Row]] = {
            "trials": self._by_part(
                [
                    *map(_trial_row, self.trials),
                    *(one.row() for one in self.questions),
                    *map(judging_trial_row, self.photos),
                    *map(unmasking_trial_row, self.stimuli),
                ]
            ),
            "stages": self._by_part(
                [
                    *map(_stage_row, self.stages),
                    *self._single_stages(),
                    *self._judging_stages(),
                    *self._unmasking_stages(),
                ]
            ),
            "answers": [answer_row(answer, self.parts) for answer in self.answers],
            "scores": [score_row(score, self.parts) for score in scores],
            "labels": list(self.labels),
            "dials": list(self.dials),
            "marks": self._mark_rows(),
            "judgements": list(map(judgement_row, self.photos)),
            "similarities": [row for one in self.photos for row in similarity_rows(one)],
            "annotations": list(map(annotation_row, self.stimuli)),
            "masked_predictions": list(masked_prediction_rows(self.parts.unmasked.values())),
            "pool": list(pool_rows(self.parts.unmasked.values())),
            "participants": [self._participant_row()],
            "deviations": [asdict(deviation) for deviation in self.deviations],
            "notes": list(self.notes),
            "pointer": list(self.pointer),
        }
        for name in ("trials", "annotations"):
            for row in tables[name]:
                row["keyboard_away"] = _place(row) in self.keyboard_away
        for row in tables["trials"]:
            row["skips_taken_back"] = self.taken_back[_place(row)]
        for row in tables["stages"]:
            row["skips_taken_back"] = self.taken_back[(row["stage"], None, None)]
        for name in ("trials", "stages", "judgements", "similarities", "annotations"):
            tables[name] = [row | {"included": self.standing.included} for row in tables[name]]
        return {name: [self.who | row for row in rows] for name, rows in tables.items()}

    def _by_part(self, rows: list[Row]) -> list[Row]:
        """Rows of several tasks in the order of the plan."""
        order = {str(row["id"]): index for index, row in enumerate(self.course.planned.plan)}
        return sorted(rows, key=lambda row: order[row["stage"]])

    def _mark_rows(self) -> list[Row]:
        excluded = {
            (trial.part.id, trial.trial, trial.attempt)
            for trial in self.trials
            if trial.excluded_because is not None
        }
        return [
            mark.row((mark.part.id, mark.trial, mark.attempt) in excluded) for mark in self.marks
        ]

    def _single_stages(self) -> list[Row]:
        return [
            single_stage_row(
                part,
                self.course.spans[part.id].outcome or UNFINISHED,
                self.course.spans[part.id],
                [one for one in self.questions if one.part.id == part.id],
                _seq(self.answers, self.parts, part.id),
            )
            for part in self.parts.singles.values()
            if part.role == "stage" and part.id in self.course.spans
        ]

    def _judging_stages(self) -> list[Row]:
        return [
            judging_stage_row(
                part,
                self.course.spans[part.id].outcome or UNFINISHED,
                self.course.spans[part.id],
                [one for one in self.photos if one.part.id == part.id],
                self.performances.get(part.id),
                _seq(self.answers, self.parts, part.id),
            )
            for part in self.parts.judged.values()
            if part.role == "stage" and part.id in self.course.spans
        ]

    def _unmasking_stages(self) -> list[Row]:
        return [
            unmasking_stage_row(
                part,
                self.course.spans[part.id].outcome or UNFINISHED,
                self.course.spans[part.id],
                [one for one in self.stimuli if one.part.id == part.id],
                self.keyboard_away,
                _seq(self.answers, self.parts, part.id),
            )
            for part in self.parts.unmasked.values()
            if part.role == "stage" and part.id in self.course.spans
        ]

    def _participant_row(self) -> Row:
        course, planned = self.course, self.course.planned
        lasting = {
            kind: [d.duration_s or 0.0 for d in self.deviations if d.kind == kind]
            for kind in ("paused", "interrupted", "focus_lost")
        }
        stages = sorted(
            (part for part in self.parts.represented.values() if part.role == "stage"),
            key=lambda part: part.number,
        )
        # A stage of several blocks has one.
        models = dict.fromkeys((part.number, part.model) for part in stages)
        return {
            "study_version": planned.study_version,
            "study_sha256": planned.study_sha256,
            "started_utc": course.started_utc,
            "outcome": course.outcome,
            "ended_reason": course.ended_reason,
            "complete": course.outcome == "completed",
            **self.standing.row(),
            "conditions": conditions(planned.assignment) or None,
            "simulated": course.simulated,
            "strategy": course.strategy,
            "models": ", ".join(model for _, model in models),
            "tasks": ", ".join(dict.fromkeys(part.task for part in stages)),
            **practice_row(self.questions),
            "consent_signed": course.consent_signed,
            **{f"consent_{use}": course.agreed.get(use) for use in USES},
            "assignment": json.dumps(planned.assignment, ensure_ascii=False),
            "seed": planned.seed,
            "presentation": planned.presentation,
            "replicates_paper": planned.replicates.get("paper"),
            "replicates_study": planned.replicates.get("study"),
            "replicates_run": planned.replicates.get("run"),
            "language": planned.language,
            "duration_s": course.duration_s,
            "elapsed_s": course.elapsed_s,
            "n_pauses": len(lasting["paused"]),
            "paused_s": sum(lasting["paused"]),
            "n_breaks": len(course.breaks),
            "breaks_s": fsum(seconds or 0.0 for seconds in course.breaks.values()),
            "n_gaps": len(lasting["interrupted"]),
            "gap_s": fsum(
                deviation.duration_s or 0.0
                for deviation in self.deviations
                if deviation.kind == "interrupted" and deviation.stage not in course.breaks
            ),
            "sound_s": course.sound_s,
            "sound_lost_s": course.sound_lost_s,
            "no_sound_because": course.no_sound_because,
            "focus_losses": len(lasting["focus_lost"]),
            "n_deviations": len(self.deviations),
            "n_events": course.n_events,
            "app_versions": ", ".join(course.app_versions),
            "blind": course.blind,
            "unblinded_s": course.unblinded_s,
            "n_notes": sum(row["corrects"] is None for row in self.notes),
            "interview_s": fsum(span.duration_s or 0.0 for span in course.interviews),
            "deidentified": self.deidentified,
            "source": self.source,
        }


def _place(row: Row) -> Key:
    """The attempt that a row is about."""
    return row["stage"], row["trial"], row["attempt"]


def pointer_rows(events: Iterable[tuple[Event, Body]]) -> Iterator[Row]:
    """Where the participant's pointer was, a row a stretch of its path."""
    for event, body in events:
        if isinstance(body, PointerMoved):
            yield {
                "stage": event.stage,
                "trial": event.trial,
                "attempt": event.attempt,
                "began_s": body.began_ns / NS,
                "width_px": body.width,
                "height_px": body.height,
                "t_ms": list(map(float, body.t_ms)),
                "x_px": list(map(float, body.x)),
                "y_px": list(map(float, body.y)),
            }


def _seq(answers: Sequence[AnswerRecord], parts: Parts, stage: str) -> float | None:
    """The submitted SEQ about a stage."""
    for answer in answers:
        part = parts.questionnaires.get(answer.part)
        if (
            part is not None
            and part.about == stage
            and (answer.instrument, answer.item) == (SEQ, SEQ)
            and answer.submitted_s is not None
        ):
            return float(answer.value)
    return None


def _start(trial: Attempt) -> tuple[Key, float | None]:
    """An attempt by its key, and the session time of its start."""
    return (trial.part.id, trial.trial, trial.attempt), trial.started_session_s


def _began(trial: Attempt, course: Course) -> float:
    """Session time of an attempt; of one that never appeared the end, unless it says when it was
    to appear."""
    if isinstance(trial, StimulusRecord):
        return trial.planned_session_s
    return course.elapsed_s if trial.started_session_s is None else trial.started_session_s


def _unended(course: Course, trials: Sequence[Attempt]) -> list[Deviation]:
    found = [
        Deviation(
            "attempt_interrupted",
            _began(trial, course),
            trial.excluded_because or "",
            None,
            trial.part.id,
            trial.trial,
            trial.attempt,
        )
        for trial in trials
        if trial.outcome in (None, INTERRUPTED)
    ]
    if course.outcome == UNFINISHED:
        found.append(Deviation("unfinished", course.elapsed_s))
    return found


def _trial_row(trial: TrialRecord) -> Row:
    movement, part = trial.movement, trial.part
    return {
        "stage": part.id,
        "stage_number": part.number,
        "task": part.task,
        "role": part.role,
        "model": part.model,
        "trial": trial.trial,
        "attempt": trial.attempt,
        "outcome": trial.outcome,
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
        "target_alignment": part.target_alignment,
        "aligned_at_start": trial.aligned_at_start,
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
        "started_session_s": trial.started_session_s,
        "excluded": trial.excluded_because is not None,
        "excluded_because": trial.excluded_because,
    }


def _stage_row(stage: StageRecord) -> Row:
    measures, change = stage.measures, stage.change
    return {
        "stage": stage.part.id,
        "stage_number": stage.part.number,
        "task": stage.part.task,
        "model": stage.part.model,
        "outcome": stage.outcome or UNFINISHED,
        "n_planned": stage.part.trials,
        "n_trials": measures.n,
        "n_solved": None if stage.part.target_alignment is None else measures.solved,
        "completion_rate": stage.completion_rate,
        "response_time_s": measures.response_time_s,
        "slide_distance": measures.slide_distance,
        "error_auc_sum": measures.error_auc_sum,
        "error_auc_mean": measures.error_auc_mean,
        "seq": stage.seq,
        "duration_s": stage.duration_s,
        **{f"change_{name}": value for name, value in asdict(change).items()},
    }
