"""How a simulated participant judges explanations."""

from __future__ import annotations

from labapp.record.events.commands import Next, ShowQuestion
from labapp.session.simulation.person import GUESSES, KNOWS, TRUSTS
from labapp.study.assignment import generator
from labapp.study.plugins.simulated import Actor, SimulatedParticipant, TrialKey
from labapp.tasks.judging.answering import FOLLOW, KNOW, exercise_steps, steps
from labapp.tasks.judging.events import TREE, CloseDescription, OpenDescription
from labapp.tasks.judging.machine import JudgingTask, WarmUpTask
from labapp.tasks.judging.plan import JudgingPart, MethodPart, WarmUpPart
from labapp.tasks.judging.state import PhotoTrial

TREE_RATE = 0.3
"""How often somebody who reads about a method looks at its whole tree before going on."""


class MethodReader(Actor[MethodPart]):
    """Opens the picture of the whole tree at times, and closes it again."""

    def act(self) -> None:
        participant = self.participant
        if self.state.description:
            participant.send(CloseDescription(TREE), participant.pace.think_s)
        elif self.part.explained.tree is not None and participant.rng.random() < TREE_RATE:
            participant.send(OpenDescription(TREE), participant.pace.read_s)
        else:
            participant.send(Next(), participant.pace.read_s)


class ExplanationJudge(Actor[JudgingPart | WarmUpPart]):
    """Answers about the photo, or the exercise, on the screen."""

    def __init__(self, part: JudgingPart | WarmUpPart, participant: SimulatedParticipant) -> None:
        super().__init__(part, participant)
        self._spoken: TrialKey | None = None

    def act(self) -> None:
        participant, runner, part = self.participant, self.participant.runner, self.part
        strategy = participant.strategy
        task = runner.machine.tasks[runner.state.index]
        trial: PhotoTrial | None = self.state.trial
        if trial is not None and trial.started_ns is None and isinstance(part, WarmUpPart):
            participant.send(ShowQuestion(), participant.pace.read_s)
            return
        if trial is None or not (trial.open or trial.judged):
            participant.later(participant.pace.stride_s)
            return
        key = (part.id, trial.number, trial.attempt)
        if isinstance(task, WarmUpTask):
            rng = generator(*participant.seed, part.id, trial.number)
            participant.go_through(key, exercise_steps(task, trial, strategy, rng))
        elif isinstance(task, JudgingTask):
            if self._spoken != key:
                self._spoken = key
                follows = TRUSTS if strategy == FOLLOW else GUESSES
                participant.think_aloud(KNOWS if strategy in KNOW else follows)
            # By study too: whoever guesses in two of them guesses anew in each.
            rng = generator(*participant.seed, task.study, part.id, trial.number)
            participant.go_through(key, steps(task, trial, strategy, rng))
