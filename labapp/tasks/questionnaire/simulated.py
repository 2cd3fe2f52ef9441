"""How a simulated participant answers a questionnaire: every kind of item.

What asks about a stage follows from what they went through there (see `experience`); everything
else is answered at random.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, cast

import numpy as np

from labapp.record.events.commands import Next
from labapp.record.events.trials import SoundAction
from labapp.session.simulation.person import Experience
from labapp.study.conditions import as_tuple
from labapp.study.instruments import Item, dont_know
from labapp.study.plan import QuestionnairePart
from labapp.study.plugins.simulated import Actor, SimulatedParticipant
from labapp.tasks.questionnaire.machine import (
    Answer,
    PlaySound,
    QuestionnaireState,
    QuestionnaireTask,
)

PASSED_OVER = 0.2
"""Share of the optional items left out."""
UNKNOWN = 0.05
"""Share of the items that offer it that are answered by not knowing (ours)."""
READS = 0.95
"""Share of the attention checks that are answered by somebody who reads (ours); the others are
answered at random."""
LEANING_SD = 0.15
"""How differently people answer after the same experience, as a share of the scale (ours; published
ratings vary by 0.9 to 1.8 points of seven within a model)."""
LEANINGS: Mapping[str, Callable[[Experience], float]] = MappingProxyType(
    {
        "seq": lambda experience: experience.difficulty,
        "mental_demand": lambda experience: (experience.effort + experience.planned) / 2,
        "physical_demand": lambda experience: experience.effort / 2,
        "temporal_demand": lambda experience: experience.effort / 2,
        "performance": lambda experience: 1 - experience.success,
        "effort": lambda experience: experience.effort,
        "frustration": lambda experience: (experience.difficulty + 1 - experience.success) / 2,
        "systematic_plan": lambda experience: experience.planned,
        "random_experimenting": lambda experience: experience.tried,
        "understood_dimensions": lambda experience: experience.understanding,
        "frustrating": lambda experience: (experience.difficulty + 1 - experience.success) / 2,
        "stage_easy": lambda experience: 1 - experience.difficulty,
    }
)
"""By item of a shipped questionnaire (SEQ, NASA-TLX, the statements of paper 000): where between
the low end (0) and the high end (1) of its scale an experience leads. Ours: they only follow the
words."""


def leaning(item: str, experience: Experience | None, rng: np.random.Generator) -> float | None:
    """Where on the scale of an item somebody answers after an experience, 0..1; None if the item
    does not ask about it."""
    says = LEANINGS.get(item)
    if says is None or experience is None:
        return None
    return float(np.clip(says(experience) + rng.normal(0.0, LEANING_SD), 0.0, 1.0))


class Respondent(Actor[QuestionnairePart]):
    def __init__(self, part: QuestionnairePart, participant: SimulatedParticipant) -> None:
        super().__init__(part, participant)
        self._left_out: set[str] = set()

    def act(self) -> None:
        participant, state = self.participant, cast(QuestionnaireState, self.state)
        runner = participant.runner
        task = cast(QuestionnaireTask, runner.machine.tasks[runner.state.index])
        missing = {item.id for item in task.missing(state, state.page)}
        asked = task.asked(state).ids
        for item in task.instrument.pages[state.page]:
            if item.id not in asked:
                continue
            answered = item.id in state.answers and item.id not in missing
            if answered or item.id in self._left_out:
                continue
            for option, named in item.sounds.items():
                sound = task.sound(state, item.id, option)
                if sound.heard:
                    continue
                action: SoundAction = "end" if sound.playing else "play"
                wait_s = task.seconds(named) if sound.playing else participant.pace.think_s
                participant.send(PlaySound(item.id, action, False, option), wait_s)
                return
            value = answer(item, participant.rng, self._leaning(item.id))
            if value is None:
                self._left_out.add(item.id)
                continue
            judged = state.judged.get(item.id)
            if judged is not None and value == judged.value:
                value = item.answer_of(as_tuple(item.right))  # the feedback was read
            participant.send(Answer(item.id, value), participant.pace.think_s)
            return
        left_s = task.wait_s(state, runner.clock.now_ns())
        participant.send(Next(), max(participant.pace.think_s, left_s))

    def _leaning(self, item: str) -> float | None:
        """What the stages that the questionnaire asks about lead this participant to answer."""
        experience, rng = self.participant.experience, self.participant.rng
        base, _, number = item.rpartition("_")
        if base in self.part.per_stage:
            return leaning(base, experience.get(f"stage-{number}"), rng)
        if self.part.about is not None:
            return leaning(item, experience.get(self.part.about), rng)
        return leaning(item, Experience.of_all(experience.values()), rng)


def answer(item: Item, rng: np.random.Generator, leaning: float | None = None) -> Any:
    """A valid answer to an item; None leaves an optional one out. A slider is always touched.
    leaning: where on a rating's scale the answer lies, 0 at its low end, 1 at its high end; None
    for anywhere."""
    if not item.always_answered and not item.required and rng.random() < PASSED_OVER:
        return None
    if item.right is not None and rng.random() < READS:
        return item.answer_of(as_tuple(item.right))
    if item.dont_know and rng.random() < UNKNOWN:
        return dont_know.unknown(item)
    return item.simulate(rng, leaning)
