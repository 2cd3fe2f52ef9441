"""Events and commands of the unmasking task (paper 004): each trial is one stimulus, a picture of
which a method shows some pixels. Its trials end with `trial.ended`.

The reaction time is `ResponseGiven.input_ns` less `StimulusShown.painted_ns`; both are session
time, and the journal's own times beside them are when the program came to know of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from labapp.record.events.commands import Command
from labapp.record.events.registry import Index, Number, Payload, Whole, Word, kind


@kind("stimulus.drawn", durable=True, begins=("unmasking",))
class StimulusDrawn(Payload):
    """The next stimulus of the plan begins.

    Attributes
    ----------
    sequence : number of the sequence (an image and a method) in the part, from 1.
    mask : position of the mask in the sequence, from 1.
    image : id of the picture in the stimulus set.
    method : id of the explanation method whose pixels are shown.
    percent : the percentage of pixels that are shown.
    truth : the true class of the picture.
    prediction : the class that the model predicts for the whole picture.
    due_ns : session time at which it should appear, after the blank.
    """

    sequence: Number
    mask: Number
    image: Word
    method: Word
    percent: float
    truth: Word
    prediction: Word
    due_ns: Whole


@kind("stimulus.shown", durable=True, of_trial=True)
class StimulusShown(Payload):
    """The stimulus is on the screen; its time runs from here.

    Attributes
    ----------
    painted_ns : session time of the first painted frame.
    shown_by : how this time was determined: `frame`, the window system confirmed the frame;
        `flush`, the picture was handed to the window system; `simulated`.
    refresh_ms : the display's refresh interval in milliseconds; null if it is unknown.
    side_px : the longer side of the picture in the display's own pixels; null if nothing was drawn.
    too_small : whether the window was too small for the size set in the study; null if this was not
        checked.
    """

    painted_ns: Whole
    shown_by: Word
    refresh_ms: float | None
    side_px: Index | None = None
    too_small: bool | None = None


@kind("response.given", durable=True, of_trial=True)
class ResponseGiven(Payload):
    """The participant answered what the stimulus shows.

    Attributes
    ----------
    response : the number of the button, from 1, whose class is in the plan; 0 for "I don't know".
    device : the input: mouse, keyboard, touch or simulated.
    input_ns : session time of the input event's own time stamp.
    timed_by : `event`, by that stamp; `arrival`, by when the program received it, if the stamp
        cannot be trusted; `simulated`.
    """

    response: Whole
    device: Word
    input_ns: Whole
    timed_by: Word


@dataclass(frozen=True, slots=True)
class StimulusPainted(Command):
    """The screen shows the stimulus; see `labapp.tasks.unmasking.events.StimulusShown`."""

    painted_ns: int
    shown_by: str
    refresh_ms: float | None
    side_px: int | None = None
    too_small: bool | None = None


@dataclass(frozen=True, slots=True)
class StimulusHidden(Command):
    """The stimulus left the screen before there was a response: the participant asks to leave, or
    another window lies over it."""

    while_leaving: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Respond(Command):
    """Say what the stimulus shows; see `labapp.tasks.unmasking.events.ResponseGiven`."""

    response: int
    device: str
    input_ns: int
    timed_by: str
