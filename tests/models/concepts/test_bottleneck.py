"""CBM and CBM-Logits: the loss of joint training, and what the label predictor is and reads."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

from labapp.models.concepts.learner import Batch
from tests.models.concepts.test_learners import NUMBERS, PICTURES, made, rows

BOTTLENECKS = ("cbm", "cbm-logits")


@pytest.mark.parametrize("shape", [PICTURES, NUMBERS])
@pytest.mark.parametrize("name", BOTTLENECKS)
def test_the_label_predictor_has_two_hidden_layers(name: str, shape: tuple[int, ...]) -> None:
    """{k, 64, 64, L} of the paper names input and output, as in the released code: k to 64, 64 to
    64, 64 to L, and no third hidden layer. Of two classes there is one output."""
    predictor = made(name, shape).networks["predictor"]
    assert isinstance(predictor, torch.nn.Sequential)
    layers = [layer for layer in predictor if isinstance(layer, torch.nn.Linear)]
    outputs = 1 if shape == NUMBERS else 8
    widths = [(layer.in_features, layer.out_features) for layer in layers]
    assert widths == [(3, 64), (64, 64), (64, outputs)]
    linear = made(name, shape, predictor=[]).networks["predictor"]
    (only,) = (layer for layer in linear.modules() if isinstance(layer, torch.nn.Linear))
    assert (only.in_features, only.out_features) == (3, outputs)


@pytest.mark.parametrize("shape", [PICTURES, NUMBERS])
@pytest.mark.parametrize("alpha", [0.0, 0.1, 10.0])
@pytest.mark.parametrize("name", BOTTLENECKS)
def test_the_loss_is_that_of_the_class_and_alpha_times_the_mean_of_the_concepts(
    name: str, alpha: float, shape: tuple[int, ...]
) -> None:
    learner = made(name, shape, alpha=alpha)
    some = rows(shape, 8)
    x = some.x.float() / (255 if shape == PICTURES else 1)
    learner.networks.train()
    with torch.no_grad():
        logits = learner.networks["encoder"](x)
        scores = learner.networks["predictor"](logits.sigmoid() if name == "cbm" else logits)
    each = functional.binary_cross_entropy_with_logits(logits, some.concepts, reduction="none")
    concept = each.mean(dim=0).mean()
    if shape == NUMBERS:
        task = functional.binary_cross_entropy_with_logits(scores[:, 0], some.labels.float())
    else:
        task = functional.cross_entropy(scores, some.labels)
    losses = learner.step(Batch(x, some.concepts, some.labels), np.random.default_rng(0), 0.0)
    assert float(losses["concepts"]) == pytest.approx(float(concept), rel=1e-5)
    assert float(losses["task"]) == pytest.approx(float(task), rel=1e-5)
    assert float(losses["loss"]) == pytest.approx(float(task + alpha * concept), rel=1e-5)


@pytest.mark.parametrize("name", BOTTLENECKS)
def test_classes_are_told_from_the_codes_alone(name: str) -> None:
    """Probabilities of concepts, or their logits."""
    learner = made(name, NUMBERS)
    learner.networks.eval()
    x = rows(NUMBERS, 8).x
    with torch.no_grad():
        codes, beliefs = learner.codes(x), learner.beliefs(x)
        torch.testing.assert_close(codes if name == "cbm" else codes.sigmoid(), beliefs)
        torch.testing.assert_close(learner.predict_from(codes), learner.task_logits(x))
