"""Kinds of the reconstruction task. z holds one number a dimension: a continuous dimension's value,
a discrete dimension's index. Its trials end with `trial.ended`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labapp.events.dials import Comparison, TargetShown, no_dial, no_dial_state
from labapp.events.registry import Payload, kind


@kind("trial.drawn", durable=True, begins=("reconstruction",))
class TrialDrawn(Payload):
    """The pair of a question was drawn: initial z and target z'."""

    z_start: tuple[float, ...]
    z_target: tuple[float, ...]

    def misfit(self, part: Mapping[str, Any]) -> str:
        return no_dial_state(part, self.z_start) or no_dial_state(part, self.z_target)


@kind("trial.started", durable=True, of_trial=True)
class TrialStarted(TargetShown):
    """The question is on the screen; its time runs from here. A pair that is aligned at once is
    kept and marked. error_sum, error_mean: sum and mean over pixels of squared differences."""

    alignment: float
    error_sum: float
    error_mean: float
    aligned_at_start: bool


@kind("dial.moved", frequent=True, of_trial=True)
class DialMoved(Payload):
    """A dial stands at a new value; z_seq counts the changes of a question from 1, and device names
    the input (mouse, keyboard, wheel, touch, simulated)."""

    z_seq: int
    dimension: int
    value: float
    device: str

    def misfit(self, part: Mapping[str, Any]) -> str:
        return no_dial(part, self.dimension)


@kind("dial.selected", of_trial=True)
class DialSelected(Payload):
    """A dial was taken hold of (pressed, or reached by keyboard)."""

    dimension: int
    device: str

    def misfit(self, part: Mapping[str, Any]) -> str:
        return no_dial(part, self.dimension)


@kind("picture.decoded", frequent=True, of_trial=True)
class PictureDecoded(Comparison):
    """The picture of dial state z_seq was decoded and compared with the target."""

    z_seq: int
    alignment: float
    error_sum: float
    error_mean: float


@kind("trial.solved", durable=True, of_trial=True)
class TrialSolved(Payload):
    """The alignment reached the target at z; the dials are set to it and locked."""

    z_seq: int
    z: tuple[float, ...]
    alignment: float

    def misfit(self, part: Mapping[str, Any]) -> str:
        return no_dial_state(part, self.z)


@kind("alignment.marked", durable=True, of_trial=True)
class AlignmentMarked(Payload):
    """The participant of a calibration said how near the pictures are. mark: far (far away) or
    close (close enough); alignment: of the picture then on the screen, which is z_seq's."""

    mark: str
    z_seq: int
    alignment: float


@kind("overlay.toggled", of_trial=True)
class OverlayToggled(Payload):
    """The participant switched between side by side and overlay."""

    on: bool


@kind("label.edited", durable=True, of_trial=True)
class LabelEdited(Payload):
    """The participant renamed a dial; kept within the stage."""

    written = ("text",)

    dimension: int
    text: str

    def misfit(self, part: Mapping[str, Any]) -> str:
        return no_dial(part, self.dimension)


@kind("skip.offered", durable=True, of_trial=True)
class SkipOffered(Payload):
    """Skip became available after active_s seconds of active time."""

    active_s: float


@kind("tutorial.dial_moved")
class TutorialDialMoved(Payload):
    """A dial of one of the tutorial's boxes was moved; box and dimension count from 0."""

    box: int
    dimension: int
    value: float

    def misfit(self, part: Mapping[str, Any]) -> str:
        boxes = part.get("boxes")
        if isinstance(boxes, list | tuple) and self.box < len(boxes):
            box = boxes[self.box]
            if isinstance(box, dict) and self.dimension < len(box.get("dimensions", ())):
                return ""
        return f"the tutorial has no dial {self.dimension} in a box {self.box}"
