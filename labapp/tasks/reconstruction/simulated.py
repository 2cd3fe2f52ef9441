"""How a simulated participant reconstructs, and plays with the tutorial.

Before it continues from a question, a participant that learns what the dials do names those that it
understands, where they can be named, and corrects the names that it knows better by now. So what it
does with the dials is the same with names and without.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import cast

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from labapp.base.clock import NS
from labapp.models.representations.decoding import Likely, Look, State
from labapp.models.representations.space import LatentSpace
from labapp.record.events import Source
from labapp.record.events.commands import Command, Next, Skip, SkipStage
from labapp.record.journal.write import Moment
from labapp.session.runner import Runner
from labapp.session.simulation.learning import LearningStrategy
from labapp.session.simulation.motor import MotorModel, states_along
from labapp.session.simulation.names import ORACLE
from labapp.session.simulation.person import (
    AIMS,
    EFFECT,
    EXPLORES,
    FOLLOWS_NUMBER,
    GIVES_UP,
    NEAR,
    NO_EFFECT,
    NOTHING,
    SOLVED,
    STRIDE_S,
    TRIES,
    Experience,
    ParticipantTraits,
    typing_s,
    vocabulary,
)
from labapp.session.simulation.strategies import STRATEGIES, OracleStrategy, in_practice
from labapp.session.simulation.view import (
    Array,
    DialMove,
    ScreenDial,
    Strategy,
    View,
    dials_of,
    on_screen,
)
from labapp.study.conditions import generator
from labapp.study.plugins.simulated import DEVICE, Actor, SimulatedParticipant, TrialKey
from labapp.tasks.reconstruction.events import EditLabel, MarkAlignment, MoveDial, MoveTutorialDial
from labapp.tasks.reconstruction.machine import ReconstructionTask, Trial, TrialPictures
from labapp.tasks.reconstruction.plan import ReconstructionPart, TutorialPart

TURNS = 2
"""Strides that it takes to turn a dial round: with the one in which the picture comes, a reaction
time of about 0.36 s."""
PLAYS = 0.7
"""How often somebody in the tutorial turns a dial instead of going on."""


class TutorialPlayer(Actor[TutorialPart]):
    """Turns the dials of the tutorial's boxes, and goes on at times."""

    def act(self) -> None:
        participant, boxes = self.participant, self.part.boxes
        if participant.rng.random() >= PLAYS:
            participant.send(Next(), participant.pace.read_s)
            return
        box = int(participant.rng.integers(len(boxes)))
        space = LatentSpace.from_json(boxes[box].dimensions)
        dimension = int(participant.rng.integers(len(space)))
        row = boxes[box].dimensions[dimension]
        value = float(participant.rng.uniform(row["low"], row["high"]))
        participant.send(MoveTutorialDial(box, dimension, value), participant.pace.stride_s)


class Reconstructor(Actor[ReconstructionPart]):
    """Looks at the dials' pictures and decides; what was decided is done when it is ready."""

    def __init__(self, part: ReconstructionPart, participant: SimulatedParticipant) -> None:
        super().__init__(part, participant)
        self._intended: Command | None = None
        self._decided_at: TrialKey | None = None
        key = ("reconstruction",)
        if key not in participant.memory:
            participant.memory[key] = Reconstructing(
                participant.goes_by,
                participant.person,
                participant.seed,
                participant.experience,
                participant.pace.stride_s / STRIDE_S,
                careless=participant.careless,
                language=participant.language,
                say=participant.think_aloud if participant.thinks_aloud else None,
            )
        self._dials: Reconstructing = participant.memory[key]

    def act(self) -> None:
        participant, runner = self.participant, self.participant.runner
        trial: Trial | None = self.state.trial
        here = (self.part.id, trial.number if trial else 0, trial.attempt if trial else 0)
        if self._decided_at != here:
            self._intended = None  # its trial is over: a limit of time or the moderator ended it
        self._decided_at = here
        if self._intended is None:
            decided = self._dials.act(runner, self.part, Sight.of(runner))
            if not self._is_ready(decided):
                return
        command, self._intended = self._intended, None
        if isinstance(command, MoveDial):
            command = self._turn_on(command)
        if isinstance(command, EditLabel):
            # No draw for it, here or above: all else takes as long as where nothing is named.
            runner.send(command, Source.SIMULATED)
            participant.after(0.0)
        elif command is not None:
            moving = isinstance(command, MoveDial)
            participant.send(command, participant.pace.stride_s, moving=moving)

    def _is_ready(self, decided: Act) -> bool:
        """Whether what was decided is done at once; where not, it acts again when it is time."""
        participant = self.participant
        self._intended = decided.command
        if decided.then is not None:
            self._foresee(decided.then)
        if decided.typing_s is not None:
            participant.after(decided.typing_s)
            return False
        before_s = self._takes(decided.before)
        if before_s > 0 or decided.command is None:
            participant.later(before_s or participant.pace.stride_s)
            return False
        return True

    def _foresee(self, likely: Likely) -> None:
        """Let the pictures know what will probably be looked at. Not where time passes by itself:
        there, each picture has its time."""
        runner = self.participant.runner
        if runner.quiet_until_ns is not None and isinstance(runner.part_pictures, TrialPictures):
            runner.part_pictures.foresee(likely)

    def _turn_on(self, command: MoveDial) -> Command | None:
        """Turn a dial, and go on turning dials for as long as nothing comes of it but pictures.

        All is as though each movement had been sent, in a third of the time. Returns what is left
        to be sent now; None if it acts again when it is time.
        """
        participant, runner, part = self.participant, self.participant.runner, self.part
        quiet_ns, pictures, state = runner.quiet_until_ns, runner.part_pictures, self.state
        trial: Trial = state.trial
        if quiet_ns is None or participant.thinks_aloud or not trial.running:
            return command
        assert isinstance(pictures, TrialPictures)
        assert pictures.shown is not None
        if pictures.slow or trial.z_seq > trial.decoded_seq:
            return command
        task = cast(ReconstructionTask, runner.machine.tasks[runner.state.index])
        dials = self._dials
        own, target = pictures.shown.own, pictures.shown.target
        at_ns, paused_ns = runner.clock.now_ns(), state.pauses.total_ns
        stride_s = participant.pace.stride_s
        run: list[Moment] = []

        def quiet(then_ns: int) -> bool:
            offer_ns = task.offer_ns(trial)
            return then_ns < quiet_ns and (offer_ns is None or then_ns - paused_ns < offer_ns)

        def take() -> None:
            if run:
                pictures.show(own, trial.z_seq)
            key = (part.id, trial.number, trial.attempt)
            runner.take(run, key, replace(state, trial=trial), at_ns)

        while True:
            seen: list[Look] = []
            states = dials.way_of(part, task, trial, command)
            for z, look in zip(states, pictures.look_along(states), strict=True):
                if seen:
                    command = dials.go_on()
                if z != trial.z:
                    own, measured = look
                    done = task.stride(trial, command, z, measured, at_ns - paused_ns)
                    if done is None:
                        dials.see_way(part, states, seen)
                        take()
                        return command
                    trial, moved, decoded = done
                    run.append((at_ns, moved, Source.SIMULATED))
                    run.append((at_ns, decoded, Source.SYSTEM))
                then_ns = at_ns + round(participant.lasts(stride_s) * NS)
                if not quiet(then_ns):
                    dials.see_way(part, states, seen)
                    take()
                    participant.at(then_ns)
                    return None
                at_ns = then_ns
                last = len(seen) + 1 == len(states)
                if last or dials.stops(part, task, trial, at_ns - paused_ns):
                    break
                seen.append((own, look[1]))
            dials.see_way(part, states, seen)
            decided = dials.act(runner, part, Sight(trial, own, target, at_ns - paused_ns))
            if not isinstance(decided.command, MoveDial):
                take()
                if not self._is_ready(decided):
                    return None
                self._intended = None
                return decided.command
            command = decided.command
            if decided.then is not None:
                pictures.foresee(decided.then)
            before_s = self._takes(decided.before)
            if before_s > 0:
                then_ns = at_ns + round(participant.lasts(before_s) * NS)
                if not quiet(then_ns):
                    take()
                    self._intended = command
                    participant.at(then_ns)
                    return None
                at_ns = then_ns

    def _takes(self, what: str) -> float:
        """Seconds before something is done: a stride of a drag goes on from the one before."""
        participant = self.participant
        if what == STRIDE:
            return 0.0
        if what == TURN:
            return participant.pace.stride_s * TURNS
        return participant.pace.think_s * participant.person.hesitates(participant.rng)


JUDGEMENT_SD = 0.03
"""How much the alignment that is close enough differs from question to question."""
NOT_SURE = 0.1
"""Nothing is marked between close enough and so much less."""
SAYS_FAR_RATE = 0.1
"""How often a stride on the way is marked far away."""

ENDURES = 2500
"""Movements after which the moderator ends a stage that cannot be skipped (ours)."""

MOVE_S = 0.25
"""What a movement takes at a person's pace, decisions included, about."""

STRIDE, TURN, THINK = "stride", "turn", "think"
"""How long something takes: from one place of a dragged dial to the next, to turn round or to grasp
a dial's new place, or to decide."""


AHEAD = 16
"""How many pictures of a movement to decode in one call. More would often be wasted, since a
question ends once it is solved."""


def _as_shown(alignment: float) -> float:
    """An alignment in the steps in which it is on the screen."""
    return round(alignment * 1000) / 1000


def _seconds_of(trial: Trial, working_ns: int) -> float:
    """How long a question has been on the screen."""
    return (working_ns - (trial.started_ns or 0)) / NS


class Act(Struct, frozen=True):
    """A command, None to wait, and what the participant takes before it. typing_s: in its stead the
    seconds of session time that it takes to type; then: gives the states of the dials that are
    likely to be seen."""

    command: Command | None
    before: str = STRIDE
    typing_s: float | None = None
    then: Likely | None = None


class Sight(Struct, frozen=True):
    """What is on the screen, at a working time."""

    trial: Trial
    own: Array
    target: Array
    working_ns: int

    @classmethod
    def of(cls, runner: Runner) -> Sight | None:
        """What a session shows; None if there is no question, or no picture of it yet."""
        trial: Trial | None = runner.state.part_state.trial
        if trial is None or not (trial.running or trial.solved) or runner.pictures is None:
            return None
        working_ns = runner.state.pauses.working_ns(runner.clock.now_ns())
        return cls(trial, runner.pictures.own, runner.pictures.target, working_ns)


class Reconstructing:
    """One participant at the reconstruction stages of a session.

    Parameters
    ----------
    seed
        Of the draws; the participant's label is part of it.
    experience_by_stage
        Filled in by the id of the stage's part: how its questions went.
    haste
        How long a movement takes, as a share of a person's time.
    careless
        Does not try.
    language
        In which it names dials.
    say
        Says a thought; None if it does not think aloud.
    """

    def __init__(
        self,
        strategy: str,
        person: ParticipantTraits,
        seed: tuple[int, *tuple[str, ...]],
        experience_by_stage: dict[str, Experience],
        haste: float = 1.0,
        *,
        careless: bool = False,
        language: str = "en",
        say: Say | None = None,
    ) -> None:
        self._strategy_name = strategy
        self._person = person
        self._seed = seed
        self._careless = careless
        self._part: str | None = None
        self._strategy: Strategy | None = None
        self._dials: tuple[ScreenDial, ...] = ()
        self._motor = MotorModel(person, generator(*seed))
        self._question: tuple[str, int, int] | None = None
        self._solving: Generator[DialMove, View, object] | None = None
        self._move = DialMove(0, 0.0)
        self._way: deque[float] = deque()
        self._moves = 0
        self._target: tuple[float, ...] = ()
        self._aimed_at: tuple[Array, Array] | None = None
        self._enough = 1.0
        self._judging = generator(*seed, "close enough")
        self._experience_by_stage = experience_by_stage
        self._haste = haste
        self._words = vocabulary(language, generator(*seed, "labels"))
        self._names: list[tuple[int, str]] = []
        self._last: Act | None = None
        self._say = say
        self._thoughts: ThinkingAloud | None = None

    def act(self, runner: Runner, part: ReconstructionPart, sight: Sight | None) -> Act:
        if sight is None:
            return Act(None)
        task = cast(ReconstructionTask, runner.machine.tasks[runner.state.index])
        trial = sight.trial
        self._meet(part, task, trial)
        if self._last is not None:
            return self._name(runner) or self._last
        if trial.z_seq > trial.decoded_seq and not trial.solved:
            return Act(None)
        view = self._view(part, task, sight)
        if trial.solved:
            return self._leave(runner, part, trial, view, Next())
        stage = part.role == "stage"
        if self._careless and stage and part.skip != "never" and not part.marks:
            if view.may_skip:
                return self._leave(runner, part, trial, view, Skip())
            dial = self._dials[0]  # from end to end, until Skip is offered
            end = dial.low if trial.z[0] != dial.low else dial.high
            return Act(MoveDial(0, end, DEVICE), THINK)
        if part.marks and (judge := self._judge(trial)) is not None:
            return Act(judge, THINK)
        if stage and view.may_skip:
            # Of fast hands the windows set the time, so that movements are counted instead.
            seconds = view.seconds if self._haste == 1.0 else self._moves * MOVE_S
            if self._gives_up(part, trial.alignment, seconds):
                return self._leave(runner, part, trial, view, Skip())
        move = self._next(view)
        if move is None and part.marks:
            return Act(MarkAlignment("close"), THINK)
        if move is None and view.may_skip:
            return self._leave(runner, part, trial, view, Skip())
        if self._moves > ENDURES and part.skip == "never":
            return Act(SkipStage(runner.state.index), THINK)
        if move is None:
            return Act(None, THINK)
        self._moves += 1
        assert self._strategy is not None
        if self._thoughts is not None:
            self._thoughts.moves(self._strategy, move)
        other = move.dial != trial.selected
        before = THINK if other else TURN if move.pause else STRIDE
        then = move.then
        if self._way:
            then = partial(states_along, view, move.dial, tuple(islice(self._way, AHEAD - 1)))
        return Act(MoveDial(move.dial, move.value, DEVICE), before, then=then)

    def way_of(
        self, part: ReconstructionPart, task: ReconstructionTask, trial: Trial, move: MoveDial
    ) -> Sequence[State]:
        """The states of the dials from a movement on, for as long as nothing is decided on the way;
        a calibration's participant decides at each picture, and so do fast hands."""
        most = 0 if part.marks or self._haste != 1.0 else AHEAD - 1
        snap, z, dial = task.space.dimensions[move.dimension].snap, trial.z, move.dimension
        values = (move.value, *islice(self._way, most))
        return [(*z[:dial], snap(value), *z[dial + 1 :]) for value in values]

    def go_on(self) -> MoveDial:
        """The next movement on the way."""
        self._moves += 1
        return MoveDial(self._move.dial, self._way.popleft(), DEVICE)

    def see_way(
        self, part: ReconstructionPart, states: Sequence[State], looks: Sequence[Look]
    ) -> None:
        """Look at pictures on the way, which are of the first of these states."""
        if looks and self._move.watch is not None:
            pictures = np.stack([picture for picture, _ in looks])
            shown = on_screen(pictures, part.display, part.chart)
            self._move.watch(states[: len(looks)], shown)

    def stops(
        self, part: ReconstructionPart, task: ReconstructionTask, trial: Trial, working_ns: int
    ) -> bool:
        """Whether there is something to decide before the next movement on the way."""
        if trial.selected != self._move.dial or (self._moves > ENDURES and part.skip == "never"):
            return True
        if part.role != "stage" or not task.may_skip(trial):
            return False
        return self._gives_up(part, trial.alignment, _seconds_of(trial, working_ns))

    def _gives_up(self, part: ReconstructionPart, alignment: float, seconds: float) -> bool:
        """Whether its patience with a question is over."""
        near = part.target_alignment - _as_shown(alignment) <= NEAR
        return seconds > self._person.gives_up_after(self._experience(part).missed, near)

    def _meet(self, part: ReconstructionPart, task: ReconstructionTask, trial: Trial) -> None:
        """Forget the dials of the stage before, and the question before."""
        if self._part != part.id:
            name = self._strategy_name if part.role == "stage" else in_practice(self._strategy_name)
            rng = generator(*self._seed, part.id)
            self._motor = MotorModel(self._person, rng)
            self._part = part.id
            if name == ORACLE:
                self._strategy = OracleStrategy(self._motor, lambda: self._target)
            else:
                self._strategy = STRATEGIES[name](self._motor, rng)
            if self._say is not None:
                aloud = generator(*self._seed, part.id, "aloud")
                self._thoughts = ThinkingAloud(self._say, aloud, self._motor, self._words)
            self._dials = dials_of(task.space)
        if self._question == (part.id, trial.number, trial.attempt):
            return
        self._question = (part.id, trial.number, trial.attempt)
        self._solving, self._moves, self._target = None, 0, trial.z_target
        self._way.clear()
        self._names, self._last = [], None
        if part.marks:
            self._judging = generator(*self._seed, part.id, trial.number, "close enough")
            judged = float(self._judging.normal(part.target_alignment, JUDGEMENT_SD))
            self._enough = min(judged, 0.99)

    def _next(self, view: View) -> DialMove | None:
        """The next move; None if nothing else comes to mind. Then it begins again elsewhere."""
        assert self._strategy is not None
        if self._way:
            if self._move.watch is not None:
                self._move.watch((view.z,), view.picture[None])
            return DialMove(self._move.dial, self._way.popleft())
        try:
            if self._solving is None:
                self._solving = self._strategy.solve(view)
                self._move = next(self._solving)
            else:
                self._move = self._solving.send(view)
            self._way.extend(self._move.onward)
            return self._move
        except StopIteration:
            self._solving = self._again()
            next(self._solving)
            return None

    def _again(self) -> Generator[DialMove, View, object]:
        """Turn any dial, and begin again; sent what is seen by then."""
        assert self._strategy is not None
        view = yield DialMove(0, 0.0)  # never sent: waits for the next view
        dial = int(self._motor.rng.integers(len(view.dials)))
        view = yield from self._motor.drag(view, dial, self._motor.anywhere(view, dial))
        return (yield from self._strategy.solve(view))

    def _experience(self, part: ReconstructionPart) -> Experience:
        if part.id not in self._experience_by_stage:  # asked at every movement
            self._experience_by_stage[part.id] = Experience()
        return self._experience_by_stage[part.id]

    def _leave(
        self, runner: Runner, part: ReconstructionPart, trial: Trial, view: View, command: Command
    ) -> Act:
        """Remember how a question went, name dials where that is possible, and go on."""
        assert self._strategy is not None
        self._last = Act(command, THINK)
        if part.role == "practice":
            return self._last
        experience = self._experience(part)
        experience.solved += trial.solved
        experience.missed += not trial.solved
        # Without what it takes to name dials: answers are the same with names and without.
        experience.seconds.append(view.seconds / self._haste)
        experience.understanding = self._strategy.understands(view)
        experience.planned, experience.tried = self._motor.planned, 1 - self._motor.planned
        if self._thoughts is not None:
            self._thoughts.leaves(self._strategy, view, solved=trial.solved)
        if part.labels_editable and isinstance(self._strategy, LearningStrategy):
            meant = self._strategy.meanings(view)
            self._names = [(dial, self._words[meaning]) for dial, meaning in meant.items()]
        return self._name(runner) or self._last

    def _name(self, runner: Runner) -> Act | None:
        """Type the next name that is not on the screen yet; None if all are."""
        shown = runner.state.part_state.labels
        while self._names:
            dial, text = self._names.pop(0)
            if shown[dial] != text:
                seconds = typing_s(text, self._person.thinking) * self._haste
                return Act(EditLabel(dial, text), typing_s=seconds)
        return None

    def _view(self, part: ReconstructionPart, task: ReconstructionTask, sight: Sight) -> View:
        trial, own, target = sight.trial, sight.own, sight.target
        if isinstance(self._strategy, LearningStrategy):  # others look at the number only
            own = on_screen(own, part.display, part.chart)
            if self._aimed_at is None or self._aimed_at[0] is not target:
                self._aimed_at = target, on_screen(target, part.display, part.chart)
            target = self._aimed_at[1]
        return View(
            own,
            target,
            _as_shown(trial.alignment),
            part.target_alignment,
            trial.z,
            self._dials,
            _seconds_of(trial, sight.working_ns),
            task.may_skip(trial),
        )

    def _judge(self, trial: Trial) -> Command | None:
        """What a calibration's participant says of the pictures now: far at the start and at times
        on the way, close once they are near enough; None to turn on."""
        if not trial.unmarked:
            return Next()
        if "far" in trial.unmarked:
            return MarkAlignment("far")
        if trial.alignment >= self._enough:
            return MarkAlignment("close")
        on_the_way = trial.alignment < self._enough - NOT_SURE
        speaks = on_the_way and self._judging.random() < SAYS_FAR_RATE
        return MarkAlignment("far") if speaks else None


TELLS = 0.25
"""How often somebody who takes another dial, or goes about it otherwise, says so (ours)."""


Say = Callable[..., bool]
"""Says a thought: `labapp.study.plugins.simulated.SimulatedParticipant.think_aloud`."""


class ThinkingAloud:
    """The thoughts of one participant at one stage.

    Parameters
    ----------
    say : says a thought.
    rng : numpy.random.Generator
        Whether something is said at all.
    motor : what the hand goes by.
    words : by what a dial changes, what the participant calls that.
    """

    def __init__(
        self, say: Say, rng: np.random.Generator, motor: MotorModel, words: Mapping[str, str]
    ) -> None:
        self._say = say
        self._rng = rng
        self._motor = motor
        self._words = words
        self._counts = self._get_counts()
        self._dial: int | None = None
        self._way: str | None = None
        self._meant: dict[int, str] = {}

    def moves(self, strategy: Strategy, move: DialMove) -> None:
        """A dial is about to be turned: what it is turned for, at times."""
        dial, before, self._counts = move.dial, self._counts, self._get_counts()
        if isinstance(strategy, LearningStrategy) and not strategy.tried(dial):
            way: str | None = EXPLORES
        else:  # None where it goes on as before
            counts = zip((AIMS, FOLLOWS_NUMBER, TRIES), before, self._counts, strict=True)
            way = next((way for way, then, now in counts if now > then), None)
        if way is None or (way, dial) == (self._way, self._dial):
            return
        self._way, self._dial = way, dial
        if self._rng.random() < TELLS:
            self._say(way)

    def leaves(self, strategy: Strategy, view: View, *, solved: bool) -> None:
        """A question is about to be left: how that feels, then what was learnt of the dials."""
        self._say(SOLVED if solved else GIVES_UP)
        self._dial = self._way = None
        meant = strategy.meanings(view) if isinstance(strategy, LearningStrategy) else {}
        for dial, meaning in meant.items():
            if self._meant.get(dial) == meaning:
                continue
            nothing = meaning == NOTHING
            spoken = self._say(NO_EFFECT) if nothing else self._say(EFFECT, self._words[meaning])
            if not spoken:
                return
            self._meant[dial] = meaning

    def _get_counts(self) -> tuple[int, int, int]:
        return self._motor.by_plan, self._motor.by_number, self._motor.by_chance
