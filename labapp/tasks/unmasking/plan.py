"""The unmasking task in a plan: sequences of masked pictures (paper 004, sections 3.4 and 3.5).

The state of the unmasking task. Session times in ns; the trial's times are not working time, for a
stimulus that a pause falls into is shown again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal, Self

from pydantic import model_validator

from labapp.base.documents import Strict
from labapp.models.stimuli.manifest import Confusion, Fill, Logits, Sign
from labapp.record.events import Payload
from labapp.record.events.registry import Pauses
from labapp.study.adaptive.tracks import Tracking
from labapp.study.plugins.machine import State
from labapp.study.plugins.part import StimuliRef, TrialsPart
from labapp.tasks.unmasking.events import ResponseGiven, StimulusDrawn, StimulusShown

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
    the model on it, one per class, none if there is no model to ask."""

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


class ResponseButton(Strict):
    """A response button. of: its class, None for "I don't know"; name: what it says, empty for the
    window's own words; key: of the keyboard, as Qt names it."""

    of: str | None
    name: str
    key: str


class UnmaskingPart(TrialsPart):
    """A block of the stage, or the example before it (role practice).

    question: above the buttons, empty for the window's own words; buttons: "I don't know" is the
    last. first: stimuli of the blocks before this one; total: of all blocks. Breaks stand between
    blocks; where a study has interrupted stages begin again, it is the block that does. The items
    of adaptive tracks are the sequences, and total is then the most stimuli that may come.
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
    buttons: tuple[ResponseButton, ...]
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
                raise ValueError(f"{sequence.method!r} is not one of the methods")
            for name in (sequence.truth, sequence.prediction):
                if name not in shared.classes:
                    raise ValueError(f"{name!r} is not one of the classes")
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
        """How many stimuli it has; of an adaptive stage the most that may come."""
        if self.adaptive is not None:
            return self.adaptive.most
        return sum(len(sequence.masks) for sequence in self.sequences)

    @property
    def time_limit_s(self) -> None:
        return None

    def at(self, trial: int) -> tuple[int, int]:
        """Sequence and mask of a stimulus, all counted from 1, where no answer changes what comes.
        Raises IndexError beyond the end."""
        left = trial - 1
        for number, sequence in enumerate(self.sequences, start=1):
            if left < len(sequence.masks):
                return number, left + 1
            left -= len(sequence.masks)
        raise IndexError(f"there are {self.trials} stimuli, not {trial}")

    def stimulus(self, sequence: int, mask: int) -> tuple[PlannedSequence, PlannedMask]:
        """A sequence and a mask by their numbers, from 1."""
        return self.sequences[sequence - 1], self.sequences[sequence - 1].masks[mask - 1]

    def class_of(self, response: int) -> str | None:
        """The class a response names; None for "I don't know"."""
        return None if response == DONT_KNOW else self.buttons[response - 1].of

    def is_right(self, sequence: int, response: int) -> bool | None:
        """Whether a response to a sequence names its class; None for "I don't know"."""
        named = self.class_of(response)
        return None if named is None else named == self.sequences[sequence - 1].truth

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


ANSWERED = "answered"
"""The outcome of a stimulus with a response; see `stage.INTERRUPTED` for one without."""


class Reaction:
    """What the events of one attempt at a stimulus say of it, for the console, tables and bundles.

    Attributes
    ----------
    shown, response : what the journal says of it, None if it did not come to that.
    """

    shown: StimulusShown | None = None
    response: ResponseGiven | None = None

    def apply(self, payload: Payload) -> None:
        """Take in an event of the attempt."""
        if isinstance(payload, StimulusShown):
            self.shown = payload
        elif isinstance(payload, ResponseGiven):
            self.response = payload

    @property
    def reaction_time_ns(self) -> int | None:
        """From the first painted frame to the input event's own time stamp."""
        if self.shown is None or self.response is None:
            return None
        return self.response.input_ns - self.shown.painted_ns


class Answered(Reaction):
    """The same, and what it means by the plan."""

    def __init__(self, part: UnmaskingPart, drawn: StimulusDrawn) -> None:
        self.part, self.drawn = part, drawn

    @property
    def dont_know(self) -> bool | None:
        """Whether the response names no class; None without a response."""
        return None if self.response is None else self.response.response == DONT_KNOW

    @property
    def named(self) -> str | None:
        """Id of the class that the response names."""
        return None if self.response is None else self.part.class_of(self.response.response)

    @property
    def correct(self) -> bool | None:
        return self.equals(self.drawn.truth)

    def equals(self, other: str | None) -> bool | None:
        """Whether a class was named and is this one; None without a response, or without it."""
        return None if self.response is None or other is None else self.named == other


class StimulusTrial(State, frozen=True):
    """One stimulus: the number-th of the part, from 1. sequence, mask: their numbers, from 1;
    due_ns: when it is to appear; painted_ns: when it did, None before; interrupted: a pause or the
    end of the program fell into it before there was a response."""

    number: int
    attempt: int
    due_ns: int
    sequence: int = 1
    mask: int = 1
    painted_ns: int | None = None
    response: int | None = None
    interrupted: bool = False
    outcome: str | None = None

    @property
    def due(self) -> bool:
        return self.painted_ns is None and self.outcome is None and not self.interrupted

    @property
    def open(self) -> bool:
        """On the screen and without a response."""
        return self.painted_ns is not None and self.outcome is None and not self.interrupted


class UnmaskingState(State, frozen=True):
    """trial: the present stimulus, None before the first; outcomes: of the stimuli that are done,
    interrupted ones aside; base: attempt of a stimulus shown for the first time; highest: greatest
    attempt of any stimulus so far; tracking: how far the tracks of an adaptive stage have come;
    rights: of the outcomes, whether the class was named."""

    pauses: Pauses
    trial: StimulusTrial | None = None
    outcomes: tuple[str, ...] = ()
    stage_started_ns: int | None = None
    outcome: str | None = None
    base: int = 1
    highest: int = 1
    tracking: Tracking | None = None
    rights: tuple[bool, ...] = ()

    @property
    def attempt(self) -> int:
        """After which a stage that begins again counts on."""
        return self.highest

    def again(self, attempt: int) -> UnmaskingState:
        return UnmaskingState(self.pauses, base=attempt, highest=attempt)
