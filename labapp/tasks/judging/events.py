"""Events and commands of the tasks that judge explanations (paper 003): each trial is a photo of a
stimulus set. Its questions are named in `labapp.tasks.judging.plan`. Its trials end with
`trial.ended`.
"""

from __future__ import annotations

from dataclasses import dataclass

from labapp.record.events.commands import Command
from labapp.record.events.registry import Index, Payload, Whole, Word, kind


@kind("photo.drawn", durable=True, begins=("judging", "warm_up"))
class PhotoDrawn(Payload):
    """The next photo of the plan begins.

    Attributes
    ----------
    photo : its id in the stimulus set.
    set : number of its set of photos; 0 for an exercise.
    truth : the class that it shows.
    prediction : the class that the model gives it.
    """

    photo: Word
    set: Whole
    truth: Word
    prediction: Word


@kind("photo.shown", durable=True, of_trial=True)
class PhotoShown(Payload):
    """The photo is on the screen; its time runs from here."""


@kind("judgement.made", durable=True, of_trial=True)
class JudgementMade(Payload):
    """A question about the photo was answered, or its answer changed.

    Attributes
    ----------
    question : which one.
    value : the answer's number; null where it is taken back, as it is when it no longer applies.
    device : the input: mouse, keyboard, wheel, touch or simulated.
    """

    question: Word
    value: Whole | None
    device: Word


@kind("photo.judged", durable=True, of_trial=True)
class PhotoJudged(Payload):
    """The answers to the photo's questions are final.

    Attributes
    ----------
    answers : by question the answer's number.
    right : of the questions that have a right answer, whether it was given.
    """

    answers: dict[str, Whole]
    right: dict[str, bool]


@kind("species.opened", of_trial=True)
class SpeciesOpened(Payload):
    """The rows of another class were looked at.

    Attributes
    ----------
    option : its place among the options, from 1.
    """

    option: Index


@kind("performance.computed", durable=True)
class PerformanceComputed(Payload):
    """What the participant is told of the own performance. Of agreement alone are assigned, ties,
    hits and expected_hits.

    Attributes
    ----------
    photos : how many were judged.
    right : by question the photos with the right answer.
    assigned : by photo whether it was taken as believed correct: half of them, those with the
        highest ratings.
    ties : the photos of the median rating, among which the draw decided.
    hits : photos assigned as they are.
    expected_hits : their number without the draw, the mean over all ways to break the ties.
    """

    photos: Index
    right: dict[str, Whole]
    assigned: dict[str, bool]
    ties: tuple[Word, ...]
    hits: Index | None
    expected_hits: float | None


METHOD, TREE = "method", "tree"
"""What a description is of."""


@kind("description.opened")
class DescriptionOpened(Payload):
    """The participant opened the description of the method, or the picture of the whole tree.

    Attributes
    ----------
    what : method or tree.
    """

    what: Word


@kind("description.closed")
class DescriptionClosed(Payload):
    """The participant closed it.

    Attributes
    ----------
    what : method or tree.
    """

    what: Word


@dataclass(frozen=True, slots=True)
class Judge(Command):
    """Answer a question about a photo, see `labapp.tasks.judging.plan`."""

    question: str
    value: int
    device: str


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
