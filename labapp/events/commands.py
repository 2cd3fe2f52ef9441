"""Commands: what a widget, a script, the clock or the runner asks for.

A command is a wish; only the events that `decide` answers with are facts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class Command:
    """Base of all commands."""


@dataclass(frozen=True, slots=True)
class Begin(Command):
    """The runner opens a part, or the next question of it."""


@dataclass(frozen=True, slots=True)
class Tick(Command):
    """Time has passed; sent by the runner when a deadline is due."""


@dataclass(frozen=True, slots=True)
class Presented(Command):
    """The runner decoded both pictures of a new question and the screen shows them."""

    alignment: float
    error_sum: float
    error_mean: float


@dataclass(frozen=True, slots=True)
class MoveDial(Command):
    """Set a dial to a value (or a discrete dial to an index)."""

    dimension: int
    value: float
    device: str


@dataclass(frozen=True, slots=True)
class SelectDial(Command):
    """Take hold of a dial without moving it."""

    dimension: int
    device: str


@dataclass(frozen=True, slots=True)
class Decoded(Command):
    """The runner decoded dial state z_seq, whose values were z."""

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
class Skip(Command):
    """The participant skips the question."""


@dataclass(frozen=True, slots=True)
class Next(Command):
    """The participant goes on: next question, next page, continue."""


@dataclass(frozen=True, slots=True)
class Back(Command):
    """The participant turns back one page of a text or tutorial."""


@dataclass(frozen=True, slots=True)
class MoveTutorialDial(Command):
    box: int
    dimension: int
    value: float


@dataclass(frozen=True, slots=True)
class GiveConsent(Command):
    """The participant agrees. A name or signature goes to the private table, never into an event.

    uses: whether they agree to each use that is asked one by one; None: to all of them.
    """

    uses: Mapping[str, bool] | None = None


@dataclass(frozen=True, slots=True)
class DeclineConsent(Command):
    pass


@dataclass(frozen=True, slots=True)
class Answer(Command):
    """Answer (or change the answer to) an item of a questionnaire."""

    item: str
    value: Any


@dataclass(frozen=True, slots=True)
class ShowQuestion(Command):
    """The pictures of a single-dimension question, or of a photo to judge, are there and the screen
    shows them."""


@dataclass(frozen=True, slots=True)
class Choose(Command):
    """Take a choice of a single-dimension question, from 0."""

    choice: int
    device: str


@dataclass(frozen=True, slots=True)
class Rate(Command):
    """Rate the answer to a single-dimension question: item confidence or understanding, 1 to 5."""

    item: str
    value: int
    device: str


@dataclass(frozen=True, slots=True)
class ShowMoreExamples(Command):
    """Draw the examples of a single-dimension question anew."""


@dataclass(frozen=True, slots=True)
class HandIn(Command):
    """Hand in choice and ratings; the right choice is told."""


@dataclass(frozen=True, slots=True)
class Judge(Command):
    """Answer a question about a photo, see `labapp.tasks.judging.plan`."""

    question: str
    value: int
    device: str


@dataclass(frozen=True, slots=True)
class StimulusPainted(Command):
    """The screen shows the stimulus; see `labapp.tasks.unmasking.events.StimulusShown`."""

    painted_ns: int
    shown_by: str
    refresh_ms: float | None
    side_px: int | None = None


@dataclass(frozen=True, slots=True)
class StimulusHidden(Command):
    """The stimulus left the screen before there was a response: the participant asks to leave, or
    another window lies over it."""


@dataclass(frozen=True, slots=True)
class Respond(Command):
    """Say what the stimulus shows; see `labapp.tasks.unmasking.events.ResponseGiven`."""

    response: int
    device: str
    input_ns: int
    timed_by: str


@dataclass(frozen=True, slots=True)
class OpenSpecies(Command):
    """Look at the rows of another class; option: its place among the options, from 1."""

    option: int


@dataclass(frozen=True, slots=True)
class OpenDescription(Command):
    """Open the description of the method, or the whole tree. what: method or tree."""

    what: str


@dataclass(frozen=True, slots=True)
class CloseDescription(Command):
    what: str


@dataclass(frozen=True, slots=True)
class SkipStage(Command):
    """The moderator ends the current part. index: the part that was asked about; when the session
    has gone on to another one meanwhile, nothing is skipped. None: whichever runs."""

    index: int | None = None


@dataclass(frozen=True, slots=True)
class TakeBackSkip(Command):
    """Take back a skip that is not confirmed yet. what: trial or part."""

    what: str


@dataclass(frozen=True, slots=True)
class ConfirmSkip(Command):
    """Do not wait until the time to take a skip back is over: a program skipped."""


@dataclass(frozen=True, slots=True)
class AskToLeave(Command):
    """The participant tries to leave the window. how: escape or close."""

    how: str


@dataclass(frozen=True, slots=True)
class StayHere(Command):
    """The participant who tried to leave the window goes on."""


@dataclass(frozen=True, slots=True)
class Reopen(Command):
    """The moderator takes an early end back. seq: of its session.ended."""

    seq: int


@dataclass(frozen=True, slots=True)
class Pause(Command):
    reason: str


@dataclass(frozen=True, slots=True)
class Resume(Command):
    reason: str


@dataclass(frozen=True, slots=True)
class EndSession(Command):
    """End before the plan is done. withdrawal: empty, or what a participant who withdraws wants
    done with the data: keep or delete."""

    reason: str
    withdrawal: str = ""


@dataclass(frozen=True, slots=True)
class MovePointer(Command):
    """The pointer moved over the participant's window, during the question `key` (part, trial,
    attempt); see `labapp.events.pointer.PointerMoved`."""

    key: tuple[str | None, int | None, int | None]
    began_ns: int
    width: int
    height: int
    t_ms: tuple[int, ...]
    x: tuple[int, ...]
    y: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AddNote(Command):
    text: str
    typing_began_ns: int


@dataclass(frozen=True, slots=True)
class AddFlag(Command):
    number: int


@dataclass(frozen=True, slots=True)
class AddDeviation(Command):
    """The moderator writes down that something went otherwise than the study says."""

    text: str
    typing_began_ns: int


@dataclass(frozen=True, slots=True)
class GivePrompt(Command):
    text: str


@dataclass(frozen=True, slots=True)
class CorrectNote(Command):
    """What event seq says reads text from now on; empty text takes it back. See
    `labapp.events.moderation.NoteCorrected`."""

    seq: int
    text: str
    typing_began_ns: int


@dataclass(frozen=True, slots=True)
class Unblind(Command):
    """The console names the representations from now on."""


@dataclass(frozen=True, slots=True)
class AskQuestion(Command):
    """The moderator asks a question of the interview's guide, counted from 1."""

    question: int


@dataclass(frozen=True, slots=True)
class EndInterview(Command):
    """The interview is over."""
