"""The helpers of OIS, trained at once: equal to the same networks trained one by one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from labapp.base.errors import MetricError
from labapp.models.metrics.inputs import concepts, divide_rows
from labapp.models.metrics.ois import (
    HelperWeights,
    initial,
    logits_by_knots,
    logits_of,
    one_thread,
    predictability,
    train,
)
from tests.helpers.sample import examples

CODES, CONCEPTS, HIDDEN, BATCH, EPOCHS = 3, 2, 8, 64, 8


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Networks this small wait for other threads longer than they compute."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_it_runs_on_one_thread_and_gives_the_others_back() -> None:
    torch.set_num_threads(2)
    with one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 2


def one_by_one(weights: HelperWeights, i: int, j: int) -> nn.Sequential:
    """The helper of code i and concept j as PyTorch's own layers."""
    d, hidden, outputs = *weights.into.shape[2:], weights.out.shape[3]
    network = nn.Sequential(nn.Linear(d, hidden), nn.ReLU(), nn.Linear(hidden, outputs))
    with torch.no_grad():
        network[0].weight.copy_(weights.into[i, j].T)
        network[0].bias.copy_(weights.bias[i, j])
        network[2].weight.copy_(weights.out[i, j].T)
        network[2].bias.copy_(weights.offset[i, j])
    return network


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("classes", [2, 4])
def test_all_at_once_are_the_same_as_one_by_one(d: int, classes: int) -> None:
    rng = np.random.default_rng(d)
    labels = torch.from_numpy(rng.integers(0, classes, (CONCEPTS, 200)))
    noise = torch.from_numpy(rng.normal(size=(CODES, 200, d)).astype(np.float32))
    values = noise + labels[torch.tensor([0, 1, 0])][..., None]
    weights = initial((CODES, CONCEPTS, d, HIDDEN), classes, torch.Generator().manual_seed(1))
    alone = {(i, j): one_by_one(weights, i, j) for i in range(CODES) for j in range(CONCEPTS)}
    before = logits_of(weights, values).clone()
    train(weights, values, labels, BATCH, torch.Generator().manual_seed(2), epochs=EPOCHS)

    for (i, j), network in alone.items():
        generator = torch.Generator().manual_seed(2)
        adam = torch.optim.Adam(network.parameters(), lr=1e-3, eps=1e-7)
        for _ in range(EPOCHS):
            order = torch.randperm(200, generator=generator)
            for start in range(0, 200, BATCH):
                rows = order[start : start + BATCH]
                said, truth = network(values[i, rows]), labels[j, rows]
                if classes == 2:
                    loss = nn.BCEWithLogitsLoss()(said[:, 0], truth.float())
                else:
                    loss = nn.CrossEntropyLoss()(said, truth)
                adam.zero_grad()
                loss.backward()
                adam.step()
        with torch.no_grad():
            together, single = logits_of(weights, values)[i, j], network(values[i])
        torch.testing.assert_close(together, single, atol=2e-4, rtol=1e-3)
        assert (single - before[i, j]).abs().max() > 0.05


@examples(60)
@given(seed=st.integers(0, 2**32 - 1), outputs=st.sampled_from([1, 3]), scale=st.floats(1e-3, 1e3))
def test_running_sums_give_what_hidden_units_give(seed: int, outputs: int, scale: float) -> None:
    generator = torch.Generator().manual_seed(seed)
    weights = initial((2, 3, 1, 16), 2 if outputs == 1 else outputs, generator)
    weights.bias.copy_(torch.randn(2, 3, 16, generator=generator) * 0.2)
    weights.offset.copy_(torch.randn(2, 3, outputs, generator=generator))
    # Units that no value moves, one of them at work; and values that are equal.
    weights.into[0, 0, 0, :3] = 0.0
    values = torch.randn(2, 40, 1, generator=generator) * scale
    values[:, 10:20] = values[:, :1]
    values[:, 20:25] = 0.0
    torch.testing.assert_close(
        logits_by_knots(weights, values),
        logits_of(weights, values),
        atol=2e-5 * max(1, scale),
        rtol=1e-4,
    )


def test_unmoved_biases_and_values_of_0_put_no_unit_to_work() -> None:
    # At the start all biases are 0, and concepts given as codes have rows of 0: max(0, 0).
    weights = initial((1, 1, 1, 16), 2, torch.Generator().manual_seed(0))
    values = torch.tensor([0.0, 1.0, 0.0]).reshape(1, 3, 1)
    weights.into.requires_grad_()
    weights.bias.requires_grad_()
    logits_by_knots(weights, values)[0, 0, [0, 2]].sum().backward()
    assert weights.bias.grad is not None
    assert not weights.bias.grad.any()


def test_rows_that_no_unit_tells_apart_stay_equal() -> None:
    # All units die out below 0.3: whatever is learnt there, the codes below tell nothing.
    generator = torch.Generator().manual_seed(0)
    weights = initial((1, 1, 1, 32), 2, generator)
    weights.into.abs_()
    weights.bias.copy_(-0.3 * weights.into[:, :, 0])
    values = torch.rand(1, 200, 1, generator=generator) * 0.29
    assert len(torch.unique(logits_of(weights, values))) == 1


def test_glorots_limits() -> None:
    weights = initial((20, 20, 1, 32), 2, torch.Generator().manual_seed(0))
    assert weights.into.abs().max() == pytest.approx((6 / 33) ** 0.5, abs=1e-3)
    assert weights.out.abs().max() == pytest.approx((6 / 33) ** 0.5, abs=1e-3)
    assert not weights.bias.any()
    assert not weights.offset.any()
    # No two helpers alike.
    assert len(torch.unique(weights.into.reshape(400, -1), dim=0)) == 400


def test_nothing_outside_is_touched() -> None:
    rng = np.random.default_rng(0)
    labels = (rng.random((100, 2)) > 0.5).astype(float)
    found = concepts(labels)
    division = divide_rows(found, rng)
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    torch.set_num_threads(2)
    try:
        first = predictability(labels[:, :, None], found, division, seed=3)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(torch.get_rng_state(), state)
    again = predictability(labels[:, :, None], found, division, seed=3)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, predictability(labels[:, :, None], found, division, seed=4))


def test_codes_beyond_what_networks_take_are_refused() -> None:
    rng = np.random.default_rng(0)
    labels = (rng.random((100, 2)) > 0.5).astype(float)
    found = concepts(labels)
    division = divide_rows(found, rng)
    large = predictability(labels[:, :, None] * 1e15, found, division, seed=0)
    assert ((large >= 0) & (large <= 1)).all()
    with pytest.raises(MetricError, match=r"codes are as large as 1e\+16"):
        predictability(labels[:, :, None] * 1e16, found, division, seed=0)
    with pytest.raises(MetricError, match="hidden is 0"):
        predictability(labels[:, :, None], found, division, hidden=0, seed=0)
