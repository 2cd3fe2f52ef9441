"""How a simulated participant reconstructs, and plays with the tutorial."""

from __future__ import annotations

from labapp.events import Source
from labapp.events.commands import Command, Next
from labapp.plugins.simulated import Actor, SimulatedParticipant, TrialKey
from labapp.representations.space import LatentSpace
from labapp.simulation.person import STRIDE_S
from labapp.tasks.reconstruction.commands import EditLabel, MoveTutorialDial
from labapp.tasks.reconstruction.plan import ReconstructionPart, TutorialPart
from labapp.tasks.reconstruction.reconstructing import STRIDE, TURN, Reconstructing

TURNS = 2
"""Strides that it takes to turn a dial round: with the one in which the picture comes, a reaction
time of about 0.36 s."""
PLAYS = 0.7
"""How often somebody in the tutorial turns a dial instead of going on."""


class Player(Actor[TutorialPart]):
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
        here = self._place()
        if self._decided_at != here:
            self._intended = None  # its trial is over: a limit of time or the moderator ended it
        if self._intended is None:
            act = self._dials.act(runner, self.part)
            self._decided_at = here
            if act.typing_s is not None:
                self._intended = act.command
                participant.after(act.typing_s)
                return
            if act.command is None:
                participant.later(self._takes(act.before) or participant.pace.stride_s)
                return
            if (before_s := self._takes(act.before)) > 0:
                self._intended = act.command
                participant.later(before_s)
                return
            self._intended = act.command
        command, self._intended = self._intended, None
        if isinstance(command, EditLabel):
            # No draw for it, here or above: all else takes as long as where nothing is named.
            runner.send(command, Source.SIMULATED)
            participant.after(0.0)
            return
        participant.send(command, participant.pace.stride_s)

    def _place(self) -> TrialKey:
        """The trial that is shown."""
        trial = self.state.trial
        return (
            (self.part.id, 0, 0) if trial is None else (self.part.id, trial.number, trial.attempt)
        )

    def _takes(self, what: str) -> float:
        """Seconds before something is done: a stride of a drag goes on from the one before."""
        participant = self.participant
        if what == STRIDE:
            return 0.0
        if what == TURN:
            return participant.pace.stride_s * TURNS
        return participant.pace.think_s * participant.person.hesitates(participant.rng)
