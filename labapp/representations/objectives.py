"""What a representation learns by (paper 000, A.1.1), per instance and averaged over a batch.

The scale of the Gaussian likelihood. The paper calls the Sinelines loss a mean squared error and a
Gaussian negative log-likelihood; its code takes the plain *sum* of squares over the 64 points. For
an autoencoder a factor does not matter; for a variational one it sets how much the code may blur.
With noise of variance s2 the likelihood is (sum of squares) / (2 s2), and at the optimum each
used dimension adds close to s2 to the expected sum of squares: about 5 with unit variance (a
coefficient of 0.5), about 2.5 with s2 = 1/2 (a coefficient of 1). The published error of 3.3,
against 0.6 without noise, is the second: hence `squared_error` = 1 by default. Trained so, our
model has 3.3; with 0.5 and all else equal it had 5.4.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from labapp.representations.recipe import Ae, Vae


def squared_error(x: Tensor, reconstruction: Tensor) -> Tensor:
    """Sum of squares of each instance, shape (n,)."""
    return (x - reconstruction).square().flatten(1).sum(1)


def divergence(mean: Tensor, log_variance: Tensor) -> Tensor:
    """KL(N(mean, exp(log_variance)) || N(0, I)) of each instance, in nats, shape (n,)."""
    return 0.5 * (mean.square() + log_variance.exp() - 1.0 - log_variance).sum(1)


def loss(
    objective: Ae | Vae, encoder: nn.Module, decoder: nn.Module, x: Tensor, noise: Tensor
) -> tuple[Tensor, dict[str, Tensor]]:
    """The objective on one batch.

    Parameters
    ----------
    x : shape (n, *shape).
    noise : standard normal, shape (n, width); an autoencoder ignores it.

    Returns
    -------
    The scalar to minimise, and its parts as they are read in papers (batch means, unweighted).
    """
    mean, log_variance = encoder(x)
    if isinstance(objective, Ae):
        error = squared_error(x, decoder(mean)).mean()
        return objective.squared_error * error, {"squared_error": error.detach()}
    z = mean + noise * torch.exp(0.5 * log_variance)
    error = squared_error(x, decoder(z)).mean()
    kl = divergence(mean, log_variance).mean()
    total = objective.squared_error * error + objective.kl * kl
    return total, {"squared_error": error.detach(), "kl": kl.detach()}
