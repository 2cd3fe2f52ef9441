"""What a study file may say of interactive reconstruction."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from labapp.models.representations.distance import DistanceName
from labapp.study.plugins.item import Item
from labapp.study.stages import ModelId, RepresentationStages
from labapp.tasks.reconstruction.plan import SkipRule


class ReconstructionTutorial(Item):
    """The tutorial: boxes whose dials can be turned.

    Attributes
    ----------
    tutorial : which one; `reconstruction`, `traversals` and `exemplars` are named like their tasks.
    model : whose dials can be turned; by default circles.
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
    trials : questions a stage.
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
    labels : whether the participant can name the dials (`editable`) or not (`fixed`); without it as
        published.
    marks : a calibration. There is no target alignment; the participant marks where the pictures
        are "far away" and "close enough" (paper 000, A.2.3), and the introductions tell of that.
    sampling : where targets are drawn from: `held_out` pictures, each once in a `shuffled_pass`,
        the model's `prior`, or `uniform` over its dials; without it what suits the model.
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
                "true only without target_alignment: a calibration has no target that is reached"
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
