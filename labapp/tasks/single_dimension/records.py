"""The record of every single-dimension question, and the metrics of its stages (paper 000, 4.6)."""

from __future__ import annotations

from collections.abc import Sequence

from labapp.analysis.answered import ANSWERS, AnsweredAttempt, AnsweredStage
from labapp.analysis.column import Column, columns_in, number, of, since_start, text, whole
from labapp.analysis.task_records import Key, Ran, TaskRecords, TaskTables
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


class QuestionRecord(AnsweredAttempt[SingleDimensionPart, QuestionDrawn, AnswerGiven]):
    """One attempt at a question."""

    resamples = 0

    def __init__(self, part: SingleDimensionPart, key: Key, drawn: QuestionDrawn) -> None:
        super().__init__(part, key, drawn)
        self.ratings: dict[str, int] = {}
        self.rated = 0

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


class QuestionStage(AnsweredStage[QuestionRecord]):
    """The questions of a stage that were answered, and how they changed from the first to the last
    (n - 1) / 2 of n, as for reconstruction."""

    def __init__(self, attempts: Sequence[QuestionRecord]) -> None:
        super().__init__(attempts)
        ordered = sorted(self.questions, key=lambda question: question.trial)
        self.size = max((len(ordered) - 1) // 2, 0)
        self._ends = ordered[: self.size], ordered[len(ordered) - self.size :]

    def change(self, metric: str) -> float | None:
        """Of a metric of stages, last minus first."""
        before, after = (getattr(AnsweredStage(end), metric) for end in self._ends)
        return None if before is None or after is None else after - before


SINGLE_TRIALS = of(
    QuestionRecord,
    whole("dimension", "the slider asked about, from 1", get=lambda row: row.drawn.dimension + 1),
    text("dimension_name", "the representation's own name of the dimension"),
    text("regime", "low, medium or high, from which the value was drawn; empty if discrete"),
    number("shown_value", "the slider's value in the picture asked about", get="drawn.value"),
    *columns_in("""
        text right_choice: low, medium or high; for a discrete slider the index of its value, from 0
        text choice: the choice that counts, in the same form
        yes correct: the submitted answer was the right choice
        whole confidence [1-5]: “I'm confident I'm right”, 1 strongly disagree to 5 strongly agree
        whole understanding [1-5]: “The dial makes sense”, on the same scale
        seconds response_s: from the pictures' appearance to the submitted answer, without pauses
            and gaps: the response time of this task
    """),
    whole("track", "adaptive stages: number of the track, from 1; empty if no rule chose it"),
    number("spread", "adaptive stages: how far apart low, medium and high were", get="level"),
    since_start("first_choice_s", "from the pictures' appearance to the first choice"),
    whole("choice_changes", "choices after the first"),
    whole("rating_changes", "ratings after the first, over all statements"),
    whole("resamples", "times other examples were asked for"),
    dimension_name=lambda row: row.part.space.dimensions[row.drawn.dimension].name,
    regime=lambda row: row.drawn.regime or None,
    right_choice=lambda row: row.part.choice_name(row.drawn.dimension, row.drawn.correct),
    choice=lambda row: row.part.choice_name(row.drawn.dimension, row.choice),
    confidence=lambda row: row.ratings.get("confidence"),
    understanding=lambda row: row.ratings.get("understanding"),
    rating_changes=lambda row: row.rated - len(row.ratings),
)
"""Of single-dimension questions only; empty in other rows."""


def _mean_rating(rating: str, statement: str) -> Column:
    return number(rating, f"mean of “{statement}”", "1-5", lambda stage: stage.mean_of(rating))


TABLES = TaskTables(
    words={"tasks_with_dials": "single-dimension-traversals or single-dimension-exemplars"},
    outcomes={"answered": "a single-dimension question"},
    added={
        "trials": {"keyboard_away": SINGLE_TRIALS},
        "stages": {
            "correctness_rate": (
                _mean_rating("confidence", "I'm confident I'm right"),
                _mean_rating("understanding", "The dial makes sense"),
            )
        },
    },
    shared={
        "trials": {"duration_s": "duration_s"},
        "stages": {
            **ANSWERS,
            "change_questions": "size",
            "change_response_time_s": lambda stage: stage.change("response_time_s"),
            "change_correctness_rate": lambda stage: stage.change("correctness_rate"),
        },
        "participants": {
            # For rules of inclusion; empty where there was no practice.
            "practice_asked": lambda records: len(records.practice) or None,
            "practice_correct": lambda records: sum(records.practice) if records.practice else None,
        },
    },
)


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

    def stage(
        self, part: SingleDimensionPart, attempts: Sequence[QuestionRecord], ran: Ran
    ) -> QuestionStage:
        return QuestionStage(attempts)

    @property
    def practice(self) -> list[bool]:
        """Of each question of the practice that counts, whether it was answered rightly."""
        asked = (
            question
            for question in self.attempts
            if question.part.role == "practice" and question.part.adaptive is None
        )
        return [question.correct is True for question in asked if not question.excluded]
