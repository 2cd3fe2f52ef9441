"""Kinds of the reconstruction task. z holds one number a dimension: a continuous dimension's value,
a discrete dimension's index."""

from __future__ import annotations

from labapp.events.registry import Body, kind

MOVEMENTS = frozenset({"dial.moved", "picture.decoded"})
"""The kinds that a journal is full of: nine of ten events. They say how a question was solved and
nothing of the session around it."""


@kind("trial.drawn", durable=True)
class TrialDrawn(Body):
    """The pair of a question was drawn: initial z and target z'."""

    z_start: tuple[float, ...]
    z_target: tuple[float, ...]


@kind("trial.started", durable=True)
class TrialStarted(Body):
    """The question is on the screen; its time runs from here. A pair that is aligned at once is
    kept and marked. error_sum, error_mean: sum and mean over pixels of squared differences."""

    alignment: float
    error_sum: float
    error_mean: float
    aligned_at_start: bool


@kind("dial.moved")
class DialMoved(Body):
    """A dial stands at a new value; z_seq counts the changes of a question from 1, and device names
    the input (mouse, keyboard, wheel, touch, simulated)."""

    z_seq: int
    dimension: int
    value: float
    device: str


@kind("dial.selected")
class DialSelected(Body):
    """A dial was taken hold of (pressed, or reached by keyboard)."""

    dimension: int
    device: str


@kind("picture.decoded")
class PictureDecoded(Body):
    """The picture of dial state z_seq was decoded and compared with the target."""

    z_seq: int
    alignment: float
    error_sum: float
    error_mean: float


@kind("trial.solved", durable=True)
class TrialSolved(Body):
    """The alignment reached the target at z; the dials are set to it and locked."""

    z_seq: int
    z: tuple[float, ...]
    alignment: float


@kind("alignment.marked", durable=True)
class AlignmentMarked(Body):
    """The participant of a calibration said how near the pictures are. mark: far (far away) or
    close (close enough); alignment: of the picture then on the screen, which is z_seq's."""

    mark: str
    z_seq: int
    alignment: float


@kind("overlay.toggled")
class OverlayToggled(Body):
    """The participant switched between side by side and overlay."""

    on: bool


@kind("label.edited", durable=True)
class LabelEdited(Body):
    """The participant renamed a dial; kept within the stage."""

    dimension: int
    text: str


@kind("skip.offered", durable=True)
class SkipOffered(Body):
    """Skip became available after active_s seconds of active time."""

    active_s: float


@kind("trial.ended", durable=True)
class TrialEnded(Body):
    """The question is over. outcome: solved, marked (a calibration's), skipped (by the
    participant), answered (a single-dimension question, a stimulus), interrupted (a timed stimulus,
    which is shown again), time_expired or stage_skipped (by the moderator)."""

    outcome: str


@kind("stage.time_expired", durable=True)
class StageTimeExpired(Body):
    """The stage's time limit was reached."""

    limit_s: float
