"""The parts of a plan that reconstruct, with what the published studies fix filled in."""

from __future__ import annotations

from labapp.study.defaults import for_model
from labapp.study.planner import Planner
from labapp.study.representations import CIRCLES, stage_fields
from labapp.tasks.reconstruction.plan import (
    ReconstructionPart,
    TutorialBox,
    TutorialPart,
)
from labapp.tasks.reconstruction.study import Stages

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


def tutorial(planner: Planner, part_id: str, document: str) -> TutorialPart:
    """The four boxes to play with."""
    return TutorialPart(
        id=part_id,
        title="Tutorial",
        document=document,
        boxes=tuple(
            TutorialBox(
                model=model,
                display=for_model(model).display,
                dimensions=planner.representations.dimensions(model),
                start=start,
            )
            for model, start in TUTORIAL_BOXES
        ),
    )


def practice(planner: Planner, part_id: str) -> ReconstructionPart:
    """The three circles targets, all of which must be aligned."""
    defaults = for_model(CIRCLES)
    return ReconstructionPart(
        id=part_id,
        title="Practice",
        role="practice",
        number=1,
        of=1,
        model=CIRCLES,
        display=defaults.display,
        dimensions=planner.representations.dimensions(CIRCLES),
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
        think_aloud=planner.thinks_aloud,
    )


def stage(planner: Planner, stages: Stages, number: int, of: int, model: str) -> ReconstructionPart:
    """A stage of interactive reconstruction, or of its calibration."""
    defaults = planner.representations.represented(model).defaults
    return ReconstructionPart(
        **stage_fields(planner, stages, number, of, model, stages.sampling),
        trials=stages.trials,
        distance=stages.distance or defaults.distance,
        target_alignment=stages.target_alignment or defaults.target_alignment,
        skip=stages.skip,
        skip_after_s=stages.skip_after_s or defaults.skip_after_s,
        inactivity_s=stages.inactivity_s,
        active_time=stages.active_time,
        overlay_at_start=_either(stages.overlay_at_start, defaults.overlay_at_start),
        labels_editable=_either(
            None if stages.labels is None else stages.labels == "editable",
            defaults.labels_editable,
        ),
        marks=stages.marks,
    )


def told(part: ReconstructionPart, stages: Stages) -> dict[str, str]:
    """What the introduction to a stage tells of it."""
    limit = stages.time_limit_min
    return {
        "target": f"{part.target_alignment * 100:g}",
        "skip_after_s": f"{part.skip_after_s:g}",
        **({} if limit is None else {"minutes": f"{limit:g}"}),
    }


def _either(flag: bool | None, default: bool) -> bool:
    return default if flag is None else flag
