"""The warm-up with fruits before the studies of a tree of prototypes: what its model gets right.

The tree asks for the colour: red leads to Fruit C, green to the count (less than three: A, greater
than three: B; of exactly three it says nothing, as published, and no exercise has three green
fruits), yellow to the shape (round: D, skinny: E). Source: paper 003, appendix C and figure A6.

As published, the first mistake is chosen from colour, count and shape each time, also from the one
that the model's way does not meet. The published 86.5 % are of the question whether the prediction
is right.
"""

from __future__ import annotations

from typing import NamedTuple

from labapp.tasks.judging.plan import Exercise, WarmUpPart


class _Fruits(NamedTuple):
    """A drawing of fruits, and how the tree judged it."""

    picture: str
    steps: tuple[str, ...]
    prediction: str
    truth: str
    first_wrong: int | None


ATTRIBUTES = ("colour", "count", "shape")
WORKED = _Fruits("yellow-skinny-3", ("colour_yellow", "shape_skinny"), "E", "E", None)
EXERCISES = (
    _Fruits("yellow-round-4", ("colour_green", "count_many"), "B", "D", 1),
    _Fruits("green-round-2", ("colour_green", "count_few"), "A", "A", None),
)


def fruits(part_id: str, document: str) -> WarmUpPart:
    """The exercises with fruits. Pictures are named by colour, shape and number of the fruits."""

    def exercise(number: int, fruits: _Fruits) -> Exercise:
        return Exercise(
            id=f"exercise-{number}",
            picture=fruits.picture,
            steps=fruits.steps,
            prediction=fruits.prediction,
            truth=fruits.truth,
            first_wrong=fruits.first_wrong,
            attributes=ATTRIBUTES,
        )

    return WarmUpPart(
        id=part_id,
        title="Warm-up",
        document=document,
        worked=exercise(0, WORKED),
        exercises=tuple(exercise(n, fruit) for n, fruit in enumerate(EXERCISES, start=1)),
    )
