"""The mirror of a masked picture: what is on the screen, what it is of, and the answers so far.

What is correct and what the model predicts is for the moderator's eyes alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from labapp.session.runner import Runner
from labapp.tasks.unmasking.moderator import answered
from labapp.tasks.unmasking.plan import DONT_KNOW, PlannedSequence, UnmaskingPart
from labapp.tasks.unmasking.state import StimulusTrial
from labapp.ui import theme
from labapp.ui.language import number, tr
from labapp.ui.moderator import bits, wording
from labapp.ui.moderator.mask_row import Mark, MaskCell, MaskRow
from labapp.ui.moderator.state.stimuli import LATE_NS, Stimuli
from labapp.ui.theme import Palette
from labapp.ui.widgets.pictures import ImageView

MOST_SIDE, LEAST_SIDE = 480, 96
FACTS_WIDTH = 230
NO_PICTURE = (96, 96)
"""Rows and columns of the field where there is no picture to show."""


class UnmaskingMirror(QWidget):
    """blind: the method is not named; the picture is shown, as the participant has it."""

    def __init__(self, palette: Palette, stimuli: Stimuli, *, blind: bool = False) -> None:
        super().__init__()
        self._palette = palette
        self._stimuli = stimuli
        self._blind = blind
        self._shown: tuple[UnmaskingPart, str | None] | None = None
        self.picture: ImageView | None = None
        self.told = bits.label("", "", wrap=True)
        self.now = bits.label("", "strong", wrap=True)
        self.last = bits.label("", "secondary", wrap=True)
        self.masks = MaskRow(palette)
        facts = QVBoxLayout()
        facts.setSpacing(theme.SPACE_M)
        for one in (self.now, self.told, self.masks, self.last):
            facts.addWidget(one)
        facts.addStretch(1)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, theme.SPACE_S, 0, 0)
        self._row.setSpacing(theme.SPACE_L)
        self._row.addLayout(facts, 1)

    def unblind(self) -> None:
        """Name the method from here on."""
        self._blind = False

    def show_trial(self, part: UnmaskingPart, trial: StimulusTrial, runner: Runner) -> None:
        """Bring what changed up to date."""
        sequence, mask = part.stimulus(trial.number)
        # Nothing is shown in the blank, nor of a picture that is to be shown again.
        picture = mask.picture if trial.open else None
        if self._shown is None or self._shown[0] is not part or self._shown[1] != picture:
            self._show_picture(part, picture, runner)
            self._shown = (part, picture)
        bits.set_text(self.now, now_of(mask.percent, trial, runner.clock.now_ns()))
        bits.set_text(self.told, "\n".join(truth_of(part, sequence, blind=self._blind)))
        self.masks.show_cells(cells_of(part, trial, self._stimuli))
        bits.set_text(self.last, last_of(part, self._stimuli))

    def _show_picture(self, part: UnmaskingPart, picture: str | None, runner: Runner) -> None:
        """Pictures come from the session's own folder; without one the field is as masked pixels
        are."""
        level = part.unmasked.level
        grey = np.array(level * 3 if len(level) == 1 else level, np.uint8)
        shape = NO_PICTURE if self.picture is None else self.picture.pixels.shape
        rgb = np.broadcast_to(grey, (*shape, 3))
        if picture is not None and runner.gallery is not None:
            rgb = runner.gallery.rgb(picture)
        if self.picture is None or self.picture.pixels.shape != rgb.shape[:2]:
            self._take_shape((rgb.shape[0], rgb.shape[1]))
        assert self.picture is not None
        self.picture.pixels[:] = packed(rgb)
        self.picture.update()

    def _take_shape(self, shape: tuple[int, int]) -> None:
        if self.picture is not None:
            self.picture.hide()
            self.picture.deleteLater()
        name = tr("Masked picture")
        self.picture = ImageView(shape, self._palette, name, binary=False, two_hues=False)
        self._row.insertWidget(0, self.picture, 0, Qt.AlignmentFlag.AlignTop)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """The picture as large as the facts beside it allow."""
        if self.picture is None:
            return
        room = min(self.width() - FACTS_WIDTH - theme.SPACE_L, self.height() - theme.SPACE_S)
        side = max(LEAST_SIDE, min(room - 2, MOST_SIDE))
        self.picture.set_side(self.picture.side_for(side))


def packed(rgb: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """0xffRRGGBB of uint8 (rows, columns, 3)."""
    opaque = np.full((*rgb.shape[:2], 4), 255, np.uint8)
    opaque[..., :3] = rgb[..., ::-1]
    return opaque.view("<u4")[..., 0].astype(np.uint32)


def now_of(percent: float, trial: StimulusTrial, now_ns: int) -> str:
    """What is on the screen, in a word or two."""
    if trial.open:
        said = number(f"{percent:g}\N{NO-BREAK SPACE}%")
        return tr("{percent} shown", percent=said)
    if trial.due and now_ns - trial.due_ns > LATE_NS:
        return tr("Not on the screen")
    return tr("Blank")


def truth_of(part: UnmaskingPart, sequence: PlannedSequence, *, blind: bool) -> list[str]:
    """What the picture is of, and what the model makes of the whole of it; blind: without the
    method."""
    wrong = "" if sequence.truth == sequence.prediction else tr(" (wrong)")
    lines = [
        tr("Correct: {name}", name=named(part, sequence.truth)),
        tr("Predicted: {name}", name=named(part, sequence.prediction)) + wrong,
        tr("Picture: {id}", id=sequence.image),
    ]
    if not blind:
        method = part.unmasked.methods.get(sequence.method, sequence.method)
        lines.append(tr("Method: {name}", name=method))
    return lines


def named(part: UnmaskingPart, of: str) -> str:
    """A class as its button calls it."""
    names = {button.of: button.name for button in part.buttons}
    return names.get(of) or of


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


def last_of(part: UnmaskingPart, stimuli: Stimuli) -> str:
    """The newest answer of the part and its reaction time."""
    if stimuli.last is None or stimuli.last[0] != part.id:
        return tr("No answer yet")
    given = stimuli.given[stimuli.last]
    sequence, _ = part.stimulus(stimuli.last[1])
    mark = ""
    if given.response != DONT_KNOW:
        mark = " ✓" if part.class_of(given.response) == sequence.truth else " ✗"
    return tr(
        "Last answer: {answer}, after {time}",
        answer=answered(part, given.response) + mark,
        time=wording.milliseconds(given.reaction_ns),
    )
