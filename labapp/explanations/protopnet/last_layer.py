"""The last layer alone, full batch, on similarities that were measured once.

The published training runs it through the network for many epochs; with everything below it frozen
the similarities do not change, so that the same convex problem is solved in seconds. Solved to the
end it has no end where the classes can be told apart without error: weights grow, and some
prototypes come to speak against their own class. So the own weights are held near where published
training, which takes small steps, leaves them.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from labapp.explanations.protopnet.losses import off_class
from labapp.explanations.protopnet.network import OWN

SPARSE, HELD = 1e-3, 1e-3
"""Of the absolute weights of other classes, ten times the published, and of the squared distance of
own weights from 1, which is ours."""


def fit(
    similarities: Tensor, labels: Tensor, weights: Tensor, owners: Tensor, *, steps: int = 100
) -> Tensor:
    """Weights that minimise cross-entropy and the two penalties.

    Parameters
    ----------
    similarities : (n, P); labels : (n,) classes.
    weights : (classes, P), where to begin; owners : (P,) classes of the prototypes.
    steps : iterations of L-BFGS at most.

    Returns
    -------
    New weights, (classes, P).
    """
    fitted = weights.detach().clone().requires_grad_()
    own = torch.arange(len(owners))
    solver = torch.optim.LBFGS([fitted], max_iter=steps, line_search_fn="strong_wolfe")

    @torch.enable_grad()
    def loss() -> Tensor:
        solver.zero_grad()
        value = functional.cross_entropy(similarities @ fitted.T, labels)
        value = value + SPARSE * off_class(fitted, owners)
        value = value + HELD * (fitted[owners, own] - OWN).square().sum()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    solver.step(loss)  # type: ignore[no-untyped-call]
    return fitted.detach()
