"""Layers that several concept learners have in common (paper 001, A.6)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from labapp.models.concepts.settings import InitialWeights
from labapp.models.representations.objectives import cross_entropy, squared_error

MAPS = (8, 16, 32, 64)
"""Maps of the four blocks of convolutions of an encoder of pictures."""
HIDDEN = (64, 64)
"""Units of the layers after them."""
TOY_HIDDEN = (128, 64)
"""Units of the layers for TabularToy: of encoders, and of what predicts classes."""
SMALL_KERNELS = (3, 3, 3, 3)
PUBLISHED_KERNELS = (7, 5, 3, 3)
"""Width of the blocks' kernels by the paper's text, and in the released code."""
EPSILON, MOMENTUM = 1e-3, 0.01
"""Of batch normalisation in Keras, whose momentum counts the other way round."""


def normalisation(maps: int) -> nn.BatchNorm2d:
    """Batch normalisation of so many maps, as in Keras."""
    return nn.BatchNorm2d(maps, eps=EPSILON, momentum=MOMENTUM)


def blocks(
    channels: int, kernels: Sequence[int], *, maps: Sequence[int] = MAPS, normalised: bool = True
) -> list[nn.Module]:
    """Blocks of convolution, batch normalisation, ReLU and 2 x 2 pooling, one for each map."""
    layers: list[nn.Module] = []
    # As the pictures, see `learner.TrainingRows`.
    last = torch.channels_last
    for (before, after), kernel in zip(pairwise((channels, *maps)), kernels, strict=True):
        convolution = nn.Conv2d(before, after, kernel, padding=kernel // 2)
        layers.append(convolution.to(memory_format=last))  # type: ignore[call-overload]
        if normalised:
            layers.append(normalisation(after))
        # The same numbers and gradients as ReLU before pooling, for a quarter of its work.
        layers += [nn.MaxPool2d(2), nn.ReLU()]
    return layers


def dense(*widths: int) -> list[nn.Module]:
    """Layers between these widths, a ReLU after each but the last."""
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return layers[:-1]


def encoder(
    shape: tuple[int, ...],
    outputs: int,
    *,
    kernels: Sequence[int] = SMALL_KERNELS,
    dropout: float = 0.0,
    hidden: Sequence[int] = HIDDEN,
    normalised: bool = True,
) -> nn.Sequential:
    """A network from instances to numbers.

    Parameters
    ----------
    shape : of an instance: (channels, pixels, pixels), or (features,).
    hidden : units of the dense layers before the outputs; all layers there are for features.
    dropout : share of units left out after the blocks.
    """
    if len(shape) == 1:
        return nn.Sequential(*dense(shape[0], *hidden, outputs))
    channels, pixels, _ = shape
    left = pixels // 2 ** len(MAPS)
    return nn.Sequential(
        *blocks(channels, kernels, normalised=normalised),
        nn.Flatten(),
        *([nn.Dropout(dropout)] if dropout else []),
        *dense(MAPS[-1] * left * left, *hidden, outputs),
    )


def decoder(width: int, shape: tuple[int, ...]) -> nn.Sequential:
    """A network from codes (n, width) to the logits of pictures, or to numbers: (n, *shape).

    Of pictures, layers of 256 and 512 units, and four 4 x 4 deconvolutions of stride 2 to 64, 32
    and 32 maps and the picture's channels (Locatello et al. 2020): they begin with 32 maps of 4 x 4
    numbers, of smaller pictures with smaller ones. Of numbers, the encoder's layers turned round;
    as released they stand in the encoder's order, and the text has 64 units in both.
    """
    if len(shape) == 1:
        return nn.Sequential(*dense(width, *reversed(TOY_HIDDEN), *shape))
    channels, pixels, _ = shape
    side = pixels // 16
    maps = 32
    layers: list[nn.Module] = [*dense(width, 256, maps * side * side), nn.ReLU()]
    layers.append(nn.Unflatten(1, (maps, side, side)))
    for before, after in pairwise((maps, 64, 32, 32, channels)):
        layers += [nn.ConvTranspose2d(before, after, 4, stride=2, padding=1), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def initialise(network: nn.Module, seed: int, weights: InitialWeights | None) -> None:
    """Initial weights by a seed, see `Settings.initial_weights`."""
    generator = torch.Generator().manual_seed(seed)
    for module in network.modules():
        if not isinstance(module, nn.Linear | nn.Conv2d | nn.ConvTranspose2d):
            continue
        if weights is None:
            nn.init.xavier_uniform_(module.weight, generator=generator)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
            continue
        # PyTorch counts the weights of a unit of the second axis, of deconvolutions too.
        most = module.weight[0].numel() ** -0.5
        nn.init.uniform_(module.weight, -most, most, generator=generator)
        if module.bias is not None:
            nn.init.uniform_(module.bias, -most, most, generator=generator)


def laid_out(x: Tensor) -> Tensor:
    """Pictures with channels last in memory, for which CPUs convolve twice as fast."""
    return x if x.ndim != 4 or x.is_cuda else x.contiguous(memory_format=torch.channels_last)


def rebuilding_error(x: Tensor, rebuilt: Tensor) -> Tensor:
    """The mean over rows of what a decoder misses: the cross-entropy of a picture's pixels with the
    logits `rebuilt`, in nats, or the squared error of numbers, each summed, as released."""
    if x.ndim == 2:
        return squared_error(x, rebuilt).mean()
    return cross_entropy(x, rebuilt).mean()


def class_loss(outputs: Tensor, labels: Tensor) -> Tensor:
    """Mean cross-entropy of outputs, shape (n, `outputs_of(classes)`)."""
    if outputs.shape[1] == 1:
        return functional.binary_cross_entropy_with_logits(outputs[:, 0], labels.float())
    return functional.cross_entropy(outputs, labels)


def class_logits(outputs: Tensor) -> Tensor:
    """A logit for each class, shape (n, classes)."""
    if outputs.shape[1] == 1:
        return torch.cat([torch.zeros_like(outputs), outputs], dim=1)
    return outputs
