"""What stages that ask about representations share: their models, and how each is asked about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from labapp.base.errors import StudyError
from labapp.models.representations.card import CARD
from labapp.models.representations.recipe import InTasks, Task
from labapp.models.representations.space import BaseSampling, Chart, Display, LatentSpace, prior_of
from labapp.study import conditions
from labapp.study.conditions import Scope
from labapp.study.plugins.part import PlannedPart, TrialsPart
from labapp.study.stages import MODEL_ID, RepresentationStages

if TYPE_CHECKING:
    from labapp.study.planner import Planner

PRACTISED = "circles/gt"
"""The model of the practices and tutorials that name none: it teaches none of those that are
compared."""

SpaceOf = Callable[[str], LatentSpace]
PriorOf = Callable[[str], bool]
TasksOf = Callable[[str], InTasks]


class ModelInStage(NamedTuple):
    """A model as a stage asks about it. task: what its card says of tasks; dimensions: as
    `LatentSpace.to_json` rows; sampling: how its questions are drawn where the study does not say;
    chart: of a series whose chart is not the published one.
    """

    display: Display
    task: Task | None
    dimensions: tuple[dict[str, Any], ...]
    sampling: BaseSampling
    chart: Chart | None = None


@dataclass(frozen=True)
class Representations:
    """The representations of a study, as its plan needs them.

    Attributes
    ----------
    space_of : the latent space of a model id (a missing or wrong model raises there).
    prior_of : whether a model has a prior and no encodings (InfoGAN), so that questions are drawn
        uniformly within its limits (paper 000, 4.3).
    tasks_of : what its card says of tasks.
    source : of the study, for messages.
    """

    space_of: SpaceOf
    prior_of: PriorOf
    tasks_of: TasksOf
    source: str

    def dimensions(self, model: str) -> tuple[dict[str, Any], ...]:
        return tuple(self.space_of(model).to_json())

    def describe_model(self, model: str) -> ModelInStage:
        """What is known of a model. Raises what `space_of` and `tasks_of` do."""
        space = self.space_of(model)
        display, task, chart = self.tasks_of(model)
        usual: BaseSampling = "uniform" if self.prior_of(model) else "held_out"
        sampling: BaseSampling = "prior" if prior_of(space) else usual
        return ModelInStage(display, task, tuple(space.to_json()), sampling, chart)

    def require_values(self, model: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Values of a stage: the study's, or, where these are None, those of the model's card.
        Raises StudyError if neither has them, and names them all."""
        task = self.tasks_of(model).task
        missing = [key for key, value in values.items() if value is None and task is None]
        if missing:
            keys = ", ".join(missing)
            raise StudyError(
                f"{self.source}: these settings are neither in the stage nor on the card of the "
                f"model {model!r}: {keys}.",
                todo=f"Set {keys} in the stage, or under task: in the model's {CARD}.",
            )
        return {
            key: getattr(task, key) if value is None else value for key, value in values.items()
        }


def stage_fields(
    planner: Planner,
    stages: RepresentationStages,
    number: int,
    of: int,
    model: str,
    sampling: str | None = None,
) -> dict[str, Any]:
    """What every stage about a model says in its plan, by the names of its fields.

    sampling: as the study says it; the model's own otherwise. Raises StudyError.
    """
    representations = planner.representations
    known = representations.describe_model(model)
    drawn = sampling or known.sampling
    if drawn == "prior" and prior_of(representations.space_of(model)) is None:
        raise StudyError(
            f"{representations.source}: model {model!r}: sampling 'prior' is possible only for "
            "the ground truth of Sinelines.",
            todo="Use held_out, shuffled_pass or uniform.",
        )
    limit = stages.time_limit_min
    return {
        "id": f"stage-{number}",
        "title": f"Stage {number}",
        "role": "stage",
        "number": number,
        "of": of,
        "model": model,
        "display": known.display,
        "chart": known.chart,
        "dimensions": known.dimensions,
        "sampling": drawn,
        "time_limit_s": None if limit is None else limit * 60,
        "think_aloud": stages.think_aloud,
    }


Part = TypeVar("Part", bound=TrialsPart)


def stages_of_models(
    stages: RepresentationStages,
    scope: Scope,
    place: int,
    planner: Planner,
    make: Callable[[int, int, str], Part],
    told: Callable[[Part], Mapping[str, str]] = lambda part: {},
) -> Iterator[PlannedPart]:
    """A stage for each model in the participant's order: the text before it, the stage, and what is
    asked after it. Raises StudyError: as `stage_models`.

    Parameters
    ----------
    make : gives a stage from its number, how many there are, and the model.
    told : what the text before a stage may say of it in braces besides its `trials`.
    """
    for index, model in enumerate(stage_models(stages, scope, planner)):
        part = make(*planner.next_stage(), model)
        values = {"trials": planner.count_trials(part), **told(part)}
        yield planner.before_stage(stages.between if index else stages.intro, scope, values)
        yield part
        yield from planner.ask_after(stages, part.id, part.id, place)


def stage_models(stages: RepresentationStages, scope: Scope, planner: Planner) -> tuple[str, ...]:
    """The models of the stages in the participant's order, which is written down. Raises
    StudyError for what is no model."""
    models = conditions.fill_all(stages.models, scope)
    for model in models:
        if not MODEL_ID.fullmatch(model) or models.count(model) > 1:
            raise StudyError(
                f"{planner.loaded.path}: {', '.join(stages.models)} with "
                f"{', '.join(f'{k} = {v}' for k, v in scope.items())} results in the model "
                f"{model!r}, which is not the id of a model or is listed twice.",
                todo="Correct models, or the values of the variables.",
            )
    study, seed = planner.study.id, planner.seed
    if planner.study.design is not None:
        models = planner.in_order(models)
    elif stages.order == "counterbalanced":
        models = conditions.counterbalance_order(models, seed, study, planner.number)
    elif stages.order == "random":
        models = conditions.shuffled(
            models, seed, study, planner.participant, "order", planner.stage
        )
    planner.choices.setdefault("models", []).extend(models)
    return models
