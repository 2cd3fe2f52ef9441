"""The parts of a plan that show a representation: stages, practice and tutorial, with what the
published studies fix for each data set filled in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from labapp.errors import StudyError
from labapp.representations.space import LatentSpace
from labapp.study import single_dimension
from labapp.study.defaults import TaskDefaults, for_model
from labapp.study.plan import ReconstructionPart, Sampling, TutorialBox, TutorialPart
from labapp.study.single_dimension import BaseSampling, Place, SingleDimensionPart
from labapp.study.stages import SingleDimensionStages, Stages

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
"""The practice questions as (z, z') (paper 000, A.4, and its published application)."""


TUTORIAL_BOXES = (
    ("circles/gt", (0.5, 0.0)),
    ("circles/gt", (0.2, 0.8)),
    ("circles/gt", (0.9, 1.0)),
    ("circles/gt", (0.05, 0.25)),
)
"""The four boxes of the tutorial to play with: model and initial dial state. Circles only: showing
a stage's data with its true dials here would teach one of the representations to be compared."""


@dataclass(frozen=True)
class Representations:
    """space_of: the latent space of a model id (a missing or wrong model raises there); prior_of:
    whether a model has a prior and no encodings (InfoGAN), so that questions are drawn uniformly
    within its limits (paper 000, 4.3); source: of the study, for messages."""

    space_of: SpaceOf
    prior_of: PriorOf
    source: str

    def dimensions(self, model: str) -> tuple[dict[str, Any], ...]:
        return tuple(self.space_of(model).to_json())

    def tutorial(self, part_id: str, document: str) -> TutorialPart:
        """The four boxes to play with."""
        return TutorialPart(
            id=part_id,
            title="Tutorial",
            document=document,
            boxes=tuple(self._box(model, start) for model, start in TUTORIAL_BOXES),
        )

    def _box(self, model: str, start: tuple[float, ...]) -> TutorialBox:
        return TutorialBox(
            model=model,
            display=for_model(model).display,
            dimensions=self.dimensions(model),
            start=start,
        )

    def practice(self, part_id: str, *, think_aloud: bool) -> ReconstructionPart:
        """The three circles targets, all of which must be aligned."""
        model = single_dimension.CIRCLES
        defaults = for_model(model)
        return ReconstructionPart(
            id=part_id,
            title="Practice",
            role="practice",
            number=1,
            of=1,
            model=model,
            display=defaults.display,
            dimensions=self.dimensions(model),
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
            think_aloud=think_aloud,
        )

    def single(
        self,
        stages: SingleDimensionStages,
        number: int,
        of: int,
        model: str,
        purpose: tuple[int, str, str],
    ) -> SingleDimensionPart:
        """A stage of the single-dimension task; purpose: see `single_dimension.stage`."""
        defaults, dimensions, usual = self._represented(model)
        sampling: BaseSampling = stages.sampling or usual
        self._check_prior(model, sampling)
        return single_dimension.stage(
            stages,
            Place(number, of, model, defaults.display),
            LatentSpace.from_json(dimensions),
            sampling,
            purpose,
        )

    def stage(self, stages: Stages, number: int, of: int, model: str) -> ReconstructionPart:
        """A stage of interactive reconstruction, or of its calibration."""
        defaults, dimensions, usual = self._represented(model)
        sampling: Sampling = stages.sampling or usual
        self._check_prior(model, sampling)
        limit = stages.time_limit_min
        return ReconstructionPart(
            id=f"stage-{number}",
            title=f"Stage {number}",
            role="stage",
            number=number,
            of=of,
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
            marks=stages.marks,
        )

    def _represented(
        self, model: str
    ) -> tuple[TaskDefaults, tuple[dict[str, Any], ...], BaseSampling]:
        """Defaults, dimensions and usual sampling of a stage's model."""
        try:
            defaults = for_model(model)
        except KeyError as error:
            raise StudyError(
                f"{self.source}: model {model!r}: {error.args[0]}.",
                todo="Use a model of a known data set.",
            ) from error

        dimensions = self.dimensions(model)  # a missing model is told by this one
        usual: BaseSampling = "uniform" if self.prior_of(model) else "held_out"
        return defaults, dimensions, _OWN_SAMPLING.get(model, usual)

    def _check_prior(self, model: str, sampling: Sampling) -> None:
        if sampling == "prior" and model != SINELINES_GT:
            raise StudyError(
                f"{self.source}: model {model!r}: sampling 'prior' is known for "
                f"{SINELINES_GT} only.",
                todo="Use held_out, shuffled_pass or uniform.",
            )


def _either(said: bool | None, default: bool) -> bool:
    return default if said is None else said
