"""What a study file may say of its stages: one task, several representations, and questions."""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from labapp.documents import Strict
from labapp.stimuli.manifest import ColourMap
from labapp.study.conditions import VARIABLE
from labapp.study.judging import JudgingTask

SkipRule = Literal["after", "always", "never"]
Visualisation = Literal["traversals", "exemplars"]
VISUALISATIONS: tuple[Visualisation, ...] = ("traversals", "exemplars")

MODEL_ID = re.compile(r"[a-z0-9]+/[a-z0-9][a-z0-9-]*")


class AnyStages(Strict):
    """What stages of every task have: several models, each a stage, and what is asked after it.

    Models and texts may hold `{variable}`s of the study's assignment.
    """

    models: tuple[str, ...] = Field(min_length=1)
    order: Literal["as_listed", "random", "counterbalanced"] = "random"
    time_limit_min: float | None = Field(default=None, gt=0, le=600)
    think_aloud: bool = True
    after: tuple[str, ...] = ()

    def names(self) -> tuple[str, ...]:
        """What it names that may hold variables, texts aside."""
        return self.models

    @field_validator("models")
    @classmethod
    def _model_ids(cls, models: tuple[str, ...]) -> tuple[str, ...]:
        for model in models:
            if not MODEL_ID.fullmatch(VARIABLE.sub("0", model)):
                raise ValueError(f"{model!r} is not a model id like sinelines/vae")
        if len(set(models)) != len(models):
            raise ValueError("a model is listed twice")
        return models

    @field_validator("after")
    @classmethod
    def _once_each(cls, after: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(after)) != len(after):
            raise ValueError("a questionnaire is listed twice")
        return after


class Stages(AnyStages):
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
    def _introductions(cls, said: Any) -> Any:
        if isinstance(said, dict) and said.get("marks") is True:
            first, further = (
                f"texts/{{language}}/calibration-{which}.md" for which in ("first", "further")
            )
            return {"intro": first, "between": further, **said}
        return said

    @field_validator("marks")
    @classmethod
    def _no_target(cls, marks: bool, info: ValidationInfo) -> bool:
        if marks and info.data.get("target_alignment") is not None:
            raise ValueError(
                "cannot stand beside target_alignment: a calibration has no target that is reached"
            )
        return marks


class SingleDimensionStages(AnyStages):
    """The single-dimension task: each dial of a model is asked about `questions_per_dimension`
    times in a row, beside traversals or exemplars of it."""

    task: Literal["single-dimension"]
    visualisation: Visualisation
    questions_per_dimension: int = Field(default=2, ge=1, le=100)
    sampling: Literal["held_out", "prior", "uniform"] | None = None
    intro: str = "texts/{language}/single-first.md"
    between: str = "texts/{language}/single-further.md"


class JudgingStages(Strict):
    """A task that judges explanations: the photos of one set, one after another (paper 003).

    stimuli: id or folder of a stimulus set; set: its number, or a variable that gives it. labels:
    the true class is told. order: of the photos, as the set lists them, or seeded by participant;
    where the rows of a photo are to be shuffled, they always are. colour_map: of heatmaps, by
    default the published one of their scale. description: what can be opened at any time.
    """

    task: JudgingTask
    stimuli: str = Field(min_length=1)
    set: int | str = "{set}"
    labels: bool = False
    order: Literal["as_listed", "random"] = "random"
    colour_map: ColourMap | None = None
    description: str
    intro: str
    time_limit_min: float | None = Field(default=None, gt=0, le=600)
    think_aloud: bool = True
    after: tuple[str, ...] = ()

    def names(self) -> tuple[str, ...]:
        """What it names that may hold variables, texts aside."""
        return self.stimuli, str(self.set)

    @field_validator("labels")
    @classmethod
    def _of_heatmaps(cls, labels: bool, info: ValidationInfo) -> bool:
        if labels and info.data.get("task") != "heatmap-distinction":
            raise ValueError("true only for heatmap-distinction: elsewhere it is the answer")
        return labels
