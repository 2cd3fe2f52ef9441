"""Drives a session as a participant would: reads, turns dials and names them, answers, goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import cast

from labapp.clock import NS
from labapp.errors import LabappError
from labapp.events import Source
from labapp.events.commands import (
    Answer,
    AskQuestion,
    CloseDescription,
    Command,
    ConfirmSkip,
    EditLabel,
    EndInterview,
    MoveTutorialDial,
    Next,
    OpenDescription,
    Respond,
    ShowQuestion,
    Skip,
    SkipStage,
    StimulusPainted,
)
from labapp.events.lifecycle import ParticipantSimulated
from labapp.representations.space import LatentSpace
from labapp.session.runner import Runner
from labapp.simulation import judging
from labapp.simulation.answers import answer
from labapp.simulation.experience import Experience, leaning
from labapp.simulation.matching import Match, match
from labapp.simulation.mixtures import drawn
from labapp.simulation.percept import Eye
from labapp.simulation.person import STRIDE_S, Person
from labapp.simulation.reconstructing import STRIDE, TURN, Reconstructing
from labapp.simulation.single_dimension import Step, steps
from labapp.simulation.unmasking import DEVICE, Annotator, Observer, Reply
from labapp.simulation.watch import Watch, raised, unknown
from labapp.study.assignment import generator
from labapp.study.judging import JudgingPart, MethodPart, WarmUpPart
from labapp.study.plan import (
    BreakPart,
    ConsentPart,
    InterviewPart,
    PagesPart,
    QuestionnairePart,
    ReconstructionPart,
    TutorialPart,
)
from labapp.study.single_dimension import ExamplePart, SingleDimensionPart
from labapp.study.unmasking import UnmaskingPart
from labapp.tasks.judging.description import TREE
from labapp.tasks.judging.task import JudgingTask, WarmUpTask
from labapp.tasks.questionnaire import QuestionnaireTask
from labapp.tasks.single_dimension.state import POINTS, Question
from labapp.tasks.single_dimension.task import SingleDimensionTask


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds of session time: between two strides of a dial, before a decision, on a page.

    reaction: to a stimulus, as a share of what a person takes.
    """

    stride_s: float
    think_s: float
    read_s: float
    reaction: float = 1.0


FAST = Pace(stride_s=0.02, think_s=0.06, read_s=0.12, reaction=0.08)
"""Fast hands, for the demonstration and tests in real time."""

SHOWN_BY = TIMED_BY = "simulated"

TREE_RATE = 0.3
"""How often somebody who reads about a method looks at its whole tree before going on."""

WEIGHERS = frozenset({"understanding", "partial"})
"""They look in what examples differ, before they match a picture with them."""

HUMAN = Pace(stride_s=STRIDE_S, think_s=1.2, read_s=6.0)
"""About a person's speed, for simulations on a virtual clock. A decision takes about 1.35 s, the
mental operator of the keystroke-level model (Card, Moran and Newell 1980), looking included."""

TURNS = 2
"""Strides that it takes to turn a dial round: with the one in which the picture comes, a reaction
time of about 0.36 s."""


class Driver:
    """Sends one command after another until the session ends.

    on_stuck: see `Watch`; a driver never waits for ever.
    consent: stores the name apart and lets the session go on (see OpenSession.give_consent).
    strategy: one of `simulation.names`, or shares of them (see `mixtures`), which must fit the
    study. careless: guesses wherever it is asked, and gives up every reconstruction question that
    can be given up, so that rules of inclusion have somebody to exclude. paints: there is no screen
    that tells when a stimulus is painted, so that this does, at the moment it is due. observer: how
    `understanding` sees masked pictures. language: the study's, in which dials are named.
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
        observer: Observer | None = None,
        language: str = "en",
        on_stuck: Callable[[LabappError], None] = raised,
    ) -> None:
        self._runner = runner
        # Where there are windows, there is a moderator who pauses and goes on.
        self._watch = Watch(runner, on_stuck, alone=paints)
        self._consent = consent
        strategy, share = drawn(strategy, seed, participant)
        self._name = "careless" if careless else strategy
        self._seed = (seed, participant, "simulated", strategy)
        self._rng = generator(*self._seed)
        self._person = Person.drawn(seed, participant)
        self._says = ParticipantSimulated(strategy, share, careless, asdict(self._person))
        self._lived: dict[str, Experience] = {}
        self._dials = Reconstructing(
            strategy,
            self._person,
            self._seed,
            self._lived,
            pace.stride_s / STRIDE_S,
            careless=careless,
            language=language,
        )
        self._intended: Command | None = None
        self._decided_at: tuple[str, int, int] | None = None
        self._pace = pace
        self._paints = paints
        self._observer = observer or Observer()
        self._annotator: Annotator | None = None
        self._reply: Reply | None = None
        self._question: tuple[str, int, int] | None = None
        self._steps: Iterator[Step] = iter(())
        self._step: Step | None = None
        self._told: tuple[str, int, int] | None = None
        self._left_out: set[tuple[str, str]] = set()
        self._stopped = False

    def start(self) -> None:
        """Begin after a moment; everything happens on the runner's scheduler. Who it is, is written
        down first."""
        self._runner.emit(self._says, Source.SIMULATED)
        self._later(self._pace.read_s)
        self._watch.start()

    def stop(self) -> None:
        self._stopped = True
        self._watch.stop()

    def _later(self, seconds: float) -> None:
        jitter = float(self._rng.uniform(0.8, 1.25))
        self._runner.scheduler.call_later(seconds * jitter, self._act)

    def _act(self) -> None:
        if self._stopped or self._runner.finished:
            return
        try:
            self._do()
        except LabappError as error:
            self._watch.give_up(error)

    def _do(self) -> None:
        """The next thing that a participant would do."""
        runner, part = self._runner, self._runner.part
        waiting = runner.state.pauses.held and not isinstance(part, BreakPart)
        if part is None or waiting or runner.stalled:
            self._later(0.1)
            return
        if isinstance(part, ReconstructionPart):
            self._reconstruct(part)
        elif isinstance(part, SingleDimensionPart):
            self._decide(part)
        elif isinstance(part, JudgingPart | WarmUpPart):
            self._judge_explanations(part)
        elif isinstance(part, UnmaskingPart):
            self._annotate(part)
        elif isinstance(part, MethodPart) and self._looks_at_tree(part):
            return
        elif isinstance(part, ConsentPart):
            self._consent("Simulated Participant")
            self._later(self._pace.read_s)
        elif isinstance(part, QuestionnairePart):
            self._answer(part)
        elif isinstance(part, InterviewPart):
            self._interview(part)
        elif isinstance(part, TutorialPart) and self._rng.random() < 0.7:
            self._play(part)
        elif isinstance(part, PagesPart | TutorialPart | ExamplePart | MethodPart | BreakPart):
            self._send(Next(), self._pace.read_s)
        else:
            raise unknown(part)

    def _send(self, command: Command, then_s: float) -> None:
        self._runner.send(command, Source.SIMULATED)
        if isinstance(command, Skip | SkipStage):
            self._runner.send(ConfirmSkip(), Source.SIMULATED)  # a program takes nothing back
        # A stimulus comes by itself, and is not waited for longer than it takes to be painted.
        self._later(0.0 if isinstance(self._runner.part, UnmaskingPart) else then_s)

    def _play(self, part: TutorialPart) -> None:
        box = int(self._rng.integers(len(part.boxes)))
        space = LatentSpace.from_json(part.boxes[box].dimensions)
        dimension = int(self._rng.integers(len(space)))
        row = part.boxes[box].dimensions[dimension]
        value = float(self._rng.uniform(row["low"], row["high"]))
        self._send(MoveTutorialDial(box, dimension, value), self._pace.stride_s)

    def _interview(self, part: InterviewPart) -> None:
        """Nobody moderates: each question is asked once, and then the interview is over."""
        asked = len(self._runner.state.part_state.asked)
        ask = asked < len(part.questions)
        self._send(AskQuestion(asked + 1) if ask else EndInterview(), self._pace.read_s)

    def _answer(self, part: QuestionnairePart) -> None:
        runner = self._runner
        task = cast(QuestionnaireTask, runner.machine.tasks[runner.state.index])
        state = runner.state.part_state
        missing = {item.id for item in task.instrument.missing(state.answers, state.page)}
        for item in task.instrument.pages[state.page]:
            key = (part.id, item.id)
            if (item.id in state.answers and item.id not in missing) or key in self._left_out:
                continue
            value = answer(item, self._rng, self._leaning(part, item.id))
            if value is None:
                self._left_out.add(key)
                continue
            self._send(Answer(item.id, value), self._pace.think_s)
            return
        self._send(Next(), self._pace.think_s)

    def _leaning(self, part: QuestionnairePart, item: str) -> float | None:
        """What the stages that a questionnaire asks about lead this participant to answer."""
        base, _, number = item.rpartition("_")
        if base and number.isdigit():  # asked once for each stage
            lived = self._lived.get(f"stage-{number}")
            return leaning(base, lived, self._rng)
        if part.about is not None:
            return leaning(item, self._lived.get(part.about), self._rng)
        return leaning(item, Experience.of_all(self._lived.values()), self._rng)

    def _decide(self, part: SingleDimensionPart) -> None:
        runner = self._runner
        task = cast(SingleDimensionTask, runner.machine.tasks[runner.state.index])
        question = runner.state.part_state.trial
        if question is None or not (question.open or question.answered):
            self._later(self._pace.stride_s)
            return
        rng = generator(*self._seed, part.id, question.number)
        key = (part.id, question.number, question.attempt)
        if question.answered and part.role == "stage" and self._told != key:
            self._told = key
            self._remember(part, question)
        guesses = self._name == "careless" or (self._name == "random" and part.role == "stage")
        choices = task.choices(question)

        def matched() -> Match:
            assert runner.examples is not None
            eye = Eye(rng, self._person.noise)
            weighs = self._name in WEIGHERS or part.role == "practice"
            shown = runner.examples
            return match(eye, shown, part.visualisation, part.display, choices, weighs=weighs)

        self._go_through(key, steps(choices, None if guesses else matched, rng))

    def _remember(self, part: SingleDimensionPart, question: Question) -> None:
        """How a question went, once its answer was told."""
        lived = self._lived.setdefault(part.id, Experience())
        lived.solved += bool(question.right)
        lived.missed += not question.right
        working = self._runner.state.pauses.working_ns(self._runner.clock.now_ns())
        lived.seconds.append((working - (question.started_ns or 0)) / NS)
        lived.understanding = (question.ratings["understanding"] - 1) / (POINTS - 1)

    def _judge_explanations(self, part: JudgingPart | WarmUpPart) -> None:
        """The next answer about the photo, or the exercise, on the screen."""
        runner = self._runner
        task, trial = runner.machine.tasks[runner.state.index], runner.state.part_state.trial
        if trial is not None and trial.started_ns is None and isinstance(part, WarmUpPart):
            self._send(ShowQuestion(), self._pace.read_s)
            return
        if trial is None or not (trial.open or trial.judged):
            self._later(self._pace.stride_s)
            return
        key = (part.id, trial.number, trial.attempt)
        if isinstance(task, WarmUpTask):
            rng = generator(*self._seed, part.id, trial.number)
            self._go_through(key, judging.exercise_steps(task, trial, self._name, rng))
        elif isinstance(task, JudgingTask):
            # By study too: whoever guesses in two of them guesses anew in each.
            rng = generator(*self._seed, task.study, part.id, trial.number)
            self._go_through(key, judging.steps(task, trial, self._name, rng))

    def _annotate(self, part: UnmaskingPart) -> None:
        """Say what the masked picture on the screen shows, as soon as that takes a participant."""
        runner = self._runner
        trial, now_ns = runner.state.part_state.trial, runner.clock.now_ns()
        if trial is not None and trial.due and self._paints:
            if now_ns < trial.due_ns:
                self._at(trial.due_ns)
            else:
                painted = StimulusPainted(now_ns, SHOWN_BY, None)
                runner.send(painted, Source.SIMULATED)
                self._at(now_ns)
            return
        if trial is None or not trial.open:
            self._later(self._pace.stride_s)
            return
        key = (part.id, trial.number, trial.attempt)
        if self._question != key or self._reply is None:
            self._question = key
            self._reply = self._annotates().reply(part, trial.number, trial.attempt)
        reply = self._reply
        wanted_ns = trial.painted_ns + round(reply.reaction_ms * self._pace.reaction * NS / 1000)
        if now_ns < wanted_ns:
            self._at(wanted_ns)
            return
        runner.send(Respond(reply.response, DEVICE, now_ns, TIMED_BY), Source.SIMULATED)
        self._at(now_ns)

    def _annotates(self) -> Annotator:
        """Who says what the pictures of this study show."""
        if self._annotator is None:
            images = {
                one.image
                for part in self._runner.machine.parts
                if isinstance(part, UnmaskingPart) and part.role == "stage"
                for one in part.sequences
            }
            self._annotator = Annotator(self._seed, self._name, images, self._observer)
        return self._annotator

    def _at(self, session_ns: int) -> None:
        """Act at a moment of session time, or at once where it is over."""
        left_ns = max(0, session_ns - self._runner.clock.now_ns())
        self._runner.scheduler.call_later(left_ns / NS, self._act)

    def _go_through(self, question: tuple[str, int, int], planned: Iterator[Step]) -> None:
        """Take the next step of a question; planned: its steps, where it is a new one."""
        if self._question != question:
            self._question = question
            self._steps = planned
            self._step = next(self._steps)
            self._later(self._seconds(self._step))
            return
        if self._step is None:  # all was sent, and yet it is on the screen
            self._send(Next(), self._pace.think_s)
            return
        step, self._step = self._step, next(self._steps, None)
        self._send(step.command, self._seconds(self._step))

    def _looks_at_tree(self, part: MethodPart) -> bool:
        """Open the picture of the whole tree at times, and close it again."""
        if self._runner.state.part_state.description:
            self._send(CloseDescription(TREE), self._pace.think_s)
        elif part.explained.tree is not None and self._rng.random() < TREE_RATE:
            self._send(OpenDescription(TREE), self._pace.read_s)
        else:
            return False
        return True

    def _seconds(self, step: Step | None) -> float:
        """How long a participant takes before a step."""
        return self._pace.read_s if step and step.waits == "look" else self._pace.think_s

    def _reconstruct(self, part: ReconstructionPart) -> None:
        """Look at the dials' pictures and decide; what was decided is done when it is ready."""
        here = self._place(part)
        if self._decided_at != here:
            self._intended = None  # its question is over: a limit of time or the moderator ended it
        if self._intended is None:
            act = self._dials.act(self._runner, part)
            self._decided_at = here
            if act.typing_s is not None:
                self._intended = act.command
                self._runner.scheduler.call_later(act.typing_s, self._act)
                return
            if act.command is None:
                self._later(self._takes(act.before) or self._pace.stride_s)
                return
            if (before_s := self._takes(act.before)) > 0:
                self._intended = act.command
                self._later(before_s)
                return
            self._intended = act.command
        command, self._intended = self._intended, None
        if isinstance(command, EditLabel):
            # No draw for it, here or above: all else takes as long as where nothing is named.
            self._runner.send(command, Source.SIMULATED)
            self._runner.scheduler.call_later(0.0, self._act)
            return
        self._send(command, self._pace.stride_s)

    def _place(self, part: ReconstructionPart) -> tuple[str, int, int]:
        """The question that is shown: its part, number and attempt."""
        trial = self._runner.state.part_state.trial
        return (part.id, 0, 0) if trial is None else (part.id, trial.number, trial.attempt)

    def _takes(self, what: str) -> float:
        """Seconds before something is done: a stride of a drag goes on from the one before."""
        if what == STRIDE:
            return 0.0
        if what == TURN:
            return self._pace.stride_s * TURNS
        return self._pace.think_s * self._person.hesitates(self._rng)
