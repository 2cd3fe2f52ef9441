"""How long a bottleneck is trained that has to learn every concept: by validation accuracy alone.

The rule was fixed before the models that it stops were trained. Test rows play no part in it.
"""

from __future__ import annotations

from collections.abc import Sequence

BAR = 0.95
"""A concept counts as learnt from this accuracy on."""
LEAST, MOST = 100, 300
"""Epochs: as many as published at least, and no more than three times as many."""
RULE = (
    f"{LEAST} epochs, as published; then on until an epoch ends with every concept right for "
    f"{BAR:.0%} of the validation rows or more, but no longer than {MOST} epochs"
)


def is_learnt(accuracies: Sequence[float]) -> bool:
    """Whether a model has learnt every concept, by the accuracy of each on validation rows."""
    return min(accuracies) >= BAR


def is_over(epochs: int, accuracies: Sequence[float]) -> bool:
    """Whether a training ends after so many epochs, with these accuracies on validation rows."""
    return epochs >= MOST or (epochs >= LEAST and is_learnt(accuracies))
