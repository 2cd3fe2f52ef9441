"""VAE, beta-VAE and the adaptive ones against numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from labapp.base.errors import DatasetError
from labapp.models.concepts import learners
from labapp.models.concepts.learner import Batch, Setup, TrainingRows, build
from labapp.models.concepts.learners import Variational
from labapp.models.concepts.recipe import SIZES, AdaGvae, BetaVae, Vae, VaeSettings
from tests.helpers.sample import examples


def posterior(means: list[float], variances: list[float]) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.tensor([means]), torch.tensor([variances]).log()


FIRST = posterior([0.0, 1.0, -1.0], [1.0, 1.0, 4.0])
SECOND = posterior([3.0, 1.2, -1.0], [1.0, 1.0, 1.0])
# KL: 9/2 = 4.5; 0.04/2 = 0.02; (4 - 1 - ln 4)/2 = 0.807. The middle of 0.02 and 4.5 is 2.26.


def test_dimensions_below_the_middle_of_the_divergences_are_shared() -> None:
    assert learners.find_shared_dimensions(FIRST, SECOND).tolist() == [[False, True, True]]
    # The other way round the third is (1/4 - 1 + ln 4)/2 = 0.318: the rule takes the first's.
    closer = posterior([0.0, 0.0, 0.0], [1.0, 1.0, 4.0])
    other = posterior([math.sqrt(2 * 1.2), 0.0, 0.0], [1.0, 1.0, 1.0])
    assert learners.find_shared_dimensions(closer, other).tolist() == [[False, True, False]]
    assert learners.find_shared_dimensions(other, closer).tolist() == [[False, True, True]]


def test_a_sample_lies_at_the_mean_and_as_far_off_as_the_deviation_says() -> None:
    noise = np.random.default_rng(1).standard_normal((1, 3), dtype=np.float32)
    sample = learners.sample_posterior(FIRST, np.random.default_rng(1))
    assert torch.allclose(
        sample, FIRST[0] + torch.from_numpy(noise) * torch.tensor([1.0, 1.0, 2.0])
    )


def test_gvae_takes_the_means_of_means_and_of_variances() -> None:
    first, second = learners.average_posteriors(FIRST, SECOND, "gvae")
    assert torch.allclose(first[0], torch.tensor([[0.0, 1.1, -1.0]]))
    assert torch.allclose(second[0], torch.tensor([[3.0, 1.1, -1.0]]))
    assert torch.allclose(first[1].exp(), torch.tensor([[1.0, 1.0, 2.5]]))
    assert torch.allclose(second[1].exp(), torch.tensor([[1.0, 1.0, 2.5]]))


def test_mlvae_takes_the_product_of_both_densities() -> None:
    mine, other = posterior([0.0, 1.0], [1.0, 4.0]), posterior([9.0, 2.0], [1.0, 1.0])
    first, second = learners.average_posteriors(mine, other, "mlvae")
    # Variance 2 * 4 / 5 = 1.6; mean (1/4 + 2) / 2 * 1.6 = 1.8.
    assert torch.allclose(first[0], torch.tensor([[0.0, 1.8]]))
    assert torch.allclose(second[0], torch.tensor([[9.0, 1.8]]))
    assert torch.allclose(first[1].exp(), torch.tensor([[1.0, 1.6]]))
    assert torch.allclose(second[1].exp(), torch.tensor([[1.0, 1.6]]))


@pytest.mark.parametrize("how", ["gvae", "mlvae"])
def test_of_equal_posteriors_the_average_is_the_same(how: learners.Averaging) -> None:
    first, second = learners.average_posteriors(FIRST, FIRST, how)
    for tensor, own in zip((*first, *second), (*FIRST, *FIRST), strict=True):
        assert torch.allclose(tensor, own)


@examples(30)
@given(st.integers(2, 5), st.integers(8, 60), st.integers(0, 2**31))
def test_pairs_share_some_concepts_and_not_all(k: int, rows: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    concepts = rng.integers(0, 2, (rows, k))
    concepts[0], concepts[1] = 0, [1] + [0] * (k - 1)
    chosen = learners.pairs(concepts, 200, rng)
    assert chosen.shape == (200, 2)
    alike = (concepts[chosen[:, 0]] == concepts[chosen[:, 1]]).sum(axis=1)
    assert alike.min() >= 1
    assert alike.max() <= k - 1


def test_all_pairs_that_fit_are_drawn_with_equal_chances() -> None:
    # Rows 0 and 1 are alike; each fits 2, which fits both and 3; 0 and 3 have nothing alike.
    concepts = np.array([[0, 0], [0, 0], [0, 1], [1, 1]])
    chosen = learners.pairs(concepts, 12_000, np.random.default_rng(0))
    kinds, counts = np.unique(chosen, axis=0, return_counts=True)
    assert kinds.tolist() == [[0, 2], [1, 2], [2, 0], [2, 1], [2, 3], [3, 2]]
    assert np.abs(counts - 2_000).max() < 200


def test_rows_without_such_pairs_are_refused() -> None:
    with pytest.raises(DatasetError, match="some but not all"):
        learners.pairs(np.array([[0, 0], [1, 1]]), 1, np.random.default_rng(0))


def learner(settings: VaeSettings) -> Variational:
    made = build(settings, Setup((1, 32, 32), 3, 8, SIZES["S"], 0))
    assert isinstance(made, Variational)
    return made


def pictures(*shape: int) -> torch.Tensor:
    return torch.rand(*shape, 1, 32, 32, generator=torch.Generator().manual_seed(0))


def by_hand(
    made: Variational, mean: torch.Tensor, log_variance: torch.Tensor, x: torch.Tensor, seed: int
) -> tuple[float, float]:
    """Both parts of the bound, from their definitions: probabilities and standard deviations."""
    noise = torch.from_numpy(
        np.random.default_rng(seed).standard_normal(tuple(mean.shape), dtype=np.float32)
    )
    p = torch.sigmoid(made.networks["decoder"](mean + noise * log_variance.exp().sqrt()))
    likelihood = (x * p.log() + (1 - x) * (1 - p).log()).sum(dim=(1, 2, 3))
    prior = torch.distributions.Normal(0.0, 1.0)
    code = torch.distributions.Normal(mean, log_variance.exp().sqrt())
    kl = torch.distributions.kl_divergence(code, prior).sum(dim=1)
    return float(-likelihood.mean()), float(kl.mean())


@pytest.mark.parametrize(
    ("settings", "beta"), [(Vae(name="vae"), 1), (BetaVae(name="beta-vae"), 10)]
)
def test_the_loss_is_the_evidence_bound_with_beta_times_the_divergence(
    settings: VaeSettings, beta: float
) -> None:
    made = learner(settings)
    x = pictures(4)
    with torch.no_grad():
        mean, log_variance = made.networks["encoder"](x).chunk(2, dim=1)
        error, kl = by_hand(made, mean, log_variance, x, seed=5)
    batch = Batch(x, torch.zeros(4, 3), torch.zeros(4, dtype=torch.int64))
    losses = made.step(batch, np.random.default_rng(5), 0.0)
    assert float(losses["reconstruction"]) == pytest.approx(error, rel=1e-5)
    assert float(losses["kl"]) == pytest.approx(kl, rel=1e-4)
    assert float(losses["loss"]) == pytest.approx(error + beta * kl, rel=1e-5)


def test_of_pairs_the_loss_is_the_mean_of_both_bounds() -> None:
    made = learner(AdaGvae(name="ada-gvae"))
    x = pictures(4, 2)
    with torch.no_grad():
        left, right = (made.networks["encoder"](x[:, side]).chunk(2, dim=1) for side in (0, 1))
        (mean, spread), (other_mean, other_spread) = learners.average_posteriors(
            left, right, "gvae"
        )
        both = torch.cat([mean, other_mean]), torch.cat([spread, other_spread])
        # Over both sides at once, which is the mean of their means.
        error, kl = by_hand(made, *both, torch.cat([x[:, 0], x[:, 1]]), seed=5)
    batch = Batch(x, torch.zeros(4, 2, 3), torch.zeros(4, 2, dtype=torch.int64))
    losses = made.step(batch, np.random.default_rng(5), 0.0)
    assert float(losses["loss"]) == pytest.approx(error + kl, rel=1e-5)


def test_an_epoch_is_of_two_pairs_for_every_three_rows_always_the_same() -> None:
    made = learner(AdaGvae(name="ada-gvae"))
    concepts = torch.from_numpy(np.random.default_rng(0).integers(0, 2, (90, 3))).float()
    rows = TrainingRows(pictures(90), concepts, torch.zeros(90, dtype=torch.int64))
    first, second = (made.epoch(rows, np.random.default_rng(seed)) for seed in (0, 1))
    assert first.shape == (60, 2)
    assert not np.array_equal(first, second)
    assert sorted(map(tuple, first)) == sorted(map(tuple, second))


def test_codes_are_means_and_as_published_samples() -> None:
    made = learner(Vae(name="vae"))
    x = pictures(200)
    with torch.no_grad():
        mean, log_variance = made.networks["encoder"](x).chunk(2, dim=1)
        assert torch.equal(made.codes(x), mean)
        sample = made.codes(x, as_published=True)
    noise = (sample - mean) / log_variance.exp().sqrt()
    assert noise.mean().item() == pytest.approx(0, abs=0.15)
    assert noise.std().item() == pytest.approx(1, abs=0.1)
    assert torch.equal(sample, made.codes(x, as_published=True))


@pytest.mark.parametrize("kind", [Vae(name="vae"), AdaGvae(name="ada-gvae")])
def test_numbers_are_rebuilt_by_their_squared_error(kind: VaeSettings) -> None:
    learner = build(kind, Setup((7,), 3, 2, SIZES["S"], 0))
    for parameter in learner.networks["decoder"].parameters():
        torch.nn.init.zeros_(parameter)
    x = torch.arange(28.0).reshape(4, 7) - 9
    if kind.name == "ada-gvae":
        x = x.reshape(2, 2, 7)
    batch = Batch(x, torch.zeros(len(x), 3), torch.zeros(len(x), dtype=torch.int64))
    losses = learner.step(batch, np.random.default_rng(0), 0.5)
    assert float(losses["reconstruction"]) == pytest.approx(float(x.square().sum()) / 4)
