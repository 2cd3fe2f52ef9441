"""How simulated participants answer the items of a questionnaire: every kind of item.

What asks about a stage follows from what they went through there (see `experience`); everything
else is answered at random.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from labapp.study.instruments import Choice, Choices, Item, Rating, Slider

REMARK = "Simulated remark"
PASSED_OVER = 0.2
"""Share of the optional items left out."""


def answer(item: Item, rng: np.random.Generator, leaning: float | None = None) -> Any:
    """A valid answer to an item; None leaves an optional one out. A slider is always touched.

    leaning: where on a rating's scale the answer lies, 0 at its low end, 1 at its high end; None
    for anywhere.
    """
    if isinstance(item, Slider):
        low, high, _ = item.places()
        return {"value": int(rng.integers(low, high + 1)), "touched": True}
    if not item.required and rng.random() < PASSED_OVER:
        return None
    if isinstance(item, Rating):
        if leaning is not None:
            return item.first + round(leaning * (item.points - 1))
        return int(rng.integers(item.first, item.last + 1))
    if isinstance(item, Choice | Choices):
        return _choice(item, rng)
    return f"{REMARK} {rng.integers(1000)}"


def _choice(item: Choice | Choices, rng: np.random.Generator) -> dict[str, Any]:
    first = item.options[int(rng.integers(len(item.options)))]
    chosen = [first]
    if item.several and not first.alone and rng.random() < 0.3:
        others = [option for option in item.options if option is not first and not option.alone]
        chosen += others[: int(rng.integers(len(others) + 1))]
    value: dict[str, Any] = {"chosen": [option.id for option in chosen]}
    if any(option.describe for option in chosen):
        value["described"] = REMARK
    return item.check(value)
