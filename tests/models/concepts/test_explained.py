"""SENN: the penalty by the product rule against the one by all Jacobians."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.func import jacrev, vmap
from torch.nn import functional

from labapp.models.concepts.learner import Batch, Setup
from labapp.models.concepts.learners import Explained, Relevances, logits_of
from labapp.models.concepts.recipe import SIZES, Senn


def parts(classes: int) -> tuple[Relevances, nn.Module, Tensor]:
    torch.manual_seed(classes)
    relevances = Relevances(12, classes, 4).double()
    concepts = nn.Sequential(nn.Linear(12, 9), nn.Tanh(), nn.Linear(9, 4)).double()
    return relevances, concepts, torch.randn(7, 12).double()


def exact(relevances: Relevances, concepts: nn.Module, x: Tensor) -> Tensor:
    """By its definition: the whole Jacobian of the logits less theta times that of h."""

    def logits(row: Tensor) -> Tensor:
        h = concepts(row[None])
        return logits_of(relevances(row[None], h)[0], h)[0]

    theta = relevances(x, concepts(x))[0]
    of_logits = vmap(jacrev(logits))(x)
    of_concepts = vmap(jacrev(concepts))(x)
    return (of_logits - theta @ of_concepts).flatten(1).norm(dim=1)


@pytest.mark.parametrize("classes", [1, 5])
def test_the_penalty_is_that_of_its_definition(classes: int) -> None:
    relevances, concepts, x = parts(classes)
    cheap = relevances(x, concepts(x))[1]
    assert cheap.shape == (7,)
    assert (cheap - exact(relevances, concepts, x)).abs().max() < 2e-8
    assert cheap.min() > 0.01


def test_so_are_its_gradients_and_they_reach_the_concepts() -> None:
    relevances, concepts, x = parts(3)
    # Biases move the penalty only where a unit begins to work.
    weights = [
        parameter
        for module in (relevances, concepts)
        for name, parameter in module.named_parameters()
        if "bias" not in name or module is concepts
    ]
    cheap = torch.autograd.grad(relevances(x, concepts(x))[1].mean(), weights)
    for gradient, other in zip(
        cheap, torch.autograd.grad(exact(relevances, concepts, x).mean(), weights), strict=True
    ):
        assert (gradient - other).abs().max() < 2e-8
    assert all(gradient.abs().max() > 1e-6 for gradient in cheap)


def test_where_relevances_do_not_change_there_is_no_penalty_and_no_endless_slope() -> None:
    relevances, concepts, x = parts(3)
    for parameter in relevances.first.parameters():
        nn.init.zeros_(parameter)
    penalty = relevances(x, concepts(x))[1]
    assert penalty.max() < 1e-9
    penalty.sum().backward()
    for parameter in relevances.parameters():
        assert parameter.grad is None or parameter.grad.isfinite().all()


def test_logits_are_sums_of_concepts_times_their_relevance() -> None:
    theta = torch.tensor([[[1.0, 2.0], [3.0, -1.0]]])
    assert logits_of(theta, torch.tensor([[10.0, 1.0]])).tolist() == [[12, 29]]


def test_codes_are_concepts_and_as_published_the_relevances_of_the_predicted_class() -> None:
    learner = Explained(Senn(name="senn", units=6), Setup((7,), 3, 2, SIZES["S"], 0))
    x = torch.randn(50, 7, generator=torch.Generator().manual_seed(0))
    concepts = learner.codes(x)
    theta = learner.codes(x, as_published=True)
    assert concepts.shape == theta.shape == (50, 6)
    predicted = learner.task_logits(x).argmax(dim=1)
    assert set(predicted.tolist()) == {0, 1}
    relevances, _ = learner.networks["relevances"](x, concepts)
    for row, label in enumerate(predicted.tolist()):
        assert torch.equal(theta[row], relevances[row, label])


def test_the_loss_adds_the_penalty_and_the_error_of_the_decoder() -> None:
    learner = Explained(Senn(name="senn"), Setup((1, 32, 32), 3, 8, SIZES["S"], 0))
    x = torch.rand(6, 1, 32, 32, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(6)
    with torch.no_grad():
        concepts = learner.codes(x)
        task = functional.cross_entropy(learner.task_logits(x), labels)
        p = torch.sigmoid(learner.networks["decoder"](concepts))
        error = -(x * p.log() + (1 - x) * (1 - p).log()).sum(dim=(1, 2, 3)).mean()
        penalty = learner.networks["relevances"](x.flatten(1), concepts)[1].mean()
    losses = learner.step(Batch(x, torch.zeros(6, 3), labels), np.random.default_rng(0), 0.0)
    assert float(losses["reconstruction"]) == pytest.approx(float(error), rel=1e-5)
    expected = float(task + 0.1 * penalty + 2e-5 * error)
    assert float(losses["loss"]) == pytest.approx(expected, rel=1e-5)


def test_it_can_learn_pictures_first_and_then_goes_on_from_their_means() -> None:
    settings = Senn(name="senn", variational=True)
    learner = Explained(settings, Setup((1, 32, 32), 3, 8, SIZES["S"], 0))
    x = torch.rand(6, 1, 32, 32, generator=torch.Generator().manual_seed(0))
    batch = Batch(x, torch.zeros(6, 3), torch.arange(6))
    losses = learner.step(batch, np.random.default_rng(0), 0.0)
    assert losses.keys() == {"loss", "reconstruction", "kl"}
    assert torch.equal(learner.codes(x), learner.networks["encoder"](x)[:, :3])
