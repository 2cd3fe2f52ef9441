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
    set : number of the set of photos to which it belongs; 0 for an exercise.
    truth : the true class of the photo.
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
    """An answer to a question about the photo was given or changed.

    Attributes
    ----------
    question : the question.
    value : the number of the answer; null if the answer was removed, as happens when it no longer
        applies.
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
    answers : the number of the answer to each question.
    right : for each question that has a right answer, whether that answer was given.
    """

    answers: dict[str, Whole]
    right: dict[str, bool]


@kind("species.opened", of_trial=True)
class SpeciesOpened(Payload):
    """The rows of another class were opened.

    Attributes
    ----------
    option : the position of the class among the options, from 1.
    """

    option: Index


@kind("performance.computed", durable=True)
class PerformanceComputed(Payload):
    """The performance that is shown to the participant. Only agreement tasks have assigned, ties,
    hits and expected_hits.

    Attributes
    ----------
    photos : the number of photos that were judged.
    right : the number of photos with the right answer, for each question.
    assigned : for each photo, whether it was treated as believed correct, which is the half with
        the highest ratings.
    ties : the photos with the median rating, which were assigned at random.
    hits : the number of photos that were assigned correctly.
    expected_hits : the same number without the random assignment: the mean over all ways of
        breaking the ties.
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
    """The participant opened the description of the method or the picture of the whole tree.

    Attributes
    ----------
    what : method or tree.
    """

    what: Word


@kind("description.closed")
class DescriptionClosed(Payload):
    """The participant closed the description or the tree.

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
    """Look at the rows of another class; option: the position of the class among the options, from
    1."""

    option: int


@dataclass(frozen=True, slots=True)
class OpenDescription(Command):
    """Open the description of the method, or the whole tree. what: method or tree."""

    what: str


@dataclass(frozen=True, slots=True)
class CloseDescription(Command):
    what: str
