"""The losses against numbers worked out by hand, numpy and scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

from labapp.models.representations import networks
from labapp.models.representations.recipe import Ae, Gt, SsTcVae, TcVae, Vae

NO_FACTORS = torch.zeros(1, 1)


class Fixed(nn.Module):
    """Gives the same output for every input, repeated along the batch."""

    def __init__(self, *outputs: list[float] | None) -> None:
        super().__init__()
        self.outputs = [None if one is None else torch.tensor([one]) for one in outputs]

    def forward(self, _: torch.Tensor) -> object:
        return self.outputs[0] if len(self.outputs) == 1 else tuple(self.outputs)


class Told(nn.Module):
    """A decoder that keeps what it was told and gives it back as logits."""

    def logits(self, z: torch.Tensor) -> torch.Tensor:
        self.z = z
        return z


SERIES = torch.tensor([[1.0, 2.0, 3.0]])


def test_the_autoencoders_loss_is_the_sum_of_squares() -> None:
    objective, decoder = Ae(name="ae", reconstruction=2.0), Fixed([0.0, 2.0, 5.0])
    encoder, noise = Fixed([0.5], None), torch.zeros(1, 1)
    total, parts = networks.loss(objective, "gaussian", encoder, decoder, SERIES, NO_FACTORS, noise)
    assert parts["squared_error"].item() == 5
    assert total.item() == 10


def test_the_variational_loss_adds_the_divergence() -> None:
    objective, decoder = Vae(name="vae", reconstruction=1.0, kl=2.0), Fixed([0.0, 2.0, 5.0])
    encoder, noise = Fixed([1.0, 0.0], [0.0, math.log(4)]), torch.zeros(1, 2)
    total, parts = networks.loss(objective, "gaussian", encoder, decoder, SERIES, NO_FACTORS, noise)
    # KL = 1/2 (mean^2) for the first dimension, 1/2 (4 - 1 - ln 4) for the second.
    kl = 0.5 + 0.5 * (3 - math.log(4))
    assert parts["kl"].item() == pytest.approx(kl)
    assert total.item() == pytest.approx(5 + 2 * kl)


def test_the_variational_loss_decodes_a_draw_from_the_posterior() -> None:
    encoder, x, noise = Fixed([1.0], [math.log(4)]), torch.zeros(1, 1), torch.tensor([[1.5]])
    _, parts = networks.loss(
        Vae(name="vae"), "gaussian", encoder, nn.Identity(), x, NO_FACTORS, noise
    )
    assert parts["squared_error"].item() == pytest.approx((1 + 2 * 1.5) ** 2)


def test_pictures_are_learnt_by_the_cross_entropy_summed_over_pixels() -> None:
    x = torch.tensor([[0.0, 1.0, 0.25]])
    logits = np.array([-1.0, 2.0, 0.5])
    p = 1 / (1 + np.exp(-logits))
    expected = -np.log(1 - p[0]) - np.log(p[1]) - 0.25 * np.log(p[2]) - 0.75 * np.log(1 - p[2])
    found = networks.cross_entropy(x, torch.from_numpy(logits.astype(np.float32))[None])
    assert found.item() == pytest.approx(expected, rel=1e-6)


def test_ground_truth_decodes_the_factors_alone() -> None:
    factors = torch.tensor([[0.3, -0.2]])
    decoder, x, noise = Told(), torch.tensor([[0.0, 1.0]]), torch.zeros(1, 2)
    networks.loss(Gt(name="gt"), "bernoulli", None, decoder, x, factors, noise)
    assert torch.equal(decoder.z, factors)


def test_the_decoder_is_told_the_label_in_front_of_z() -> None:
    objective, decoder = SsTcVae(name="ss-tcvae", classes=3), Told()
    encoder, x = Fixed([0.5, -0.5], [-40.0, -40.0]), torch.zeros(2, 5)
    labels, noise = torch.tensor([[2.0], [0.0]]), torch.randn(2, 2)
    _, parts = networks.loss(objective, "bernoulli", encoder, decoder, x, labels, noise)
    np.testing.assert_allclose(
        decoder.z.numpy(), [[0, 0, 1, 0.5, -0.5], [1, 0, 0, 0.5, -0.5]], atol=1e-6
    )
    assert set(parts) == {"cross_entropy", "kl", "total_correlation"}


def test_total_correlation_is_that_of_the_batchs_mixture() -> None:
    rng = np.random.default_rng(0)
    mean, log_variance = rng.normal(size=(6, 3)), rng.normal(size=(6, 3)) - 1
    z = mean + np.exp(0.5 * log_variance) * rng.normal(size=(6, 3))
    sd = np.exp(0.5 * log_variance)
    # density[i, j, k] = q(z_i,k | x_j)
    density = stats.norm.pdf(z[:, None], mean[None], sd[None])
    joint = density.prod(2).mean(1)
    marginals = density.mean(1)
    expected = np.mean(np.log(joint) - np.log(marginals).sum(1))
    found = networks.total_correlation(*(torch.tensor(a) for a in (z, mean, log_variance)))
    assert found.item() == pytest.approx(expected, rel=1e-9)


def test_total_correlation_tells_dependent_from_independent_dimensions() -> None:
    rng = torch.Generator().manual_seed(0)
    one = torch.randn(2_000, 1, generator=rng)
    other = torch.randn(2_000, 1, generator=rng)
    narrow = torch.full((2_000, 2), -2.0)

    def found(mean: torch.Tensor) -> float:
        z = mean + torch.exp(0.5 * narrow) * torch.randn(2_000, 2, generator=rng)
        return networks.total_correlation(z, mean, narrow).item()

    assert found(torch.cat([one, one], 1)) > 0.5
    assert abs(found(torch.cat([one, other], 1))) < 0.1


def test_beta_weighs_the_total_correlation_alone() -> None:
    generator = torch.Generator().manual_seed(1)
    mean = torch.randn(8, 2, generator=generator)
    log_variance = torch.randn(8, 2, generator=generator)
    x, noise = torch.rand(8, 2, generator=generator), torch.randn(8, 2, generator=generator)

    class Encoder(nn.Module):
        def forward(self, _: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return mean, log_variance

    total, parts = networks.loss(
        TcVae(name="tcvae", beta=10.0), "bernoulli", Encoder(), Told(), x, NO_FACTORS, noise
    )
    expected = parts["cross_entropy"] + parts["kl"] + 9 * parts["total_correlation"]
    assert total.item() == pytest.approx(expected.item(), rel=1e-6)
