"""Folding events into the state of a reconstruction stage. Total: an event that does not concern
the stage leaves it as it is."""

from __future__ import annotations

from dataclasses import replace

from labapp.events import Body, Event
from labapp.events.lifecycle import PartEnded
from labapp.events.trials import TrialEnded
from labapp.representations.space import Discrete, LatentSpace
from labapp.tasks.reconstruction.events import (
    AlignmentMarked,
    DialMoved,
    DialSelected,
    LabelEdited,
    OverlayToggled,
    PictureDecoded,
    SkipOffered,
    TrialDrawn,
    TrialSolved,
    TrialStarted,
)
from labapp.tasks.reconstruction.plan import ReconstructionPart
from labapp.tasks.reconstruction.snapshots import SnapshotFold
from labapp.tasks.reconstruction.state import Mark, StageState, Trial

NS = 1_000_000_000


def apply_event(
    part: ReconstructionPart, space: LatentSpace, state: StageState, event: Event, body: Body
) -> StageState:
    """The state after an event of the session (pauses too, so that working time is right)."""
    pauses = state.pauses.apply(event)
    if pauses is not state.pauses:
        return replace(state, pauses=pauses)
    if event.stage != part.id:
        return state
    working = pauses.working_ns(event.t_ns)
    match body:
        case TrialDrawn():
            return replace(
                state,
                trial=Trial(
                    number=event.trial or 1,
                    attempt=event.attempt or 1,
                    z_start=body.z_start,
                    z_target=body.z_target,
                    z=body.z_start,
                    overlay=part.overlay_at_start,
                ),
            )
        case PartEnded():
            return replace(state, outcome=body.outcome)
        case LabelEdited():
            labels = list(state.labels)
            labels[body.dimension] = body.text or None
            state = replace(state, labels=tuple(labels))
    if state.trial is None:
        return state
    trial = apply_trial(part, space, state.trial, body, working)
    if isinstance(body, TrialEnded):
        state = replace(state, outcomes=(*state.outcomes, body.outcome))
    if isinstance(body, TrialStarted) and state.stage_started_ns is None:
        state = replace(state, stage_started_ns=working)
    return replace(state, trial=trial)


def apply_trial(
    part: ReconstructionPart, space: LatentSpace, trial: Trial, body: Body, working: int
) -> Trial:
    """The question after an event of its own, which happened at `working` (working time, ns)."""
    inactivity_ns = round(part.inactivity_s * NS)
    as_published = part.active_time == "as_published"
    match body:
        case TrialStarted():
            measures = (body.alignment, body.error_sum, body.error_mean)
            discrete = frozenset(
                i for i, d in enumerate(space.dimensions) if isinstance(d, Discrete)
            )
            snapshots, _ = SnapshotFold.begin(working, trial.z, discrete, measures)
            return replace(
                trial,
                started_ns=working,
                last_activity_ns=working,
                alignment=body.alignment,
                error_sum=body.error_sum,
                error_mean=body.error_mean,
                aligned_at_start=body.aligned_at_start,
                snapshots=snapshots,
            )
        case DialMoved():
            z = list(trial.z)
            z[body.dimension] = body.value
            fold = trial.snapshots
            moved = replace(
                trial,
                z=tuple(z),
                z_seq=body.z_seq,
                selected=body.dimension,
                snapshots=fold and fold.moved(working, body.dimension, body.value),
            )
            return moved if as_published else moved.with_activity(working, inactivity_ns)
        case DialSelected() | OverlayToggled() | LabelEdited() | AlignmentMarked():
            if isinstance(body, DialSelected):
                trial = replace(trial, selected=body.dimension)
            elif isinstance(body, AlignmentMarked):
                marked = Mark(body.mark, body.alignment)
                trial = replace(trial, marks=(*trial.marks, marked))
            elif isinstance(body, OverlayToggled):
                trial = replace(trial, overlay=body.on)
            return trial if as_published else trial.with_activity(working, inactivity_ns)
        case PictureDecoded():
            measures = (body.alignment, body.error_sum, body.error_mean)
            seen = replace(
                trial,
                decoded_seq=body.z_seq,
                alignment=body.alignment,
                error_sum=body.error_sum,
                error_mean=body.error_mean,
            )
            if trial.snapshots is None or body.z_seq != trial.z_seq:
                return seen
            fold, taken = trial.snapshots.decoded(working, *measures)
            seen = replace(seen, snapshots=fold)
            return seen.with_snapshot(working, inactivity_ns) if taken and as_published else seen
        case SkipOffered():
            return replace(trial, skip_offered=True)
        case TrialSolved():
            return replace(trial, z=body.z, solved=True, alignment=body.alignment)
        case TrialEnded():
            return replace(trial, outcome=body.outcome)
    return trial
