"""How large a training is: S for tests, M for a report on a desk, L as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SizeName = Literal["S", "M", "L"]

RATE = 1e-3
"""Of Adam, in paper 001."""


@dataclass(frozen=True, slots=True)
class Size:
    """A size of training. Of TabularToy, M is as published: it takes seconds.

    Attributes
    ----------
    train, test : most rows to train on and to test on; None for all.
    pixels : the most that pictures are wide.
    epochs, toy_epochs : of a learner that has one phase, on pictures and on TabularToy.
    peak : of a learning rate that rises and falls once over a phase of learning from pictures;
        None for a constant `RATE`.
    published : whether pictures are learned from as published: with the batch, the dropout and the
        7 x 7, 5 x 5, 3 x 3 and 3 x 3 kernels of the released code, in place of 32, none and 3 x 3.
    """

    name: SizeName
    train: int | None
    test: int | None
    pixels: int
    epochs: int
    toy_epochs: int
    peak: float | None
    published: bool


SIZES: dict[SizeName, Size] = {
    "S": Size("S", 600, 300, 32, 2, 20, 2e-3, published=False),
    "M": Size("M", None, None, 64, 15, 300, 2e-3, published=False),
    "L": Size("L", None, None, 64, 100, 300, None, published=True),
}
