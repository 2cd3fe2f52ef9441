"""CW: the whitening, the rotation and what it turns to."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from labapp.models.concepts import learners
from labapp.models.concepts.learner import Setup, TrainingRows
from labapp.models.concepts.learners import ConceptWhitening, Whitened
from labapp.models.concepts.recipe import SIZES, Cw
from tests.helpers.sample import examples


def covariance(maps: Tensor) -> Tensor:
    rows = maps.movedim(1, -1).reshape(-1, maps.shape[1])
    rows = rows - rows.mean(dim=0)
    return rows.T @ rows / len(rows)


def correlated_maps(channels: int, seed: int, rows: int = 64) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    mixing = torch.eye(channels) + 0.1 * torch.rand(channels, channels, generator=generator)
    maps = torch.randn(rows, channels, 4, 4, generator=generator)
    return torch.einsum("cd,ndhw->nchw", mixing, maps) + 5


@pytest.mark.parametrize("channels", [3, 8])
def test_in_training_the_covariance_of_what_comes_out_is_the_unit_matrix(channels: int) -> None:
    layer = ConceptWhitening(channels, iterations=10)
    out = layer(correlated_maps(channels, seed=0))
    assert out.shape == (64, channels, 4, 4)
    assert (covariance(out) - torch.eye(channels)).abs().max() < 1e-2
    assert out.mean(dim=(0, 2, 3)).abs().max() < 1e-4


def test_rows_of_numbers_are_whitened_too() -> None:
    rows = correlated_maps(3, seed=1, rows=256)[:, :, 0, 0]
    assert (covariance(ConceptWhitening(3, iterations=10)(rows)) - torch.eye(3)).abs().max() < 1e-2


def test_five_iterations_whiten_few_channels_and_not_many() -> None:
    generator = torch.Generator().manual_seed(0)
    spread = {
        channels: covariance(
            ConceptWhitening(channels)(torch.randn(256, channels, 8, 8, generator=generator))
        )
        .diagonal()
        .mean()
        .item()
        for channels in (3, 64)
    }
    assert spread == pytest.approx({3: 1.00, 64: 0.58}, abs=0.01)


def test_newtons_iteration_ends_at_the_inverse_root() -> None:
    values = torch.tensor([[2.0, 0.5], [0.5, 1.0]])
    root = learners.newton(values, 15)
    assert torch.allclose(root @ root @ values, torch.eye(2), atol=1e-5)
    # Once, by hand: 1.5 I - 0.5 S / 3, over the root of the trace.
    by_hand = (1.5 * torch.eye(2) - 0.5 * values / 3) / 3**0.5
    assert torch.allclose(learners.newton(values, 1), by_hand)


def test_gradients_pass_through_the_statistics_of_the_batch() -> None:
    x = correlated_maps(3, seed=2, rows=6)[:, :, :2, :1].double().requires_grad_()
    layer = ConceptWhitening(3, iterations=5).double()
    weights = torch.randn(x.shape, generator=torch.Generator().manual_seed(3)).double()
    assert torch.autograd.gradcheck(lambda maps: (layer(maps) * weights).sum(), x, atol=1e-4)


def test_in_evaluation_the_running_statistics_are_used() -> None:
    layer = ConceptWhitening(3)
    first, second = correlated_maps(3, seed=4), 2 * correlated_maps(3, seed=5)
    means, whiteners = [], []
    for maps in (first, second):
        fresh = ConceptWhitening(3)
        fresh(maps)
        means.append(fresh.mean / 0.9)
        whiteners.append((fresh.whitener - 0.1 * torch.eye(3)) / 0.9)
        layer(maps)
    assert torch.allclose(layer.mean, 0.9 * means[1] + 0.1 * 0.9 * means[0], rtol=1e-4)
    blend = 0.9 * whiteners[1] + 0.1 * (0.9 * whiteners[0] + 0.1 * torch.eye(3))
    assert torch.allclose(layer.whitener, blend, atol=1e-4)
    layer.eval()
    before = layer.mean.clone()
    alone = layer(first[:1])
    assert torch.allclose(alone, layer(first)[:1], atol=1e-5)
    assert torch.equal(layer.mean, before)


@examples(25)
@given(st.integers(2, 12), st.integers(0, 2**31), st.floats(1e-3, 1e3))
def test_a_turn_stays_orthogonal_and_lowers_the_objective(
    channels: int, seed: int, scale: float
) -> None:
    rng = np.random.default_rng(seed)
    rotation, _ = np.linalg.qr(rng.standard_normal((channels, channels)))
    gradient = scale * rng.standard_normal((channels, channels))
    after = learners.step_rotation(rotation, gradient)
    assert np.abs(after @ after.T - np.eye(channels)).max() < 1e-8
    assert (gradient * after).sum() < (gradient * rotation).sum()


def test_where_nothing_pulls_nothing_turns() -> None:
    rotation = np.eye(4)
    assert learners.step_rotation(rotation, np.zeros((4, 4))) is rotation


PRESENT = (3, 5)
"""The channels in which the concepts of these maps are, in order; each is in half of them."""


def present_in(maps: Tensor, concept: int) -> Tensor:
    return maps[maps[:, PRESENT[concept]].mean(dim=(1, 2)) > 1.5]


def activated(seed: int, rows: int = 128) -> Tensor:
    """Maps of noise, in half of which a concept's channel stands out."""
    generator = torch.Generator().manual_seed(seed)
    maps = torch.randn(rows, 6, 4, 4, generator=generator)
    for channel in PRESENT:
        maps[:, channel] += 3 * (torch.rand(rows, generator=generator) < 0.5)[:, None, None]
    return maps


@pytest.mark.parametrize("of_rows", [False, True], ids=["maps", "rows"])
def test_the_rotation_brings_what_a_concept_activates_to_its_channel(of_rows: bool) -> None:
    def shaped(maps: Tensor) -> Tensor:
        return maps[:, :, 0, 0] if of_rows else maps

    layer = ConceptWhitening(6)
    for seed in range(30):
        layer(shaped(activated(seed)))
    layer.eval()
    for seed in range(30, 40):
        examples = [shaped(present_in(activated(seed), concept)) for concept in (0, 1)]
        layer.turn_towards(examples)
    assert layer.rotation[0].abs().argmax() == 3
    assert layer.rotation[1].abs().argmax() == 5
    for concept in (0, 1):
        with_it = layer(shaped(present_in(activated(50), concept)))[:, concept]
        assert with_it.mean() > layer(shaped(activated(50)))[:, concept].mean() + 0.3
    assert (layer.rotation @ layer.rotation.T - torch.eye(6)).abs().max() < 1e-5


def test_the_gradient_is_of_the_activations_that_win_max_pooling() -> None:
    layer = ConceptWhitening(2).eval()
    maps = torch.zeros(1, 2, 2, 2)
    maps[0, 0] = torch.tensor([[1.0, 4.0], [2.0, 3.0]])
    maps[0, 1] = torch.tensor([[9.0, 5.0], [7.0, 8.0]])
    layer.turn_towards([maps])
    # Channel 0 wins at the upper right, where channel 1 has 5; both with weight 0.9.
    assert torch.allclose(layer.gradient[0], -0.9 * torch.tensor([4.0, 5.0]))
    assert torch.equal(layer.gradient[1], torch.zeros(2))


def test_as_released_each_entry_is_of_the_place_where_its_own_channel_wins() -> None:
    layer = ConceptWhitening(2, windows="each-channel").eval()
    maps = torch.zeros(1, 2, 2, 2)
    maps[0, 0] = torch.tensor([[1.0, 4.0], [2.0, 3.0]])
    maps[0, 1] = torch.tensor([[9.0, 5.0], [7.0, 8.0]])
    layer.turn_towards([maps, maps])
    assert torch.allclose(layer.gradient, -0.9 * torch.tensor([[4.0, 9.0], [4.0, 9.0]]))


def test_the_gradient_is_that_of_the_mean_of_maxima() -> None:
    """The released one is not."""
    maps = torch.randn(8, 4, 4, 4, generator=torch.Generator().manual_seed(0))
    own, released = (ConceptWhitening(4, windows=of).eval() for of in (None, "each-channel"))
    rotation = torch.eye(4, requires_grad=True)
    raised = torch.einsum("c,nchw->nhw", rotation[1], maps)
    (-torch.nn.functional.max_pool2d(raised, 2).mean()).backward()
    assert rotation.grad is not None
    for layer in (own, released):
        layer.turn_towards([maps[:0], maps])
    assert torch.allclose(own.gradient[1], 0.9 * rotation.grad[1], atol=1e-6)
    assert not torch.allclose(released.gradient[1], 0.9 * rotation.grad[1], atol=0.05)


def test_a_concept_without_examples_leaves_its_row() -> None:
    layer = ConceptWhitening(2).eval()
    rows = torch.tensor([[1.0, 2.0]])
    layer.turn_towards([rows, rows])
    before = layer.gradient.clone()
    layer.turn_towards([rows[:0], 3 * rows])
    assert torch.equal(layer.gradient[0], before[0])
    assert not torch.equal(layer.gradient[1], before[1])


def learner(*shape: int) -> Whitened:
    made = Whitened(Cw(name="cw"), Setup(shape, 3, 8, SIZES["M"], 0))
    made.networks.eval()
    return made


def test_codes_are_the_means_of_maxima_of_the_maps_of_the_first_channels() -> None:
    pictures = torch.rand(4, 1, 64, 64, generator=torch.Generator().manual_seed(0))
    made = learner(1, 64, 64)
    maps = made.maps(pictures)
    assert maps is not None
    assert maps.shape == (4, 3, 8, 8)
    hidden = made.networks["whitening"](made.networks["encoder"](pictures))
    assert torch.equal(maps, hidden[:, :3])
    windows = maps.reshape(4, 3, 4, 2, 4, 2).amax(dim=(3, 5))
    assert torch.allclose(made.codes(pictures), windows.mean(dim=(2, 3)), atol=1e-6)


def test_of_numbers_there_are_no_maps() -> None:
    rows = torch.randn(5, 7, generator=torch.Generator().manual_seed(0))
    made = learner(7)
    assert made.maps(rows) is None
    hidden = made.networks["whitening"](made.networks["encoder"](rows))
    assert torch.equal(made.codes(rows), hidden)


def test_the_rotation_is_learned_every_twenty_steps_by_running_statistics() -> None:
    made = learner(7)
    generator = torch.Generator().manual_seed(0)
    rows = TrainingRows(
        torch.randn(200, 7, generator=generator),
        (torch.rand(200, 3, generator=generator) < 0.5).float(),
        torch.zeros(200, dtype=torch.int64),
    )
    layer = made.networks["whitening"]
    made.networks.train()
    own = made.begin(0, rows)
    turned_at = []
    for step in range(1, 42):
        before = layer.rotation.clone()
        made.step(own.batch(np.arange(64)), np.random.default_rng(step), 0.0)
        if not torch.equal(before, layer.rotation):
            turned_at.append(step)
    assert turned_at == [20, 40]
    assert all(module.training for module in made.networks.modules())
    # In the phase of the rotation alone nothing else moves.
    made.begin(1, rows)
    state = {name: value.clone() for name, value in made.networks.state_dict().items()}
    made.step(own.batch(np.arange(64)), np.random.default_rng(0), 0.0)
    moved = {
        name for name, value in made.networks.state_dict().items() if not value.equal(state[name])
    }
    assert moved == {f"whitening.{name}" for name in ("rotation", "gradient", "steps")}
