"""The record of every single-dimension question, and the metrics of its stages (paper 000, 4.6)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from labapp.analysis.answered import (
    AnsweredAttempt,
    answered,
    answers_row,
    correctness,
    mean,
    response_time,
)
from labapp.analysis.column import number, seconds, text, whole, yes
from labapp.analysis.task_records import Key, Ran, Row, TaskRecords, TaskTables
from labapp.record.events import Event, Payload
from labapp.tasks.single_dimension.events import (
    AnswerGiven,
    ChoiceMade,
    ExamplesRedrawn,
    QuestionDrawn,
    QuestionShown,
    RatingMade,
)
from labapp.tasks.single_dimension.plan import SingleDimensionPart

SINGLE_TRIALS = (
    whole("dimension", "the dial asked about, from 1"),
    text("dimension_name", "the representation's own name of the dimension"),
    text("regime", "low, medium or high, from which the value was drawn; empty where discrete"),
    number("shown_value", "the dial's value in the picture asked about"),
    text("right_choice", "low, medium or high; of a discrete dial the index of its value, from 0"),
    text("choice", "the choice that counts, written likewise"),
    yes("correct", "the answer handed in was the right choice"),
    whole(
        "confidence", "“I'm confident I'm right”, 1 strongly disagree to 5 strongly agree", "1-5"
    ),
    whole("understanding", "“The dial makes sense”, 1 to 5 likewise", "1-5"),
    seconds(
        "response_s",
        "from the pictures' appearance to the answer handed in, without pauses and gaps: the "
        "response time of this task",
    ),
    seconds("first_choice_s", "from the pictures' appearance to the first choice"),
    whole("choice_changes", "choices after the first"),
    whole("rating_changes", "ratings after the first of each statement"),
    whole("resamples", "times other examples were asked for"),
)
"""Of single-dimension questions only; empty in other rows."""


_RATINGS = (
    number("confidence", "mean of “I'm confident I'm right”", "1-5"),
    number("understanding", "mean of “The dial makes sense”", "1-5"),
)
TABLES = TaskTables(
    words={"tasks_with_dials": "single-dimension-traversals or single-dimension-exemplars"},
    outcomes={"answered": "a single-dimension question"},
    added={"trials": {"keyboard_away": SINGLE_TRIALS}, "stages": {"correctness_rate": _RATINGS}},
)


class QuestionRecord(AnsweredAttempt[SingleDimensionPart, QuestionDrawn, AnswerGiven]):
    """One attempt at a question."""

    def __init__(self, part: SingleDimensionPart, key: Key, drawn: QuestionDrawn) -> None:
        super().__init__(part, key, drawn)
        self.ratings: dict[str, int] = {}
        self.rated = 0
        self.resamples = 0

    def take(self, event: Event, payload: Payload, working: int) -> None:
        match payload:
            case QuestionShown():
                self.show(event, working)
            case ChoiceMade():
                self.choose(payload.choice, working)
            case RatingMade():
                self.rated += 1
                self.ratings[payload.item] = payload.value
            case ExamplesRedrawn():
                self.resamples = payload.number
            case AnswerGiven():
                self.hand_in(payload, working)
        self.last_ns = working


class SingleDimensionRecords(TaskRecords[SingleDimensionPart, QuestionRecord]):
    """Every attempt at every question."""

    tables = TABLES
    begins = QuestionDrawn.kind
    kinds = frozenset(
        payload.kind
        for payload in (QuestionShown, ChoiceMade, RatingMade, ExamplesRedrawn, AnswerGiven)
    )

    def begin(
        self, part: SingleDimensionPart, key: Key, event: Event, payload: QuestionDrawn
    ) -> QuestionRecord:
        return QuestionRecord(part, key, payload)

    def trial_row(self, attempt: QuestionRecord) -> Row:
        part, drawn = attempt.part, attempt.drawn
        return {
            "duration_s": attempt.since_start(attempt.last_ns),
            "dimension": drawn.dimension + 1,
            "dimension_name": part.space.dimensions[drawn.dimension].name,
            "regime": drawn.regime or None,
            "shown_value": drawn.value,
            "right_choice": part.choice_name(drawn.dimension, drawn.correct),
            "choice": part.choice_name(drawn.dimension, attempt.choice),
            "confidence": attempt.ratings.get("confidence"),
            "understanding": attempt.ratings.get("understanding"),
            "first_choice_s": attempt.since_start(attempt.first_choice_ns),
            **attempt.answer_row,
            "rating_changes": attempt.rated - len(attempt.ratings),
            "resamples": attempt.resamples,
        }

    def stage_row(
        self, part: SingleDimensionPart, attempts: Sequence[QuestionRecord], ran: Ran
    ) -> Row:
        """Metrics are over the questions that were answered: one that the time limit cut off was
        not."""
        questions = answered(attempts)
        answers = [question.answer for question in questions if question.answer is not None]
        size, changed = first_to_last(questions)
        return {
            **answers_row(questions),
            "confidence": mean([answer.confidence for answer in answers]),
            "understanding": mean([answer.understanding for answer in answers]),
            "change_questions": size,
            **changed,
        }

    def participant_row(self) -> Row:
        """How the practice went, for rules of inclusion; empty where there was none."""
        answers = [
            question.answer
            for question in self.attempts
            if question.part.role == "practice" and question.excluded_because is None
        ]
        correct = sum(answer is not None and answer.correct for answer in answers)
        return {
            "practice_asked": len(answers) or None,
            "practice_correct": correct if answers else None,
        }


def first_to_last(questions: Iterable[QuestionRecord]) -> tuple[int, Row]:
    """The change from the first to the last (n - 1) / 2 of n answered questions, as for
    reconstruction: the size of each group, and the columns."""
    told = sorted(questions, key=lambda question: question.trial)
    size = max((len(told) - 1) // 2, 0)
    changed: Row = {}
    for name, metric in (
        ("change_response_time_s", response_time),
        ("change_correctness_rate", correctness),
    ):
        before, after = metric(told[:size]), metric(told[len(told) - size :])
        changed[name] = None if before is None or after is None else after - before
    return size, changed
