"""How a simulated participant answers single-dimension questions.

Pictures are matched with examples as in the published study: by "match[ing] directly", in "blind
trust" in "visual matching" (paper 000, 6.1.4): of the properties that set the examples of the
choices apart, how near is the picture to those of each? So mistakes come from the pictures, and
from the noise with which they are seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import numpy as np
from numpy.typing import NDArray

from labapp.base.clock import NS
from labapp.models.representations.space import Chart, Display
from labapp.record.events.commands import HandIn, Next
from labapp.session.simulation.percept import Eye
from labapp.session.simulation.person import GUESSES, RECOGNISES, Experience
from labapp.session.simulation.view import Array, on_screen
from labapp.study.conditions import generator
from labapp.study.plugins.simulated import DEVICE, Actor, SimulatedParticipant, Step, TrialKey
from labapp.study.stages import Visualisation
from labapp.tasks.single_dimension.events import Choose, Rate, ShowMoreExamples
from labapp.tasks.single_dimension.machine import (
    POINTS,
    RATINGS,
    ChoiceQuestion,
    Examples,
    SingleDimensionTask,
)
from labapp.tasks.single_dimension.plan import SingleDimensionPart

SURE = 0.5
"""Someone who is surer of an answer than this says that it is clear; others say that they guess
(ours)."""
WEIGHERS = frozenset({"understanding", "partial"})
"""They look in what examples differ, before they match a picture with them."""


class Matcher(Actor[SingleDimensionPart]):
    def __init__(self, part: SingleDimensionPart, participant: SimulatedParticipant) -> None:
        super().__init__(part, participant)
        self._told: TrialKey | None = None
        self._guessed: TrialKey | None = None

    def act(self) -> None:
        participant, runner, part = self.participant, self.participant.runner, self.part
        task = cast(SingleDimensionTask, runner.machine.tasks[runner.state.index])
        question: ChoiceQuestion | None = self.state.trial
        if question is None or not (question.open or question.answered):
            participant.later(participant.pace.stride_s)
            return
        rng = generator(*participant.seed, part.id, question.number)
        key = (part.id, question.number, question.attempt)
        practice = part.role == "practice"
        if question.answered and not practice and self._told != key:
            self._told = key
            self._remember(question)
        name = participant.strategy
        guesses = name == "careless" or (name == "random" and not practice)
        choices = task.choices(question)

        def match_shown() -> ChoiceMatch:
            eye = Eye(rng, participant.person.noise)
            weighs = name in WEIGHERS or practice
            shown = runner.pictures
            matching = match(
                eye, shown, part.visualisation, part.display, part.chart, choices, weighs=weighs
            )
            sees = matching.sure >= SURE
            participant.think_aloud(RECOGNISES if sees else GUESSES)
            return matching

        if guesses and key != self._guessed:
            self._guessed = key
            participant.think_aloud(GUESSES)
        participant.go_through(key, steps(choices, None if guesses else match_shown, rng))

    def _remember(self, question: ChoiceQuestion) -> None:
        """How a question went, once its answer was told."""
        runner = self.participant.runner
        experience = self.participant.experience.setdefault(self.part.id, Experience())
        experience.solved += bool(question.right)
        experience.missed += not question.right
        working = runner.state.pauses.working_ns(runner.clock.now_ns())
        experience.seconds.append((working - (question.started_ns or 0)) / NS)
        experience.understanding = (question.ratings["understanding"] - 1) / (POINTS - 1)


OTHER_EXAMPLES_RATE = 0.25
CHANGE_RATE = 0.15
RATING_SD = 0.7
"""Of a rating, in points (ours)."""


def steps(
    choices: int, matched: Callable[[], ChoiceMatch] | None, rng: np.random.Generator
) -> Iterator[Step]:
    """What a simulated participant does with a question, from its appearance to Next.

    It matches the picture with the examples beside it (see `matching`), rates itself by how clear
    that was, and at times asks for other examples or changes its mind (paper 000, Table A.3:
    ratings of 3.4 to 4.1 in the mean, 12 to 19 s a question).

    matched: looks at the pictures; None guesses.
    """
    while rng.random() < OTHER_EXAMPLES_RATE:
        yield Step(ShowMoreExamples(), "look")
    if rng.random() < CHANGE_RATE:
        yield Step(Choose(int(rng.integers(choices)), DEVICE), "look")
    matching = matched() if matched else ChoiceMatch(int(rng.integers(choices)), 0.0, 0.0)
    yield Step(Choose(matching.choice, DEVICE), "look")
    for item, clear in zip(RATINGS, (matching.sure, matching.sense), strict=True):
        rating = round(float(rng.normal(1 + clear * (POINTS - 1), RATING_SD)))
        yield Step(Rate(item, min(max(rating, 1), POINTS), DEVICE))
    yield Step(HandIn())
    yield Step(Next())


@dataclass(frozen=True, slots=True)
class ChoiceMatch:
    """choice: from 0. sure: how much nearer it is than the next best, 0..1. sense: how clearly the
    choices' examples differ in what they differ most in, 0..1."""

    choice: int
    sure: float
    sense: float


def match(
    eye: Eye,
    shown: Examples,
    visualisation: Visualisation,
    display: Display,
    chart: Chart | None,
    choices: int,
    *,
    weighs: bool,
) -> ChoiceMatch:
    """The choice whose examples look most like the picture asked about. weighs: looks first in what
    the examples of one choice agree and those of others differ; else everything counts the same."""
    assert shown.question is not None
    asked = eye.look(on_screen(shown.question, display, chart), 2)
    bins = [
        np.stack([eye.look(on_screen(example, display, chart)) for example in examples])
        for examples in _by_choice(shown.rows, visualisation, choices)
    ]
    means = np.stack([cell.mean(axis=0) for cell in bins])
    within = np.mean([cell.var(axis=0) for cell in bins], axis=0) + eye.noise**2
    between = means.var(axis=0)
    clear = between / (between + within)
    weights = clear if weighs else np.ones_like(clear)
    far = (weights * (asked - means) ** 2 / within).sum(axis=1)
    first, second = np.argsort(far)[:2]
    return ChoiceMatch(
        int(first), float(1 - np.sqrt(far[first] / (far[second] + 1e-9))), clear.max()
    )


def _by_choice(
    rows: Array, visualisation: Visualisation, choices: int
) -> Sequence[NDArray[np.float32]]:
    """The pictures that stand for each choice; of a traversal's seven steps the first two for Low,
    the last two for High (as printed above them, they go from Low to High)."""
    if visualisation == "exemplars":
        return [rows[choice] for choice in range(choices)]
    steps = rows.shape[1]
    edges = np.linspace(0, steps, choices + 1)
    columns = [
        [step for step in range(steps) if low <= step + 0.5 < high] for low, high in pairwise(edges)
    ]
    return [rows[:, own].reshape(-1, *rows.shape[2:]) for own in columns]
