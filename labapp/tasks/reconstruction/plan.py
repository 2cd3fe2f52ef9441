"""Interactive reconstruction in a plan: the tutorial, the practice and the stages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from labapp.documents import Strict
from labapp.plugins.part import PlannedPart, RepresentationPart, Target
from labapp.study.defaults import Display
from labapp.tasks.reconstruction.study import SkipRule

Sampling = Literal["held_out", "shuffled_pass", "prior", "uniform", "fixed"]


class TutorialBox(Strict):
    """One of the tutorial's boxes: a picture with live dials."""

    model: str
    display: Display
    dimensions: tuple[dict[str, Any], ...]
    start: tuple[float, ...]


class TutorialPart(PlannedPart):
    """The tutorial: a text, with boxes in which dials can be tried."""

    part: Literal["tutorial"] = "tutorial"
    document: str
    boxes: tuple[TutorialBox, ...]

    def models(self) -> Iterator[str]:
        return (box.model for box in self.boxes)


class ReconstructionPart(RepresentationPart):
    """A stage (or the practice) of the interactive reconstruction task.

    dimensions: the latent space as `LatentSpace.to_json` rows, so that a journal can be read
    without the model. marks: a calibration, see `Stages`.
    """

    part: Literal["reconstruction"] = "reconstruction"
    role: Literal["stage", "practice"]
    display: Display
    dimensions: tuple[dict[str, Any], ...]
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
