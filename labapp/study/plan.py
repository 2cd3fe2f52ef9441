"""The plan of one session: the study's flow with every choice made and every setting spelled out.

The plan is the payload of the session's first event; a resumed session and every analysis read it
from there, never from the study file again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from labapp.errors import SessionError, StudyError
from labapp.events.lifecycle import SessionPlanned
from labapp.representations.space import LatentSpace
from labapp.study import assignment, single_dimension
from labapp.study.defaults import Display, TaskDefaults, for_model
from labapp.study.loading import LoadedStudy, in_language
from labapp.study.schema import (
    LABEL,
    VISUALISATIONS,
    ConsentItem,
    DebriefItem,
    PracticeItem,
    QuestionnaireItem,
    SingleDimensionStages,
    SkipRule,
    Stages,
    StagesItem,
    Strict,
    TextItem,
    TutorialItem,
    Visualisation,
)
from labapp.study.single_dimension import BaseSampling, ExamplePart, SingleDimensionPart

Sampling = Literal["held_out", "shuffled_pass", "prior", "uniform", "fixed"]

SINELINES_GT = "sinelines/gt"
_OWN_SAMPLING: dict[str, BaseSampling] = {SINELINES_GT: "prior", "circles/gt": "uniform"}
"""Models in closed form draw their questions so; all others from their held-out sample."""

SpaceOf = Callable[[str], LatentSpace]
PriorOf = Callable[[str], bool]

CIRCLES_PAIRS = (
    ((0.0, 0.0), (0.6, 0.3)),
    ((1.0, 1.0), (0.1, 0.9)),
    ((0.4, 0.75), (0.2, 0.0)),
)
"""The practice questions as (z, z') (fact sheet, "Tutorial and practice")."""


TUTORIAL_BOXES = (
    ("circles/gt", (0.5, 0.0)),
    ("circles/gt", (0.2, 0.8)),
    ("circles/gt", (0.9, 1.0)),
    ("circles/gt", (0.05, 0.25)),
)
"""The four boxes of the tutorial to play with: model and initial dial state. Circles only: showing
a stage's data with its true dials here would teach one of the representations to be compared."""


class ConsentPart(Strict):
    part: Literal["consent"] = "consent"
    id: str
    title: str
    document: str
    document_sha256: str


class PagesPart(Strict):
    """A text of one or more pages; `debrief` is the last screen."""

    part: Literal["text", "debrief"]
    id: str
    title: str
    document: str
    values: dict[str, str] = Field(default_factory=dict)


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
    without the model.
    """

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


class QuestionnairePart(Strict):
    """An instrument; `about` is the id of the stage it asks about, null for the whole session.

    items: ids in the order they are asked where it is not the listed one, or where some are asked
    once a stage; empty for as listed. scoring: name of the scoring function, so that a journal can
    be scored without the instrument.
    """

    part: Literal["questionnaire"] = "questionnaire"
    id: str
    title: str
    instrument: str
    about: str | None
    items: tuple[str, ...] = ()
    scoring: str | None = None


PlannedPart = Annotated[
    ConsentPart
    | PagesPart
    | TutorialPart
    | ExamplePart
    | ReconstructionPart
    | SingleDimensionPart
    | QuestionnairePart,
    Field(discriminator="part"),
]
QuestionsPart = ReconstructionPart | SingleDimensionPart
"""The parts that ask questions about a representation."""
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


def participant_number(loaded: LoadedStudy, participant: str) -> int:
    """The number in a participant's label. Raises SessionError when the label does not fit."""
    number = loaded.study.participants.number(participant)
    if not LABEL.fullmatch(participant) or number is None or number < 1:
        example = loaded.study.participants.label(1)
        raise SessionError(
            f"{participant!r} is not a participant of this study: its participants are named "
            f"like {example}.",
            todo=f"Use a label like {example} (the study file's participants.pattern).",
        )
    return number


def realise(
    loaded: LoadedStudy,
    participant: str,
    session: str = "1",
    *,
    space_of: SpaceOf,
    prior_of: PriorOf = lambda model: False,
    seed: int | None = None,
) -> Plan:
    """Make every choice of the study for one participant.

    space_of: the latent space of a model id (a missing or wrong model raises there); prior_of:
    whether a model has a prior and no encodings (InfoGAN), so that questions are drawn uniformly
    within its limits (paper 000, 4.3); seed:
    replaces the study's own (simulations). Equal arguments give the equal plan.
    """
    study = loaded.study
    number = participant_number(loaded, participant)
    if not LABEL.fullmatch(session):
        raise SessionError(
            f"{session!r} is not a session label.", todo="Use letters and digits only, like 1."
        )
    used = study.seed if seed is None else seed
    planner = _Planner(loaded, participant, number, used, space_of, prior_of)
    parts = tuple(planner.parts())
    return Plan(participant, session, used, {"number": number, **planner.choices}, parts)


class _Planner:
    def __init__(
        self,
        loaded: LoadedStudy,
        participant: str,
        number: int,
        seed: int,
        space_of: SpaceOf,
        prior_of: PriorOf,
    ) -> None:
        self.loaded = loaded
        self.study = loaded.study
        self.participant = participant
        self.number = number
        self.seed = seed
        self.space_of = space_of
        self.prior_of = prior_of
        self.choices: dict[str, Any] = {}
        self.groups = [i.stages for i in self.study.flow if isinstance(i, StagesItem)]
        self.stages_in_all = sum(len(stages.models) for stages in self.groups)
        self.stage = 0

    def _name(self, template: str) -> str:
        return in_language(template, self.study.language)

    def parts(self) -> Iterator[PlannedPart]:
        texts = asks = 0
        for item in self.study.flow:
            match item:
                case ConsentItem():
                    name = self._name(item.consent)
                    digest = hashlib.sha256(self.loaded.files[name]).hexdigest()
                    yield ConsentPart(
                        id="consent", title="Consent", document=name, document_sha256=digest
                    )
                case TutorialItem():
                    yield self._tutorial(item.tutorial)
                case PracticeItem():
                    yield from self._practice(item.practice)
                case StagesItem():
                    yield from self._stages(item.stages)
                case QuestionnaireItem():
                    asks += 1
                    yield self._ask(item.questionnaire, f"questionnaire-{asks}", None)
                case TextItem():
                    texts += 1
                    name = self._name(item.text)
                    yield PagesPart(part="text", id=f"text-{texts}", title="Text", document=name)
                case DebriefItem():
                    name = self._name(item.debrief)
                    yield PagesPart(part="debrief", id="debrief", title="Debrief", document=name)

    def _tutorial(self, name: Literal["reconstruction"] | Visualisation) -> PlannedPart:
        document = self._name(f"texts/{{language}}/tutorial-{name}.md")
        if name != "reconstruction":
            space = self.space_of(single_dimension.CIRCLES)
            return single_dimension.example("Tutorial", document, name, space)
        return TutorialPart(
            id="tutorial",
            title="Tutorial",
            document=document,
            boxes=tuple(self._box(model, start) for model, start in TUTORIAL_BOXES),
        )

    def _box(self, model: str, start: tuple[float, ...]) -> TutorialBox:
        return TutorialBox(
            model=model,
            display=for_model(model).display,
            dimensions=self._dimensions(model),
            start=start,
        )

    def _dimensions(self, model: str) -> tuple[dict[str, Any], ...]:
        return tuple(self.space_of(model).to_json())

    def _practice(self, name: str) -> Iterator[PlannedPart]:
        yield PagesPart(
            part="text",
            id="practice-intro",
            title="Before practice",
            document=self._name(f"texts/{{language}}/practice-{name}.md"),
            values={"trials": str(len(CIRCLES_PAIRS))},
        )
        dataset, _, kind = name.partition("-")
        visualisation = next((known for known in VISUALISATIONS if known == kind), None)
        if visualisation is not None:
            space = self.space_of(single_dimension.CIRCLES)
            aloud = any(stages.think_aloud for stages in self.groups)
            yield single_dimension.practice("Practice", visualisation, space, think_aloud=aloud)
            return
        defaults = for_model(dataset)
        yield ReconstructionPart(
            id="practice",
            title="Practice",
            role="practice",
            number=1,
            of=1,
            model=f"{dataset}/gt",
            display=defaults.display,
            dimensions=self._dimensions(f"{dataset}/gt"),
            trials=len(CIRCLES_PAIRS),
            sampling="fixed",
            pairs=CIRCLES_PAIRS,
            distance=defaults.distance,
            target_alignment=defaults.target_alignment,
            skip="never",
            skip_after_s=defaults.skip_after_s,
            inactivity_s=3.0,
            active_time="paused",
            time_limit_s=None,
            overlay_at_start=defaults.overlay_at_start,
            labels_editable=False,
            think_aloud=True,
        )

    def _stages(self, stages: Stages | SingleDimensionStages) -> Iterator[PlannedPart]:
        if stages.order == "counterbalanced":
            models = assignment.counterbalanced(
                stages.models, self.seed, self.study.id, self.number
            )
        elif stages.order == "random":
            models = assignment.shuffled(
                stages.models, self.seed, self.study.id, self.participant, "order", self.stage
            )
        else:
            models = stages.models
        self.choices.setdefault("models", []).extend(models)
        for index, model in enumerate(models):
            self.stage += 1
            part: ReconstructionPart | SingleDimensionPart
            if isinstance(stages, Stages):
                part = self._stage(stages, model)
                own = {
                    "target": f"{part.target_alignment * 100:g}",
                    "skip_after_s": f"{part.skip_after_s:g}",
                }
            else:
                part = self._single(stages, model)
                own = {"times": str(stages.questions_per_dimension)}
            yield PagesPart(
                part="text",
                id=f"{part.id}-intro",
                title=f"Before stage {self.stage}",
                document=self._name(stages.between if index else stages.intro),
                values={
                    "stage": str(self.stage),
                    "stages": str(self.stages_in_all),
                    "trials": str(part.trials),
                    **own,
                },
            )
            yield part
            for instrument in stages.after:
                yield self._ask(instrument, f"{part.id}-{instrument}", part.id)

    def _represented(
        self, model: str
    ) -> tuple[TaskDefaults, tuple[dict[str, Any], ...], BaseSampling]:
        """Defaults, dimensions and usual sampling of a stage's model."""
        try:
            defaults = for_model(model)
        except KeyError as error:
            raise StudyError(
                f"{self.loaded.path}: model {model!r}: {error.args[0]}.",
                todo="Use a model of a known data set.",
            ) from error

        dimensions = self._dimensions(model)  # a missing model is told by this one
        usual: BaseSampling = "uniform" if self.prior_of(model) else "held_out"
        return defaults, dimensions, _OWN_SAMPLING.get(model, usual)

    def _check_prior(self, model: str, sampling: Sampling) -> None:
        if sampling == "prior" and model != SINELINES_GT:
            raise StudyError(
                f"{self.loaded.path}: model {model!r}: sampling 'prior' is known for "
                f"{SINELINES_GT} only.",
                todo="Use held_out, shuffled_pass or uniform.",
            )

    def _single(self, stages: SingleDimensionStages, model: str) -> SingleDimensionPart:
        defaults, dimensions, usual = self._represented(model)
        sampling: BaseSampling = stages.sampling or usual
        self._check_prior(model, sampling)
        return single_dimension.stage(
            stages,
            single_dimension.Place(self.stage, self.stages_in_all, model, defaults.display),
            LatentSpace.from_json(dimensions),
            sampling,
            (self.seed, self.study.id, self.participant),
        )

    def _stage(self, stages: Stages, model: str) -> ReconstructionPart:
        defaults, dimensions, usual = self._represented(model)
        sampling: Sampling = stages.sampling or usual
        self._check_prior(model, sampling)
        limit = stages.time_limit_min
        return ReconstructionPart(
            id=f"stage-{self.stage}",
            title=f"Stage {self.stage}",
            role="stage",
            number=self.stage,
            of=self.stages_in_all,
            model=model,
            display=defaults.display,
            dimensions=dimensions,
            trials=stages.trials,
            sampling=sampling,
            distance=stages.distance or defaults.distance,
            target_alignment=stages.target_alignment or defaults.target_alignment,
            skip=stages.skip,
            skip_after_s=stages.skip_after_s or defaults.skip_after_s,
            inactivity_s=stages.inactivity_s,
            active_time=stages.active_time,
            time_limit_s=None if limit is None else limit * 60,
            overlay_at_start=_either(stages.overlay_at_start, defaults.overlay_at_start),
            labels_editable=_either(
                None if stages.labels is None else stages.labels == "editable",
                defaults.labels_editable,
            ),
            think_aloud=stages.think_aloud,
        )

    def _ask(self, instrument: str, part_id: str, about: str | None) -> QuestionnairePart:
        file = self.loaded.instruments[instrument]
        items = file.item_ids(self.stages_in_all)
        if file.order == "shuffled":
            items = assignment.shuffled(
                items, self.seed, self.study.id, self.participant, "items", instrument
            )
        as_listed = items == tuple(item.id for item in file.items)
        return QuestionnairePart(
            id=part_id,
            title=file.title,
            instrument=instrument,
            about=about,
            items=() if as_listed else items,
            scoring=file.scoring,
        )


def _either(said: bool | None, default: bool) -> bool:
    return default if said is None else said
