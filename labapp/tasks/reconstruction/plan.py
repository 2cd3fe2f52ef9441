"""Interactive reconstruction in a plan: the tutorial, the practice and the stages."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Literal

from labapp.models.representations.distance import TOLERANT
from labapp.models.representations.space import Continuous, Discrete, Display
from labapp.study.plugins.part import Dimensions, Drawing, PlannedPart, RepresentationPart, Target

TASK = "reconstruction"
CALIBRATION = "calibration"
"""Reconstruction without a target, in which the participant marks: a task of its own in the tables,
for its questions are never solved and must not be pooled with others."""
SkipRule = Literal["after", "always", "never"]
Sampling = Literal["held_out", "shuffled_pass", "prior", "uniform", "fixed"]


class TutorialBox(Drawing):
    """One of the tutorial's boxes: a picture with live sliders."""

    model: str
    display: Display
    dimensions: Dimensions
    start: tuple[float, ...]


class TutorialPart(PlannedPart):
    """The tutorial: a text, with boxes in which sliders can be tried."""

    part: Literal["tutorial"] = "tutorial"
    document: str
    boxes: tuple[TutorialBox, ...]

    def dials(self) -> Iterator[tuple[str, Dimensions]]:
        return ((box.model, box.dimensions) for box in self.boxes)


class ReconstructionPart(RepresentationPart):
    """A stage (or the practice) of the interactive reconstruction task.

    marks: a calibration, see `Stages`. inactivity_s: seconds without activity after which active
    time pauses.
    """

    part: Literal["reconstruction"] = "reconstruction"
    role: Literal["stage", "practice"]
    display: Display
    trials: int
    sampling: Sampling
    pairs: tuple[tuple[tuple[float, ...], tuple[float, ...]], ...] = ()
    distance: str
    target_alignment: float
    skip: SkipRule
    skip_after_s: float
    inactivity_s: float
    active_time: Literal["paused", "as_published"]
    time_limit_s: float | None
    overlay_at_start: bool
    labels_editable: bool
    think_aloud: bool
    marks: bool = False

    @property
    def task(self) -> str:
        return CALIBRATION if self.marks else TASK

    @property
    def solved_at(self) -> float | None:
        """The alignment with which a question is solved, 0-1; None in a calibration."""
        return None if self.marks else self.target_alignment

    @property
    def solved_by(self) -> str:
        if self.marks:
            return ""
        return f"an alignment of {self.target_alignment:g} by the distance {self.distance}"

    @property
    def tolerant(self) -> bool:
        """Whether points of a series agree that differ by less than a tolerance, which is drawn."""
        return self.distance in TOLERANT

    @cached_property
    def discrete(self) -> frozenset[int]:
        """The discrete dimensions, counted from 0."""
        dials = enumerate(self.space.dimensions)
        return frozenset(number for number, dial in dials if isinstance(dial, Discrete))

    def width(self, dimension: int) -> float | None:
        """Full width of a slider in its own unit; None for a discrete dimension."""
        dial = self.space.dimensions[dimension]
        return dial.high - dial.low if isinstance(dial, Continuous) else None

    def target(self) -> Target | None:
        """Of a stage that is no calibration. What is drawn in a shuffled pass, or fixed, is like
        what is drawn from the same sample."""
        if self.role != "stage" or self.marks:
            return None
        after_s = self.skip_after_s if self.skip == "after" else None
        sampling = self.sampling if self.sampling in ("prior", "uniform") else "held_out"
        return Target(self.model, sampling, self.distance, self.target_alignment, after_s)

    @property
    def solvable(self) -> int:
        return self.trials if self.role == "stage" else 0
