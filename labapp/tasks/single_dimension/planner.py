"""What a study file may say of the single-dimension task, and the parts of a plan that it gives.

Source: paper 000, 4.5 and A.4; the practice is that of the published application.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from labapp.base.documents import faults_at
from labapp.base.errors import StudyError
from labapp.models.representations.space import Discrete, LatentSpace
from labapp.study.adapting import ONE_LEVEL, AdaptiveStages, plan_tracks, spell_out
from labapp.study.adaptive import AnyRule
from labapp.study.adaptive.counting import Criterion
from labapp.study.adaptive.tracks import Tracks
from labapp.study.conditions import Scope, generator, shuffled
from labapp.study.planner import Planner
from labapp.study.plugins.item import Item
from labapp.study.plugins.part import PlannedPart
from labapp.study.representations import PRACTISED, ModelInStage, stage_fields
from labapp.study.stages import ModelId, RepresentationStages, Visualisation
from labapp.tasks.single_dimension.plan import (
    REGIMES,
    Bounds,
    ExamplePart,
    Regime,
    SingleDimensionPart,
    Z,
    choices,
    lay_out,
)

CIRCLES_QUESTIONS: tuple[tuple[Z, Regime], ...] = (
    ((0.0, 0.0), "low"),
    ((1.0, 1.0), "high"),
    ((0.4, 0.75), "medium"),
)
"""The pictures of the practice and how their slider 1 is set (the published application)."""
CIRCLES_BOUNDS: Bounds = ((0.01, 0.05), (0.48, 0.52), (0.95, 0.99))
PRACTISED_DIMENSION = 0
"""The slider that the practice asks about."""


def stage(
    planner: Planner, stages: SingleDimensionStages, number: int, of: int, model: str
) -> SingleDimensionPart:
    fields = stage_fields(planner, stages, number, of, model, stages.sampling)
    space = LatentSpace.from_json(fields["dimensions"])
    purpose = (planner.seed, planner.study.id, planner.participant)
    times = stages.questions_per_dimension if stages.adaptive is None else 1
    asked = order_dimensions(space, times, *purpose, number)
    tracks = None
    if stages.adaptive is not None:
        drawn = (*purpose, f"single-dimension {number}", "turns")
        tracks = track_dials(stages.adaptive, stages.levels(), space, asked, *drawn)
    return SingleDimensionPart(
        **fields, visualisation=stages.visualisation, asked=asked, adaptive=tracks
    )


def track_dials(
    rule: AnyRule,
    levels: tuple[float, ...],
    space: LatentSpace,
    asked: Sequence[int],
    *purpose: Any,
) -> Tracks:
    """Tracks for each slider that is asked about, named by its number from 1. purpose: as in
    `labapp.study.adapting.plan_tracks`. Raises StudyError for a rule that does not fit the sliders.
    """
    discrete = [number for number in asked if isinstance(space.dimensions[number], Discrete)]
    if discrete and len(levels) > 1:
        raise StudyError(
            f"Slider {min(discrete) + 1} has discrete values, whose distances do not change "
            "with `spreads`.",
            todo="Use the rule criterion without spreads, or models whose sliders are continuous.",
        )

    def refuse(key: str, what: str) -> StudyError:
        return StudyError(
            f"adaptive.{key}: {what}.", todo="Declare a different guess, lapse or target."
        )

    spelt = spell_out(rule, levels, len(REGIMES), refuse)
    items = {str(dial + 1): (place,) for place, dial in enumerate(asked, start=1)}
    return plan_tracks(spelt, levels, items, *purpose)


def order_dimensions(
    space: LatentSpace, times: int, seed: int, study: str, participant: str, stage: int
) -> tuple[int, ...]:
    """The dimension of each question: in seeded random order, all of one in a row."""
    order = shuffled(range(len(space)), seed, study, participant, "dimensions", stage)
    return tuple(dimension for dimension in order for _ in range(times))


def practice(
    planner: Planner, item: SingleDimensionPractice, scope: Scope
) -> Iterator[PlannedPart]:
    """The text before the practice, and its three circles questions on slider 1: the same pictures
    for everybody."""
    feedback = planner.improved if item.feedback is None else item.feedback
    told = planner.loaded.words.get("practice_feedback", "") if feedback else ""
    document = planner.text(item.texts()[0], scope)
    part = practice_part(
        planner.new_id("practice"),
        item.visualisation,
        item.model,
        planner.representations.describe_model(item.model or PRACTISED),
        think_aloud=planner.thinks_aloud,
        feedback=feedback,
    )
    if item.adaptive is not None:
        purpose = (planner.seed, planner.study.id, planner.participant, part.id, "turns")
        asked = (PRACTISED_DIMENSION,)
        tracks = track_dials(item.adaptive, ONE_LEVEL, part.space, asked, *purpose)
        drawn = {"asked": asked, "answers": (), "states": (), "adaptive": tracks}
        part = part.model_copy(update=drawn)
    values = {"trials": planner.count_trials(part), "feedback": told}
    yield planner.before_practice(document, "Before practice", values)
    yield part


def practice_part(
    part_id: str,
    visualisation: Visualisation,
    model: str | None,
    known: ModelInStage,
    *,
    think_aloud: bool,
    feedback: bool,
) -> SingleDimensionPart:
    """The three questions: those on circles, or drawn ones about the model that the study names.
    known: what is known of the model."""
    fixed = model is None
    answers = tuple(answer for _, answer in CIRCLES_QUESTIONS)
    space = LatentSpace.from_json(known.dimensions)
    if choices(space, PRACTISED_DIMENSION) != len(REGIMES):
        answers = ()  # a choice among values: each is drawn
    return SingleDimensionPart(
        id=part_id,
        title="Practice",
        role="practice",
        number=1,
        of=1,
        model=model or PRACTISED,
        display=known.display,
        chart=known.chart,
        dimensions=known.dimensions,
        visualisation=visualisation,
        asked=(PRACTISED_DIMENSION,) * len(CIRCLES_QUESTIONS),
        answers=answers,
        states=tuple(z for z, _ in CIRCLES_QUESTIONS) if fixed else (),
        feedback=feedback,
        sampling="uniform" if fixed else known.sampling,
        time_limit_s=None,
        think_aloud=think_aloud,
    )


def tutorial(
    planner: Planner, part_id: str, document: str, item: SingleDimensionTutorial
) -> ExamplePart:
    """The tutorial about one slider of the circles, the same for everybody."""
    visualisation = item.tutorial
    known = planner.representations.describe_model(PRACTISED)
    space = LatentSpace.from_json(known.dimensions)
    dimension = (item.dial or (2 if planner.improved else 1)) - 1
    rng = generator(0, "tutorial", visualisation)

    def base() -> Z:
        return space.snap(rng.random(len(space)).tolist())

    return ExamplePart(
        id=part_id,
        title="Tutorial",
        document=document,
        model=PRACTISED,
        display=known.display,
        chart=known.chart,
        dimensions=known.dimensions,
        visualisation=visualisation,
        dimension=dimension,
        examples=lay_out(visualisation, space, dimension, CIRCLES_BOUNDS, base, rng),
    )


class SingleDimensionTutorial(Item):
    """The tutorial about one slider.

    Attributes
    ----------
    tutorial : what explains the slider: `traversals` or `exemplars`.
    dial : of the two the one that its examples are about; by default the first as published, the
        second where the presentation is improved (the practice then asks about a slider that was
        not explained).
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
    model : practised with three questions about this model's first slider instead; then the text
        before it, which is about circles, is best an `intro` of the study's own.
    intro : the text before it; without it the one that is named like the practice.
    feedback : whether the right answer is shown after each question (default: only if the
        presentation is improved).
    adaptive : practise until enough answers are right: the rule `criterion`, with the most
        questions as `trials`; by default three questions.
    """

    key: ClassVar[str] = "practice"
    practice: Literal["circles-traversals", "circles-exemplars"]
    model: ModelId | None = None
    intro: str | None = None
    feedback: bool | None = None
    adaptive: Criterion | None = None

    @property
    def visualisation(self) -> Visualisation:
        return "traversals" if self.practice == "circles-traversals" else "exemplars"

    def texts(self) -> tuple[str, ...]:
        return (self.intro or f"texts/{{language}}/practice-{self.practice}.md",)


class SingleDimensionStages(AdaptiveStages, RepresentationStages):
    """The single-dimension task: each slider of a model is asked about several times in a row,
    beside traversals or exemplars of it.

    Attributes
    ----------
    visualisation : how a slider is shown: `traversals` or `exemplars`.
    questions_per_dimension : questions about each slider.
    sampling : where the pictures are drawn from: `held_out` pictures, the model's `prior`, or
        `uniform` over its sliders; without it what suits the model.
    spreads : levels from which the rule `adaptive` chooses, ascending: how far Low, Medium and High
        lie apart on a slider, 1 for as far as without a rule.
    """

    task: Literal["single-dimension"]
    visualisation: Visualisation
    questions_per_dimension: int = Field(default=2, ge=1, le=100)
    sampling: Literal["held_out", "prior", "uniform"] | None = None
    spreads: tuple[float, ...] = Field(default=(), max_length=100)
    intro: str = "texts/{language}/single-first.md"
    between: str = "texts/{language}/single-further.md"

    def levels(self) -> tuple[float, ...]:
        return self.spreads or ONE_LEVEL

    @field_validator("spreads")
    @classmethod
    def _ascending(cls, spreads: tuple[float, ...]) -> tuple[float, ...]:
        if list(spreads) != sorted(set(spreads)) or any(not 0 < each <= 1 for each in spreads):
            raise ValueError("ascending numbers above 0 and up to 1")
        return spreads

    @model_validator(mode="after")
    def _for_a_rule(self) -> SingleDimensionStages:
        if self.spreads and self.adaptive is None:
            raise faults_at({("spreads",): "found spreads; allowed: only with `adaptive`"})
        return self

    @property
    def unfilled(self) -> frozenset[str]:
        """A rule asks each dial as often as it needs: a text that says how often is refused."""
        return frozenset() if self.adaptive is None else frozenset({"times"})

    @property
    def plannable(self) -> bool:
        return self.adaptive is None

    @property
    def earns(self) -> frozenset[str]:
        return frozenset({"per_correct"})
