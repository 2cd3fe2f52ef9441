"""How simulated participants answer the items of a questionnaire: every kind of item.

What asks about a stage follows from what they went through there (see `experience`); everything
else is answered at random.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from labapp.study.instruments import Item

PASSED_OVER = 0.2
"""Share of the optional items left out."""


def answer(item: Item, rng: np.random.Generator, leaning: float | None = None) -> Any:
    """A valid answer to an item; None leaves an optional one out. A slider is always touched.

    leaning: where on a rating's scale the answer lies, 0 at its low end, 1 at its high end; None
    for anywhere.
    """
    if not item.always_answered and not item.required and rng.random() < PASSED_OVER:
        return None
    return item.simulate(rng, leaning)
