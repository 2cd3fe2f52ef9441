"""Leaves learn without gradients: each counts what reaches it, as far as it is its doing.

After Nauta et al. 2021, section 3.3, equation 6, spread over the batches of an epoch: a batch takes
its share of the counts the epoch began with away and adds its own.
"""

from __future__ import annotations

from torch import Tensor


def update_leaves(
    scores: Tensor,
    at_epoch_start: Tensor,
    shares: Tensor,
    labels: Tensor,
    *,
    batches: int,
) -> Tensor:
    """Scores of the leaves after a batch, (leaves, classes).

    Parameters
    ----------
    scores : now; at_epoch_start : when the epoch began; both (leaves, classes), never negative.
    shares : probability of the way to each leaf, (n, leaves).
    labels : (n,) classes.
    batches : in the epoch.
    """
    distributions = scores.softmax(1)
    right = distributions[:, labels].T  # (n, leaves): what each leaf says of the true class
    joint = shares * right
    responsible = joint / joint.sum(1, keepdim=True).clamp_min(1e-30)
    left = (scores - at_epoch_start / batches).clamp_min(0)
    return left.index_add(1, labels, responsible.T.to(left.dtype))
