"""How a simulated participant goes through concept repair, and what it says meanwhile."""

from __future__ import annotations

from labapp.clock import NS
from labapp.events.commands import Command, Next
from labapp.plugins.simulated import DEVICE, Actor, SimulatedParticipant, TrialKey
from labapp.simulation.experience import Experience
from labapp.simulation.phrases import (
    BLAMES_MODEL,
    EXPECTS,
    GOES_ROUND,
    GUESSES,
    SEES_LEAK,
    SURPRISED,
)
from labapp.study.assignment import generator
from labapp.tasks.concept_repair import repairer
from labapp.tasks.concept_repair.commands import (
    GiveUp,
    RepairDone,
    SetConcept,
    TickNothing,
    TickPair,
    UndoChange,
)
from labapp.tasks.concept_repair.plan import TASK, ConceptGridPart, ConceptRepairPart
from labapp.tasks.concept_repair.repairer import LEARNER, Eyesight, Learnt, Repairer
from labapp.tasks.concept_repair.state import Change, Grid, Repair

LOOKS = 3.0
"""Decisions' time that a picture, or what a change did, is looked at (ours)."""


def eyesight_of(participant: SimulatedParticipant) -> Eyesight:
    """How well a participant sees, as whoever simulates set it."""
    sees: Eyesight = participant.options.get(TASK, Eyesight())
    return sees


def learnt_of(participant: SimulatedParticipant, stage: str) -> Learnt:
    """What a participant noticed of the model of a stage."""
    learnt: Learnt = participant.memory.setdefault((TASK, stage), Learnt())
    return learnt


class Repairing(Actor[ConceptRepairPart]):
    """Looks at a picture, and does one thing after the other with its concepts."""

    def __init__(self, part: ConceptRepairPart, participant: SimulatedParticipant) -> None:
        super().__init__(part, participant)
        self._repairer = Repairer(
            part,
            participant.strategy,
            participant.seed,
            eyesight_of(participant),
            learnt_of(participant, part.id),
        )
        self._trial: TrialKey | None = None
        self._tried: list[Change] = []
        self._noticed = 0

    def act(self) -> None:
        participant, trial = self.participant, self.state.trial
        if trial is None or trial.started_ns is None or trial.phase == "over":
            participant.later(participant.pace.stride_s)
            return
        if self._trial != (key := (self.part.id, trial.number, trial.attempt)):
            self._trial, self._tried, self._noticed = key, [], 0
            if participant.strategy in repairer.GUESSES:
                participant.think_aloud(GUESSES)
            participant.later(LOOKS * participant.pace.think_s)
            return
        surprised = len(trial.history) > self._noticed and self._notice(trial)
        self._noticed = len(trial.history)
        if surprised:  # what is said of it is said before anything else is done
            participant.later(participant.pace.stride_s)
            return
        command = self._repairer.next(trial, self._tried)
        looks = 1.0
        if isinstance(command, SetConcept):
            if self._repairer.item(trial).foresee:
                participant.think_aloud(EXPECTS, self._name(command.concept))
            self._tried.append(Change(command.concept, command.to))
            looks = LOOKS
        elif isinstance(command, UndoChange):
            participant.think_aloud(GOES_ROUND, self._name(trial.history[-1].concept))
            self._noticed -= 1
        elif isinstance(command, GiveUp):
            participant.think_aloud(BLAMES_MODEL)
        if isinstance(command, RepairDone | GiveUp):
            self._remember(trial)
        participant.send(command, looks * participant.pace.think_s)

    def _notice(self, trial: Repair) -> bool:
        """What the change that is new on the screen did, and what is said of that; whether it was
        another answer than expected."""
        participant = self.participant
        unexpected, moved = self._repairer.notice(trial)
        name = self._name(trial.history[-1].concept)
        if unexpected:
            participant.think_aloud(SURPRISED, name)
        if moved and participant.strategy == LEARNER:
            participant.think_aloud(SEES_LEAK, name)
        return unexpected

    def _name(self, concept: int) -> str:
        return self.part.repaired.concepts[concept].name

    def _remember(self, trial: Repair) -> None:
        """How a picture went that is about to end: what questionnaires ask about."""
        runner = self.participant.runner
        if self.part.role != "stage":
            return
        experience = self.participant.experience.setdefault(self.part.id, Experience())
        solved = trial.answer == self._repairer.look(trial).name
        experience.solved += solved
        experience.missed += not solved
        working = runner.state.pauses.working_ns(runner.clock.now_ns())
        experience.seconds.append((working - (trial.started_ns or 0)) / NS)
        experience.understanding = experience.success


class Ticking(Actor[ConceptGridPart]):
    """Ticks the pairs of the grid one after the other, or says that there are none."""

    def act(self) -> None:
        participant, grid = self.participant, self.state.trial
        if not isinstance(grid, Grid) or grid.started_ns is None or grid.outcome is not None:
            participant.later(participant.pace.stride_s)
            return
        wanted = repairer.ticked(
            participant.strategy,
            learnt_of(participant, self.part.about),
            len(self.part.repaired.concepts),
            eyesight_of(participant),
            generator(*participant.seed, self.part.id, "grid"),
        )
        left = sorted(wanted - grid.ticked)
        command: Command = Next()
        if left:
            command = TickPair(*left[0], DEVICE)
        elif not grid.ticked and not grid.nothing:
            command = TickNothing(DEVICE)
        participant.send(command, participant.pace.think_s)
