"""The objectives of representations (paper 000, A.1.1), per instance and averaged over a batch.

The scale of the Gaussian likelihood. The paper calls the Sinelines loss a mean squared error and a
Gaussian negative log-likelihood; its code takes the plain *sum* of squares over the 64 points. For
an autoencoder a factor does not matter; for a variational one it sets how much the code may blur.
With noise of variance s2 the likelihood is (sum of squares) / (2 s2), and at the optimum each
used dimension adds close to s2 to the expected sum of squares: about 5 with unit variance (a
coefficient of 0.5), about 2.5 with s2 = 1/2 (a coefficient of 1). The published error of 3.3,
against 0.6 without noise, is the second: hence `reconstruction` = 1 by default. Two models trained
so had 3.3 and 3.6; with 0.5 and all else equal, 5.4.

Pictures are learnt by the Bernoulli likelihood: the cross-entropy summed over the pixels.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from labapp.models.representations.recipe import Ae, Gt, Likelihood, SsTcVae, TcVae, Vae

Losses = dict[str, Tensor]


def squared_error(x: Tensor, reconstruction: Tensor) -> Tensor:
    """Sum of squares of each instance, shape (n,)."""
    return (x - reconstruction).square().flatten(1).sum(1)


def cross_entropy(x: Tensor, logits: Tensor) -> Tensor:
    """Bernoulli negative log-likelihood of each instance in nats, shape (n,)."""
    each = functional.binary_cross_entropy_with_logits(logits, x, reduction="none")
    return each.flatten(1).sum(1)


def divergence(mean: Tensor, log_variance: Tensor) -> Tensor:
    """KL(N(mean, exp(log_variance)) || N(0, I)) of each instance, in nats, shape (n,)."""
    return 0.5 * (mean.square() + log_variance.exp() - 1.0 - log_variance).sum(1)


def total_correlation(z: Tensor, mean: Tensor, log_variance: Tensor) -> Tensor:
    """Minibatch estimate of KL(q(z) || prod_k q(z_k)) in nats (Chen et al. 2018, S3.2).

    q(z) is taken for the mixture of the batch's own posteriors. Weighing the mixture by the size
    of the data set, as their minibatch-weighted sampling does, adds a constant and no gradient.

    Parameters
    ----------
    z, mean, log_variance : shape (n, k); z[i] is a draw from the posterior of row i.
    """
    offset = z[:, None] - mean[None]
    density = -0.5 * (
        offset.square() * torch.exp(-log_variance)[None]
        + log_variance[None]
        + math.log(2.0 * math.pi)
    )
    joint = torch.logsumexp(density.sum(2), dim=1)
    product = torch.logsumexp(density, dim=1).sum(1)
    return (joint - product).mean() + (z.shape[1] - 1) * math.log(len(z))


def error(likelihood: Likelihood, decoder: nn.Module, z: Tensor, x: Tensor) -> tuple[str, Tensor]:
    """The name and the batch mean of the reconstruction error under a likelihood."""
    if likelihood == "gaussian":
        return "squared_error", squared_error(x, decoder(z).float()).mean()
    return "cross_entropy", cross_entropy(x, decoder.logits(z).float()).mean()  # type: ignore[operator]


def loss(
    objective: Ae | Gt | Vae | TcVae | SsTcVae,
    likelihood: Likelihood,
    encoder: nn.Module | None,
    decoder: nn.Module,
    x: Tensor,
    factors: Tensor,
    noise: Tensor,
) -> tuple[Tensor, Losses]:
    """The objective on one batch. Returns the scalar to minimise, and its parts as they are read in
    papers (batch means, unweighted).

    encoder : None for `Gt`, whose z are the factors.
    x : shape (n, *shape).
    factors : float32, shape (n, k): the true factors, or for `SsTcVae` the label in one column.
    noise : standard normal, shape (n, dimensions); an autoencoder ignores it.
    """
    if isinstance(objective, Gt):
        name, wrong = error(likelihood, decoder, factors, x)
        return objective.reconstruction * wrong, {name: wrong.detach()}
    assert encoder is not None
    mean, log_variance = encoder(x)
    mean = mean.float()
    if isinstance(objective, Ae):
        name, wrong = error(likelihood, decoder, mean, x)
        return objective.reconstruction * wrong, {name: wrong.detach()}
    log_variance = log_variance.float()
    z = mean + noise * torch.exp(0.5 * log_variance)
    told = z
    if isinstance(objective, SsTcVae):
        told = torch.cat([one_hot(factors, objective.classes), z], dim=1)
    name, wrong = error(likelihood, decoder, told, x)
    kl = divergence(mean, log_variance).mean()
    parts = {name: wrong.detach(), "kl": kl.detach()}
    if isinstance(objective, Vae):
        return objective.reconstruction * wrong + objective.kl * kl, parts
    correlation = total_correlation(z, mean, log_variance)
    parts["total_correlation"] = correlation.detach()
    return wrong + kl + (objective.beta - 1.0) * correlation, parts


def one_hot(labels: Tensor, classes: int) -> Tensor:
    """Labels in one column, shape (n, 1), as float32 one-hots of shape (n, classes)."""
    return functional.one_hot(labels[:, 0].long(), classes).float()
