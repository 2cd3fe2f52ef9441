"""Records of questions with an answer that is chosen, handed in, and then right or wrong."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any, Generic, Protocol, TypeVar

from labapp.analysis.task_records import Attempt, Key, Row
from labapp.events import Event
from labapp.plugins.part import TrialsPart


class HandedIn(Protocol):
    """An event with which an answer is handed in."""

    @property
    def correct(self) -> bool: ...


P = TypeVar("P", bound=TrialsPart)
D = TypeVar("D")
A = TypeVar("A", bound=HandedIn)


class AnsweredAttempt(Attempt, Generic[P, D, A]):
    """One attempt at a question. P is the part's type, D that of the event that drew the question,
    A that of the event that hands the answer in.

    Attributes
    ----------
    choice : the one that counts, from 0.
    choices : int
        How many were made.
    answer : event or None
        What was handed in.
    first_choice_ns, answered_ns, last_ns : int or None
        Working time of the first choice, of the answer, and of the last event.
    """

    part: P

    def __init__(self, part: P, key: Key, drawn: D) -> None:
        super().__init__(key)
        self.part = part
        self.drawn = drawn
        self.choice: int | None = None
        self.choices = 0
        self.answer: A | None = None
        self.first_choice_ns: int | None = None
        self.answered_ns: int | None = None
        self.last_ns: int | None = None

    def show(self, event: Event, working: int) -> None:
        """The question was on the screen."""
        self.started_session_ns, self.started_ns = event.t_ns, working

    def choose(self, choice: int, working: int) -> None:
        """An answer was chosen."""
        self.choice = choice
        self.choices += 1
        if self.first_choice_ns is None:
            self.first_choice_ns = working

    def hand_in(self, answer: A, working: int) -> None:
        """The answer was handed in."""
        self.answer, self.answered_ns = answer, working

    @property
    def correct(self) -> bool | None:
        return None if self.answer is None else self.answer.correct

    @property
    def response_s(self) -> float | None:
        """From the question's appearance to the answer."""
        return self.since_start(self.answered_ns)

    @property
    def answer_row(self) -> Row:
        """Its cells that are called alike in every such task."""
        return {
            "correct": self.correct,
            "response_s": self.response_s,
            "choice_changes": max(self.choices - 1, 0),
        }


Q = TypeVar("Q", bound=AnsweredAttempt[Any, Any, Any])


def answered(attempts: Sequence[Q]) -> list[Q]:
    """The attempts that count and have an answer: one that the time limit cut off has none."""
    return [each for each in attempts if each.excluded_because is None and each.answer is not None]


def correctness(attempts: Sequence[AnsweredAttempt[Any, Any, Any]]) -> float | None:
    """Share of the answers that were right."""
    return mean([float(each.answer.correct) for each in attempts if each.answer is not None])


def response_time(attempts: Sequence[AnsweredAttempt[Any, Any, Any]]) -> float | None:
    """Mean seconds to the answer."""
    return mean([each.response_s for each in attempts if each.response_s is not None])


def answers_row(attempts: Sequence[AnsweredAttempt[Any, Any, Any]]) -> Row:
    """What the answered attempts of a stage give to the table of stages."""
    return {
        "n_answered": len(attempts),
        "n_correct": sum(each.answer is not None and each.answer.correct for each in attempts),
        "correctness_rate": correctness(attempts),
        "response_time_s": response_time(attempts),
    }


def mean(values: Sequence[float]) -> float | None:
    """None where there is nothing to take the mean of."""
    return fmean(values) if values else None
