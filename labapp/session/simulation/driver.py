"""Drives a session as a participant would: reads, turns dials and names them, answers, goes on.

What it does in a part its task type says (`TaskType.simulate`). One that thinks aloud says so in
words in the journal; its voice draws from a generator of its own and keeps nothing waiting, so that
what is done in a session is the same with it and without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from labapp.base.clock import NS
from labapp.base.errors import LabappError, SessionError
from labapp.record.events import Source
from labapp.record.events.commands import Command, ConfirmSkip, Next, Skip, SkipStage
from labapp.record.events.lifecycle import ParticipantSimulated
from labapp.record.events.voice import SpeechSimulated
from labapp.session.machine import SessionState
from labapp.session.runner import Runner, Timer
from labapp.session.simulation.person import Experience, Pace, ParticipantTraits, thoughts
from labapp.session.simulation.strategies import draw_strategy
from labapp.study.conditions import generator
from labapp.study.plugins import registry
from labapp.study.plugins.part import PlannedPart
from labapp.study.plugins.simulated import NO_OPTIONS, Actor, Options, Step, TrialKey

STILL_S = 120.0
"""Seconds of session time in which something of the session must change. What comes by itself (the
least time of a break, a limit of time) is waited for, and so are the moderator's pauses."""
LOOKS = 4
"""So often within that time it is looked."""


class Stuck(SessionError):
    """The simulated participant does not get on."""


def raise_error(error: LabappError) -> None:
    """What is done about it where there are no windows."""
    raise error


class DriverWatch:
    """Looks at a session that is driven.

    on_stuck : is told, once, why the driver does not get on; it ends the session.
    alone : there is no moderator who could end a pause.
    """

    def __init__(
        self, runner: Runner, on_stuck: Callable[[LabappError], None], *, alone: bool
    ) -> None:
        self._runner = runner
        self._on_stuck = on_stuck
        self._alone = alone
        self._timer: Timer | None = None
        self._seen: tuple[SessionState, int] | None = None
        self._over = False

    def start(self) -> None:
        self._look()

    def stop(self) -> None:
        self._over = True
        if self._timer is not None:
            self._timer.cancel()

    def give_up(self, error: LabappError) -> None:
        """The driver cannot go on."""
        if not self._over:
            self.stop()
            self._on_stuck(error)

    def _look(self) -> None:
        runner, state = self._runner, self._runner.state
        if self._over or runner.finished:
            return
        now_ns = runner.clock.now_ns()
        part = runner.part
        rests = part is not None and part.rests
        waits = state.pauses.held and not rests and not self._alone
        if self._seen is None or self._seen[0] is not state or waits or runner.stalled:
            self._seen = (state, now_ns)
        # A limit of time that is still to come changes something by itself.
        since_ns = max(self._seen[1], runner.machine.next_deadline(state) or 0)
        still_s = STILL_S + (0.0 if part is None else part.lasts_s)
        if now_ns - since_ns >= round(still_s * NS):
            self.give_up(self._find_stuck())
            return
        self._timer = runner.scheduler.call_later(STILL_S / LOOKS, self._look)

    def _find_stuck(self) -> Stuck:
        """How far the driver has come, to find out why it stopped."""
        part, where = self._runner.part, "between two parts"
        if part is not None:
            state = self._runner.state
            # The page, the items or the question that the driver stands at.
            place = self._runner.machine.tasks[state.index].place(state.part_state)
            where = f"in {part.id} ({part.title!r}){f', {place}' if place else ''}"
        return Stuck(
            f"The simulated participant made no progress for {STILL_S:.0f} s of session time, "
            f"{where}.",
            safe="The session is closed, and everything up to then is recorded.",
            todo="Check this part of the study. If a person can continue there, report this as "
            "a fault.",
        )


class Driver:
    """Sends one command after another until the session ends; a
    `labapp.study.plugins.simulated.SimulatedParticipant`.

    on_stuck: see `DriverWatch`; a driver never waits for ever.
    consent: stores the name apart and lets the session go on (see OpenSession.give_consent).
    strategy: one of `simulation.names`, or shares of them (see `mixtures`), which must fit the
    study. careless: guesses wherever it is asked, and gives up every reconstruction question that
    can be given up, so that rules of inclusion have somebody to exclude. paints: without a screen,
    the driver itself says that a stimulus is painted, at the moment it is due. options: of a
    task by its name, such as the observer that `understanding` sees masked pictures with.
    language: the study's, in which dials are named. thinks_aloud: says what it thinks (see
    `speech`); what it does is the same.
    """

    def __init__(
        self,
        runner: Runner,
        consent: Callable[[str], None],
        strategy: str,
        seed: int,
        participant: str,
        pace: Pace,
        *,
        careless: bool = False,
        paints: bool = False,
        options: Options = NO_OPTIONS,
        language: str = "en",
        thinks_aloud: bool = False,
        on_stuck: Callable[[LabappError], None] = raise_error,
    ) -> None:
        self.runner = runner
        # Where there are windows, there is a moderator who pauses and goes on.
        self._watch = DriverWatch(runner, on_stuck, alone=paints)
        self._consent = consent
        strategy, share = draw_strategy(strategy, seed, participant)
        self.strategy = "careless" if careless else strategy
        self.goes_by = strategy
        self.careless = careless
        self.seed: tuple[int, *tuple[str, ...]] = (seed, participant, "simulated", strategy)
        self.rng = generator(*self.seed)
        self.person = ParticipantTraits.drawn(seed, participant)
        self.pace = pace
        self.language = language
        self.paints = paints
        self.options = options
        self.experience: dict[str, Experience] = {}
        self.memory: dict[tuple[str, ...], Any] = {}
        self.thinks_aloud = thinks_aloud
        self._voice = ThoughtVoice(runner, self.seed, language) if thinks_aloud else None
        self._says = ParticipantSimulated(strategy, share, careless, asdict(self.person))
        self._actor: Actor[Any] | None = None
        self._trial: TrialKey | None = None
        self._steps: Iterator[Step] = iter(())
        self._step: Step | None = None
        self._due_ns = 0
        self._stopped = False

    def start(self) -> None:
        """Begin after a moment; everything happens on the runner's scheduler. Who it is, is written
        down first."""
        self.runner.emit(self._says, Source.SIMULATED)
        self.later(self.pace.read_s)
        self._watch.start()

    def stop(self) -> None:
        self._stopped = True
        self._watch.stop()

    def consent(self) -> None:
        """Sign what is asked for."""
        self._consent("Simulated Participant")

    def lasts(self, seconds: float) -> float:
        """A random duration in seconds around the given one."""
        return seconds * (0.8 + (1.25 - 0.8) * self.rng.random())

    def later(self, seconds: float) -> None:
        """Act after about so many seconds."""
        self.after(self.lasts(seconds))

    def after(self, seconds: float) -> None:
        """Act after exactly so many seconds."""
        self._due_ns = self.runner.clock.now_ns() + round(seconds * NS)
        self.runner.scheduler.call_later(seconds, self._act)

    def at(self, session_ns: int) -> None:
        """Act at a moment of session time, or at once where it is over."""
        self.after(max(0, session_ns - self.runner.clock.now_ns()) / NS)

    def think_aloud(self, thought: str, what: str = "") -> bool:
        """Say what it thinks, where it is one that thinks aloud; whether that was said."""
        return self._voice is not None and self._voice.say(thought, what)

    def send(self, command: Command, then_s: float, *, moving: bool = False) -> None:
        """Send a command, and act again after about so many seconds. moving: a hand on its way,
        which does not wait until windows have drawn what it did: there the seconds count from the
        moment at which this was due."""
        due_ns = self._due_ns
        self.runner.send(command, Source.SIMULATED)
        if isinstance(command, Skip | SkipStage):
            self.runner.send(ConfirmSkip(), Source.SIMULATED)  # a program takes nothing back
        part = self.runner.part
        if moving and not self.paints:
            self.at(due_ns + round(self.lasts(then_s) * NS))
            return
        # A stimulus comes by itself, and is not waited for longer than it takes to be painted.
        self.later(0.0 if part is not None and part.timed else then_s)

    def go_through(self, trial: TrialKey, steps: Iterator[Step]) -> None:
        """Take the next step of a trial; steps: all of them, where it is a new one."""
        if self._trial != trial:
            self._trial, self._steps = trial, steps
            self._step = next(self._steps)
            self.later(self._seconds(self._step))
            return
        if self._step is None:  # all was sent, and yet it is on the screen
            self.send(Next(), self.pace.think_s)
            return
        step, self._step = self._step, next(self._steps, None)
        self.send(step.command, self._seconds(self._step))

    def _seconds(self, step: Step | None) -> float:
        """How long a participant takes before a step."""
        return self.pace.read_s if step and step.waits == "look" else self.pace.think_s

    def _act(self) -> None:
        if self._stopped or self.runner.finished:
            return
        try:
            part = self.runner.part
            waiting = part is None or (self.runner.state.pauses.held and not part.rests)
            if part is None or waiting or self.runner.stalled:
                self.later(0.1)
            else:
                self._actor_of(part).act()
        except LabappError as error:
            self._watch.give_up(error)

    def _actor_of(self, part: PlannedPart) -> Actor[Any]:
        if self._actor is None or self._actor.part is not part:
            actor = registry.task_type_of(part).simulate(part, self)
            if actor is None:
                raise Stuck(
                    f"The simulated participant cannot handle parts of the kind {part.part!r}.",
                    safe="The session is closed, and everything up to then is recorded.",
                    todo="Go through it yourself, or add a `simulate` to its task type.",
                )
            self._actor = actor
        return self._actor


WORDS_PER_S = 2.5
"""About 150 words a minute, the usual rate of English conversation."""
ONSET_S = 0.25
"""Before and after the words of an utterance, together."""
BREATH_S = 0.8
"""Silence between two utterances; more than the pause by which speech is cut into units."""
BACKLOG_S = 6.0
"""Who would have to wait so long to say something lets it be (ours)."""


class ThoughtVoice:
    """Says thoughts one after the other. seed: of its draws, to which a purpose is added."""

    def __init__(self, runner: Runner, seed: tuple[int, *tuple[str, ...]], language: str) -> None:
        self._runner = runner
        self._rng = generator(*seed, "speech")
        self._thoughts = thoughts(language)
        self._free_ns = 0

    def say(self, thought: str, what: str = "") -> bool:
        """Say a thought, at once or when the one before is said; False if too many wait."""
        now_ns = self._runner.clock.now_ns()
        begins_ns = max(now_ns, self._free_ns)
        if begins_ns - now_ns > BACKLOG_S * NS:
            return False
        codes, ways = self._thoughts[thought]
        text = ways[int(self._rng.integers(len(ways)))].format(what=what)
        seconds = ONSET_S + len(text.split()) / WORDS_PER_S
        ends_ns = begins_ns + round(seconds * NS)
        self._runner.emit(SpeechSimulated(begins_ns, ends_ns, text, dict(codes)), Source.SIMULATED)
        self._free_ns = ends_ns + round(BREATH_S * NS)
        return True
