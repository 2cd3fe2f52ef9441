"""What the moderator's windows say of the single-dimension task."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from labapp.models.representations.space import Discrete
from labapp.study.plugins.part import PlannedPart, RepresentationPart
from labapp.tasks.single_dimension.machine import RATINGS, SingleState
from labapp.tasks.single_dimension.plan import REGIMES, SingleDimensionPart, value_name
from labapp.ui.language import N_, tr
from labapp.ui.moderator.wording import Fact, PartWords, list_chosen

if TYPE_CHECKING:
    from labapp.ui.moderator.state.console import ConsoleState
    from labapp.ui.participant.view import SessionView

REGIME_WORDS = {"low": N_("regime.low"), "medium": N_("regime.medium"), "high": N_("regime.high")}


class SingleDimensionWords(PartWords[PlannedPart]):
    def subject(self, part: PlannedPart) -> str:
        return part.model if isinstance(part, RepresentationPart) else ""

    def beside(
        self, part: PlannedPart, session: SessionView, console: ConsoleState
    ) -> Iterator[Fact]:
        state = session.part_state
        if not isinstance(part, SingleDimensionPart) or not isinstance(state, SingleState):
            yield from super().beside(part, session, console)
            return
        if (question := state.trial) is None:
            return
        dial = part.space.dimensions[question.dimension]

        def name_choice(choice: int | None) -> str:
            if choice is None:
                return "–"
            if isinstance(dial, Discrete):
                return value_name(choice)
            return tr(REGIME_WORDS[REGIMES[choice]])

        told = {None: "", True: " ✓", False: " ✗"}[question.right]
        sure, sense = (question.ratings.get(item, "–") for item in RATINGS)
        yield Fact(tr("task.dial", number=question.dimension + 1), "strong")
        yield Fact(tr("single.right", answer=name_choice(question.correct)), veiled=True)
        yield Fact(tr("single.chosen", answer=name_choice(question.choice) + told))
        yield Fact(tr("single.confident", points=sure), "secondary")
        yield Fact(tr("single.dial_makes_sense", points=sense), "secondary")
        yield from list_chosen(part.adaptive, state.tracking)
        if question.resamples:
            yield Fact(tr("single.other_examples", times=question.resamples), "secondary")
