"""A number that is typed. What is stored is the number."""

from __future__ import annotations

import math
import re
from typing import Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from labapp.study.instruments.items import Bounds, SomeWords, Typed, Words
from labapp.study.plugins.bids import Column

_NUMBER = re.compile(r"[+-]?[0-9]{1,15}([.,][0-9]{1,10})?")
_RANGE = 100
"""Where a bound is missing, simulated participants stay within so much of the other one."""


class Number(Typed):
    """A number that is typed, with a point or a comma before its decimals.

    Attributes
    ----------
    low : the lowest possible number (default: any).
    high : the highest possible number (default: any).
    decimals : the number of digits after the decimal point; 0 asks for a whole number.
    unit : the unit after the field.
    """

    kind: Literal["number"]
    text: SomeWords
    low: float | None = None
    high: float | None = None
    decimals: int = Field(default=0, ge=0, le=10)
    unit: Words = ""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        low, high = self.bounds()
        if low >= high:
            raise ValueError("low below high")
        return self

    def bounds(self) -> Bounds:
        low = -math.inf if self.low is None else self.low
        return low, math.inf if self.high is None else self.high

    @property
    def in_steps(self) -> bool:
        return not self.decimals and super().in_steps

    def read(self, typed: str) -> int | float | None:
        if _NUMBER.fullmatch(typed) is None:
            return None
        number = float(typed.replace(",", "."))
        low, high = self.bounds()
        if not low <= number <= high or round(number, self.decimals) != number:
            return None
        return int(number) if number.is_integer() and not self.decimals else number

    def holds(self, value: Any) -> bool:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and self.read(f"{value:.{self.decimals}f}") == value

    def shown(self, value: Any) -> str:
        return f"{value:.{self.decimals}f}".rstrip("0").rstrip(".") if self.decimals else str(value)

    def said(self, value: Any) -> str:
        return f"{self.shown(value)} {self.unit}".strip()

    def column(self, where: str) -> Column:
        return Column("", f"{self.title} ({where})", self.unit)

    def simulate(self, rng: np.random.Generator, leaning: float | None) -> int | float:
        low, high = self.bounds()
        if math.isinf(low):
            low = 0.0 if math.isinf(high) else high - _RANGE
        if math.isinf(high):
            high = low + _RANGE
        share = float(rng.random()) if leaning is None else leaning
        number = round(low + share * (high - low), self.decimals)
        number = min(max(number, low), high)
        return number if self.decimals else int(number)
