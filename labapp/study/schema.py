"""What a study file may say. `labapp studies schema` prints these models as a JSON Schema."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, field_validator

LABEL = re.compile(r"[A-Za-z0-9]+")
"""BIDS labels (participants, sessions) are letters and digits only."""

Presentation = Literal["as_published", "improved"]
SkipRule = Literal["after", "always", "never"]
Visualisation = Literal["traversals", "exemplars"]
VISUALISATIONS: tuple[Visualisation, ...] = ("traversals", "exemplars")


class Strict(BaseModel):
    """Unknown keys are refused: a misspelt setting must not be ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


def _number_in(pattern: str, label: str) -> int | None:
    """The number that `pattern` makes `label` of; the pattern may hold digits of its own."""
    for run in re.finditer(r"[0-9]+", label):
        for start in range(run.start(), run.end()):
            for end in range(run.end(), start, -1):
                number = int(label[start:end])
                if pattern.format(number) == label:
                    return number
    return None


class Participants(Strict):
    """How participants are named, for example `P{:02d}` for P01, P02 …"""

    pattern: str = "P{:02d}"

    @field_validator("pattern")
    @classmethod
    def _makes_labels(cls, pattern: str) -> str:
        numbers = (1, 2, 10, 99, 100)
        try:
            labels = [pattern.format(number) for number in numbers]
        except (ValueError, LookupError, AttributeError, TypeError) as error:
            raise ValueError(
                "must be a Python format for one number, for example 'P{:02d}'"
            ) from error
        read = [_number_in(pattern, label) for label in labels]
        if not all(LABEL.fullmatch(label) for label in labels) or read != list(numbers):
            raise ValueError("must give letters and digits with the number in them, like P01")
        return pattern

    def label(self, number: int) -> str:
        return self.pattern.format(number)

    def number(self, label: str) -> int | None:
        """The number in a label, or None for a label of another form."""
        return _number_in(self.pattern, label)


class Recording(Strict):
    """audio: whether a session may run without sound; silence_prompt_s: when to prompt."""

    audio: Literal["required", "optional", "off"] = "optional"
    silence_prompt_s: float = Field(default=15.0, gt=0, le=600)
    prompt: str = "Please keep talking"


class AnyStages(Strict):
    """What stages of every task have: several models, each a stage, and what is asked after it."""

    models: tuple[str, ...] = Field(min_length=1)
    order: Literal["as_listed", "random", "counterbalanced"] = "random"
    time_limit_min: float | None = Field(default=None, gt=0, le=600)
    think_aloud: bool = True
    after: tuple[str, ...] = ()

    @field_validator("models")
    @classmethod
    def _model_ids(cls, models: tuple[str, ...]) -> tuple[str, ...]:
        for model in models:
            if not re.fullmatch(r"[a-z0-9]+/[a-z0-9][a-z0-9-]*", model):
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
    """Interactive reconstruction with one or several models."""

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
    sampling: Literal["held_out", "shuffled_pass", "prior", "uniform"] | None = None
    intro: str = "texts/{language}/stage-first.md"
    between: str = "texts/{language}/stage-further.md"


class SingleDimensionStages(AnyStages):
    """The single-dimension task: each dial of a model is asked about `questions_per_dimension`
    times in a row, beside traversals or exemplars of it."""

    task: Literal["single-dimension"]
    visualisation: Visualisation
    questions_per_dimension: int = Field(default=2, ge=1, le=100)
    sampling: Literal["held_out", "prior", "uniform"] | None = None
    intro: str = "texts/{language}/single-first.md"
    between: str = "texts/{language}/single-further.md"


class ConsentItem(Strict):
    consent: str


class TutorialItem(Strict):
    tutorial: Literal["reconstruction"] | Visualisation


class PracticeItem(Strict):
    practice: Literal["circles", "circles-traversals", "circles-exemplars"]


class StagesItem(Strict):
    stages: Annotated[Stages | SingleDimensionStages, Field(discriminator="task")]


class QuestionnaireItem(Strict):
    questionnaire: str


class TextItem(Strict):
    text: str


class DebriefItem(Strict):
    debrief: str


FLOW_KEYS = ("consent", "tutorial", "practice", "stages", "questionnaire", "text", "debrief")


def _flow_key(item: Any) -> str | None:
    if isinstance(item, BaseModel):
        keys = set(type(item).model_fields)
    else:
        keys = set(item) if isinstance(item, dict) else set()
    return next((key for key in FLOW_KEYS if key in keys), None)


FlowItem = Annotated[
    Annotated[ConsentItem, Tag("consent")]
    | Annotated[TutorialItem, Tag("tutorial")]
    | Annotated[PracticeItem, Tag("practice")]
    | Annotated[StagesItem, Tag("stages")]
    | Annotated[QuestionnaireItem, Tag("questionnaire")]
    | Annotated[TextItem, Tag("text")]
    | Annotated[DebriefItem, Tag("debrief")],
    Discriminator(_flow_key),
]


class Study(Strict):
    """A study: who takes part, what is recorded and what happens in which order."""

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    title: str = Field(min_length=1)
    version: int = Field(ge=1)
    language: str = Field(default="en", pattern=r"^[a-z]{2,3}(-[A-Z]{2})?$")
    presentation: Presentation = "improved"
    seed: int = Field(default=0, ge=0, lt=2**63)
    participants: Participants = Participants()
    recording: Recording = Recording()
    flags: dict[int, str] = Field(
        default={1: "insight", 2: "prompt", 3: "confusion", 4: "technical"}
    )
    flow: tuple[FlowItem, ...] = Field(min_length=1)

    @field_validator("flags")
    @classmethod
    def _one_digit(cls, flags: dict[int, str]) -> dict[int, str]:
        if wrong := [number for number in flags if not 1 <= number <= 9]:
            raise ValueError(f"flags are numbered 1 to 9, found {wrong[0]}")
        return flags

    @field_validator("flow")
    @classmethod
    def _order(cls, flow: tuple[FlowItem, ...]) -> tuple[FlowItem, ...]:
        at = [index for index, item in enumerate(flow) if isinstance(item, ConsentItem)]
        if at not in ([], [0]):
            raise ValueError("consent comes once, and first")
        at = [index for index, item in enumerate(flow) if isinstance(item, DebriefItem)]
        if at not in ([], [len(flow) - 1]):
            raise ValueError("debrief comes once, and last")
        for kind, name in ((TutorialItem, "tutorial"), (PracticeItem, "practice")):
            if sum(isinstance(item, kind) for item in flow) > 1:
                raise ValueError(f"{name} comes once")
        return flow
