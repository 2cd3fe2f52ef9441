"""A written answer. What is stored is its text."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from labapp.study.instruments.items import REMARK, Item, SomeWords, clean_text


class Written(Item):
    """A written answer.

    Attributes
    ----------
    lines : the height of its field, in lines.
    longest : the maximum number of characters.
    """

    own_words = frozenset({""})
    offers_answers: ClassVar[bool] = False

    kind: Literal["written"]
    text: SomeWords
    lines: int = Field(default=1, ge=1, le=12)
    longest: int = Field(default=2000, ge=1, le=20_000)

    def check(self, value: Any) -> str:
        return clean_text(value, self.longest, lines=self.lines > 1)

    def answered(self, value: Any) -> bool:
        return bool(value)

    def simulate(self, rng: np.random.Generator, leaning: float | None) -> str:
        return self.check(f"{REMARK} {rng.integers(1000)}"[: self.longest])
