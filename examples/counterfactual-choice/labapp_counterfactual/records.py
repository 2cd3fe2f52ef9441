"""What is recorded of the task, and its rows of tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from labapp.analysis.task_records import Attempt, Key, Ran, Row, TaskRecords
from labapp.events import Body, Event
from labapp_counterfactual.events import (
    CandidateChosen,
    ConfidenceRated,
    CounterfactualAnswered,
    CounterfactualDrawn,
    CounterfactualShown,
)
from labapp_counterfactual.plan import CounterfactualPart
from labapp_counterfactual.tables import TABLES


class Question(Attempt):
    """One attempt at a question."""

    part: CounterfactualPart

    def __init__(self, part: CounterfactualPart, key: Key, drawn: CounterfactualDrawn) -> None:
        super().__init__(key)
        self.part = part
        self.drawn = drawn
        self.choice: int | None = None
        self.choices = 0
        self.confidence: int | None = None
        self.answer: CounterfactualAnswered | None = None
        self.answered_ns: int | None = None
        self.last_ns: int | None = None

    def take(self, event: Event, body: Body, working: int) -> None:
        match body:
            case CounterfactualShown():
                self.started_session_ns, self.started_ns = event.t_ns, working
            case CandidateChosen():
                self.choice = body.choice
                self.choices += 1
            case ConfidenceRated():
                self.confidence = body.confidence
            case CounterfactualAnswered():
                self.answer, self.answered_ns = body, working
        self.last_ns = working

    @property
    def response_s(self) -> float | None:
        """From the pictures' appearance to the answer."""
        return self.since_start(self.answered_ns)


class CounterfactualRecords(TaskRecords[CounterfactualPart, Question]):
    """Every attempt at every question."""

    tables = TABLES
    begins = CounterfactualDrawn.kind
    kinds = frozenset(
        body.kind
        for body in (
            CounterfactualShown,
            CandidateChosen,
            ConfidenceRated,
            CounterfactualAnswered,
        )
    )

    def begin(
        self, part: CounterfactualPart, key: Key, event: Event, body: CounterfactualDrawn
    ) -> Question:
        return Question(part, key, body)

    def trial_row(self, attempt: Question) -> Row:
        return {"duration_s": attempt.since_start(attempt.last_ns)}

    def stage_row(self, part: CounterfactualPart, attempts: Sequence[Question], ran: Ran) -> Row:
        answered = [one for one in attempts if one.excluded_because is None and one.answer]
        answers = [one.answer for one in answered if one.answer is not None]
        times = [one.response_s for one in answered if one.response_s is not None]
        return {
            "n_answered": len(answers),
            "n_correct": sum(answer.correct for answer in answers),
            "correctness_rate": fmean(one.correct for one in answers) if answers else None,
            "counterfactual_confidence": (
                fmean(one.confidence for one in answers) if answers else None
            ),
            "response_time_s": fmean(times) if times else None,
        }

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
        "correct": None if question.answer is None else question.answer.correct,
        "confidence": question.confidence,
        "choice_changes": max(question.choices - 1, 0),
        "response_s": question.response_s,
        "excluded": question.excluded_because is not None,
        "excluded_because": question.excluded_because,
    }
