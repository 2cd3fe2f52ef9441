"""Decisions of the single-dimension task.

A question is answered by a choice and two ratings; handing them in tells the right choice, and Next
leads on. Without feedback handing in leads on itself. Nothing can be changed once it was handed in.

The state of a single-dimension stage. All its times are working time (without pauses), in ns. The
pictures of a single-dimension question, and of its tutorial.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labapp.models.representations.decoding import Array, decode_one, decode_rows
from labapp.models.representations.space import Discrete, LatentSpace
from labapp.record.events import Payload, UnstampedEvent
from labapp.record.events.commands import Command, HandIn
from labapp.record.events.registry import Pauses
from labapp.record.events.trials import LevelChosen
from labapp.study.conditions import attempt_at, draw_state, generator
from labapp.study.plugins import questions
from labapp.study.plugins.pictures import DecodedPictures, Session
from labapp.study.plugins.questions import QuestionsMachine
from labapp.tasks.single_dimension.events import (
    AnswerGiven,
    ChoiceMade,
    Choose,
    ExamplesRedrawn,
    QuestionDrawn,
    QuestionShown,
    Rate,
    RatingMade,
    ShowMoreExamples,
)
from labapp.tasks.single_dimension.plan import (
    REGIMES,
    Bounds,
    ExamplePart,
    Rows,
    SingleDimensionPart,
    Z,
    choices,
    draw_value,
    lay_out,
    put,
    spread_out,
)

RATINGS = ("confidence", "understanding")
POINTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceQuestion(questions.Question):
    """One question. z: dial state of its picture; correct: the right choice, from 0; resamples: how
    often other examples were asked for; right: whether the answer handed in was, None before.
    started_ns is None until the pictures are on the screen."""

    dimension: int
    z: Z
    correct: int
    bounds: Bounds
    examples: Rows
    resamples: int = 0
    choice: int | None = None
    ratings: Mapping[str, int] = field(default_factory=dict)
    right: bool | None = None

    @property
    def open(self) -> bool:
        """On the screen and not handed in: choice and ratings can be changed."""
        return self.started_ns is not None and self.right is None and self.outcome is None

    @property
    def answered(self) -> bool:
        """Handed in and told; Next leads on."""
        return self.right is not None and self.outcome is None

    @property
    def missing(self) -> tuple[str, ...]:
        """What is still to be given: choice, confidence, understanding."""
        lacking = () if self.choice is not None else ("choice",)
        return (*lacking, *(item for item in RATINGS if item not in self.ratings))


@dataclass(frozen=True, slots=True)
class SingleState(questions.QuestionsState[ChoiceQuestion]):
    """A stage of such questions."""


Percentiles = Mapping[int, NDArray[np.float32]]
LIMITS = ((1, 5), (48, 52), (95, 99))
"""Percentiles between which Low, Medium and High are drawn."""


@dataclass(frozen=True)
class SingleDimensionTask(QuestionsMachine[SingleState, ChoiceQuestion]):
    """A stage of questions about the dials of one representation.

    sample: held-out representation, shape (m, dimensions), needed by sampling `held_out`;
    percentiles: as `representations.decoders.PERCENTILES`, each of shape (dimensions,); seed and
    participant: for the draws; index: the part's place in the plan.
    """

    shown = QuestionShown

    part: SingleDimensionPart
    index: int
    space: LatentSpace
    sample: NDArray[np.float32] | None
    percentiles: Percentiles
    seed: int
    participant: str

    def initial(self, pauses: Pauses) -> SingleState:
        return SingleState(pauses)

    def choices(self, question: ChoiceQuestion) -> int:
        return choices(self.space, question.dimension)

    def decide(self, state: SingleState, command: Command, now_ns: int) -> Sequence[UnstampedEvent]:
        events = super().decide(state, command, now_ns)
        if isinstance(command, HandIn) and events and state.trial and not self.part.feedback:
            return (*events, *self.leave(state, self.after(state.trial, events[0].payload)))
        return events

    def draw(self, number: int, attempt: int) -> QuestionDrawn:
        return self._draw(number, attempt, number)

    def draw_chosen(self, number: int, attempt: int, chosen: LevelChosen) -> QuestionDrawn:
        return self._draw(number, attempt, chosen.item, chosen.value)

    def _draw(self, number: int, attempt: int, item: int, spread: float = 1.0) -> QuestionDrawn:
        """The state that the plan gives the question, else a drawn one whose dimension is
        overridden within a regime. item: what is asked, a place in `asked`; spread: of the regimes.
        """
        part, dimension = self.part, self.part.asked[item - 1]
        rng = self._generator(number, attempt, "question")
        bounds: Bounds = ()
        if not isinstance(self.space.dimensions[dimension], Discrete):
            bounds = tuple(
                (float(self.percentiles[low][dimension]), float(self.percentiles[high][dimension]))
                for low, high in LIMITS
            )
            bounds = bounds if spread == 1 else spread_out(bounds, spread)
        if part.answers:
            correct = REGIMES.index(part.answers[number - 1])
        else:
            correct = int(rng.integers(choices(self.space, dimension)))
        if part.states:
            z = part.states[number - 1]
        else:
            value = draw_value(self.space, dimension, bounds, correct, rng)
            z = put(self._state(rng), dimension, value)
        return QuestionDrawn(
            dimension=dimension,
            regime=REGIMES[correct] if bounds else "",
            value=z[dimension],
            z=z,
            correct=correct,
            bounds=bounds,
            examples=self._examples(bounds, dimension, number, attempt, 0),
        )

    def _examples(
        self, bounds: Bounds, dimension: int, number: int, attempt: int, others: int
    ) -> Rows:
        """The examples of a question; others: how often others were asked for."""
        rng = self._generator(number, attempt, "examples", others)
        visualisation = self.part.visualisation
        return lay_out(visualisation, self.space, dimension, bounds, lambda: self._state(rng), rng)

    def _generator(self, number: int, attempt: int, *purpose: str | int) -> np.random.Generator:
        stage_id = attempt_at(self.part.id, attempt)
        return generator(self.seed, self.participant, stage_id, number, *purpose)

    def _state(self, rng: np.random.Generator) -> Z:
        return draw_state(self.part.sampling, self.part.model, self.space, self.sample, rng)

    def drawn(self, payload: Payload, number: int, attempt: int) -> ChoiceQuestion | None:
        if not isinstance(payload, QuestionDrawn):
            return None
        return ChoiceQuestion(
            number=number,
            attempt=attempt,
            dimension=payload.dimension,
            z=payload.z,
            correct=payload.correct,
            bounds=payload.bounds,
            examples=payload.examples,
        )

    def answered(self, question: ChoiceQuestion) -> bool:
        return question.answered

    def right(self, question: ChoiceQuestion) -> bool | None:
        return question.right

    def answer(self, question: ChoiceQuestion, command: Command) -> Sequence[Payload]:
        if not question.open:
            return ()
        match command:
            case Choose(choice, device) if choice != question.choice:
                if 0 <= choice < self.choices(question):
                    return (ChoiceMade(choice, device),)
            case Rate(item, value, device) if value != question.ratings.get(item):
                if item in RATINGS and 1 <= value <= POINTS:
                    return (RatingMade(item, value, device),)
            case ShowMoreExamples():
                others = question.resamples + 1
                place = (question.number, question.attempt)
                rows = self._examples(question.bounds, question.dimension, *place, others)
                return (ExamplesRedrawn(others, rows),)
            case HandIn() if question.choice is not None and not question.missing:
                confidence, understanding = (question.ratings[item] for item in RATINGS)
                right = question.choice == question.correct
                return (AnswerGiven(question.choice, right, confidence, understanding),)
        return ()

    def after(self, question: ChoiceQuestion, payload: Payload) -> ChoiceQuestion:
        match payload:
            case ExamplesRedrawn():
                return replace(question, resamples=payload.number, examples=payload.examples)
            case ChoiceMade():
                return replace(question, choice=payload.choice)
            case RatingMade():
                return replace(question, ratings={**question.ratings, payload.item: payload.value})
            case AnswerGiven():
                return replace(question, right=payload.correct)
        return question


@dataclass(frozen=True, slots=True)
class Examples:
    """Pictures beside a single-dimension question: float32, shape (rows, columns, *shape).
    question is the picture asked about, None in the tutorial."""

    rows: Array
    question: Array | None = None


class ExamplePictures(DecodedPictures[SingleDimensionPart | ExamplePart]):
    """The question's picture is decoded once, the examples beside it when others are asked for."""

    shown: Examples | None

    def follow(self, session: Session) -> None:
        if isinstance(self.part, ExamplePart):
            self._show((0,), self.part.examples, None)
            return
        state: SingleState = session.part_state
        if (question := state.trial) is not None:
            key = (question.number, question.attempt, question.resamples)
            self._show(key, question.examples, question.z)

    def due(self, state: Any) -> Command | None:
        return None if isinstance(self.part, ExamplePart) else super().due(state)

    def _show(self, key: tuple[int, ...], rows: Rows, z: Z | None) -> None:
        decoder, before = self.context.decoders[self.part.model], self.shown
        same = self._of is not None and self._of[:-1] == key[:-1]

        def decode() -> Examples:
            if same and before is not None:  # other examples beside the same question
                return Examples(decode_rows(decoder, rows), before.question)
            return Examples(
                decode_rows(decoder, rows), None if z is None else decode_one(decoder, z)
            )

        self.show(key, decode)
