"""CCD: what a score is, what the regularisers are, and completeness."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from labapp.models.concepts import learners
from labapp.models.concepts.learner import Setup, TrainingRows
from labapp.models.concepts.learners import Directions, Discovered
from labapp.models.concepts.recipe import SIZES, Ccd


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
    assert learners.salience(cosines, 2).item() == pytest.approx((0.5 + 0.3 + 0.9 + 0.4) / 4)
    assert learners.salience(cosines, 9).item() == pytest.approx(cosines.mean().item())


@pytest.mark.parametrize(("classes", "count"), [(8, 2), (2, 8), (12, 1), (40, 1)])
def test_half_of_a_classs_rows_should_be_near(classes: int, count: int) -> None:
    assert learners.nearest(32, classes) == count


def test_likeness_is_the_mean_product_of_two_directions() -> None:
    unit = directions([[1.0, 0.0], [0.6, 0.8]]).unit()
    assert learners.likeness(unit).item() == pytest.approx(2 * 0.6 / 4)


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
