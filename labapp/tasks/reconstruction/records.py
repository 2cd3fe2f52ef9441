"""What is recorded of reconstruction, and its rows of tables: trials, stages, names of dials,
dials, marks and snapshots."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from math import fsum
from typing import Any

from labapp.analysis.task_records import Key, Ran, Row, TaskRecords
from labapp.clock import NS
from labapp.events import Event, Payload
from labapp.events.lifecycle import DecoderWarmed
from labapp.representations.space import Continuous
from labapp.tasks.reconstruction.attempts import Question, TrialRecord
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
from labapp.tasks.reconstruction.measures import stage_record
from labapp.tasks.reconstruction.movement import DEVICES
from labapp.tasks.reconstruction.plan import ReconstructionPart
from labapp.tasks.reconstruction.tables import TABLES

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
        for number, dial in enumerate(part.space.dimensions, start=1):
            slider = isinstance(dial, Continuous)
            yield {
                "model": part.model,
                "card_sha256": cards.get(part.model),
                "dimension": number,
                "dimension_name": dial.name,
                "dial": "continuous" if slider else "discrete",
                "low": dial.low if isinstance(dial, Continuous) else None,
                "high": dial.high if isinstance(dial, Continuous) else None,
                "values": None if isinstance(dial, Continuous) else dial.k,
                "distance": part.distance,
                "labels_editable": part.labels_editable,
            }
