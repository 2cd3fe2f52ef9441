"""The networks of the studied models (paper 000, 4.2 and A.1; the released training code).

Every decoder takes z of shape (n, width) and returns x of shape (n, *output_shape of its
architecture). `architectures` lists them by name, `layers` says what the decoders are made of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

import torch
from torch import Tensor, nn

from labapp.models.representations import layers
from labapp.models.representations.layers import (
    HIDDEN,
    Deconvolution,
    Dense,
    Layer,
    Normalisation,
    Parts,
    Rectifier,
    Unfold,
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


def described(network: nn.Module) -> Iterator[tuple[str, Layer]] | None:
    """The layers of a network whose modules run in the order in which they are registered, each
    with its name; None when it holds a module of a kind that `layers` does not know."""
    pairs = [
        (name, _layer(module))
        for name, module in network.named_modules()
        if not any(module.children())
    ]
    known = [(name, layer) for name, layer in pairs if layer is not None]
    return iter(known) if len(known) == len(pairs) else None


def _layer(module: nn.Module) -> Layer | None:
    match module:
        case nn.Linear():
            return Dense(module.in_features, module.out_features, module.bias is not None)
        case nn.ConvTranspose2d() if _plain(module):
            size, stride = module.kernel_size[0], module.stride[0]
            bias, padding = module.bias is not None, int(module.padding[0])
            return Deconvolution(
                module.in_channels, module.out_channels, bias, size, stride, padding
            )
        case nn.BatchNorm1d() | nn.BatchNorm2d():
            pictures = isinstance(module, nn.BatchNorm2d)
            whole = module.affine and module.track_running_stats
            return Normalisation(module.num_features, pictures, module.eps) if whole else None
        case nn.ReLU():
            return Rectifier()
        case nn.LeakyReLU():
            return Rectifier(module.negative_slope)
        case nn.Unflatten() if len(module.unflattened_size) == 3:
            channels, height, width = map(int, module.unflattened_size)
            return Unfold((channels, height, width))
    return None


def _plain(module: nn.ConvTranspose2d) -> bool:
    """Whether stride and padding are one number each and nothing else is set."""
    square = all(len(set(pair)) == 1 for pair in (module.kernel_size, module.stride))
    return (
        square
        and module.padding == (module.padding[0],) * 2
        and module.output_padding == (0, 0)
        and module.dilation == (1, 1)
        and module.groups == 1
    )


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
        self.body = sequential(layers.sinelines(width, points)["body"])

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
