"""What a study file may say of the tasks that judge explanations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator

from labapp.plugins.item import FlowOf, Item
from labapp.stimuli.manifest import ColourMap
from labapp.study.stages import StimulusStages
from labapp.tasks.judging.plan import JudgingTask, Rows


class MethodItem(Item):
    """The introduction to the method of the study's judging stages, with their worked examples.

    Attributes
    ----------
    method : the file of its text. `![](correct)`, `![](incorrect)`, `![](preview)` and `![](tree)`
        in it stand for the worked examples, the task and the tree of the stimulus set.
    """

    key: ClassVar[str] = "method"
    method: str

    def texts(self) -> tuple[str, ...]:
        return (self.method,)

    def problems(self, study: FlowOf) -> Iterator[str]:
        judges = any(isinstance(item.task_stages(), JudgingStages) for item in study.items)
        if study.whole and not judges:
            yield "method only with stages that judge explanations; there are none"


class WarmUpItem(Item):
    """Exercises with a decision tree over fruits, before the studies of a tree of prototypes.

    Attributes
    ----------
    warm_up : which one: `fruits`.
    intro : its text; without it the one that is named like the exercises.
    """

    key: ClassVar[str] = "warm_up"
    warm_up: Literal["fruits"]
    intro: str | None = None

    def texts(self) -> tuple[str, ...]:
        return (self.intro or f"texts/{{language}}/warm-up-{self.warm_up}.md",)


class JudgingStages(StimulusStages):
    """A task that judges explanations: the photos of one set, one after another (paper 003).

    Attributes
    ----------
    labels : whether the true class is told; for heatmap-distinction alone.
    marks : whether below its name stands what it can be told by (published: the name alone).
    order : of the photos: as the set lists them, or by lot for each participant.
    rows : of prototypes where a prediction is judged: `sorted`, the most similar first (figures A10
        and A14), or `shuffled` (appendix A); where classes are told apart, they always are.
    colour_map : of heatmaps; by default the published one of their scale.
    description : the text of the task that can be opened at any time.
    time_limit_min : minutes after which the stage ends; without it there is no limit.
    """

    task: JudgingTask
    set: int | str = "{set}"
    labels: bool = False
    marks: bool = False
    order: Literal["as_listed", "random"] = "random"
    rows: Rows | None = None
    colour_map: ColourMap | None = None
    description: str
    time_limit_min: float | None = Field(default=None, gt=0, le=600)

    def texts(self) -> tuple[str, ...]:
        return (*super().texts(), self.description)

    @property
    def earns(self) -> frozenset[str]:
        return frozenset({"per_above_chance"})

    @property
    def row_order(self) -> Rows:
        """The order of the rows of prototypes."""
        return self.rows or ("sorted" if self.task == "prototype-agreement" else "shuffled")

    @field_validator("rows")
    @classmethod
    def _of_predictions(cls, rows: Rows | None, info: ValidationInfo) -> Rows | None:
        if rows is not None and info.data.get("task") != "prototype-agreement":
            raise ValueError("only for prototype-agreement: elsewhere their order is given")
        return rows

    @field_validator("marks")
    @classmethod
    def _below_labels(cls, marks: bool, info: ValidationInfo) -> bool:
        if marks and not info.data.get("labels"):
            raise ValueError("true only with labels: true, below which they stand")
        return marks

    @field_validator("labels")
    @classmethod
    def _of_heatmaps(cls, labels: bool, info: ValidationInfo) -> bool:
        if labels and info.data.get("task") != "heatmap-distinction":
            raise ValueError("true only for heatmap-distinction: elsewhere it is the answer")
        return labels
