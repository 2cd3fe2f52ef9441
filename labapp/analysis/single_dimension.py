"""The record of every single-dimension question, and the metrics of its stages (paper 000, 4.6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from labapp.analysis.attempt import INTERRUPTED, Attempt, Key, supersede
from labapp.analysis.course import Span
from labapp.events import Body, Event
from labapp.events.durations import Pauses
from labapp.events.lifecycle import PartRestarted
from labapp.events.trials import TrialEnded
from labapp.representations.space import Discrete, LatentSpace
from labapp.tasks.single_dimension.events import (
    AnswerGiven,
    ChoiceMade,
    ExamplesRedrawn,
    QuestionDrawn,
    QuestionShown,
    RatingMade,
)

PART = "single_dimension"
REGIMES = ("low", "medium", "high")

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SinglePart:
    """A stage (or the practice) of the single-dimension task; trials: questions planned."""

    id: str
    role: str
    number: int
    model: str
    trials: int
    visualisation: str
    space: LatentSpace

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> SinglePart:
        """From a row of the plan. Raises KeyError, ValueError or TypeError."""
        return cls(
            id=str(row["id"]),
            role=str(row["role"]),
            number=int(row["number"]),
            model=str(row["model"]),
            trials=len(row["asked"]),
            visualisation=str(row["visualisation"]),
            space=LatentSpace.from_json(row["dimensions"]),
        )

    @property
    def task(self) -> str:
        """single-dimension-traversals or single-dimension-exemplars."""
        return f"single-dimension-{self.visualisation}"

    def choice_name(self, dimension: int, choice: int | None) -> str | None:
        """Low, medium or high; of a discrete dimension the index of the value, from 0."""
        if choice is None:
            return None
        return (
            str(choice)
            if isinstance(self.space.dimensions[dimension], Discrete)
            else (REGIMES[choice])
        )


class QuestionRecord(Attempt):
    """One attempt at a question."""

    def __init__(self, part: SinglePart, key: Key, drawn: QuestionDrawn) -> None:
        super().__init__(key)
        self.part = part
        self.drawn = drawn
        self.last_ns: int | None = None
        self.first_choice_ns: int | None = None
        self.answered_ns: int | None = None
        self.choice: int | None = None
        self.ratings: dict[str, int] = {}
        self.choices = 0
        self.rated = 0
        self.resamples = 0
        self.answer: AnswerGiven | None = None

    def take(self, event: Event, body: Body, working: int) -> None:
        """Take in an event of this attempt."""
        match body:
            case QuestionShown():
                self.started_session_ns, self.started_ns = event.t_ns, working
            case ChoiceMade():
                self.choice = body.choice
                self.choices += 1
                if self.first_choice_ns is None:
                    self.first_choice_ns = working
            case RatingMade():
                self.rated += 1
                self.ratings[body.item] = body.value
            case ExamplesRedrawn():
                self.resamples = body.number
            case AnswerGiven():
                self.answer, self.answered_ns = body, working
            case TrialEnded():
                self.outcome = body.outcome
        self.last_ns = working

    @property
    def response_s(self) -> float | None:
        """From the question's appearance to the answer handed in."""
        return self.since_start(self.answered_ns)

    def row(self) -> Row:
        """The columns of the table of trials that this task fills."""
        part, drawn, answer = self.part, self.drawn, self.answer
        return {
            "stage": part.id,
            "stage_number": part.number,
            "task": part.task,
            "role": part.role,
            "model": part.model,
            "trial": self.trial,
            "attempt": self.attempt,
            "outcome": self.outcome or INTERRUPTED,
            "duration_s": self.since_start(self.last_ns),
            "dimension": drawn.dimension + 1,
            "dimension_name": part.space.dimensions[drawn.dimension].name,
            "regime": drawn.regime or None,
            "shown_value": drawn.value,
            "right_choice": part.choice_name(drawn.dimension, drawn.correct),
            "choice": part.choice_name(drawn.dimension, self.choice),
            "correct": None if answer is None else answer.correct,
            "confidence": self.ratings.get("confidence"),
            "understanding": self.ratings.get("understanding"),
            "response_s": self.response_s,
            "first_choice_s": self.since_start(self.first_choice_ns),
            "choice_changes": max(self.choices - 1, 0),
            "rating_changes": self.rated - len(self.ratings),
            "resamples": self.resamples,
            "started_session_s": self.started_session_s,
            "excluded": self.excluded_because is not None,
            "excluded_because": self.excluded_because,
        }


def fold_questions(
    events: Iterable[tuple[Event, Body]], parts: Mapping[str, SinglePart]
) -> list[QuestionRecord]:
    """Every attempt at every question, in the order they were drawn; events: of a whole session."""
    pauses = Pauses()
    found: dict[Key, QuestionRecord] = {}
    counts: dict[str | None, int] = {}  # the attempt that counts of a stage that began again
    for event, body in events:
        pauses = pauses.apply(event)
        if isinstance(body, PartRestarted):
            counts[event.stage] = body.attempt
        if event.stage is None or event.trial is None or event.attempt is None:
            continue
        if event.stage not in parts:
            continue
        key: Key = (event.stage, event.trial, event.attempt)
        if isinstance(body, QuestionDrawn):
            found[key] = QuestionRecord(parts[event.stage], key, body)
        elif key in found and isinstance(body, _OF_A_QUESTION):
            found[key].take(event, body, pauses.working_ns(event.t_ns))
    supersede(found, counts)
    return list(found.values())


_OF_A_QUESTION = (
    QuestionShown,
    ChoiceMade,
    RatingMade,
    ExamplesRedrawn,
    AnswerGiven,
    TrialEnded,
)
"""Notes, flags and prompts carry the key of the question they fall into, but are no part of it."""


def stage_row(
    part: SinglePart,
    outcome: str | None,
    span: Span,
    questions: Sequence[QuestionRecord],
    seq: float | None,
) -> Row:
    """The columns of the table of stages that this task fills.

    Metrics are over the questions that were answered: one that the time limit cut off was not.
    """
    counted = [q for q in questions if q.excluded_because is None]
    told = [(q, q.answer) for q in counted if q.answer is not None]
    answers = [answer for _, answer in told]
    size, changed = first_to_last([q for q, _ in told])
    return {
        "stage": part.id,
        "stage_number": part.number,
        "task": part.task,
        "model": part.model,
        "outcome": outcome,
        "n_planned": part.trials,
        "n_trials": len(counted),
        "n_answered": len(told),
        "n_correct": sum(answer.correct for answer in answers),
        "correctness_rate": correctness([q for q, _ in told]),
        "confidence": _mean([answer.confidence for answer in answers]),
        "understanding": _mean([answer.understanding for answer in answers]),
        "response_time_s": response_time([q for q, _ in told]),
        "seq": seq,
        "duration_s": span.duration_s,
        "change_questions": size,
        **changed,
    }


def response_time(questions: Sequence[QuestionRecord]) -> float | None:
    """Mean seconds to the answer."""
    return _mean([q.response_s for q in questions if q.response_s is not None])


def correctness(questions: Sequence[QuestionRecord]) -> float | None:
    """Share of the answers that were right."""
    return _mean([float(q.answer.correct) for q in questions if q.answer is not None])


def first_to_last(questions: Iterable[QuestionRecord]) -> tuple[int, Row]:
    """The change from the first to the last (n - 1) / 2 of n answered questions, as for
    reconstruction (analysis.stages): the size of each group, and the columns."""
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


def practice_row(questions: Sequence[QuestionRecord]) -> Row:
    """How the practice went, for rules of inclusion: asked and answered correctly; both None where
    there was no such practice."""
    answers = [
        q.answer for q in questions if q.part.role == "practice" and q.excluded_because is None
    ]
    return {
        "practice_asked": len(answers) or None,
        "practice_correct": sum(a is not None and a.correct for a in answers) if answers else None,
    }


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
