"""The networks of the studied models (paper 000, 4.2 and A.1; the released training code).

Every decoder takes z of shape (n, width) and returns x of shape (n, *output_shape of its
architecture). `architectures` lists them by name, `layers` says what the decoders are made of.

The objectives of representations (paper 000, A.1.1), per instance and averaged over a batch.

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
from collections.abc import Iterable
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from labapp.models.representations import recipe
from labapp.models.representations.recipe import (
    HIDDEN,
    Ae,
    Deconvolution,
    Dense,
    Gt,
    Layer,
    Likelihood,
    Normalisation,
    Parts,
    Rectifier,
    SsTcVae,
    TcVae,
    Unfold,
    Vae,
)


def sequential(described: Iterable[Layer]) -> nn.Sequential:
    """Layers as a network, untrained."""
    return nn.Sequential(*map(_module, described))


def _module(layer: Layer) -> nn.Module:
    match layer:
        case Dense():
            return nn.Linear(layer.into, layer.out, bias=layer.bias)
        case Deconvolution(into, out, bias, size, stride, padding):
            return nn.ConvTranspose2d(into, out, size, stride, padding, bias=bias)
        case Normalisation():
            of = nn.BatchNorm2d if layer.pictures else nn.BatchNorm1d
            return of(layer.channels, eps=layer.eps)
        case Rectifier():
            return nn.LeakyReLU(layer.slope) if layer.slope else nn.ReLU()
        case Unfold():
            return nn.Unflatten(1, layer.shape)


def initialise(network: nn.Module, generator: torch.Generator) -> None:
    """Glorot-uniform weights and zero biases, as the published models began (TensorFlow).

    Drawn on the CPU, so that a seed gives the same start on every device.
    """
    for module in network.modules():
        if isinstance(module, nn.Linear | nn.Conv2d | nn.ConvTranspose2d):
            nn.init.xavier_uniform_(module.weight, generator=generator)
            if module.bias is not None:
                nn.init.zeros_(module.bias)


class _Encoder(nn.Module):
    """Hidden layers, and heads for the mean and, if there is a posterior, the log variance."""

    mean: nn.Linear
    log_variance: nn.Linear | None

    def hidden(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        hidden = self.hidden(x)
        spread = None if self.log_variance is None else self.log_variance(hidden)
        return self.mean(hidden), spread


class PictureDecoder(nn.Module):
    """Dense layers, deconvolutions, and a sigmoid for the pixels (`layers.dsprites`, `mnist`)."""

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self.dense, self.deconv = sequential(parts["dense"]), sequential(parts["deconv"])

    def logits(self, z: Tensor) -> Tensor:
        return cast(Tensor, self.deconv(self.dense(z))).squeeze(1)

    def forward(self, z: Tensor) -> Tensor:
        return torch.sigmoid(self.logits(z))


class MlpEncoder(_Encoder):
    """Sinelines: 64 -> 256 -> 256 -> outputs, ReLU.

    `posterior` adds a head for the log variance; without it, `log_variance` is None.
    """

    def __init__(self, width: int, *, points: int, posterior: bool) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(points, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU()
        )
        self.mean = nn.Linear(HIDDEN, width)
        self.log_variance = nn.Linear(HIDDEN, width) if posterior else None

    def hidden(self, x: Tensor) -> Tensor:
        return cast(Tensor, self.body(x))


class MlpDecoder(nn.Module):
    """Sinelines, see `layers.sinelines`."""

    def __init__(self, width: int, *, points: int) -> None:
        super().__init__()
        self.body = sequential(recipe.sinelines_layers(width, points)["body"])

    def forward(self, z: Tensor) -> Tensor:
        return cast(Tensor, self.body(z))


class DspritesEncoder(_Encoder):
    """dSprites: four 4 x 4 stride-2 convolutions of 32 channels, dense 256 and 256, ReLU.

    The network of Burgess et al. (2018) that paper 000 (4.2) names; x is (n, 64, 64).
    """

    def __init__(self, width: int, *, posterior: bool) -> None:
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 32, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(32, 32, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(32, 32, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(32, 32, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
        )
        self.dense = nn.Sequential(nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
        self.mean = nn.Linear(256, width)
        self.log_variance = nn.Linear(256, width) if posterior else None

    def hidden(self, x: Tensor) -> Tensor:
        return cast(Tensor, self.dense(self.conv(x.unsqueeze(1))))


class MnistEncoder(_Encoder):
    """MNIST: 4 x 4 stride-2 convolutions 64 and 128, dense 1024, each with batch norm and ReLU.

    x is (n, 28, 28).
    """

    def __init__(self, width: int, *, posterior: bool) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 64, 4, stride=2, padding=1, bias=False),
            nn.BatchNorm2d(64),
            nn.ReLU(),
            nn.Conv2d(64, 128, 4, stride=2, padding=1, bias=False),
            nn.BatchNorm2d(128),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(6272, 1024, bias=False),
            nn.BatchNorm1d(1024),
            nn.ReLU(),
        )
        self.mean = nn.Linear(1024, width)
        self.log_variance = nn.Linear(1024, width) if posterior else None

    def hidden(self, x: Tensor) -> Tensor:
        return cast(Tensor, self.body(x.unsqueeze(1)))


class MnistDiscriminator(nn.Module):
    """InfoGAN's discriminator and recogniser on one body (Chen et al. 2016, C.1).

    Convolutions 64 and 128, dense 1024, leaky ReLU 0.2, batch normalisation after the second and
    third; one logit for "a real picture", and through a dense 128 the guess at the codes: logits
    of the discrete one, means of the continuous ones.
    """

    def __init__(self, *, classes: int, codes: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 64, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(64, 128, 4, stride=2, padding=1, bias=False),
            nn.BatchNorm2d(128),
            nn.LeakyReLU(0.2),
            nn.Flatten(),
            nn.Linear(6272, 1024, bias=False),
            nn.BatchNorm1d(1024),
            nn.LeakyReLU(0.2),
        )
        self.real = nn.Linear(1024, 1)
        self.recogniser = nn.Sequential(
            nn.Linear(1024, 128, bias=False), nn.BatchNorm1d(128), nn.LeakyReLU(0.2)
        )
        self.discrete = nn.Linear(128, classes)
        self.continuous = nn.Linear(128, codes)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Logits (n,), logits (n, classes) and means (n, codes) of pictures (n, 28, 28)."""
        hidden = self.body(x.unsqueeze(1))
        guess = self.recogniser(hidden)
        return self.real(hidden).squeeze(1), self.discrete(guess), self.continuous(guess)


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
