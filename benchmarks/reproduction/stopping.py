"""How long a bottleneck is trained that has to learn every concept: by validation accuracy alone.

The rule was fixed before the models were trained that it stops. Test rows play no part in it. At
the published constant rate accuracies still jump from epoch to epoch, so that the rate falls to 0
after the published epochs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from labapp.models.concepts.recipe import RATE

BAR = 0.95
"""A concept counts as learnt from this accuracy on."""
LEAST, MOST = 100, 140
"""Epochs: as many as published at least, and at most."""
RULE = (
    f"{LEAST} epochs, as published; then on with a rate that falls to 0 as a cosine, until an "
    f"epoch ends with every concept right for {BAR:.0%} of the validation rows or more, but no "
    f"longer than {MOST} epochs"
)


def is_learnt(accuracies: Sequence[float]) -> bool:
    """Whether a model has learnt every concept, by the accuracy of each on validation rows."""
    return min(accuracies) >= BAR


def is_over(epochs: int, accuracies: Sequence[float]) -> bool:
    """Whether a training ends after so many epochs, with these accuracies on validation rows."""
    return epochs >= MOST or (epochs >= LEAST and is_learnt(accuracies))


def rate(epochs: float) -> float:
    """Adam's rate after so many epochs."""
    if epochs < LEAST:
        return RATE
    return RATE * (1 + math.cos(math.pi * (epochs - LEAST) / (MOST - LEAST))) / 2
