"""The parts of a plan that reconstruct, with what the published studies fix filled in.

Also what a study file may say about interactive reconstruction.
"""

from __future__ import annotations

from itertools import cycle
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from labapp.models.representations.distance import DistanceName
from labapp.models.representations.space import Dimension, Discrete, LatentSpace
from labapp.study.planner import Planner
from labapp.study.plugins.item import Item
from labapp.study.representations import PRACTISED, stage_fields
from labapp.study.stages import ModelId, RepresentationStages
from labapp.tasks.reconstruction.plan import ReconstructionPart, SkipRule, TutorialBox, TutorialPart

CIRCLES_PAIRS = (((0.0, 0.0), (0.6, 0.3)), ((1.0, 1.0), (0.1, 0.9)), ((0.4, 0.75), (0.2, 0.0)))
"""The practice questions as (z, z') (paper 000, A.4, and its published application)."""

BOXES = ((0.5, 0.0), (0.2, 0.8), (0.9, 1.0), (0.05, 0.25))
"""Where the sliders of the tutorial's four boxes are at first, as shares of their range; more
sliders take the two in turn. Of circles only, where the study names no other model: showing a
stage's data with its true sliders here would teach one of the representations to be compared."""
PRACTICE_TRIALS = 3
"""Questions of a practice with a model that the study names; they are drawn as in a stage."""


def tutorial(
    planner: Planner, part_id: str, document: str, item: ReconstructionTutorial
) -> TutorialPart:
    """The four boxes to play with."""
    model = item.model or PRACTISED
    known = planner.representations.describe_model(model)
    dials = LatentSpace.from_json(known.dimensions).dimensions
    return TutorialPart(
        id=part_id,
        title="Tutorial",
        document=document,
        boxes=tuple(
            TutorialBox(
                model=model,
                display=known.display,
                chart=known.chart,
                dimensions=known.dimensions,
                start=tuple(map(_at, dials, cycle(shares))),
            )
            for shares in BOXES
        ),
    )


def _at(dial: Dimension, share: float) -> float:
    """A share of a slider's range, on its step."""
    if isinstance(dial, Discrete):
        return dial.snap(share * (dial.k - 1))
    return dial.snap(dial.low + share * (dial.high - dial.low))


def practice(planner: Planner, part_id: str, item: ReconstructionPractice) -> ReconstructionPart:
    """The targets of the practice, all of which must be aligned: the three published ones on
    circles, or drawn ones of the model that the study names."""
    model = item.model or PRACTISED
    known = planner.representations.describe_model(model)
    values = dict.fromkeys(("distance", "target_alignment", "skip_after_s"))
    return ReconstructionPart(
        id=part_id,
        title="Practice",
        role="practice",
        number=1,
        of=1,
        model=model,
        display=known.display,
        chart=known.chart,
        dimensions=known.dimensions,
        trials=practice_trials(item),
        sampling=known.sampling if item.model else "fixed",
        pairs=() if item.model else CIRCLES_PAIRS,
        **planner.representations.require_values(model, values),
        skip="never",
        inactivity_s=3.0,
        active_time="paused",
        time_limit_s=None,
        overlay_at_start=known.task is not None and known.task.overlay_at_start,
        labels_editable=False,
        think_aloud=planner.thinks_aloud,
    )


def practice_trials(item: ReconstructionPractice) -> int:
    return PRACTICE_TRIALS if item.model else len(CIRCLES_PAIRS)


def stage(planner: Planner, stages: Stages, number: int, of: int, model: str) -> ReconstructionPart:
    """A stage of interactive reconstruction, or of its calibration."""
    known = planner.representations.describe_model(model)
    task = known.task
    target, skip_after = stages.target_alignment, stages.skip_after_s
    if task is None and stages.marks:
        target = 1.0  # nobody aims at it
    if task is None and stages.skip != "after":
        skip_after = 0.0  # nothing waits for it
    labels = None if stages.labels is None else stages.labels == "editable"
    values = {
        "distance": stages.distance,
        "target_alignment": target,
        "skip_after_s": skip_after,
        "overlay_at_start": stages.overlay_at_start,
        "labels_editable": labels,
    }
    return ReconstructionPart(
        **stage_fields(planner, stages, number, of, model, stages.sampling),
        trials=stages.trials,
        **planner.representations.require_values(model, values),
        skip=stages.skip,
        inactivity_s=stages.inactivity_s,
        active_time=stages.active_time,
        marks=stages.marks,
    )


def fill_introduction(part: ReconstructionPart, stages: Stages) -> dict[str, str]:
    """What the introduction to a stage tells of it."""
    limit = stages.time_limit_min
    return {
        "target": f"{part.target_alignment * 100:g}",
        "skip_after_s": f"{part.skip_after_s:g}",
        **({} if limit is None else {"minutes": f"{limit:g}"}),
    }


class ReconstructionTutorial(Item):
    """The tutorial: boxes whose sliders can be moved.

    Attributes
    ----------
    tutorial : which one; `reconstruction`, `traversals` and `exemplars` are named like their tasks.
    model : the model whose sliders can be moved (default: circles).
    intro : its text; without it the one that is named like the tutorial.
    """

    key: ClassVar[str] = "tutorial"
    tutorial: Literal["reconstruction"]
    model: ModelId | None = None
    intro: str | None = None

    def texts(self) -> tuple[str, ...]:
        return (self.intro or f"texts/{{language}}/tutorial-{self.tutorial}.md",)


class ReconstructionPractice(Item):
    """The practice on circles, all of which must be aligned.

    Attributes
    ----------
    practice : which one: `circles` before reconstruction.
    model : practised with three targets drawn from this model instead; then the text before it,
        which is about circles, is best an `intro` of the study's own.
    intro : the text before it; without it the one that is named like the practice.
    """

    key: ClassVar[str] = "practice"
    practice: Literal["circles"]
    model: ModelId | None = None
    intro: str | None = None

    def texts(self) -> tuple[str, ...]:
        return (self.intro or f"texts/{{language}}/practice-{self.practice}.md",)


class Stages(RepresentationStages):
    """Interactive reconstruction with one or several models.

    Attributes
    ----------
    trials : the number of questions per stage.
    skip : whether a question can be skipped: `always`, `never`, or `after` some time.
    skip_after_s : seconds of active time after which it can, with `skip: after`; without it the
        published ones of the data set.
    inactivity_s : seconds without a movement after which time no longer counts as active.
    active_time : whether active time stops in pauses (`paused`), or runs on as in the published
        study (`as_published`).
    target_alignment : how alike the pictures must be, 0 to 1, for a question to be solved; without
        it the published one of the data set.
    distance : by what the pictures are compared; without it the published one of the data set.
    overlay_at_start : whether the pictures lie over each other at first; without it as published.
    labels : whether the participant can name the sliders (`editable`) or not (`fixed`); without it
        as published.
    marks : a calibration. There is no target alignment; the participant marks where the pictures
        are "far away" and "close enough" (paper 000, A.2.3), and the introductions explain this.
    sampling : where targets are drawn from: `held_out` pictures, each once in a `shuffled_pass`,
        the model's `prior`, or `uniform` over its sliders; without it what suits the model.
    """

    task: Literal["reconstruction"]
    trials: int = Field(ge=1, le=1000)
    skip: SkipRule = "after"
    skip_after_s: float | None = Field(default=None, gt=0, le=3600)
    inactivity_s: float = Field(default=3.0, gt=0, le=60)
    active_time: Literal["paused", "as_published"] = "paused"
    target_alignment: float | None = Field(default=None, gt=0, le=1)
    distance: DistanceName | None = None
    overlay_at_start: bool | None = None
    labels: Literal["editable", "fixed"] | None = None
    marks: bool = False
    sampling: Literal["held_out", "shuffled_pass", "prior", "uniform"] | None = None
    intro: str = "texts/{language}/stage-first.md"
    between: str = "texts/{language}/stage-further.md"

    @model_validator(mode="before")
    @classmethod
    def _introductions(cls, value: Any) -> Any:
        if isinstance(value, dict) and value.get("marks") is True:
            first, further = (
                f"texts/{{language}}/calibration-{which}.md" for which in ("first", "further")
            )
            return {"intro": first, "between": further, **value}
        return value

    @field_validator("marks")
    @classmethod
    def _no_target(cls, marks: bool, info: ValidationInfo) -> bool:
        if marks and info.data.get("target_alignment") is not None:
            raise ValueError(
                "true only without target_alignment, because a calibration has no target to reach"
            )
        return marks

    @property
    def plannable(self) -> bool:
        return not self.marks

    def with_target(self, alignment: float) -> Self:
        return self if self.marks else self.model_copy(update={"target_alignment": alignment})

    @property
    def earns(self) -> frozenset[str]:
        return frozenset() if self.marks else frozenset({"per_solved"})
