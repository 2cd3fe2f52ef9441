"""How a simulated participant answers single-dimension questions."""

from __future__ import annotations

from typing import cast

from labapp.clock import NS
from labapp.plugins.simulated import Actor, SimulatedParticipant, TrialKey
from labapp.simulation.experience import Experience
from labapp.simulation.percept import Eye
from labapp.study.assignment import generator
from labapp.tasks.single_dimension.answering import steps
from labapp.tasks.single_dimension.machine import SingleDimensionTask
from labapp.tasks.single_dimension.matching import Match, match
from labapp.tasks.single_dimension.plan import SingleDimensionPart
from labapp.tasks.single_dimension.state import POINTS, Question

WEIGHERS = frozenset({"understanding", "partial"})
"""They look in what examples differ, before they match a picture with them."""


class Matcher(Actor[SingleDimensionPart]):
    def __init__(self, part: SingleDimensionPart, participant: SimulatedParticipant) -> None:
        super().__init__(part, participant)
        self._told: TrialKey | None = None

    def act(self) -> None:
        participant, runner, part = self.participant, self.participant.runner, self.part
        task = cast(SingleDimensionTask, runner.machine.tasks[runner.state.index])
        question: Question | None = self.state.trial
        if question is None or not (question.open or question.answered):
            participant.later(participant.pace.stride_s)
            return
        rng = generator(*participant.seed, part.id, question.number)
        key = (part.id, question.number, question.attempt)
        practice = part.role == "practice"
        if question.answered and not practice and self._told != key:
            self._told = key
            self._remember(question)
        name = participant.strategy
        guesses = name == "careless" or (name == "random" and not practice)
        choices = task.choices(question)

        def matched() -> Match:
            eye = Eye(rng, participant.person.noise)
            weighs = name in WEIGHERS or practice
            shown = runner.pictures
            return match(eye, shown, part.visualisation, part.display, choices, weighs=weighs)

        participant.go_through(key, steps(choices, None if guesses else matched, rng))

    def _remember(self, question: Question) -> None:
        """How a question went, once its answer was told."""
        runner = self.participant.runner
        experience = self.participant.experience.setdefault(self.part.id, Experience())
        experience.solved += bool(question.right)
        experience.missed += not question.right
        working = runner.state.pauses.working_ns(runner.clock.now_ns())
        experience.seconds.append((working - (question.started_ns or 0)) / NS)
        experience.understanding = (question.ratings["understanding"] - 1) / (POINTS - 1)
