"""The plan of one session: the study's flow with every choice made and every setting spelled out.

The plan is the payload of the session's first event; a resumed session and every analysis read it
from there, never from the study file again. `labapp.study.planner` makes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, TypeAdapter, ValidationError

from labapp.documents import Strict
from labapp.errors import SessionError
from labapp.events.lifecycle import SessionPlanned
from labapp.study.consent import Asked, Sign, Use
from labapp.study.defaults import Display
from labapp.study.judging import JudgingPart, MethodPart, WarmUpPart
from labapp.study.single_dimension import ExamplePart, SingleDimensionPart
from labapp.study.stages import SkipRule
from labapp.study.unmasking import UnmaskingPart

Sampling = Literal["held_out", "shuffled_pass", "prior", "uniform", "fixed"]


class ConsentPart(Strict):
    part: Literal["consent"] = "consent"
    id: str
    title: str
    document: str
    document_sha256: str
    sign: Sign = "name"
    items: dict[Use, Asked] = Field(default_factory=dict)


class PagesPart(Strict):
    """A text of one or more pages; `debrief` is the last screen."""

    part: Literal["text", "debrief"]
    id: str
    title: str
    document: str
    values: dict[str, str] = Field(default_factory=dict)


class BreakPart(Strict):
    """A break, from which the participant goes on after `at_least_s`, or the moderator at once."""

    part: Literal["break"] = "break"
    id: str
    title: str
    document: str
    at_least_s: float


class InterviewPart(Strict):
    """An interview that lasts until the moderator ends it. document: the text on the participant's
    screen; questions: the moderator's guide, in the order they are meant to be asked."""

    part: Literal["interview"] = "interview"
    id: str
    title: str
    document: str
    questions: tuple[str, ...] = ()


class TutorialBox(Strict):
    """One of the tutorial's boxes: a picture with live dials."""

    model: str
    display: Display
    dimensions: tuple[dict[str, Any], ...]
    start: tuple[float, ...]


class TutorialPart(Strict):
    part: Literal["tutorial"] = "tutorial"
    id: str
    title: str
    document: str
    boxes: tuple[TutorialBox, ...]


class ReconstructionPart(Strict):
    """A stage (or the practice) of the interactive reconstruction task.

    dimensions: the latent space as `LatentSpace.to_json` rows, so that a journal can be read
    without the model. marks: a calibration, see `labapp.study.stages.Stages`.
    """

    timed: ClassVar[bool] = False
    """Whether reaction times are measured, so that nothing may come between its trials."""
    part: Literal["reconstruction"] = "reconstruction"
    id: str
    title: str
    role: Literal["stage", "practice"]
    number: int
    of: int
    model: str
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


class QuestionnairePart(Strict):
    """An instrument; `about` is the id of the stage it asks about, null for the whole session.

    items: ids in the order they are asked where it is not the listed one, or where some are asked
    once a stage; empty for as listed. scoring: name of the scoring function, so that a journal can
    be scored without the instrument. above: a text above the questions, with what stands in it in
    braces in `values`, or in what the participant achieved.
    """

    part: Literal["questionnaire"] = "questionnaire"
    id: str
    title: str
    instrument: str
    about: str | None
    items: tuple[str, ...] = ()
    scoring: str | None = None
    above: str | None = None
    values: dict[str, str] = Field(default_factory=dict)


PlannedPart = Annotated[
    ConsentPart
    | PagesPart
    | BreakPart
    | InterviewPart
    | TutorialPart
    | ExamplePart
    | ReconstructionPart
    | SingleDimensionPart
    | MethodPart
    | WarmUpPart
    | JudgingPart
    | UnmaskingPart
    | QuestionnairePart,
    Field(discriminator="part"),
]
QuestionsPart = ReconstructionPart | SingleDimensionPart
"""The parts that ask questions about a representation."""
TrialsPart = QuestionsPart | JudgingPart | WarmUpPart | UnmaskingPart
"""The parts that consist of trials: these, the ones that judge explanations, and unmasking."""
_PARTS: TypeAdapter[tuple[PlannedPart, ...]] = TypeAdapter(tuple[PlannedPart, ...])


@dataclass(frozen=True)
class Plan:
    """Who does what in which order. assignment: the choices made, for people and tables."""

    participant: str
    session: str
    seed: int
    assignment: dict[str, Any]
    parts: tuple[PlannedPart, ...]


def to_rows(parts: Sequence[PlannedPart]) -> tuple[dict[str, Any], ...]:
    """Parts as plain values for the first event."""
    return tuple(part.model_dump(mode="json") for part in parts)


def parts_of(planned: SessionPlanned) -> tuple[PlannedPart, ...]:
    """The parts back from the first event. Raises SessionError when they do not fit."""
    try:
        return _PARTS.validate_python(planned.plan)
    except ValidationError as error:
        raise SessionError(
            f"The plan of this session cannot be read: {error.error_count()} fields do not fit.",
            safe="The session is untouched.",
            todo="Open it with the version of labapp that made it.",
        ) from error
