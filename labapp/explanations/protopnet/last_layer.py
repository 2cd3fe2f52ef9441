"""The last layer alone, full batch, on similarities that were measured once.

The published training runs it through the network for many epochs; with everything below it frozen
the similarities do not change, so that the same convex problem is solved in seconds.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from labapp.explanations.protopnet.losses import OFF_CLASS, off_class


def fit(
    similarities: Tensor, labels: Tensor, weights: Tensor, owners: Tensor, *, steps: int = 200
) -> Tensor:
    """Weights that minimise cross-entropy + 1e-4 times the off-class weights.

    Parameters
    ----------
    similarities : (n, P); labels : (n,) classes.
    weights : (classes, P), where to begin; owners : (P,) classes of the prototypes.
    steps : iterations of L-BFGS at most.

    Returns
    -------
    New weights, (classes, P).
    """
    found = weights.detach().clone().requires_grad_()
    solver = torch.optim.LBFGS([found], max_iter=steps, line_search_fn="strong_wolfe")

    @torch.enable_grad()
    def loss() -> Tensor:
        solver.zero_grad()
        value = functional.cross_entropy(similarities @ found.T, labels)
        value = value + OFF_CLASS * off_class(found, owners)
        value.backward()  # type: ignore[no-untyped-call]
        return value

    solver.step(loss)  # type: ignore[no-untyped-call]
    return found.detach()
