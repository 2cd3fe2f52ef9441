"""What is recorded of the task, and its rows of tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from labapp.analysis.answered import AnsweredAttempt, answered, answers_row, mean
from labapp.analysis.task_records import Key, Ran, Row, TaskRecords
from labapp.record.events import Event, Payload
from labapp_counterfactual.events import (
    CandidateChosen,
    ConfidenceRated,
    CounterfactualAnswered,
    CounterfactualDrawn,
    CounterfactualShown,
)
from labapp_counterfactual.plan import CounterfactualPart
from labapp_counterfactual.tables import TABLES


class Question(AnsweredAttempt[CounterfactualPart, CounterfactualDrawn, CounterfactualAnswered]):
    """One attempt at a question."""

    confidence: int | None = None

    def take(self, event: Event, payload: Payload, working: int) -> None:
        match payload:
            case CounterfactualShown():
                self.show(event, working)
            case CandidateChosen():
                self.choose(payload.choice, working)
            case ConfidenceRated():
                self.confidence = payload.confidence
            case CounterfactualAnswered():
                self.hand_in(payload, working)
        self.last_ns = working


class CounterfactualRecords(TaskRecords[CounterfactualPart, Question]):
    """Every attempt at every question."""

    tables = TABLES
    begins = CounterfactualDrawn.kind
    kinds = frozenset(
        payload.kind
        for payload in (
            CounterfactualShown,
            CandidateChosen,
            ConfidenceRated,
            CounterfactualAnswered,
        )
    )

    def begin(
        self, part: CounterfactualPart, key: Key, event: Event, payload: CounterfactualDrawn
    ) -> Question:
        return Question(part, key, payload)

    def trial_row(self, attempt: Question) -> Row:
        return {"duration_s": attempt.since_start(attempt.last_ns)}

    def stage_row(self, part: CounterfactualPart, attempts: Sequence[Question], ran: Ran) -> Row:
        questions = answered(attempts)
        ratings = [each.answer.confidence for each in questions if each.answer is not None]
        return {**answers_row(questions), "counterfactual_confidence": mean(ratings)}

    def own_rows(self) -> Mapping[str, Iterable[Row]]:
        return {"counterfactual_choices": map(_choice_row, self.attempts)}


def _choice_row(question: Question) -> Row:
    part, drawn, choice = question.part, question.drawn, question.choice
    return {
        "stage": part.id,
        "stage_number": part.number,
        "model": part.model,
        "trial": question.trial,
        "attempt": question.attempt,
        "dimension": drawn.dimension + 1,
        "dimension_name": part.space.dimensions[drawn.dimension].name,
        "right_candidate": drawn.correct + 1,
        "candidate": None if choice is None else choice + 1,
        "candidate_dimension": None if choice is None else drawn.changed[choice] + 1,
        "confidence": question.confidence,
        **question.answer_row,
        "excluded": question.excluded_because is not None,
        "excluded_because": question.excluded_because,
    }
