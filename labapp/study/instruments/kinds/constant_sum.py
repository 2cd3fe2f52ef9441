"""A total that is distributed over options. What is stored is what each option got; once the sum is
the total, those that got nothing have 0."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from labapp.study.instruments.items import Compound, Listed, SomeOptions, SomeWords, Words
from labapp.study.instruments.kinds.number import Number


class ConstantSum(Compound, Listed):
    """A total that is distributed over options in whole numbers. In tables and scores the share of
    each option is a number `<id>_<id of the option>`.

    Attributes
    ----------
    options : the options over which the total is distributed, each with an `id` and a `text`.
    total : what the numbers add up to.
    unit : the unit after each number.
    """

    pictured: ClassVar[bool] = False
    kind: Literal["constant_sum"]
    text: SomeWords
    options: SomeOptions
    total: int = Field(default=100, ge=1, le=1_000_000)
    unit: Words = ""

    def parts(self) -> tuple[Number, ...]:
        fields = {"kind": "number", "low": 0, "high": self.total, "unit": self.unit}
        return tuple(
            self.as_part(Number, option.id, option.text, **fields) for option in self.options
        )

    def check(self, value: Any) -> dict[str, int]:
        given = self.take(value, (option.id for option in self.options))
        for number in given.values():
            whole = isinstance(number, int) and not isinstance(number, bool)
            if not whole or not 0 <= number <= self.total:
                raise ValueError(
                    f"{self.id}: {number!r} is not a whole number from 0 to {self.total}"
                )
        if self.complete(given):
            given = {option.id: given.get(option.id, 0) for option in self.options}
        return given

    def complete(self, value: Any) -> bool:
        return bool(sum(value.values()) == self.total)

    def simulate(self, rng: np.random.Generator, leaning: float | None) -> dict[str, int]:
        shares = rng.multinomial(self.total, rng.dirichlet([1.0] * len(self.options))).tolist()
        return self.check(dict(zip((option.id for option in self.options), shares, strict=True)))
