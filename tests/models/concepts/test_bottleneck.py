"""CBM, CCD and SENN, and interventions: numbers worked out by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.metrics import roc_auc_score
from torch import Tensor, nn
from torch.func import jacrev, vmap
from torch.nn import functional

from labapp.models.concepts import learners as explained
from labapp.models.concepts.learner import Batch, ConceptModel, Setup, TrainingRows
from labapp.models.concepts.learners import (
    Directions,
    Discovered,
    Explained,
    Relevances,
    logits_of,
)
from labapp.models.concepts.recipe import SIZES, Ccd, Senn
from labapp.models.concepts.training import Interventions, intervene, interventions, probabilities
from labapp.models.metrics.roc import class_accuracy, class_auc
from labapp.models.stimuli.interventions import place
from tests.models.concepts.conftest import BOTTLENECKS, rows_of
from tests.models.concepts.test_learners import NUMBERS, PICTURES, made, rows

LOSSES = ("cbm", "cbm-logits")


@pytest.mark.parametrize("shape", [PICTURES, NUMBERS])
@pytest.mark.parametrize("name", LOSSES)
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
@pytest.mark.parametrize("name", LOSSES)
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


@pytest.mark.parametrize("name", LOSSES)
def test_classes_are_told_from_the_codes_alone(name: str) -> None:
    """Probabilities of concepts, or their logits."""
    learner = made(name, NUMBERS)
    learner.networks.eval()
    x = rows(NUMBERS, 8).x
    with torch.no_grad():
        codes, beliefs = learner.codes(x), learner.beliefs(x)
        torch.testing.assert_close(codes if name == "cbm" else codes.sigmoid(), beliefs)
        torch.testing.assert_close(learner.predict_from(codes), learner.task_logits(x))


def directions(columns: list[list[float]]) -> Directions:
    module = Directions(len(columns[0]), len(columns))
    module.vectors.data = torch.tensor(columns).T.clone()
    return module


def test_scores_are_the_lengths_along_directions_as_shares() -> None:
    # Of lengths 2 and 5: they count as of length 1.
    module = directions([[2.0, 0.0], [3.0, 4.0], [-1.0, 0.0]])
    scores = module.scores(torch.tensor([[2.0, 1.0], [-2.0, 0.0], [0.0, 0.0]]))
    # Along: 2, (6 + 4)/5 = 2, -2. The last one is not there.
    assert torch.allclose(scores[0], torch.tensor([0.5, 0.5, 0.0]), atol=1e-5)
    # Along: -2, -1.2, 2.
    assert torch.allclose(scores[1], torch.tensor([0.0, 0.0, 1.0]), atol=1e-5)
    assert scores[2].tolist() == [0, 0, 0]


def test_a_row_without_any_direction_has_no_scores() -> None:
    module = directions([[1.0, 0.0]])
    assert module.scores(torch.tensor([[-1.0, 5.0]])).tolist() == [[0]]


def test_codes_come_back_from_their_scores_alone() -> None:
    torch.manual_seed(0)
    module = directions([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    assert torch.allclose(
        module(torch.tensor([[1.0, 2.0, 7.0]])), module(torch.tensor([[3.0, 6.0, -7.0]])), atol=1e-4
    )


def test_salience_is_the_mean_of_the_highest_cosines() -> None:
    cosines = torch.tensor([[0.1, 0.9], [0.5, 0.2], [0.3, 0.4]])
    assert explained.salience(cosines, 2).item() == pytest.approx((0.5 + 0.3 + 0.9 + 0.4) / 4)
    assert explained.salience(cosines, 9).item() == pytest.approx(cosines.mean().item())


@pytest.mark.parametrize(("classes", "count"), [(8, 2), (2, 8), (12, 1), (40, 1)])
def test_half_of_a_classs_rows_should_be_near(classes: int, count: int) -> None:
    assert explained.nearest(32, classes) == count


def test_likeness_is_the_mean_product_of_two_directions() -> None:
    unit = directions([[1.0, 0.0], [0.6, 0.8]]).unit()
    assert explained.likeness(unit).item() == pytest.approx(2 * 0.6 / 4)


def test_directions_are_learned_from_the_codes_of_a_frozen_network() -> None:
    learner = Discovered(Ccd(name="ccd"), Setup((1, 32, 32), 3, 8, SIZES["L"], 0))
    rng = np.random.default_rng(0)
    rows = TrainingRows(
        torch.from_numpy(rng.integers(0, 256, (40, 1, 32, 32), dtype=np.uint8)),
        torch.from_numpy(rng.integers(0, 2, (40, 3))).float(),
        torch.from_numpy(rng.integers(0, 8, 40)),
    )
    learner.networks.train()
    codes = learner.begin(1, rows)
    learner.networks.eval()
    whole = rows.batch(np.arange(40))
    with torch.no_grad():
        # In training, dropout would leave out half of the units.
        torch.testing.assert_close(codes.x, learner.networks["encoder"](whole.x))
        scores = learner.codes(whole.x)
        torch.testing.assert_close(scores, learner.networks["directions"].scores(codes.x))
    learner.networks.train()
    before = {name: value.clone() for name, value in learner.networks.state_dict().items()}
    losses = learner.step(codes.batch(np.arange(32)), rng, 0.5)
    expected = losses["task"] - 0.1 * losses["salience"] + 0.1 * losses["likeness"]
    assert float(losses["loss"]) == pytest.approx(float(expected))
    moved = {
        name.split(".")[0]
        for name, value in learner.networks.state_dict().items()
        if not value.equal(before[name])
    }
    assert moved == {"directions"}


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


CONCEPTS = np.array([[1, 1], [1, 0], [0, 1], [0, 0]])

CODES = np.array([[0.9, 0.8], [0.2, 0.1], [0.4, 0.3], [0.1, 0.6]])

"""Row 1 has the first concept wrong, row 2 the second, row 3 also the second."""


def by_bits(codes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Class 2 c1 + c2 of the codes above 1/2."""
    return np.eye(4)[2 * (codes[:, 0] > 0.5) + (codes[:, 1] > 0.5)] * 5


@pytest.fixture
def ready() -> Interventions:
    wrong = (CODES > 0.5) != (CONCEPTS == 1)
    labels = 2 * CONCEPTS[:, 0] + CONCEPTS[:, 1]
    return Interventions(
        CODES, CONCEPTS, labels, wrong, np.array([[0.0, 1.0], [0.0, 1.0]]), by_bits
    )


def test_the_curves_of_a_small_model(ready: Interventions) -> None:
    np.testing.assert_array_equal(ready.fixed(), [0.25, 0.5, 1.0])
    np.testing.assert_array_equal(ready.alone(), [0.5, 0.75])
    np.testing.assert_array_equal(ready.subsets(), [0.25, 0.625, 1.0])
    np.testing.assert_array_equal(ready.wrong_only(), [0.25, 1.0, 1.0])


def test_a_table_has_the_answer_in_every_state(ready: Interventions) -> None:
    table = ready.answers()
    assert table.shape == (4, 9, 4)
    np.testing.assert_allclose(table.astype(float).sum(axis=2), 1.0, atol=1e-3)
    # Row 1 believes neither; with the first concept on it says [1 0], with both on [1 1].
    assert table[1, place((0, 0))].argmax() == 0
    assert table[1, place((2, 0))].argmax() == 2
    assert table[1, place((2, 2))].argmax() == 3


def test_a_trained_model_answers_in_its_table_as_it_does_when_asked(
    models: dict[str, ConceptModel],
) -> None:
    for name in BOTTLENECKS:
        model = models[name]
        rows = rows_of(model)
        ready = interventions(model, rows)
        table = ready.answers()
        for setting in ({}, {0: 1}, {0: 0, 2: 1}):
            state = [0 if j not in setting else 1 + setting[j] for j in range(3)]
            asked = probabilities(model.predict_after_setting(rows, setting))
            np.testing.assert_allclose(table[:, place(state)], asked, atol=1e-3)
        every = [set_ for m in range(4) for set_ in combinations(range(3), m)]
        asked = [intervene(model, rows, chosen) for chosen in every]
        right = [(logits.argmax(axis=1) == rows.labels_of).mean() for logits in asked]
        classes = np.eye(asked[0].shape[1])[rows.labels_of]
        areas = [roc_auc_score(classes, softmax(logits, axis=1)) for logits in asked]
        for scores, score in ((right, class_accuracy), (areas, class_auc)):
            of = dict(zip(every, scores, strict=True))
            means = [np.mean([of[s] for s in every if len(s) == m]) for m in range(4)]
            np.testing.assert_allclose(ready.subsets(score), means)
            np.testing.assert_allclose(ready.fixed(score), [of[tuple(range(m))] for m in range(4)])
            np.testing.assert_allclose(ready.alone(score), [of[(j,)] for j in range(3)])
