"""MIG, DCI and SAP beside the numbers of papers 000 and 001."""

from __future__ import annotations

import numpy as np
import pytest

from labapp.base import resources
from labapp.models.datasets import sinelines
from labapp.models.datasets.split import Float64
from labapp.models.metrics.dci import dci
from labapp.models.metrics.information import mig
from labapp.models.metrics.sap import sap
from tests.helpers.sample import sample


def hand_made(seed: int, covariance: float) -> tuple[Float64, Float64, Float64]:
    """Concepts, pure codes and impure codes of paper 001, 4.1: 3,000 rows, 5 concepts.

    A pure code lies anywhere in [0.95, 1] for 1 and in [0, 0.05] for 0. Of an impure one, the
    sixteenth of that interval in which it lies tells the other four concepts.
    """
    rng = np.random.default_rng(seed)
    sigma = np.full((5, 5), covariance) + (1 - covariance) * np.eye(5)
    concepts = (rng.multivariate_normal(np.zeros(5), sigma, 3_000) >= 0).astype(np.float64)
    place = rng.random((3_000, 5))
    tile = np.stack([np.delete(concepts, j, axis=1) @ [8, 4, 2, 1] for j in range(5)], axis=1)
    pure = 0.95 * concepts + 0.05 * place
    return concepts, pure, 0.95 * concepts + 0.05 * (tile + place) / 16


# Paper 001, Table 1, was computed on independent concepts; with the covariance of 0.25 that its
# text states, the released code gives the second row.
@pytest.mark.parametrize(
    ("covariance", "published_mig", "published_impure_dci"),
    [(0.0, 0.9993, 0.9950), (0.25, 0.9785, 0.9943)],
)
def test_table_1_of_paper_001(
    covariance: float, published_mig: float, published_impure_dci: float
) -> None:
    migs, pure_dci, impure_dci = [], [], []
    for seed in sample(range(3), range(1)):
        concepts, pure, impure = hand_made(seed, covariance)
        for codes in (pure, impure):
            migs.append(mig(codes, concepts, as_published=True).score)
            # Two values, evenly spaced: the histogram is the definition here.
            assert mig(codes, concepts).score == pytest.approx(migs[-1], abs=1e-12)
        pure_dci.append(dci(pure, concepts, as_published=True).score)
        impure_dci.append(dci(impure, concepts, as_published=True).score)
    assert np.mean(migs) == pytest.approx(published_mig, abs=0.004)
    assert np.mean(pure_dci) == pytest.approx(0.9999, abs=0.0002)
    assert np.mean(impure_dci) == pytest.approx(published_impure_dci, abs=0.001)


@pytest.mark.parametrize(("covariance", "published"), [(0.0, 0.4878), (0.25, 0.4140)])
def test_sap_in_table_1_of_paper_001(covariance: float, published: float) -> None:
    # Printed as 48.74 % of pure and 48.83 % of impure codes; the second row is again what the
    # released code gave. Means over 5 seeds have an SD of 0.002: over 20 seeds of pure codes, ours
    # are 0.4873 and 0.4101.
    for kind in (1, 2):
        scores = []
        for seed in sample(range(5), range(1)):
            made = hand_made(seed, covariance)
            scores.append(sap(made[kind], made[0], as_published=True).score)
            # Half of the rows, drawn, instead of the first fifth.
            assert sap(made[kind], made[0]).score == pytest.approx(scores[-1], abs=0.03)
        assert np.mean(scores) == pytest.approx(published, abs=0.008)


def shipped(name: str) -> tuple[Float64, Float64]:
    """Encodings of the held-out series, and their factors."""
    with np.load(resources.models() / "sinelines" / name / "latents.npz") as arrays:
        codes = arrays["latents"].astype(np.float64)
    return codes, sinelines.draw_factors(50_000, seed=0)[-len(codes) :]


def test_the_shipped_sinelines_vae_scores_as_the_published_one() -> None:
    # Paper 000, Table 2: 0.15 and, with the roles exchanged, 0.40. Another training run has other
    # codes: its scores are near, not equal.
    codes, factors = shipped("vae")
    assert mig(codes, factors, as_published=True).score == pytest.approx(0.15, abs=0.03)
    found = dci(codes, factors, as_published=True)
    assert found.score == pytest.approx(0.40, abs=0.05)
    # Figure 2 of the paper: slope and intercept have a code each, the wave's parameters do not.
    linear, wave = np.split(np.asarray(found.parts["per_factor"]), [2])
    assert linear.min() > 0.5 > wave.max()


def test_the_shipped_sinelines_ae_is_more_entangled_than_the_vae() -> None:
    scores = {name: mig(*shipped(name)).score for name in ("ae", "vae")}
    assert scores["ae"] < 0.9 * scores["vae"]
