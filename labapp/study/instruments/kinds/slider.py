"""A whole number on a slider, such as a visual analogue scale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import model_validator

from labapp.study.conditions import Value
from labapp.study.instruments.items import Bounds, Ends, Item, SomeWords
from labapp.study.plugins.bids import Column


class Slider(Item):
    """A whole number on a slider. Until it is moved or confirmed, it shows that it has no answer;
    with `required: true`, nobody can continue before that.

    With `about: accuracy` it begins at the accuracy of the explained model in percent, and its low
    end lies 10 points or more below, at a multiple of 10 (after the released pages of paper 003).
    What is stored: `{"value": number, "touched": whether it was moved or confirmed}`. Where nobody
    touched it, the number is where it stood: it is in the journal, and tables have no value.

    Attributes
    ----------
    low : the number at its low end.
    high : the number at its high end.
    start : its position before it is touched (default: its low end). Only studies with
        `presentation: as_published` show a handle there, since a visible handle attracts answers.
    about : `accuracy`: it begins at the accuracy of the explained model.
    unit : the unit after its number.
    ends : words at the two ends of its line.
    numbers : whether the numbers at its ends and the chosen one are shown. Without them, as on a
        classic visual analogue scale, it needs `ends`; a screen reader says the number all the
        same.
    """

    more: ClassVar[Mapping[str, str]] = {"touched": "Whether it was moved or confirmed"}
    always_answered = True

    kind: Literal["slider"]
    text: SomeWords
    low: int = 0
    high: int = 100
    start: int | None = None
    about: Literal["accuracy"] | None = None
    unit: str = "%"
    ends: Ends | None = None
    numbers: bool = True
    required: bool = False

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.low >= self.high or not self.low <= (self.start or self.low) <= self.high:
            raise ValueError("a low end below the high end, and a start between them")
        if not self.numbers and self.ends is None:
            raise ValueError("`ends`, the words at both ends, where no numbers are shown")
        return self

    def places(self, accuracy: float | None = None) -> tuple[int, int, int]:
        """Its low end, its high end and where it begins; accuracy: of the explained model, in
        percent, where it asks about that."""
        if self.about != "accuracy" or accuracy is None:
            return self.low, self.high, self.low if self.start is None else self.start
        start = min(max(int(accuracy + 0.5), self.low), self.high)
        return max(self.low, (start - 10) // 10 * 10), self.high, start

    def bounds(self) -> Bounds:
        return self.low, self.high

    def answer_of(self, values: tuple[Value, ...]) -> Any:
        return {"value": values[0], "touched": True}

    @property
    def about_accuracy(self) -> bool:
        return self.about is not None

    def placed(self, accuracy: float) -> Self:
        low, high, start = self.places(accuracy)
        return self.model_copy(update={"low": low, "high": high, "start": start})

    def check(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping) or set(value) != {"value", "touched"}:
            raise ValueError(f"{self.id}: {value!r} is not an answer of a slider")
        number, touched = value["value"], value["touched"]
        whole = isinstance(number, int) and not isinstance(number, bool)
        if not whole or not self.low <= number <= self.high or not isinstance(touched, bool):
            raise ValueError(f"{self.id}: {value!r} is not within {self.low} to {self.high}")
        return {"value": int(number), "touched": touched}

    def answered(self, value: Any) -> bool:
        return value is not None and bool(value["touched"])

    def said(self, value: Any) -> str:
        return f"{value['value']}{self.unit}" + ("" if value["touched"] else " (not touched)")

    @classmethod
    def cells(cls, value: Any) -> dict[str, Any]:
        touched = value["touched"]
        return {"": value["value"] if touched else None, "touched": touched}

    def answer_words(self) -> dict[str, str]:
        ends = self.ends
        return {} if ends is None else {str(self.low): ends.low, str(self.high): ends.high}

    def column(self, where: str) -> Column:
        ends = ", ".join(f"{number} = {words}" for number, words in self.answer_words().items())
        told = filter(None, (where, ends, "empty where nobody touched it"))
        return Column("", f"{self.title} ({'; '.join(told)})", self.unit)

    def simulate(self, rng: np.random.Generator, leaning: float | None) -> dict[str, Any]:
        low, high, _ = self.places()
        return {"value": int(rng.integers(low, high + 1)), "touched": True}

    def untouched(self) -> dict[str, Any]:
        return {"value": self.places()[2], "touched": False}
