"""Ratings: a number on a scale between two anchors, by itself or in a table of statements."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import ConfigDict, Field, model_validator

from labapp.study.instruments.items import MOST_CIRCLES, Bounds, Item, SomeWords, Words
from labapp.study.plugins.bids import Column


class OnScale(Item):
    """A number from `first` in `points` steps of one, between two anchors; nothing preselected.

    Attributes
    ----------
    points : the number of points of the scale.
    first : the number of the first point, 0 or 1.
    low : the words at the lowest point.
    high : the words at the highest point.
    middle : the words at the middle, with an odd number of points.
    labels : words for every point, instead of low and high.
    look : numbered circles, or a line with ticks; by default circles up to 11 points.
    numbers : whether the numbers of the points are shown: the recorded ones, even if a score
        reverses the item. By default, circles have numbers except in a table of statements, and a
        line with ticks has them at its ends.
    """

    rates: ClassVar[bool] = True

    points: int = Field(ge=2, le=101)
    first: Literal[0, 1] = 1
    low: Words = ""
    high: Words = ""
    middle: Words = ""
    labels: tuple[SomeWords, ...] = ()
    look: Literal["circles", "ticks"] | None = None
    numbers: bool | None = None

    @model_validator(mode="after")
    def _anchored(self) -> Self:
        if self.labels and len(self.labels) != self.points:
            raise ValueError(f"{self.points} labels, one per point; there are {len(self.labels)}")
        if not self.labels and not (self.low and self.high):
            raise ValueError("low and high, or a label for every point")
        if self.middle and (self.labels or self.points % 2 == 0):
            raise ValueError("a middle only for an odd number of points without labels")
        if self.look == "circles" and self.points > MOST_CIRCLES:
            raise ValueError(f"circles for at most {MOST_CIRCLES} points")
        return self

    @property
    def last(self) -> int:
        return self.first + self.points - 1

    @property
    def ticks(self) -> bool:
        return self.look == "ticks" or self.points > MOST_CIRCLES

    @property
    def numbered(self) -> bool:
        """Whether the numbers of the points are shown."""
        return not self.ticks if self.numbers is None else self.numbers

    def anchors(self) -> dict[int, str]:
        """The words at places of the scale; places count from 0."""
        if self.labels:
            return dict(enumerate(self.labels))
        ends = {0: self.low, self.points - 1: self.high}
        return ends | ({self.points // 2: self.middle} if self.middle else {})

    def answer_words(self) -> dict[str, str]:
        return {str(self.first + place): words for place, words in self.anchors().items()}

    def ends(self) -> tuple[str, str]:
        """The words at both ends."""
        anchors = self.anchors()
        return anchors[0], anchors[self.points - 1]

    def point(self, value: Any) -> int:
        """A number of the scale. Raises ValueError for anything else."""
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not self.first <= value <= self.last:
            raise ValueError(f"{self.id}: {value!r} is not one of {self.first} to {self.last}")
        return int(value)

    def simulated_point(self, rng: np.random.Generator, leaning: float | None) -> int:
        """A simulated participant's number."""
        if leaning is not None:
            return self.first + round(leaning * (self.points - 1))
        return int(rng.integers(self.first, self.last + 1))


class Rating(OnScale):
    """A number on a scale. Without a text the anchors are the item: two words, the scale between
    them. What is stored is the number."""

    at_once: ClassVar[bool] = True

    @property
    def title(self) -> str:
        return self.name or self.text or " – ".join(self.ends())

    def bounds(self) -> Bounds:
        return self.first, self.last

    def check(self, value: Any) -> int:
        return self.point(value)

    def said(self, value: Any) -> str:
        return f"{value} of {self.last}" if self.first else f"{value} of 0 to {self.last}"

    def column(self, where: str) -> Column:
        low, high = self.ends()
        ends = f"{self.first} = {low}, {self.last} = {high}"
        words = f"{self.text or self.title} ({where}; {ends})"
        # BIDS takes Levels as the only values there are, so each number is one.
        levels: dict[str, str] = {}
        if not self.ticks:
            numbers = map(str, range(self.first, self.last + 1))
            levels = {number: number for number in numbers} | self.answer_words()
        return Column("", words, f"{self.first}-{self.last}", levels)

    def simulate(self, rng: np.random.Generator, leaning: float | None) -> int:
        return self.simulated_point(rng, leaning)


class Scale(Rating):
    """A rating with anchors of its own."""

    kind: Literal["scale"] = "scale"


class Statement(Rating):
    """A rating on the scale that the instrument's statements share (its `scale`), drawn in one
    table with those beside it."""

    shares_scale: ClassVar[bool] = True
    model_config = ConfigDict(
        json_schema_extra=lambda schema: schema["required"].remove("points")  # of the instrument
    )

    kind: Literal["statement"]
    text: SomeWords

    @property
    def numbered(self) -> bool:
        return bool(self.numbers)
