"""How a simulated participant says what masked pictures show."""

from __future__ import annotations

from labapp.clock import NS
from labapp.events import Source
from labapp.plugins.simulated import DEVICE, Actor, SimulatedParticipant, TrialKey
from labapp.simulation.phrases import CANNOT_TELL, SEES
from labapp.tasks.unmasking.commands import Respond, StimulusPainted
from labapp.tasks.unmasking.observer import Annotator, Observer, Reply
from labapp.tasks.unmasking.plan import UnmaskingPart
from labapp.tasks.unmasking.state import StimulusTrial

SHOWN_BY = TIMED_BY = "simulated"


class Observing(Actor[UnmaskingPart]):
    """Says what the masked picture on the screen shows, as soon as that takes a participant."""

    def __init__(self, part: UnmaskingPart, participant: SimulatedParticipant) -> None:
        super().__init__(part, participant)
        self._trial: TrialKey | None = None
        self._reply: Reply | None = None

    def act(self) -> None:
        participant, runner, part = self.participant, self.participant.runner, self.part
        now_ns = runner.clock.now_ns()
        trial: StimulusTrial | None = self.state.trial
        if trial is not None and trial.due and participant.paints:
            if now_ns < trial.due_ns:
                participant.at(trial.due_ns)
            else:
                painted = StimulusPainted(now_ns, SHOWN_BY, None)
                runner.send(painted, Source.SIMULATED)
                participant.at(now_ns)
            return
        if trial is None or not trial.open or trial.painted_ns is None:
            participant.later(participant.pace.stride_s)
            return
        key = (part.id, trial.number, trial.attempt)
        if self._trial != key or self._reply is None:
            self._trial = key
            self._reply = self._annotator().reply(part, trial.number, trial.attempt)
            named = part.class_of(self._reply.response) is not None
            participant.think_aloud(SEES if named else CANNOT_TELL)
        reply = self._reply
        reaction_ms = reply.reaction_ms * participant.pace.reaction
        wanted_ns = trial.painted_ns + round(reaction_ms * NS / 1000)
        if now_ns < wanted_ns:
            participant.at(wanted_ns)
            return
        runner.send(Respond(reply.response, DEVICE, now_ns, TIMED_BY), Source.SIMULATED)
        participant.at(now_ns)

    def _annotator(self) -> Annotator:
        """Who says what the pictures of this study show: the same in all its blocks."""
        participant, key = self.participant, ("unmasking",)
        if key not in participant.memory:
            images = {
                sequence.image
                for part in participant.runner.machine.parts
                if isinstance(part, UnmaskingPart) and part.role == "stage"
                for sequence in part.sequences
            }
            observer = participant.options.get("unmasking", Observer())
            participant.memory[key] = Annotator(
                participant.seed, participant.strategy, images, observer
            )
        annotator: Annotator = participant.memory[key]
        return annotator
