"""Scores of the submitted questionnaires of one session, by the functions their plan names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from labapp.analysis.questionnaires import AnswerRecord
from labapp.analysis.walk import Parts
from labapp.study.instruments.scoring import RANGES, SCORINGS, Range, Scores, weighted_tlx

RATINGS, WEIGHTS = "nasa-tlx", "nasa-tlx-weights"
OF_STAGES = ("synthetic-end", "stage_easy")
"""Instrument and item that is asked once a stage at the end: its number is the stage's."""


@dataclass(frozen=True, slots=True)
class ScoreRecord:
    """One score of one submitted questionnaire; limits: where the score has its own."""

    part: str
    instrument: str
    instrument_version: int | None
    score: str
    value: float
    limits: Range | None


def fold_scores(answers: Sequence[AnswerRecord], parts: Parts) -> list[ScoreRecord]:
    """The scores of every submitted questionnaire, in the order of the plan.

    The weighted workload stands with the ratings it weighs: by the comparisons about the same
    stage, or else by those about the whole session.
    """
    by_part: dict[str, Scores] = {}
    submitted: dict[str, list[AnswerRecord]] = {}
    for answer in answers:
        if answer.submitted_s is not None:
            submitted.setdefault(answer.part, []).append(answer)
    for part in parts.questionnaires.values():
        if part.scoring in SCORINGS and part.id in submitted:
            given = {answer.item: answer.value for answer in submitted[part.id]}
            by_part[part.id] = SCORINGS[part.scoring](given)
    for part in parts.questionnaires.values():
        if part.scoring == RATINGS and part.id in by_part:
            weights = _weights(by_part, parts, part.about)
            by_part[part.id] = by_part[part.id] | weighted_tlx(by_part[part.id], weights)
    return [
        ScoreRecord(
            part_id,
            parts.questionnaires[part_id].instrument,
            submitted[part_id][0].instrument_version,
            name,
            value,
            None if parts.questionnaires[part_id].scoring == "as-answered" else RANGES.get(name),
        )
        for part_id, scores in by_part.items()
        for name, value in scores.items()
    ]


def _weights(by_part: dict[str, Scores], parts: Parts, about: str | None) -> Scores:
    """The weights for ratings about a stage; empty where the comparisons were not asked."""
    asked = [part for part in parts.questionnaires.values() if part.scoring == WEIGHTS]
    for wanted in (about, None):
        for part in asked:
            if part.about == wanted and by_part.get(part.id):
                return by_part[part.id]
    return {}
