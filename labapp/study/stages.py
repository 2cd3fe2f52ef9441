"""What a study file may say of its stages: one task, several representations, and questions."""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from labapp.documents import Strict
from labapp.stimuli import masking
from labapp.stimuli.manifest import ColourMap, Fill, Sign
from labapp.study.conditions import VARIABLE
from labapp.study.judging import JudgingTask, Rows
from labapp.study.unmasking import KeyboardRule

SkipRule = Literal["after", "always", "never"]
Visualisation = Literal["traversals", "exemplars"]
VISUALISATIONS: tuple[Visualisation, ...] = ("traversals", "exemplars")

MODEL_ID = re.compile(r"[a-z0-9]+/[a-z0-9][a-z0-9-]*")


class AnyStages(Strict):
    """What stages of every task have: several models, each a stage, and what is asked after it.

    Models and texts may hold `{variable}`s of the study's assignment.
    """

    models: tuple[str, ...] = Field(min_length=1, max_length=100)
    order: Literal["as_listed", "random", "counterbalanced"] = "random"
    time_limit_min: float | None = Field(default=None, gt=0, le=600)
    think_aloud: bool = True
    after: tuple[str, ...] = Field(default=(), max_length=50)

    def names(self) -> tuple[str, ...]:
        """What it names that may hold variables, texts aside."""
        return self.models

    @field_validator("models")
    @classmethod
    def _model_ids(cls, models: tuple[str, ...]) -> tuple[str, ...]:
        for model in models:
            if not MODEL_ID.fullmatch(VARIABLE.sub("0", model)):
                raise ValueError(f"model ids like sinelines/vae; {model!r} is none")
        if len(set(models)) != len(models):
            raise ValueError("each model once")
        return models

    @field_validator("after")
    @classmethod
    def _once_each(cls, after: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(after)) != len(after):
            raise ValueError("each questionnaire once")
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
                "true only without target_alignment: a calibration has no target that is reached"
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

    stimuli: id of a stimulus set, or a folder with a manifest.json; set: its number, or a variable
    that gives it. labels: the true class is told; marks: and below its name what it can be told by
    (published: the name alone). order: of the photos, as the set lists them, or seeded by
    participant. rows: of
    prototypes where a prediction is judged: sorted, the most similar first (figures A10 and A14),
    or shuffled (appendix A); where classes are told apart, they always are. colour_map: of
    heatmaps, by default the published one of their scale. description: what can be opened at any
    time.
    """

    task: JudgingTask
    stimuli: str = Field(min_length=1)
    set: int | str = "{set}"
    labels: bool = False
    marks: bool = False
    order: Literal["as_listed", "random"] = "random"
    rows: Rows | None = None
    colour_map: ColourMap | None = None
    description: str
    intro: str
    time_limit_min: float | None = Field(default=None, gt=0, le=600)
    think_aloud: bool = True
    after: tuple[str, ...] = Field(default=(), max_length=50)

    def names(self) -> tuple[str, ...]:
        """What it names that may hold variables, texts aside."""
        return self.stimuli, str(self.set)

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


class MaskSizes(Strict):
    """Percentages of pixels shown, spaced logarithmically; see `labapp.stimuli.masking.sizes`."""

    smallest: float = Field(default=5, gt=0, le=100)
    largest: float = Field(default=60, gt=0, le=100)
    count: int = Field(default=10, ge=1, le=100)

    @model_validator(mode="after")
    def _distinct(self) -> MaskSizes:
        if self.largest <= self.smallest and self.count > 1:
            raise ValueError(f"largest is {self.largest:g}; more than {self.smallest:g} is needed")
        masking.sizes(self.smallest, self.largest, self.count)
        return self


class Breaks(Strict):
    """Breaks inside the stage. every: sequences between two of them; text: what is shown."""

    every: int = Field(ge=1, le=1000)
    text: str = "texts/{language}/unmasking-break.md"
    at_least_s: float = Field(default=0.0, ge=0, le=3600)


class UnmaskingStages(Strict):
    """The unmasking task (paper 004): every image of a set with every method, each a sequence of
    masks that show more and more of it.

    stimuli, set: as with `JudgingStages`. methods: of the set, by default all. masks: percentages
    of pixels shown, spaced or listed; fill, sign: see `labapp.stimuli.masking`. order: of the
    sequences. question: above the buttons, by default the window's own; class_names: class -> what
    its button says, by default the set's names. buttons: in the set's order, or turned round for
    every second participant; keys: one a button and the last for "I don't know", by default F, J
    and Space with two classes, else digits. size_px: longer side of the picture in logical pixels
    (96 an inch); it is shown in whole blocks of the display's own, so as near below as these allow.
    blank_ms: between two stimuli. keyboard_away: what becomes of a stimulus during which the
    participant's keyboard was away: it is marked, or shown again as a new attempt. example: the
    text before the example sequence, which is that of the set's correct_example; None for no
    example. example_method: by default the first.
    """

    task: Literal["unmasking"]
    stimuli: str = Field(min_length=1)
    set: int | str = 1
    methods: tuple[str, ...] = Field(default=(), max_length=50)
    masks: MaskSizes | tuple[float, ...] = MaskSizes()
    fill: Fill = "mean"
    sign: Sign = "signed"
    order: Literal["as_listed", "random"] = "random"
    question: str | None = None
    class_names: dict[str, str] = Field(default_factory=dict)
    buttons: Literal["as_listed", "counterbalanced"] = "as_listed"
    keys: tuple[str, ...] = ()
    size_px: int = Field(default=384, ge=48, le=2000)
    blank_ms: int = Field(default=0, ge=0, le=10_000)
    keyboard_away: KeyboardRule = "mark"
    breaks: Breaks | None = None
    example: str | None = None
    example_method: str | None = None
    intro: str
    think_aloud: bool = False
    after: tuple[str, ...] = Field(default=(), max_length=50)

    @property
    def percents(self) -> tuple[float, ...]:
        """Percentages of pixels shown, ascending."""
        if isinstance(self.masks, MaskSizes):
            return masking.sizes(self.masks.smallest, self.masks.largest, self.masks.count)
        return self.masks

    def names(self) -> tuple[str, ...]:
        """What it names that may hold variables, texts aside."""
        return self.stimuli, str(self.set)

    def texts(self) -> tuple[str, ...]:
        """Names of the texts it shows."""
        breaks = () if self.breaks is None else (self.breaks.text,)
        return (*(() if self.example is None else (self.example,)), self.intro, *breaks)

    @model_validator(mode="after")
    def _of_an_example(self) -> UnmaskingStages:
        if self.example_method is not None and self.example is None:
            raise ValueError("example_method only with an example; name its text too")
        return self

    @field_validator("masks")
    @classmethod
    def _ascending(cls, masks: MaskSizes | tuple[float, ...]) -> MaskSizes | tuple[float, ...]:
        return masking.ascending(masks) if isinstance(masks, tuple) else masks
