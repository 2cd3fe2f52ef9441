"""What a study file may say of interactive reconstruction."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from labapp.plugins.item import Item
from labapp.study.stages import RepresentationStages

SkipRule = Literal["after", "always", "never"]


class ReconstructionTutorial(Item):
    """The tutorial: boxes whose dials can be turned."""

    key: ClassVar[str] = "tutorial"
    tutorial: Literal["reconstruction"]

    def texts(self) -> tuple[str, ...]:
        return (f"texts/{{language}}/tutorial-{self.tutorial}.md",)


class ReconstructionPractice(Item):
    """The practice on circles, all of which must be aligned. intro: the text before it; None for
    the one that is named like the practice."""

    key: ClassVar[str] = "practice"
    practice: Literal["circles"]
    intro: str | None = None

    def texts(self) -> tuple[str, ...]:
        return (self.intro or f"texts/{{language}}/practice-{self.practice}.md",)


class Stages(RepresentationStages):
    """Interactive reconstruction with one or several models.

    marks: a calibration. There is no target alignment; the participant marks where the pictures
    are "far away" and "close enough" (paper 000, A.2.3), and the introductions tell of that.
    """

    task: Literal["reconstruction"]
    trials: int = Field(ge=1, le=1000)
    skip: SkipRule = "after"
    skip_after_s: float | None = Field(default=None, gt=0, le=3600)
    inactivity_s: float = Field(default=3.0, gt=0, le=60)
    active_time: Literal["paused", "as_published"] = "paused"
    target_alignment: float | None = Field(default=None, gt=0, le=1)
    distance: Literal["sinelines", "dsprites", "dsprites_as_published", "mnist"] | None = None
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
