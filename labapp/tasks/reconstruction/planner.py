"""The parts of a plan that reconstruct, with what the published studies fix filled in."""

from __future__ import annotations

from itertools import cycle

from labapp.models.representations.space import Dimension, Discrete, LatentSpace
from labapp.study.planner import Planner
from labapp.study.representations import PRACTISED, stage_fields
from labapp.tasks.reconstruction.plan import ReconstructionPart, TutorialBox, TutorialPart
from labapp.tasks.reconstruction.study import ReconstructionPractice, ReconstructionTutorial, Stages

CIRCLES_PAIRS = (
    ((0.0, 0.0), (0.6, 0.3)),
    ((1.0, 1.0), (0.1, 0.9)),
    ((0.4, 0.75), (0.2, 0.0)),
)
"""The practice questions as (z, z') (paper 000, A.4, and its published application)."""

BOXES = ((0.5, 0.0), (0.2, 0.8), (0.9, 1.0), (0.05, 0.25))
"""How the dials of the tutorial's four boxes stand at first, as shares of their range; more dials
take the two in turn. Of circles only, where the study names no other model: showing a stage's data
with its true dials here would teach one of the representations to be compared."""
PRACTICE_TRIALS = 3
"""Questions of a practice with a model that the study names; they are drawn as in a stage."""


def tutorial(
    planner: Planner, part_id: str, document: str, item: ReconstructionTutorial
) -> TutorialPart:
    """The four boxes to play with."""
    model = item.model or PRACTISED
    known = planner.representations.represented(model)
    dials = LatentSpace.from_json(known.dimensions).dimensions
    return TutorialPart(
        id=part_id,
        title="Tutorial",
        document=document,
        boxes=tuple(
            TutorialBox(
                model=model,
                display=known.display,
                chart=known.chart,
                dimensions=known.dimensions,
                start=tuple(map(_at, dials, cycle(shares))),
            )
            for shares in BOXES
        ),
    )


def _at(dial: Dimension, share: float) -> float:
    """A share of a dial's range, on its step."""
    if isinstance(dial, Discrete):
        return dial.snap(share * (dial.k - 1))
    return dial.snap(dial.low + share * (dial.high - dial.low))


def practice(planner: Planner, part_id: str, item: ReconstructionPractice) -> ReconstructionPart:
    """The targets of the practice, all of which must be aligned: the three published ones on
    circles, or drawn ones of the model that the study names."""
    model = item.model or PRACTISED
    known = planner.representations.represented(model)
    values = dict.fromkeys(("distance", "target_alignment", "skip_after_s"))
    return ReconstructionPart(
        id=part_id,
        title="Practice",
        role="practice",
        number=1,
        of=1,
        model=model,
        display=known.display,
        chart=known.chart,
        dimensions=known.dimensions,
        trials=practice_trials(item),
        sampling=known.sampling if item.model else "fixed",
        pairs=() if item.model else CIRCLES_PAIRS,
        **planner.representations.stated(model, values),
        skip="never",
        inactivity_s=3.0,
        active_time="paused",
        time_limit_s=None,
        overlay_at_start=known.task is not None and known.task.overlay_at_start,
        labels_editable=False,
        think_aloud=planner.thinks_aloud,
    )


def practice_trials(item: ReconstructionPractice) -> int:
    return PRACTICE_TRIALS if item.model else len(CIRCLES_PAIRS)


def stage(planner: Planner, stages: Stages, number: int, of: int, model: str) -> ReconstructionPart:
    """A stage of interactive reconstruction, or of its calibration."""
    known = planner.representations.represented(model)
    task = known.task
    target, skip_after = stages.target_alignment, stages.skip_after_s
    if task is None and stages.marks:
        target = 1.0  # nobody aims at it
    if task is None and stages.skip != "after":
        skip_after = 0.0  # nothing waits for it
    labels = None if stages.labels is None else stages.labels == "editable"
    values = {
        "distance": stages.distance,
        "target_alignment": target,
        "skip_after_s": skip_after,
        "overlay_at_start": stages.overlay_at_start,
        "labels_editable": labels,
    }
    return ReconstructionPart(
        **stage_fields(planner, stages, number, of, model, stages.sampling),
        trials=stages.trials,
        **planner.representations.stated(model, values),
        skip=stages.skip,
        inactivity_s=stages.inactivity_s,
        active_time=stages.active_time,
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
