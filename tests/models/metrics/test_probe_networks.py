"""The probes' networks, trained at once: equal to the same networks trained one by one."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from labapp.base.errors import MetricError
from labapp.models.datasets.split import Float64
from labapp.models.metrics.inputs import concepts, divide_rows
from labapp.models.metrics.probes import BATCH, train_probes

SEED, EPOCHS = 3, 4


def task(classes: int) -> tuple[Float64, Float64]:
    rng = np.random.default_rng(classes)
    truth = rng.integers(0, classes, (300, 2)).astype(float)
    return truth @ rng.normal(size=(2, 3)) + 0.1 * rng.normal(size=(300, 3)), truth


def alone(network: int, inputs: Float64, truth: Float64, classes: int) -> Float64:
    """What PyTorch's own layers say that begin and learn as that network of two does."""
    targets = concepts(truth)
    division = divide_rows(targets, np.random.default_rng(0))
    generator = torch.Generator().manual_seed(SEED)
    outputs = 1 if classes == 2 else classes
    layers: list[nn.Module] = []
    for d, units in ((3, 8), (8, 5), (5, outputs)):
        layer = nn.Linear(d, units)
        drawn = 2 * torch.rand(2, d, units, generator=generator) - 1
        with torch.no_grad():
            layer.weight.copy_((drawn[network] * (6 / (d + units)) ** 0.5).T)
            layer.bias.zero_()
        layers += [layer, nn.ReLU()]
    model = nn.Sequential(*layers[:-1])
    values = torch.from_numpy(inputs.astype(np.float32))
    learnt, labels = values[division.train], targets.labels[division.train, network]
    told = torch.from_numpy(labels)
    adam = torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-7)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(learnt), generator=generator).split(BATCH):
            said = model(learnt[rows])
            if classes == 2:
                loss = nn.BCEWithLogitsLoss()(said[:, 0], told[rows].float())
            else:
                loss = nn.CrossEntropyLoss()(said, told[rows])
            adam.zero_grad()
            loss.backward()
            adam.step()
    with torch.no_grad():
        logits: Float64 = model(values[division.test]).double().numpy()
    return logits


@pytest.mark.parametrize("classes", [2, 4])
def test_all_at_once_are_the_same_as_one_by_one(classes: int) -> None:
    inputs, truth = task(classes)
    targets = concepts(truth)
    division = divide_rows(targets, np.random.default_rng(0))
    shares: list[float] = []
    together = train_probes(
        inputs, targets, division, hidden=(8, 5), epochs=EPOCHS, seed=SEED, progress=shares.append
    )
    for network in range(2):
        single = alone(network, inputs, truth, classes)
        np.testing.assert_allclose(together[network], single, atol=2e-4, rtol=1e-3)
    assert shares == [0.25, 0.5, 0.75, 1.0]


def test_columns_of_more_and_fewer_classes_stay_in_their_order() -> None:
    rng = np.random.default_rng(0)
    truth = np.stack([rng.integers(0, 3, 200), rng.integers(0, 2, 200)], axis=1).astype(float)
    targets = concepts(truth)
    division = divide_rows(targets, rng)
    told = train_probes(truth, targets, division, epochs=30, seed=0)
    assert [logits.shape[1] for logits in told] == [3, 1]
    likeliest = (told[0].argmax(axis=1), told[1][:, 0] > 0)
    for column, found in enumerate(likeliest):
        assert (found == targets.labels[division.test, column]).mean() > 0.95


def test_refusals() -> None:
    inputs, truth = task(2)
    targets = concepts(truth)
    division = divide_rows(targets, np.random.default_rng(0))
    with pytest.raises(MetricError, match="hidden is 0"):
        train_probes(inputs, targets, division, hidden=(8, 0), seed=0)
    with pytest.raises(MetricError, match="epochs is 0"):
        train_probes(inputs, targets, division, epochs=0, seed=0)
    with pytest.raises(MetricError, match="networks do not scale them"):
        train_probes(inputs * 1e20, targets, division, seed=0)
