"""What a study file may say of stages that ask about representations, or show stimulus sets."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, field_validator

from labapp.base.documents import MODEL, Path_, faults_at, refuse_again
from labapp.study.conditions import VARIABLE
from labapp.study.plugins.item import TaskStages

Visualisation = Literal["traversals", "exemplars"]

MODEL_ID = re.compile(MODEL)
ModelId = Annotated[str, Field(pattern=MODEL)]


class RepresentationStages(TaskStages):
    """Stages that ask about representations: several models, each a stage of its own.

    Attributes
    ----------
    models : ids of the models, as `labapp models list` shows them. They may contain `{variable}`s
        of the study's assignment or design.
    order : the order in which a participant meets the models. `random`: at random;
        `counterbalanced`: each model equally often in each position; `as_listed`: the same for
        everybody. With a `design`, set it there.
    time_limit_min : minutes after which a stage ends; without it there is no limit.
    intro : the text before the first stage.
    between : the text before each further stage.
    """

    models: tuple[str, ...] = Field(min_length=1, max_length=100)
    order: Literal["as_listed", "random", "counterbalanced"] = "random"
    time_limit_min: float | None = Field(default=None, gt=0, le=600)
    intro: str
    between: str

    def names(self) -> tuple[str, ...]:
        return self.models

    def compared(self) -> tuple[str, ...]:
        return self.models

    def texts(self) -> tuple[str, ...]:
        return (self.intro, self.between)

    @property
    def stages(self) -> int:
        return len(self.models)

    @field_validator("models")
    @classmethod
    def _model_ids(cls, models: tuple[str, ...]) -> tuple[str, ...]:
        wrong: dict[Path_, str] = {
            (index,): f"found {model!r}; allowed: model ids like sinelines/vae"
            for index, model in enumerate(models)
            if not MODEL_ID.fullmatch(VARIABLE.sub("0", model))
        }
        if wrong:
            raise faults_at(wrong)
        refuse_again(models)
        return models


class StimulusStages(TaskStages):
    """Stages that show one set of a stimulus set.

    Attributes
    ----------
    stimuli : id of the stimulus set as `labapp stimuli list` shows it, or a folder with a
        manifest.json.
    set : the number of the set in it, or a variable that gives it, such as "{set}".
    intro : the text before the stage.
    """

    stimuli: str = Field(min_length=1)
    set: int | str = 1
    intro: str

    def names(self) -> tuple[str, ...]:
        return self.stimuli, str(self.set)

    def texts(self) -> tuple[str, ...]:
        return (self.intro,)

    def stimulus_sets(self) -> tuple[str, ...]:
        return (self.stimuli,)
