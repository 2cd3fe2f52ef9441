"""The part of a plan, and how it is made for a participant."""

from __future__ import annotations

from typing import Literal

from labapp.errors import StudyError
from labapp.plugins.part import RepresentationPart
from labapp.representations.space import LatentSpace
from labapp.study.assignment import shuffled
from labapp.study.defaults import Display
from labapp.study.planner import Planner
from labapp.study.representations import BaseSampling
from labapp_counterfactual.study import CounterfactualStages

Z = tuple[float, ...]
"""A dial state: a number a dimension."""


class CounterfactualPart(RepresentationPart):
    """A stage of counterfactual choice.

    Attributes
    ----------
    asked : tuple of int
        The dimension, from 0, that each question is about.
    candidates : int
        Pictures to choose from.
    """

    part: Literal["counterfactual_choice"] = "counterfactual_choice"
    role: Literal["stage", "practice"] = "stage"
    display: Display
    asked: tuple[int, ...]
    candidates: int
    sampling: BaseSampling
    time_limit_s: float | None
    think_aloud: bool

    @property
    def task(self) -> str:
        return "counterfactual-choice"

    @property
    def trials(self) -> int:
        return len(self.asked)


def stage(
    planner: Planner, stages: CounterfactualStages, number: int, of: int, model: str
) -> CounterfactualPart:
    """A stage as the study says. Raises StudyError for more candidates than the model has dials."""
    known = planner.representations.represented(model)
    space = LatentSpace.from_json(known.dimensions)
    if len(space) < stages.candidates:
        raise StudyError(
            f"{planner.loaded.path}: counterfactual-choice asks for {stages.candidates} "
            f"candidates, and {model} has {len(space)} dials.",
            todo="Ask for fewer candidates: each needs a dial of its own.",
        )
    limit = stages.time_limit_min
    return CounterfactualPart(
        id=f"stage-{number}",
        title=f"Stage {number}",
        number=number,
        of=of,
        model=model,
        display=known.defaults.display,
        dimensions=known.dimensions,
        asked=asked(planner, len(space), stages.questions, number),
        candidates=stages.candidates,
        sampling=known.sampling,
        time_limit_s=None if limit is None else limit * 60,
        think_aloud=stages.think_aloud,
    )


def asked(planner: Planner, dials: int, questions: int, number: int) -> tuple[int, ...]:
    """The dimension of each question: every dial once before any comes again."""
    rounds = -(-questions // dials)
    study, participant = planner.study.id, planner.participant
    order = [
        dimension
        for turn in range(rounds)
        for dimension in shuffled(
            range(dials), planner.seed, study, participant, "counterfactual", number, turn
        )
    ]
    return tuple(order[:questions])
