"""What a study file may say of the single-dimension task."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from labapp.plugins.item import Item
from labapp.study.stages import ModelId, RepresentationStages, Visualisation


class SingleDimensionTutorial(Item):
    """The tutorial about one dial.

    Attributes
    ----------
    tutorial : beside what the dial is explained: `traversals` or `exemplars`.
    dial : of the two the one that its examples are about; by default the first as published, the
        second where the presentation is improved (the practice then asks about a dial that was not
        explained).
    intro : its text; without it the one that is named like the tutorial.
    """

    key: ClassVar[str] = "tutorial"
    tutorial: Visualisation
    dial: Literal[1, 2] | None = None
    intro: str | None = None

    def texts(self) -> tuple[str, ...]:
        return (self.intro or f"texts/{{language}}/tutorial-{self.tutorial}.md",)


class SingleDimensionPractice(Item):
    """The practice on circles.

    Attributes
    ----------
    practice : which one: `circles-traversals` or `circles-exemplars`.
    model : practised with three questions about this model's first dial instead; then the text
        before it, which is about circles, is best an `intro` of the study's own.
    intro : the text before it; without it the one that is named like the practice.
    feedback : whether the right answer is told after each question; by default not as published,
        and told where the presentation is improved.
    """

    key: ClassVar[str] = "practice"
    practice: Literal["circles-traversals", "circles-exemplars"]
    model: ModelId | None = None
    intro: str | None = None
    feedback: bool | None = None

    @property
    def visualisation(self) -> Visualisation:
        """What is practised."""
        return "traversals" if self.practice == "circles-traversals" else "exemplars"

    def texts(self) -> tuple[str, ...]:
        return (self.intro or f"texts/{{language}}/practice-{self.practice}.md",)


class SingleDimensionStages(RepresentationStages):
    """The single-dimension task: each dial of a model is asked about several times in a row, beside
    traversals or exemplars of it.

    Attributes
    ----------
    visualisation : what a dial is shown by: `traversals` or `exemplars`.
    questions_per_dimension : questions about each dial.
    sampling : where the pictures are drawn from: `held_out` pictures, the model's `prior`, or
        `uniform` over its dials; without it what suits the model.
    """

    task: Literal["single-dimension"]
    visualisation: Visualisation
    questions_per_dimension: int = Field(default=2, ge=1, le=100)
    sampling: Literal["held_out", "prior", "uniform"] | None = None
    intro: str = "texts/{language}/single-first.md"
    between: str = "texts/{language}/single-further.md"

    @property
    def plannable(self) -> bool:
        return True

    @property
    def earns(self) -> frozenset[str]:
        return frozenset({"per_correct"})
