"""Folding events into the state of a reconstruction stage. Total: an event that does not concern
the stage leaves it as it is."""

from __future__ import annotations

from dataclasses import replace

from labapp.events import Event, Payload
from labapp.events.lifecycle import PartEnded
from labapp.events.trials import TrialEnded
from labapp.plugins.stage import INTERRUPTED
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
from labapp.tasks.reconstruction.state import MOST_UNDECODED, Mark, StageState, Trial

NS = 1_000_000_000


def apply_event(
    part: ReconstructionPart, space: LatentSpace, state: StageState, event: Event, payload: Payload
) -> StageState:
    """The state after an event of the session (pauses too, so that working time is right)."""
    pauses = state.pauses.apply(event)
    if pauses is not state.pauses:
        return replace(state, pauses=pauses)
    if event.part_id != part.id:
        return state
    working = pauses.working_ns(event.t_ns)
    match payload:
        case TrialDrawn():
            return replace(
                state,
                highest=max(state.highest, event.attempt or 1),
                trial=Trial(
                    number=event.trial or 1,
                    attempt=event.attempt or 1,
                    z_start=payload.z_start,
                    z_target=payload.z_target,
                    z=payload.z_start,
                    overlay=part.overlay_at_start,
                    redrawn=payload.redrawn,
                ),
            )
        case PartEnded():
            return replace(state, outcome=payload.outcome)
        case LabelEdited():
            labels = list(state.labels)
            labels[payload.dimension] = payload.text or None
            state = replace(state, labels=tuple(labels))
    if state.trial is None:
        return state
    trial = apply_trial(part, space, state.trial, payload, working)
    if isinstance(payload, TrialEnded) and payload.outcome != INTERRUPTED:
        state = replace(state, outcomes=(*state.outcomes, payload.outcome))
    if isinstance(payload, TrialStarted) and state.stage_started_ns is None:
        state = replace(state, stage_started_ns=working)
    return replace(state, trial=trial)


def apply_trial(
    part: ReconstructionPart, space: LatentSpace, trial: Trial, payload: Payload, working: int
) -> Trial:
    """The question after an event of its own, which happened at `working` (working time, ns)."""
    inactivity_ns = round(part.inactivity_s * NS)
    as_published = part.active_time == "as_published"
    match payload:
        case TrialStarted():
            measures = (payload.alignment, payload.error_sum, payload.error_mean)
            discrete = frozenset(
                i for i, d in enumerate(space.dimensions) if isinstance(d, Discrete)
            )
            snapshots, _ = SnapshotFold.begin(working, trial.z, discrete, measures)
            return replace(
                trial,
                started_ns=working,
                last_activity_ns=working,
                alignment=payload.alignment,
                error_sum=payload.error_sum,
                error_mean=payload.error_mean,
                aligned_at_start=payload.aligned_at_start,
                snapshots=snapshots,
            )
        case DialMoved():
            values = list(trial.z)
            values[payload.dimension] = payload.value
            z = tuple(values)
            fold = trial.snapshots
            moved = replace(
                trial,
                z=z,
                z_seq=payload.z_seq,
                z_decoded=trial.z if trial.z_decoded is None else trial.z_decoded,
                undecoded=(*trial.undecoded, (payload.z_seq, z))[-MOST_UNDECODED:],
                selected=payload.dimension,
                snapshots=fold and fold.moved(working, payload.dimension, payload.value),
            )
            return moved if as_published else moved.with_activity(working, inactivity_ns)
        case DialSelected() | OverlayToggled() | LabelEdited() | AlignmentMarked():
            if isinstance(payload, DialSelected):
                trial = replace(trial, selected=payload.dimension)
            elif isinstance(payload, AlignmentMarked):
                marked = Mark(payload.mark, payload.alignment)
                trial = replace(trial, marks=(*trial.marks, marked))
            elif isinstance(payload, OverlayToggled):
                trial = replace(trial, overlay=payload.on)
            return trial if as_published else trial.with_activity(working, inactivity_ns)
        case PictureDecoded():
            measures = (payload.alignment, payload.error_sum, payload.error_mean)
            decoded = dict(trial.undecoded).get(payload.z_seq, trial.z)
            later = tuple(move for move in trial.undecoded if move[0] > payload.z_seq)
            seen = replace(
                trial,
                decoded_seq=payload.z_seq,
                z_decoded=decoded,
                undecoded=later,
                alignment=payload.alignment,
                error_sum=payload.error_sum,
                error_mean=payload.error_mean,
            )
            if trial.snapshots is None or payload.z_seq != trial.z_seq:
                return seen
            fold, taken = trial.snapshots.decoded(working, *measures)
            seen = replace(seen, snapshots=fold)
            return seen.with_snapshot(working, inactivity_ns) if taken and as_published else seen
        case SkipOffered():
            return replace(trial, skip_offered=True)
        case TrialSolved():
            return replace(trial, z=payload.z, solved=True, alignment=payload.alignment)
        case TrialEnded():
            return replace(trial, outcome=payload.outcome)
    return trial
