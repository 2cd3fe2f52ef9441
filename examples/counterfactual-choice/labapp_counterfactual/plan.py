"""The part of a plan, and how it is made for a participant."""

from __future__ import annotations

from typing import Literal

from labapp.base.errors import StudyError
from labapp.models.representations.space import BaseSampling, Display
from labapp.study.conditions import in_rounds
from labapp.study.planner import Planner
from labapp.study.plugins.part import RepresentationPart
from labapp.study.representations import stage_fields
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
    fields = stage_fields(planner, stages, number, of, model)
    dials = len(fields["dimensions"])
    if dials < stages.candidates:
        raise StudyError(
            f"{planner.loaded.path}: counterfactual-choice asks for {stages.candidates} "
            f"candidates, and {model} has {dials} dials.",
            todo="Ask for fewer candidates: each needs a dial of its own.",
        )
    purpose = (planner.study.id, planner.participant, "counterfactual", number)
    asked = in_rounds(range(dials), stages.questions, planner.seed, *purpose)
    return CounterfactualPart(**fields, asked=asked, candidates=stages.candidates)
