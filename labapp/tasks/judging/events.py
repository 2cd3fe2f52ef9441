"""Kinds of the tasks that judge explanations (paper 003): each trial is a photo of a stimulus set.
Its questions are named in `labapp.tasks.judging.plan`. Its trials end with `trial.ended`."""

from __future__ import annotations

from labapp.events.registry import Payload, kind


@kind("photo.drawn", durable=True, begins=("judging", "warm_up"))
class PhotoDrawn(Payload):
    """The next photo of the plan begins. set: number of its set; 0 for an exercise."""

    photo: str
    set: int
    truth: str
    prediction: str


@kind("photo.shown", durable=True, of_trial=True)
class PhotoShown(Payload):
    """The photo is on the screen; its time runs from here."""


@kind("judgement.made", durable=True, of_trial=True)
class JudgementMade(Payload):
    """A question about the photo was answered, or its answer changed; device names the input.
    value is None where an answer is taken back, as it is when it no longer applies."""

    question: str
    value: int | None
    device: str


@kind("photo.judged", durable=True, of_trial=True)
class PhotoJudged(Payload):
    """The answers to the photo's questions are final. right: of the questions that have a right
    answer, whether it was given."""

    answers: dict[str, int]
    right: dict[str, bool]


@kind("species.opened", of_trial=True)
class SpeciesOpened(Payload):
    """The rows of another class were looked at. option: its place among the options, from 1."""

    option: int


@kind("performance.computed", durable=True)
class PerformanceComputed(Payload):
    """What the participant is told of the own performance.

    photos: how many were judged. right: question -> photos with the right answer. For agreement
    besides: assigned: photo -> whether it was taken as believed correct, half of them by the
    highest ratings; ties: the photos of the median rating, among which the draw decided; hits:
    photos assigned as they are; expected_hits: their number without the draw, the mean over all
    ways to break the ties.
    """

    photos: int
    right: dict[str, int]
    assigned: dict[str, bool]
    ties: tuple[str, ...]
    hits: int | None
    expected_hits: float | None


METHOD, TREE = "method", "tree"
"""What a description is of."""


@kind("description.opened")
class DescriptionOpened(Payload):
    """The participant opened the description of the method, or the picture of the whole tree.
    what: method or tree."""

    what: str


@kind("description.closed")
class DescriptionClosed(Payload):
    """And closed it."""

    what: str
