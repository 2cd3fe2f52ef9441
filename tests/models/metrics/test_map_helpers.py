"""The convolutional helpers of OIS: equal to PyTorch's own layers, and what they see."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from labapp.base.errors import MetricError
from labapp.models.metrics.ois import (
    MAPS,
    MapWeights,
    initial_maps,
    logits_of_maps,
    ois,
    train,
)

CODES, CONCEPTS, SIDE = 3, 2, 4


def one_by_one(weights: MapWeights, i: int, j: int) -> nn.Sequential:
    one, two = MAPS
    outputs = weights.out.shape[3]
    network = nn.Sequential(
        nn.Unflatten(1, (1, SIDE, SIDE)),
        nn.Conv2d(1, one, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(one, two, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(two * SIDE * SIDE, outputs),
    )
    with torch.no_grad():
        for layer, weight, bias in (
            (1, weights.first[i, j], weights.first_bias[i, j]),
            (3, weights.second[i, j], weights.second_bias[i, j]),
            (6, weights.out[i, j].T, weights.offset[i, j]),
        ):
            network[layer].weight.copy_(weight)
            network[layer].bias.copy_(bias)
    return network


@pytest.mark.parametrize("classes", [2, 3])
def test_all_at_once_are_the_same_as_one_by_one(classes: int) -> None:
    generator = torch.Generator().manual_seed(0)
    values = torch.randn(CODES, 60, SIDE * SIDE, generator=generator)
    labels = torch.randint(classes, (CONCEPTS, 60), generator=generator)
    outputs = 1 if classes == 2 else classes
    weights = initial_maps((CODES, CONCEPTS), SIDE * SIDE, outputs, generator)
    network = one_by_one(weights, 2, 1)
    torch.testing.assert_close(logits_of_maps(weights, values)[2, 1], network(values[2]))
    train(weights, values, labels, 20, torch.Generator().manual_seed(1), epochs=2)
    adam = torch.optim.Adam(network.parameters(), lr=1e-3, eps=1e-7)
    order = torch.Generator().manual_seed(1)
    for _ in range(2):
        for rows in torch.randperm(60, generator=order).split(20):
            logits, target = network(values[2][rows]), labels[1][rows]
            if classes == 2:
                loss = nn.functional.binary_cross_entropy_with_logits(logits[:, 0], target.float())
            else:
                loss = nn.functional.cross_entropy(logits, target)
            adam.zero_grad()
            loss.backward()
            adam.step()
    torch.testing.assert_close(
        logits_of_maps(weights, values)[2, 1], network(values[2]), atol=1e-4, rtol=1e-3
    )


def test_glorots_limits_are_those_of_each_layer() -> None:
    weights = initial_maps((4, 4), 64, 1, torch.Generator().manual_seed(0))
    for tensor, inputs, units in (
        (weights.first, 9, 144),
        (weights.second, 144, 288),
        (weights.out, 2048, 1),
    ):
        limit = (6 / (inputs + units)) ** 0.5
        assert 0.95 * limit < tensor.abs().max() <= limit


def test_ois_of_maps_sees_what_a_place_in_a_map_tells() -> None:
    """Each code's own concept brightens its map; in the first, the second concept moves a dot."""
    rng = np.random.default_rng(0)
    concepts = rng.integers(0, 2, (600, 2))
    maps = 0.3 * rng.standard_normal((600, 2, SIDE, SIDE))
    maps += concepts[:, :, None, None]
    pure = ois(maps.reshape(600, 2, -1), concepts, maps=True, as_published=True, epochs=10)
    rows = np.arange(600)
    maps[rows, 0, rng.integers(0, SIDE, 600), 2 * concepts[:, 1]] += 2
    leaking = ois(maps.reshape(600, 2, -1), concepts, maps=True, as_published=True, epochs=10)
    assert leaking.parts["purity"][0, 1] > pure.parts["purity"][0, 1] + 0.2
    assert leaking.score > pure.score
    assert leaking.settings["maps"] is True


def test_codes_that_are_no_square_maps_are_refused() -> None:
    codes = np.random.default_rng(0).standard_normal((50, 2, 6))
    with pytest.raises(MetricError, match="6 numbers, which are no square map"):
        ois(codes, np.arange(100).reshape(50, 2) % 3 % 2, maps=True)
