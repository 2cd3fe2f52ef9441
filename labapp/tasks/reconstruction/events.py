"""Events and commands of the reconstruction task. z holds one number per dimension: a continuous
dimension's value, a discrete dimension's index. Its trials end with `trial.ended`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labapp.record.events.commands import Command
from labapp.record.events.registry import Index, Payload, Whole, Word, Written, kind
from labapp.record.events.trials import Comparison, DialTurned, TargetShown, no_dial, no_dial_state


class Activity(Payload):
    """Base of the kinds that are something the participant did in a question: active time counts
    from one to the next."""


@kind("trial.drawn", durable=True, begins=("reconstruction",))
class TrialDrawn(Payload):
    """The start and target of a question were drawn.

    Attributes
    ----------
    z_start : the slider positions at the start, one number per slider.
    z_target : the slider positions of the target.
    redrawn : the number of pairs that were drawn for the question and discarded before this one,
        because they would have been solved before the first move. Nobody saw them.
    """

    z_start: tuple[float, ...]
    z_target: tuple[float, ...]
    redrawn: Whole = 0

    def misfit(self, part: Mapping[str, Any]) -> str:
        return no_dial_state(part, self.z_start) or no_dial_state(part, self.z_target)


@kind("trial.started", durable=True, of_trial=True)
class TrialStarted(TargetShown):
    """The question is on the screen; its time runs from here. A pair that is solved before the
    first move is replaced; if this is impossible, the question is marked and does not count.

    Attributes
    ----------
    error_sum, error_mean : sum and mean over pixels of squared differences between picture and
        target.
    """

    alignment: float
    error_sum: float
    error_mean: float
    aligned_at_start: bool


@kind("dial.moved", frequent=True, of_trial=True)
class DialMoved(Activity, DialTurned):
    """A slider was moved to a new value.

    Attributes
    ----------
    z_seq : the number of the change in the question, from 1.
    dimension : the number of the slider, from 0.
    value : its new value; for a discrete dimension, the index of the value.
    device : the input: mouse, keyboard, wheel, touch or simulated.
    """

    z_seq: Index
    dimension: Index
    value: float
    device: Word

    def moved_dial(self) -> tuple[int, float]:
        return self.dimension, self.value

    def misfit(self, part: Mapping[str, Any]) -> str:
        return no_dial(part, self.dimension)


@kind("dial.selected", of_trial=True)
class DialSelected(Activity):
    """A slider was grabbed (pressed, or reached with the keyboard).

    Attributes
    ----------
    dimension : the number of the slider, from 0.
    device : the input: mouse, keyboard, wheel, touch or simulated.
    """

    dimension: Index
    device: Word

    def misfit(self, part: Mapping[str, Any]) -> str:
        return no_dial(part, self.dimension)


@kind("picture.decoded", frequent=True, of_trial=True)
class PictureDecoded(Comparison):
    """The picture of slider positions was decoded and compared with the target.

    Attributes
    ----------
    z_seq : the number of the slider change that led to it (see dial.moved).
    error_sum, error_mean : sum and mean over pixels of squared differences between picture and
        target.
    """

    z_seq: Index
    alignment: float
    error_sum: float
    error_mean: float


@kind("trial.solved", durable=True, of_trial=True)
class TrialSolved(Payload):
    """The alignment reached the target; the sliders are set to that state and locked.

    Attributes
    ----------
    z_seq : the number of the slider change that led to it (see dial.moved).
    z : the slider positions, one number per slider.
    alignment : the alignment of its picture with the target, from 0 to 1.
    """

    z_seq: Index
    z: tuple[float, ...]
    alignment: float

    def misfit(self, part: Mapping[str, Any]) -> str:
        return no_dial_state(part, self.z)


@kind("alignment.marked", durable=True, of_trial=True)
class AlignmentMarked(Activity):
    """In a calibration, the participant marked how close the pictures are.

    Attributes
    ----------
    mark : far (far away) or close (close enough).
    z_seq : the number of the slider change that led to the picture on the screen at that time (see
        dial.moved).
    alignment : the alignment of that picture with the target, from 0 to 1.
    """

    mark: Word
    z_seq: Index
    alignment: float


@kind("overlay.toggled", of_trial=True)
class OverlayToggled(Activity):
    """The participant switched between side by side and overlay.

    Attributes
    ----------
    on : whether the overlay is shown from here on.
    """

    on: bool


@kind("label.edited", durable=True, of_trial=True)
class LabelEdited(Activity):
    """The participant renamed a slider; the name applies within the stage.

    Attributes
    ----------
    dimension : the number of the slider, from 0.
    text : the new name.
    """

    dimension: Index
    text: Written

    def misfit(self, part: Mapping[str, Any]) -> str:
        return no_dial(part, self.dimension)


@kind("skip.offered", durable=True, of_trial=True)
class SkipOffered(Payload):
    """Skip became available.

    Attributes
    ----------
    active_s : seconds of active time that had passed.
    """

    active_s: float


@kind("tutorial.dial_moved")
class TutorialDialMoved(DialTurned):
    """A slider in one of the tutorial's boxes was moved.

    Attributes
    ----------
    box : the number of the box, from 0.
    dimension : the number of the slider in the box, from 0.
    value : its new value; for a discrete dimension, the index of the value.
    """

    box: Index
    dimension: Index
    value: float

    def misfit(self, part: Mapping[str, Any]) -> str:
        boxes = part.get("boxes")
        if isinstance(boxes, list | tuple) and self.box < len(boxes):
            box = boxes[self.box]
            if isinstance(box, dict) and self.dimension < len(box.get("dimensions", ())):
                return ""
        return f"the tutorial has no slider {self.dimension} in a box {self.box}"


@dataclass(frozen=True, slots=True)
class Presented(Command):
    """The runner decoded both pictures of a new question and the screen shows them."""

    alignment: float
    error_sum: float
    error_mean: float


@dataclass(frozen=True, slots=True)
class MoveDial(Command):
    """Set a slider to a value (or a discrete slider to an index)."""

    dimension: int
    value: float
    device: str


@dataclass(frozen=True, slots=True)
class SelectDial(Command):
    """Take hold of a slider without moving it."""

    dimension: int
    device: str


@dataclass(frozen=True, slots=True)
class Decoded(Command):
    """The runner decoded slider positions z_seq, whose values were z."""

    z_seq: int
    z: tuple[float, ...]
    alignment: float
    error_sum: float
    error_mean: float


@dataclass(frozen=True, slots=True)
class ToggleOverlay(Command):
    on: bool


@dataclass(frozen=True, slots=True)
class EditLabel(Command):
    dimension: int
    text: str


@dataclass(frozen=True, slots=True)
class MarkAlignment(Command):
    """The participant of a calibration says how near the pictures are: mark is far or close."""

    mark: str


@dataclass(frozen=True, slots=True)
class MoveTutorialDial(Command):
    box: int
    dimension: int
    value: float
