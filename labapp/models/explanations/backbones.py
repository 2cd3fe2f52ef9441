"""The backbones of the classifiers of birds: a residual network, and a bag of bounded patches.

Both take pictures, float32 from 0 to 1, shape (n, 3, size, size), and normalise them. The zeros
with which convolutions pad the edges then stand for the mean grey of the pictures.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeVar

import torch
from torch import Tensor, nn

CHANNELS = 128
"""Channels of the last map of both networks."""
MEAN, SD = 0.43, 0.15

NetworkT = TypeVar("NetworkT", bound=nn.Module)


def begin(build: Callable[[], NetworkT], seed: int) -> NetworkT:
    """Build a network with weights drawn by a seed, in the memory layout that CPUs convolve
    fastest."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = build()
    return network.to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]


def normalise(pictures: Tensor) -> Tensor:
    """Pictures about 0 with about unit spread."""
    return (pictures - MEAN) / SD


class ResidualBackbone(nn.Module):
    """conv 5x5 / 2, conv 3x3 / 2, then two residual blocks of 64 and 128 channels, the second / 2.

    A picture of 96 pixels gives a map of 12 x 12. A position of the map sees 49 pixels, or 33 if
    the last convolution is 1x1: a position then stands for a smaller region, at the cost of
    accuracy.
    """

    stride = 8

    def __init__(self, field: Literal[33, 49] = 49) -> None:
        super().__init__()
        self.stem = nn.Sequential(*_make_convolution(3, 24, 5, 2), *_make_convolution(24, 48, 3, 2))
        last = 3 if field == 49 else 1
        self.blocks = nn.Sequential(
            ResidualBlock(48, 64, 1), ResidualBlock(64, CHANNELS, 2, kernel=last)
        )

    def forward(self, pictures: Tensor) -> Tensor:
        """The last map, after its ReLU: shape (n, 128, size / 8, size / 8)."""
        features: Tensor = self.blocks(self.stem(normalise(pictures)))
        return features


class ResidualBlock(nn.Module):
    """Two 3 x 3 convolutions, or the second of another `kernel`, beside a shortcut."""

    def __init__(self, inside: int, outside: int, stride: int, kernel: int = 3) -> None:
        super().__init__()
        self.body = nn.Sequential(
            *_make_convolution(inside, outside, 3, stride),
            *_make_convolution(outside, outside, kernel)[:2],
        )
        self.shortcut = nn.Sequential(*_make_convolution(inside, outside, 1, stride)[:2])
        self.relu = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.relu(self.body(x) + self.shortcut(x))
        return out


class BagBackbone(nn.Module):
    """conv 5x5 / 2, conv 3x3 / 2, then bottlenecks of 1x1, 3x3 and 1x1 convolutions.

    A position of its map, 24 x 24 of 96 pixels, sees `field` pixels and no more: 9 of the stem, and
    8 more with each bottleneck.
    """

    stride = 4

    def __init__(self, field: int) -> None:
        super().__init__()
        self.field = field
        self.stem = nn.Sequential(*_make_convolution(3, 24, 5, 2), *_make_convolution(24, 48, 3, 2))
        widths = [(48, 48, 96), (96, 64, CHANNELS)]
        widths += [(CHANNELS, 64, CHANNELS)] * 2
        count = (field - 9) // 8
        blocks = [Bottleneck(*width) for width in widths[:count]]
        self.blocks = nn.Sequential(*blocks)
        self.channels = widths[count - 1][2]

    def forward(self, pictures: Tensor) -> Tensor:
        """The last map, after its ReLU: shape (n, channels, size / 4, size / 4)."""
        return self.of_normalised(normalise(pictures))

    def of_normalised(self, x: Tensor) -> Tensor:
        features: Tensor = self.blocks(self.stem(x))
        return features


class Bottleneck(nn.Module):
    """One 3 x 3 convolution between two of 1 x 1, beside a shortcut."""

    def __init__(self, inside: int, middle: int, outside: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            *_make_convolution(inside, middle, 1),
            *_make_convolution(middle, middle, 3),
            *_make_convolution(middle, outside, 1)[:2],
        )
        self.shortcut: nn.Module = nn.Identity()
        if inside != outside:
            self.shortcut = nn.Sequential(*_make_convolution(inside, outside, 1)[:2])
        self.relu = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.relu(self.body(x) + self.shortcut(x))
        return out


class PooledClassifier(nn.Module):
    """A classifier: a backbone's map averaged over its positions, and a linear head.

    As the head is linear, a score is the mean of the head's outputs at the single positions.
    """

    def __init__(self, backbone: ResidualBackbone | BagBackbone, classes: int) -> None:
        super().__init__()
        self.backbone = backbone
        channels = backbone.channels if isinstance(backbone, BagBackbone) else CHANNELS
        self.head = nn.Linear(channels, classes)

    def forward(self, pictures: Tensor) -> Tensor:
        """Scores before any softmax: shape (n, classes)."""
        return self.judged(self.backbone(pictures))

    def judged(self, features: Tensor) -> Tensor:
        """Scores of a last map: shape (n, classes)."""
        scores: Tensor = self.head(features.mean((2, 3)))
        return scores


def _make_convolution(inside: int, outside: int, kernel: int, stride: int = 1) -> list[nn.Module]:
    """Convolution that keeps the size except for its stride, normalisation over the batch, ReLU."""
    return [
        nn.Conv2d(inside, outside, kernel, stride, kernel // 2, bias=False),
        nn.BatchNorm2d(outside),
        nn.ReLU(),
    ]
