"""How a simulated participant answers a questionnaire."""

from __future__ import annotations

from typing import cast

from labapp.events.commands import Next
from labapp.plugins.simulated import Actor, SimulatedParticipant
from labapp.simulation.answers import answer
from labapp.simulation.experience import Experience, leaning
from labapp.study.parts import QuestionnairePart
from labapp.tasks.questionnaire.commands import Answer
from labapp.tasks.questionnaire.machine import QuestionnaireState, QuestionnaireTask


class Respondent(Actor[QuestionnairePart]):
    def __init__(self, part: QuestionnairePart, participant: SimulatedParticipant) -> None:
        super().__init__(part, participant)
        self._left_out: set[str] = set()

    def act(self) -> None:
        participant, state = self.participant, cast(QuestionnaireState, self.state)
        runner = participant.runner
        task = cast(QuestionnaireTask, runner.machine.tasks[runner.state.index])
        missing = {item.id for item in task.instrument.missing(state.answers, state.page)}
        for item in task.instrument.pages[state.page]:
            answered = item.id in state.answers and item.id not in missing
            if answered or item.id in self._left_out:
                continue
            value = answer(item, participant.rng, self._leaning(item.id))
            if value is None:
                self._left_out.add(item.id)
                continue
            participant.send(Answer(item.id, value), participant.pace.think_s)
            return
        participant.send(Next(), participant.pace.think_s)

    def _leaning(self, item: str) -> float | None:
        """What the stages that the questionnaire asks about lead this participant to answer."""
        experience, rng = self.participant.experience, self.participant.rng
        base, _, number = item.rpartition("_")
        if base and number.isdigit():  # asked once for each stage
            return leaning(base, experience.get(f"stage-{number}"), rng)
        if self.part.about is not None:
            return leaning(item, experience.get(self.part.about), rng)
        return leaning(item, Experience.of_all(experience.values()), rng)
