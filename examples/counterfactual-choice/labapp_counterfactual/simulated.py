"""How a simulated participant answers.

It knows what is on the screen and what it was told before: after each answer it remembers what the
right candidate changed in the picture, and later takes the candidate that changes the same. A
`random` or careless one guesses, and a `forgetful` one remembers the last answer alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from labapp.record.events.commands import HandIn, Next
from labapp.session.simulation.percept import Eye
from labapp.session.simulation.view import on_screen
from labapp.study.conditions import generator
from labapp.study.plugins.simulated import DEVICE, Answerer, Step
from labapp_counterfactual.commands import ChooseCandidate, RateConfidence
from labapp_counterfactual.pictures import Choice
from labapp_counterfactual.plan import CounterfactualPart
from labapp_counterfactual.state import POINTS, Question

Changes = NDArray[np.float64]
"""What each candidate changes in what is seen of a picture, shape (candidates, properties)."""
GUESSES = frozenset({"random", "careless"})


class Chooser(Answerer[CounterfactualPart]):
    def steps(self, question: Question) -> Iterator[Step]:
        shown: Choice = self.participant.runner.pictures
        rng = generator(*self.participant.seed, self.part.id, question.number)
        choice, confidence = int(rng.integers(len(question.candidates))), 1
        if self.participant.strategy not in GUESSES:
            changes = self._changes(shown, rng)
            remembered: list[Changes] = self.participant.memory.setdefault(
                ("counterfactual-choice", self.part.model, str(question.dimension)), []
            )
            if self.participant.strategy == "forgetful":
                del remembered[:-1]
            if remembered:
                choice, clear = nearest(changes, np.mean(remembered, axis=0))
                confidence = 1 + round(clear * (POINTS - 1))
            remembered.append(changes[question.correct])  # used from the next question on
        yield Step(ChooseCandidate(choice, DEVICE), "look")
        yield Step(RateConfidence(confidence, DEVICE))
        yield Step(HandIn())
        yield Step(Next(), "look")

    def _changes(self, shown: Choice, rng: np.random.Generator) -> Changes:
        eye, display = Eye(rng, self.participant.person.noise), self.part.display
        query = eye.look(on_screen(shown.query, display), 2)
        return np.stack(
            [eye.look(on_screen(picture, display)) - query for picture in shown.candidates]
        )


def nearest(changes: Changes, remembered: Changes) -> tuple[int, float]:
    """The candidate that changes what is remembered of a dial, in whichever direction, and how
    clearly it does so, from 0 to 1."""
    lengths = np.linalg.norm(changes, axis=1) * np.linalg.norm(remembered) + 1e-9
    likeness = np.abs(changes @ remembered) / lengths
    best = int(likeness.argmax())
    second = float(np.delete(likeness, best).max())
    return best, float(likeness[best]) - second
