"""Which metric keeps which promise: Table 1 of paper 002 and its Facts 10 and 11, in numbers.

Property 1: a representation that has what the metric is about scores high. Property 2: one that has
not scores low. MIG and SAP are about each factor's being in one code (Characteristic 2), DCIMIG
about the representation's holding a code for each factor that tells of it alone (Characteristic 3).
"""

from __future__ import annotations

import numpy as np
import pytest

from labapp.models.datasets.split import Float64
from labapp.models.metrics.information import dcimig, mi, mig, modularity
from labapp.models.metrics.inputs import Score
from labapp.models.metrics.sap import explicitness, sap

Z = np.random.default_rng(2).uniform(-1, 1, (10_000, 2))
BENT = Z**15
"""Each factor in one code (Fact 6)."""
HIDDEN = np.stack([Z[:, 0], (Z**25).sum(axis=1), Z[:, 1]], axis=1)
"""Each factor in two codes (Fact 8)."""
TURNED = Z @ np.array([[1.0, 1.0], [1.0, -1.0]])
"""Each factor in both codes and each code of both factors."""


def information(name: str, codes: Float64) -> Score:
    """Equal frequencies, so that a monotone map is not what is measured (see Fact 7)."""
    return {"mig": mig, "dcimig": dcimig}[name](codes, Z, binning="equal-frequency")


def test_sap_keeps_neither_promise() -> None:
    assert sap(BENT, Z).score < 0.35
    assert sap(HIDDEN, Z).score > 0.89


@pytest.mark.parametrize("name", ["mig", "dcimig"])
def test_mig_and_dcimig_keep_the_first(name: str) -> None:
    assert information(name, BENT).score > 0.99
    assert information(name, Z).score > 0.99


@pytest.mark.parametrize("name", ["mig", "dcimig"])
def test_mig_and_dcimig_keep_the_second(name: str) -> None:
    assert information(name, TURNED).score < 0.02
    assert information(name, TURNED[:, :1]).score < 0.2


def test_what_each_makes_of_a_factor_hidden_in_a_second_code() -> None:
    # MIG takes off what the second code knows; to DCIMIG the first code is enough.
    assert 0.6 < information("mig", HIDDEN).score < 0.75 < sap(HIDDEN, Z).score
    assert information("dcimig", HIDDEN).score > 0.99


def test_what_each_makes_of_redundant_and_of_compact_codes() -> None:
    """Section 3.3: (x, x^2, y, y^3) has the first characteristic and not the second, any single
    code the second and not, as a rule, the first."""
    x, y = (Z.T + 1) / 2
    factors = np.stack([x, y], axis=1)
    redundant = np.stack([x, x**2, y, y**3], axis=1)
    grid = np.stack([np.floor(4 * x), np.floor(4 * y)], axis=1)
    single = grid[:, :1] * 4 + grid[:, 1:]
    scores = {
        metric.__name__: (metric(redundant, factors).score, metric(single, grid).score)
        for metric in (mi, mig, dcimig, modularity, sap)
    }
    assert scores["mig"][0] < 0.5 < 0.99 < scores["mig"][1]
    assert scores["dcimig"][1] < 0.02 < 0.99 < scores["dcimig"][0]
    assert scores["modularity"][1] < 0.02 < 0.99 < scores["modularity"][0]
    assert scores["sap"][0] < 0.15
    assert min(scores["mi"]) > 0.99  # it looks at neither
    assert explicitness(redundant, factors).score > explicitness(single, grid).score
