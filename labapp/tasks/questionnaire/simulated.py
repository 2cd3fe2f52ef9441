"""How a simulated participant answers a questionnaire: every kind of item.

What asks about a stage follows from what they went through there (see `experience`); everything
else is answered at random.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from labapp.events.commands import Next
from labapp.plugins.simulated import Actor, SimulatedParticipant
from labapp.simulation.experience import Experience, leaning
from labapp.study.instruments import Item
from labapp.study.parts import QuestionnairePart
from labapp.tasks.questionnaire.commands import Answer
from labapp.tasks.questionnaire.machine import QuestionnaireState, QuestionnaireTask

PASSED_OVER = 0.2
"""Share of the optional items left out."""


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


def answer(item: Item, rng: np.random.Generator, leaning: float | None = None) -> Any:
    """A valid answer to an item; None leaves an optional one out. A slider is always touched.

    leaning: where on a rating's scale the answer lies, 0 at its low end, 1 at its high end; None
    for anywhere.
    """
    if not item.always_answered and not item.required and rng.random() < PASSED_OVER:
        return None
    return item.simulate(rng, leaning)
