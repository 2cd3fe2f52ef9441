"""Decisions and folds of the reconstruction task.

The state of a reconstruction stage. All its times are working time (without pauses), in ns. The
pictures of a trial and of the tutorial's boxes, and the tutorial's machine.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from labapp.base.clock import NS
from labapp.models.representations.decoding import (
    Array,
    Foresight,
    Likely,
    Look,
    TargetDistance,
    compare,
    decode_one,
)
from labapp.models.representations.distance import reaches_target
from labapp.models.representations.space import LatentSpace
from labapp.record.events import Event, Payload, UnstampedEvent
from labapp.record.events.commands import Begin, Command, Next, Skip, SkipStage, Tick
from labapp.record.events.lifecycle import PartEnded
from labapp.record.events.registry import Pauses
from labapp.record.events.trials import TrialEnded
from labapp.study.conditions import attempt_at, draw_state, generator, sample_of
from labapp.study.plugins import machine
from labapp.study.plugins.machine import INTERRUPTED, PagesMachine, PagesState, State
from labapp.study.plugins.pictures import PartPictures, PictureContext, Session
from labapp.tasks.reconstruction.events import (
    Activity,
    AlignmentMarked,
    Decoded,
    DialMoved,
    DialSelected,
    EditLabel,
    LabelEdited,
    MarkAlignment,
    MoveDial,
    MoveTutorialDial,
    OverlayToggled,
    PictureDecoded,
    Presented,
    SelectDial,
    SkipOffered,
    ToggleOverlay,
    TrialDrawn,
    TrialSolved,
    TrialStarted,
    TutorialDialMoved,
)
from labapp.tasks.reconstruction.plan import ReconstructionPart, TutorialPart
from labapp.tasks.reconstruction.snapshots import ActiveTime, SnapshotFold

Dials = tuple[float, ...]
"""A state of the dials."""

NONE_YET = ActiveTime(0)
"""Active time before a question began."""

MOST_UNDECODED = 64
"""A slow decoder is behind the hand by a few changes of a dial."""

MARKS = ("far", "close")
"""What the participant of a calibration can mark: "far away" and "close enough"."""


@dataclass(frozen=True, slots=True)
class CalibrationMark:
    """A mark of a calibration: mark is one of MARKS, alignment that of the picture marked."""

    mark: str
    alignment: float


class Trial(State, frozen=True):
    """One question.

    z: present dial state; z_seq counts its changes and decoded_seq is the last one whose picture
    was decoded, of the dial state z_decoded. undecoded: the changes since by z_seq, at most
    MOST_UNDECODED. started_ns is None until the pictures are on the screen. redrawn: the pairs
    before this one that were put back unseen.
    """

    number: int
    z_start: tuple[float, ...]
    z_target: tuple[float, ...]
    z: tuple[float, ...]
    overlay: bool
    attempt: int = 1
    redrawn: int = 0
    z_seq: int = 0
    decoded_seq: int = 0
    z_decoded: tuple[float, ...] | None = None
    undecoded: tuple[tuple[int, tuple[float, ...]], ...] = ()
    alignment: float = 0.0
    error_sum: float = 0.0
    error_mean: float = 0.0
    started_ns: int | None = None
    aligned_at_start: bool = False
    solved: bool = False
    skip_offered: bool = False
    active: ActiveTime = NONE_YET
    snapshots: SnapshotFold | None = None
    selected: int | None = None
    marks: tuple[CalibrationMark, ...] = ()
    outcome: str | None = None

    @property
    def z_shown(self) -> tuple[float, ...]:
        """The dial state whose picture is on the screen."""
        return self.z if self.solved or self.z_decoded is None else self.z_decoded

    @property
    def on_screen(self) -> bool:
        """The pictures are shown and the question is not over."""
        return self.started_ns is not None and self.outcome is None

    @property
    def running(self) -> bool:
        """On the screen and not solved: dials can be moved."""
        return self.on_screen and not self.solved

    @property
    def unmarked(self) -> tuple[str, ...]:
        """What a calibration still lacks: of MARKS, those that were not made yet."""
        made = {mark.mark for mark in self.marks}
        return tuple(mark for mark in MARKS if mark not in made)


class StageState(State, frozen=True):
    """trial: the present question, None before the first; outcomes: of the questions so far;
    labels: the participant's names of the dials, None if not renamed; attempt: at the stage;
    highest: greatest attempt of any question so far."""

    pauses: Pauses
    labels: tuple[str | None, ...]
    trial: Trial | None = None
    outcomes: tuple[str, ...] = ()
    stage_started_ns: int | None = None
    outcome: str | None = None
    attempt: int = 1
    highest: int = 1

    def again(self, attempt: int) -> StageState:
        """The stage from its beginning; the participant's names of the dials stay."""
        return StageState(self.pauses, self.labels, attempt=attempt, highest=attempt)


LABEL_LIMIT = 60
"""Characters of a dial's name for which there is room beside it. The field takes no more and says
so; what is asked for here is kept whole."""


@dataclass(frozen=True)
class ReconstructionTask(machine.StageMachine[StageState]):
    """A stage of questions on one representation. sample: held-out representation, shape (m,
    dimensions), or None; seed and participant: for the draws; index: the part's place in the
    plan."""

    part: ReconstructionPart
    index: int
    space: LatentSpace
    sample: NDArray[np.float32] | None
    seed: int
    participant: str

    def rights(self, state: StageState) -> Sequence[bool]:
        return [outcome == "solved" for outcome in state.outcomes]

    @property
    def inactivity_ns(self) -> int:
        return round(self.part.inactivity_s * NS)

    @property
    def as_published(self) -> bool:
        return self.part.active_time == "as_published"

    def initial(self, pauses: Pauses) -> StageState:
        return StageState(pauses, (None,) * len(self.space))

    def wants_begin(self, state: StageState) -> bool:
        if state.outcome is not None or state.pauses.held:
            return False
        return state.trial is None or (
            state.trial.outcome is not None and len(state.outcomes) < self.part.trials
        )

    def attempt(self, state: StageState) -> int:
        return max(state.attempt, state.highest)

    def asked_again(self, state: StageState) -> Sequence[Payload]:
        trial = state.trial
        waits = trial is not None and trial.on_screen and self._find_outcome(state) is None
        return (TrialEnded(machine.INTERRUPTED),) if waits and state.outcome is None else ()

    def next_deadline(self, state: StageState) -> int | None:
        return machine.next_deadline(
            state, machine.limit_ns(self.part, state), self.offer_ns(state.trial)
        )

    def offer_ns(self, trial: Trial | None) -> int | None:
        """Working time at which skip is offered, if the participant does nothing until then."""
        if (
            self.part.skip != "after"
            or self.as_published  # there, time counts only when a snapshot closes a gap
            or trial is None
            or not trial.running
            or trial.skip_offered
        ):
            return None
        missing = round(self.part.skip_after_s * NS) - trial.active.total_ns
        if missing > self.inactivity_ns:
            return None
        return trial.active.last_ns + max(missing, 0)

    def decide(self, state: StageState, command: Command, now_ns: int) -> Sequence[UnstampedEvent]:
        if state.outcome is not None:
            return ()
        if isinstance(command, SkipStage):
            return machine.skip_stage(self.part, self.index, state, self._find_outcome(state))
        if isinstance(command, Begin) and self.wants_begin(state):
            return self._draw(*machine.next_attempt(state, state.highest), 0)
        if state.trial is None:
            return ()
        working = state.pauses.working_ns(now_ns)
        trial = state.trial
        match command:
            case Presented() if trial.started_ns is None:
                return self._decide_presented(trial, command)
            case Decoded() if trial.running and command.z_seq > trial.decoded_seq:
                measured = TargetDistance(command.alignment, command.error_sum, command.error_mean)
                return self._decide_decoded(trial, command.z_seq, command.z, measured, working)
            case MoveDial() if trial.running:
                return self._move(trial, command, working)
            case SelectDial(dimension, device) if trial.running and self._is_dial(dimension):
                return self._active(trial, working, DialSelected(dimension, device))
            case ToggleOverlay(on) if trial.on_screen and on != trial.overlay:
                return self._active(trial, working, OverlayToggled(on))
            case EditLabel(dimension, text) if trial.on_screen and self.part.labels_editable:
                text = " ".join(text.split())
                if not self._is_dial(dimension) or text == (state.labels[dimension] or ""):
                    return ()
                return self._active(trial, working, LabelEdited(dimension, text))
            case MarkAlignment(mark) if trial.running and self.part.marks and mark in MARKS:
                payload = AlignmentMarked(mark, trial.decoded_seq, trial.alignment)
                return self._active(trial, working, payload)
            case Skip() if trial.running and self.may_skip(trial):
                return self._leave(state, trial, "skipped")
            case Next() if trial.on_screen and (achieved := self._find_outcome(state)) is not None:
                return self._leave(state, trial, achieved)
            case Tick() if not state.pauses.held:
                achieved = self._find_outcome(state)
                expired = machine.time_is_up(self.part, self.index, state, achieved, working)
                return expired or self._offer(trial, working)
        return ()

    def may_skip(self, trial: Trial) -> bool:
        return self.part.skip == "always" or (self.part.skip == "after" and trial.skip_offered)

    def _is_dial(self, dimension: int) -> bool:
        return 0 <= dimension < len(self.space)

    def _draw(self, number: int, attempt: int, redrawn: int) -> Sequence[UnstampedEvent]:
        pair = draw_pair(
            self.part,
            self.space,
            self.sample,
            self.seed,
            self.participant,
            number,
            attempt,
            redrawn=redrawn,
        )
        return (UnstampedEvent(TrialDrawn(*pair, redrawn), self.part.id, number, attempt),)

    def _decide_presented(self, trial: Trial, shown: Presented) -> Sequence[UnstampedEvent]:
        aligned = self._is_reached(shown.alignment)
        if aligned and self.part.sampling != "fixed" and trial.redrawn < MOST_REDRAWN:
            # Paper 000 has no such question. Nothing of this one has been on the screen.
            return self._draw(trial.number, trial.attempt, trial.redrawn + 1)
        measures = (shown.alignment, shown.error_sum, shown.error_mean)
        events = [machine.unstamped(self.part, trial, TrialStarted(*measures, aligned))]
        if aligned:
            events.append(
                machine.unstamped(self.part, trial, TrialSolved(0, trial.z, shown.alignment))
            )
        return events

    def _is_reached(self, alignment: float) -> bool:
        """Whether the pictures match; in a calibration there is nothing to reach."""
        return not self.part.marks and reaches_target(alignment, self.part.target_alignment)

    def _decide_decoded(
        self, trial: Trial, z_seq: int, z: Dials, measured: TargetDistance, working: int
    ) -> Sequence[UnstampedEvent]:
        payload = PictureDecoded(z_seq, *measured)
        events = [machine.unstamped(self.part, trial, payload)]
        if self._is_reached(measured.alignment):
            solved = TrialSolved(z_seq, z, measured.alignment)
            events.append(machine.unstamped(self.part, trial, solved))
        elif self.as_published:
            # There, active time grows with the snapshot that this picture may bring.
            seen = self._after(trial, payload, working)
            events += self._offer(seen, working)
        return events

    def stride(
        self, trial: Trial, move: MoveDial, z: Dials, measured: TargetDistance, working: int
    ) -> tuple[Trial, DialMoved, PictureDecoded] | None:
        """A movement whose picture is decoded at once: the question after it, and both events. None
        if more comes of it, which `decide` says. z: the dials after it; measured: their picture.
        """
        dimension = move.dimension
        z_seq, value = trial.z_seq + 1, z[dimension]
        if self._is_reached(measured.alignment) or self._offer(trial, working):
            return None
        assert trial.snapshots is not None
        fold, taken = trial.snapshots.moved(working, z_seq, dimension, value).decoded(
            working, z_seq, *measured
        )
        active = trial.active
        if not self.as_published:
            active = active.add_action(working)
        elif taken:
            active = active.seen(working)
        after = replace(
            trial,
            z=z,
            z_seq=z_seq,
            decoded_seq=z_seq,
            z_decoded=z,
            undecoded=(),
            alignment=measured.alignment,
            error_sum=measured.error_sum,
            error_mean=measured.error_mean,
            active=active,
            snapshots=fold,
            selected=dimension,
        )
        if self.as_published and self._offer(after, working):
            return None
        moved = DialMoved(z_seq, dimension, value, move.device)
        return after, moved, PictureDecoded(z_seq, *measured)

    def _move(self, trial: Trial, move: MoveDial, working: int) -> Sequence[UnstampedEvent]:
        if not self._is_dial(move.dimension) or not isfinite(move.value):
            return ()
        value = self.space.dimensions[move.dimension].snap(move.value)
        if value == trial.z[move.dimension]:
            return ()
        payload = DialMoved(trial.z_seq + 1, move.dimension, value, move.device)
        return self._active(trial, working, payload)

    def _active(self, trial: Trial, working: int, payload: Payload) -> Sequence[UnstampedEvent]:
        """Something the participant did, and the skip offer it may bring."""
        return (machine.unstamped(self.part, trial, payload), *self._offer(trial, working))

    def _offer(self, trial: Trial, working: int) -> Sequence[UnstampedEvent]:
        if self.part.skip != "after" or trial.skip_offered or not trial.running:
            return ()
        active = trial.active.total_ns if self.as_published else trial.active.at(working)
        if active < round(self.part.skip_after_s * NS):
            return ()
        return (machine.unstamped(self.part, trial, SkipOffered(active / NS)),)

    def _find_outcome(self, state: StageState) -> str | None:
        """The outcome that the question on the screen has earned, with which Next leaves it."""
        trial = state.trial
        if trial is None:
            return None
        if self.part.marks:
            return None if trial.unmarked else "marked"
        return "solved" if trial.solved else None

    def _leave(self, state: StageState, trial: Trial, outcome: str) -> Sequence[UnstampedEvent]:
        return machine.leave_question(self.part, self.index, state, trial, outcome)

    def apply(self, state: StageState, event: Event, payload: Payload) -> StageState:
        pauses = state.pauses.apply(event)
        if pauses is not state.pauses:
            return replace(state, pauses=pauses)
        if event.part_id != self.part.id:
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
                        overlay=self.part.overlay_at_start,
                        redrawn=payload.redrawn,
                    ),
                )
            case PartEnded():
                return replace(state, outcome=payload.outcome)
            case LabelEdited():
                labels = list(state.labels)
                labels[payload.dimension] = payload.text or None
                state = replace(state, labels=tuple(labels))
        if (trial := state.trial) is None:
            return state
        if isinstance(payload, TrialEnded) and payload.outcome != INTERRUPTED:
            state = replace(state, outcomes=(*state.outcomes, payload.outcome))
        if isinstance(payload, TrialStarted) and state.stage_started_ns is None:
            state = replace(state, stage_started_ns=working)
        return replace(state, trial=self._after(trial, payload, working))

    def _after(self, trial: Trial, payload: Payload, working: int) -> Trial:
        """The question after an event of its own, at `working` (working time, ns). As published,
        active time grows only with snapshots."""
        if isinstance(payload, Activity) and not self.as_published:
            trial = replace(trial, active=trial.active.add_action(working))
        return self._change_trial(trial, payload, working)

    def _change_trial(self, trial: Trial, payload: Payload, working: int) -> Trial:
        match payload:
            case TrialStarted():
                measures = (payload.alignment, payload.error_sum, payload.error_mean)
                snapshots, _ = SnapshotFold.begin(working, trial.z, self.part.discrete, measures)
                return replace(
                    trial,
                    started_ns=working,
                    active=ActiveTime(self.inactivity_ns, 0, working),
                    alignment=payload.alignment,
                    error_sum=payload.error_sum,
                    error_mean=payload.error_mean,
                    aligned_at_start=payload.aligned_at_start,
                    snapshots=snapshots,
                )
            case DialMoved():
                values, fold = list(trial.z), trial.snapshots
                values[payload.dimension] = payload.value
                z = tuple(values)
                return replace(
                    trial,
                    z=z,
                    z_seq=payload.z_seq,
                    z_decoded=trial.z if trial.z_decoded is None else trial.z_decoded,
                    undecoded=(*trial.undecoded, (payload.z_seq, z))[-MOST_UNDECODED:],
                    selected=payload.dimension,
                    snapshots=fold
                    and fold.moved(working, payload.z_seq, payload.dimension, payload.value),
                )
            case PictureDecoded():
                measures = (payload.alignment, payload.error_sum, payload.error_mean)
                z_decoded, later = trial.z, trial.undecoded
                if payload.z_seq == trial.z_seq:
                    later = ()
                else:  # a slow decoder, behind the hand
                    z_decoded = dict(later).get(payload.z_seq, trial.z)
                    later = tuple(move for move in later if move[0] > payload.z_seq)
                fold, taken, active = trial.snapshots, None, trial.active
                if fold is not None:
                    fold, taken = fold.decoded(working, payload.z_seq, *measures)
                if taken and self.as_published:
                    active = active.seen(working)
                return replace(
                    trial,
                    decoded_seq=payload.z_seq,
                    z_decoded=z_decoded,
                    undecoded=later,
                    alignment=payload.alignment,
                    error_sum=payload.error_sum,
                    error_mean=payload.error_mean,
                    snapshots=fold,
                    active=active,
                )
            case DialSelected():
                return replace(trial, selected=payload.dimension)
            case OverlayToggled():
                return replace(trial, overlay=payload.on)
            case AlignmentMarked():
                marked = CalibrationMark(payload.mark, payload.alignment)
                return replace(trial, marks=(*trial.marks, marked))
            case SkipOffered():
                return replace(trial, skip_offered=True)
            case TrialSolved():
                return replace(trial, z=payload.z, solved=True, alignment=payload.alignment)
            case TrialEnded():
                return replace(trial, outcome=payload.outcome)
        return trial


MOST_REDRAWN = 50
"""So often a pair is drawn again. Where the threshold or the model lets all of them agree, the last
one is asked, marked and not counted."""


def draw_pair(
    part: ReconstructionPart,
    space: LatentSpace,
    sample: NDArray[np.float32] | None,
    seed: int,
    participant: str,
    trial: int,
    attempt: int = 1,
    *,
    redrawn: int = 0,
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The initial z and the target z' of a question (paper 000, 3.1), on the sliders' steps and
    inside their limits.

    trial: number of the question, from 1, in this attempt at the stage.
    redrawn: how many pairs were drawn for it before; a fixed pair is always the same.
    sample: held-out representation, shape (m, dimensions), float32; needed by `held_out` and
    `shuffled_pass`. Raises ValueError when the part's sampling cannot be done with what is given.
    """
    if part.sampling == "fixed":
        start, target = part.pairs[trial - 1]
        return space.snap(start), space.snap(target)
    stage = attempt_at(part.id, attempt)
    if part.sampling == "shuffled_pass":
        order = generator(seed, participant, stage, "pass")
        place = trial + redrawn * part.trials  # behind the pairs of all questions
        # As the published application: the first 250 rows, shuffled, two a question.
        rows = sample_of(part.model, sample)[:250]
        shuffled = order.permutation(len(rows))
        start, target = (
            rows[int(shuffled[at % len(rows)])].tolist() for at in (2 * place - 2, 2 * place - 1)
        )
        return space.snap(start), space.snap(target)
    rng = generator(seed, participant, stage, trial, "pair", *([redrawn] if redrawn else []))
    start, target = (draw_state(part.sampling, part.model, space, sample, rng) for _ in range(2))
    return start, target


@dataclass(frozen=True, slots=True)
class ShownPictures:
    """What the participant sees: own picture and target, float32 arrays of the model's shape."""

    own: Array
    target: Array


class TrialPictures(PartPictures[ReconstructionPart]):
    shown: ShownPictures | None

    def __init__(self, part: ReconstructionPart, context: PictureContext) -> None:
        super().__init__(part, context)
        self._session: Session | None = None
        self._requested_seq = -1
        self._of: tuple[int, int, int] | None = None
        self._looks: Foresight | None = None

    @property
    def slow(self) -> bool:
        """Whether a worker decodes them."""
        return self.part.model in self.context.slow

    def foresee(self, likely: Likely) -> None:
        """Which states of the dials are likely to be looked at next: they are decoded in one
        call."""
        if self._looks is not None:
            self._looks.foresee(likely)

    def look_along(self, states: Sequence[Dials]) -> list[Look]:
        """What would be seen of states of the dials that follow one another, and how far each is
        from the target."""
        assert self._looks is not None
        return self._looks.look_along(states)

    def show(self, own: Array, z_seq: int) -> None:
        """Show what was looked at; z_seq: counts the changes of the dials until then."""
        assert self.shown is not None
        self.shown, self._requested_seq = ShownPictures(own, self.shown.target), z_seq

    def follow(self, session: Session) -> None:
        self._session = session
        trial = self._trial()
        if trial is None:
            self.shown, self._of = None, None
            return
        key = (trial.number, trial.attempt, trial.redrawn)
        decoder = self.context.decoders[self.part.model]
        if key != self._of:
            own, target = decode_one(decoder, trial.z_shown), decode_one(decoder, trial.z_target)
            self.shown = ShownPictures(own, target)
            self._looks = Foresight(decoder, self.part.distance, target)
            self._of = key
            self._requested_seq = trial.decoded_seq
        elif trial.solved and trial.z_seq != trial.decoded_seq:
            # Locked at the z that was decoded, which may be older than the last movement.
            assert self.shown is not None
            self.shown = ShownPictures(decode_one(decoder, trial.z), self.shown.target)

    def ready(self, state: StageState) -> bool:
        return state.trial is not None and self.shown is not None

    def due(self, state: StageState) -> Command | None:
        trial = self._trial()
        if trial is None or self.shown is None:
            return None
        if trial.started_ns is None:
            measures = compare(self.part.distance, self.shown.own, self.shown.target)
            return Presented(measures.alignment, measures.error_sum, measures.error_mean)
        if trial.running and trial.z_seq > max(trial.decoded_seq, self._requested_seq):
            return self._decode(trial, self.shown.target)
        return None

    def _trial(self) -> Trial | None:
        state: StageState | None = None if self._session is None else self._session.part_state
        return None if state is None else state.trial

    def _decode(self, trial: Trial, target: Array) -> Command | None:
        """Decode the present dial state now, or ask the worker to."""
        looks = self._looks
        assert looks is not None
        z, z_seq = trial.z, trial.z_seq
        self._requested_seq = z_seq

        def decode() -> tuple[Array, Decoded]:
            own, m = looks.look(z)
            return own, Decoded(z_seq, z, m.alignment, m.error_sum, m.error_mean)

        if not self.slow:
            own, done = decode()
            self.shown = ShownPictures(own, target)
            return done

        def job() -> Callable[[], None]:
            own, done = decode()
            return lambda: self._receive_decoded(target, own, done)

        self.context.request(job)
        return None

    def _receive_decoded(self, target: Array, own: Array, done: Decoded) -> None:
        """The worker is done. What came too late (the trial is solved or over) is dropped."""
        trial = self._trial()
        if trial is None or self.shown is None or self.shown.target is not target:
            return
        assert self._session is not None
        if self._session.pauses.held:
            self._requested_seq = trial.decoded_seq  # asked for again when the pause is over
        elif trial.running:
            self.shown = ShownPictures(own, target)
            self.context.came(done)


class BoxPictures(PartPictures[TutorialPart]):
    shown: tuple[Array, ...] | None

    def __init__(self, part: TutorialPart, context: PictureContext) -> None:
        super().__init__(part, context)
        self._of: tuple[tuple[float, ...], ...] = ((),) * len(part.boxes)

    def follow(self, session: Session) -> None:
        state: TutorialState = session.part_state
        shown: Sequence[Array | None] = self.shown or (None,) * len(self.part.boxes)
        boxes = zip(self.part.boxes, shown, self._of, state.dials, strict=True)
        self.shown = tuple(
            decode_one(self.context.decoders[box.model], dials)
            if picture is None or dials != of
            else picture
            for box, picture, of, dials in boxes
        )
        self._of = state.dials

    def ready(self, state: TutorialState) -> bool:
        return self.shown is not None


@dataclass(frozen=True, slots=True)
class TutorialState(PagesState):
    """dials: the dial states of the boxes."""

    dials: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True)
class TutorialMachine(PagesMachine[TutorialState]):
    """spaces: the latent space of each box."""

    part: TutorialPart
    spaces: tuple[LatentSpace, ...]

    def initial(self, pauses: Pauses) -> TutorialState:
        boxes = zip(self.part.boxes, self.spaces, strict=True)
        return TutorialState(dials=tuple(space.snap(box.start) for box, space in boxes))

    def decide(
        self, state: TutorialState, command: Command, now_ns: int
    ) -> Sequence[UnstampedEvent]:
        if state.outcome is not None:
            return ()
        match command:
            case MoveTutorialDial(box, dimension, value) if 0 <= box < len(self.spaces):
                dimensions = self.spaces[box].dimensions
                if not 0 <= dimension < len(dimensions) or not isfinite(value):
                    return ()
                snapped = dimensions[dimension].snap(value)
                if snapped == state.dials[box][dimension]:
                    return ()
                return (UnstampedEvent(TutorialDialMoved(box, dimension, snapped), self.part.id),)
        return self.turn(state, command)

    def apply(self, state: TutorialState, event: Event, payload: Payload) -> TutorialState:
        if isinstance(payload, TutorialDialMoved):
            dials = [list(z) for z in state.dials]
            dials[payload.box][payload.dimension] = payload.value
            return dataclasses.replace(state, dials=tuple(map(tuple, dials)))
        return super().apply(state, event, payload)
