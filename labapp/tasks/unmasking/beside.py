"""What a moderator reads of a masked picture: what it is of, and the answers so far.

What is correct and what the model predicts is for the moderator's eyes alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labapp.plugins.part import PlannedPart
from labapp.tasks.unmasking.plan import DONT_KNOW, PlannedSequence, UnmaskingPart
from labapp.tasks.unmasking.state import StimulusTrial, UnmaskingState
from labapp.ui.moderator.facts import Beside
from labapp.ui.moderator.mask_row import Mark, MaskCell, MaskRow
from labapp.ui.moderator.state.stimuli import Stimuli
from labapp.ui.theme import Palette

if TYPE_CHECKING:
    from labapp.ui.moderator.state.console import ConsoleState
    from labapp.ui.participant.view import SessionView


class Masks(MaskRow, Beside):
    """The masks of the present sequence."""

    def __init__(self, palette: Palette, console: ConsoleState) -> None:
        super().__init__(palette)

    def show_beside(self, part: PlannedPart, session: SessionView, console: ConsoleState) -> None:
        state = session.part_state
        if isinstance(part, UnmaskingPart) and isinstance(state, UnmaskingState) and state.trial:
            self.show_cells(cells_of(part, state.trial, console.stimuli))


def cells_of(part: UnmaskingPart, trial: StimulusTrial, stimuli: Stimuli) -> list[MaskCell]:
    """The masks of the present sequence, and how each was answered."""
    number_of, at = part.at(trial.number)
    sequence, first = part.sequences[number_of - 1], trial.number - at
    return [
        MaskCell(mask.percent, _mark(part, sequence, first + place, trial, stimuli))
        for place, mask in enumerate(sequence.masks, start=1)
    ]


def _mark(
    part: UnmaskingPart,
    sequence: PlannedSequence,
    number_of: int,
    trial: StimulusTrial,
    stimuli: Stimuli,
) -> Mark:
    if number_of == trial.number and trial.response is None:
        return "current"
    given = stimuli.given.get((part.id, number_of))
    if given is None:
        return "todo"
    if given.response == DONT_KNOW:
        return "unsure"
    return "right" if part.class_of(given.response) == sequence.truth else "wrong"
