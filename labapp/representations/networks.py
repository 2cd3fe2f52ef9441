"""The networks of the studied models (paper 000, 4.2 and A.1; the released training code).

Every decoder takes z of shape (n, width) and returns x of shape (n, *output_shape of its
architecture). `architectures.py` lists them by name.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

HIDDEN = 256


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


class _PictureDecoder(nn.Module):
    """Dense layers, deconvolutions, and a sigmoid for the pixels."""

    dense: nn.Sequential
    deconv: nn.Sequential

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
    """Sinelines: width -> 256 -> 256 -> 64, ReLU, linear output."""

    def __init__(self, width: int, *, points: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(width, HIDDEN),
            nn.ReLU(),
            nn.Linear(HIDDEN, HIDDEN),
            nn.ReLU(),
            nn.Linear(HIDDEN, points),
        )

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


class DspritesDecoder(_PictureDecoder):
    """dSprites: dense 256 and 512, then four 4 x 4 stride-2 deconvolutions from 4 x 4 x 32."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense = nn.Sequential(nn.Linear(width, 256), nn.ReLU(), nn.Linear(256, 512), nn.ReLU())
        self.deconv = nn.Sequential(
            nn.Unflatten(1, (32, 4, 4)),
            nn.ConvTranspose2d(32, 32, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(32, 32, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(32, 32, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(32, 1, 4, stride=2, padding=1),
        )


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


class MnistDecoder(_PictureDecoder):
    """MNIST: dense 1024 and 6272, then deconvolutions 64 and 1 from 7 x 7 x 128.

    Batch normalisation and leaky ReLU 0.2 after each but the last; a layer in front of batch
    normalisation has no bias of its own, since the normalisation takes it away again. The
    `generator` of the published InfoGAN has plain ReLU and biases in its deconvolutions.
    """

    def __init__(self, width: int, *, generator: bool = False) -> None:
        super().__init__()

        def activation() -> nn.Module:
            return nn.ReLU() if generator else nn.LeakyReLU(0.2)

        self.dense = nn.Sequential(
            nn.Linear(width, 1024, bias=False),
            nn.BatchNorm1d(1024),
            activation(),
            nn.Linear(1024, 6272, bias=False),
            nn.BatchNorm1d(6272),
            activation(),
        )
        self.deconv = nn.Sequential(
            nn.Unflatten(1, (128, 7, 7)),
            nn.ConvTranspose2d(128, 64, 4, stride=2, padding=1, bias=generator),
            nn.BatchNorm2d(64),
            activation(),
            nn.ConvTranspose2d(64, 1, 4, stride=2, padding=1),
        )


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
