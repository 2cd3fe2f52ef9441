"""The unmasking task in a plan: sequences of masked pictures (paper 004, sections 3.4 and 3.5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal, Self

from pydantic import model_validator

from labapp.base.documents import Strict
from labapp.models.stimuli.manifest import Confusion, Fill, Logits, Sign
from labapp.study.plugins.part import StimuliRef, TrialsPart

TASK = "unmasking"
DONT_KNOW = 0
"""The response that names no class."""

KeyboardRule = Literal["mark", "repeat"]
"""What becomes of a stimulus during which the participant's keyboard was away."""


class Unmasked(Strict):
    """What the parts of one stimulus set share.

    classes: as logits are ordered; methods: id -> name; level: of masked pixels, from 0 to 255;
    grid: rows and columns of the scores; pool: how the model does on all photos the images were
    chosen from; accuracy: in percent.
    """

    stimuli: str
    manifest_sha256: str
    set: int
    classifier: str | None
    classifier_sha256: str | None
    accuracy: float
    classes: tuple[str, ...]
    methods: dict[str, str]
    percents: tuple[float, ...]
    fill: Fill
    level: tuple[int, ...]
    sign: Sign
    grid: tuple[int, int]
    pool: tuple[Confusion, ...] = ()


class PlannedMask(Strict):
    """A stimulus. pixels: of the grid that are shown; picture: a masked picture by name; logits: of
    the model on it, one a class, none where there is no model to ask."""

    percent: float
    pixels: int
    picture: str
    logits: Logits = ()


class PlannedSequence(Strict):
    """An image and a method, its masks ascending. picture: the whole image; logits: of the model on
    it."""

    image: str
    picture: str
    method: str
    truth: str
    prediction: str
    logits: Logits
    masks: tuple[PlannedMask, ...]


class Button(Strict):
    """A response button. of: its class, None for "I don't know"; name: what it says, empty for the
    window's own words; key: of the keyboard, as Qt names it."""

    of: str | None
    name: str
    key: str


class UnmaskingPart(TrialsPart):
    """A block of the stage, or the example before it (role practice).

    question: above the buttons, empty for the window's own words; buttons: "I don't know" is the
    last. first: stimuli of the blocks before this one; total: of all blocks. Breaks stand between
    blocks; where a study has interrupted stages begin again, it is the block that does.
    """

    timed: ClassVar[bool] = True
    asks_model: ClassVar[bool] = True
    ordered: ClassVar[str] = "sequences"
    part: Literal["unmasking"] = "unmasking"
    role: Literal["stage", "practice"]
    number: int
    of: int
    unmasked: Unmasked
    question: str
    buttons: tuple[Button, ...]
    sequences: tuple[PlannedSequence, ...]
    first: int
    total: int
    size_px: int
    blank_ms: int
    keyboard_away: KeyboardRule = "mark"
    think_aloud: bool

    @model_validator(mode="after")
    def _name_what_is_there(self) -> Self:
        shared = self.unmasked
        for sequence in self.sequences:
            if sequence.method not in shared.methods:
                raise ValueError(f"{sequence.method!r} is none of the methods")
            for name in (sequence.truth, sequence.prediction):
                if name not in shared.classes:
                    raise ValueError(f"{name!r} is none of the classes")
            for logits in (sequence.logits, *(mask.logits for mask in sequence.masks)):
                if logits and len(logits) != len(shared.classes):
                    raise ValueError(f"{len(logits)} logits for {len(shared.classes)} classes")
        return self

    @property
    def task(self) -> str:
        return TASK

    @property
    def model(self) -> str:
        """Id of the classifier, else of the stimulus set."""
        return self.unmasked.classifier or self.unmasked.stimuli

    @property
    def picture_px(self) -> int:
        return self.size_px

    @property
    def without_keyboard(self) -> bool:
        return self.keyboard_away == "repeat"

    def order(self) -> tuple[str, ...]:
        """Image and method of each sequence; none of the example, which is nobody's own."""
        if self.role != "stage":
            return ()
        return tuple(f"{sequence.image} {sequence.method}" for sequence in self.sequences)

    @property
    def trials(self) -> int:
        return sum(len(sequence.masks) for sequence in self.sequences)

    @property
    def time_limit_s(self) -> None:
        return None

    def at(self, trial: int) -> tuple[int, int]:
        """Sequence and mask of a stimulus, all counted from 1. Raises IndexError beyond the end."""
        left = trial - 1
        for number, sequence in enumerate(self.sequences, start=1):
            if left < len(sequence.masks):
                return number, left + 1
            left -= len(sequence.masks)
        raise IndexError(f"there are {self.trials} stimuli, not {trial}")

    def stimulus(self, trial: int) -> tuple[PlannedSequence, PlannedMask]:
        """The sequence and the mask of a stimulus, counted from 1."""
        sequence, mask = self.at(trial)
        return self.sequences[sequence - 1], self.sequences[sequence - 1].masks[mask - 1]

    def class_of(self, response: int) -> str | None:
        """The class a response names; None for "I don't know"."""
        return None if response == DONT_KNOW else self.buttons[response - 1].of

    def classifiers(self) -> Iterator[tuple[str, str | None]]:
        if self.unmasked.classifier:
            yield self.unmasked.classifier, self.unmasked.classifier_sha256

    def stimulus_sets(self) -> Iterator[StimuliRef]:
        yield StimuliRef(self.unmasked.manifest_sha256, self.unmasked.stimuli)

    def stored_pictures(self) -> Iterator[str]:
        """What is shown, in the order it comes, and then the whole images."""
        for sequence in self.sequences:
            for mask in sequence.masks:
                yield mask.picture
        for sequence in self.sequences:
            yield sequence.picture
