"""Mixed logistic models against ordinary ones, against the exact likelihood, and against a world
that is known."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize
from statsmodels.discrete.discrete_model import Logit

from labapp.analysis.mixed_logistic import fit

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


CBPP = (
    "2/14 3/12 4/9 0/5; 3/22 1/18 1/21 -; 8/22 2/16 0/16 2/20; 2/10 0/10 2/9 0/6; "
    "5/18 0/25 0/24 1/4; 3/17 0/17 0/18 1/20; 8/16 1/10 3/9 0/5; 12/34 - - -; 2/9 0/6 0/8 0/6; "
    "1/22 1/22 0/18 2/22; 0/25 5/27 3/22 1/22; 2/10 1/8 0/6 0/5; 1/21 2/24 0/19 0/23; "
    "11/19 0/2 0/3 0/2; 1/19 1/15 1/15 0/15"
)
"""New cases of contagious bovine pleuropneumonia / animals in 15 herds, by period (Lesnoff et al.
2004, Preventive Veterinary Medicine 64; the data set `cbpp` of lme4)."""


def world(
    people: int, each: int, spread: float, slope: float, seed: int = 1
) -> tuple[Floats, Floats, Whole]:
    """Outcomes of people who differ by `spread`, on a predictor with a slope."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(people), each)
    x = rng.normal(size=people * each)
    eta = -0.5 + slope * x + spread * rng.normal(size=people)[person]
    y = (rng.random(eta.size) < 1 / (1 + np.exp(-eta))).astype(np.float64)
    return y, np.column_stack([np.ones(x.size), x]), person


def exactly(y: Floats, design: Floats, person: Whole) -> tuple[Floats, float]:
    """Fixed effects and spread by the exact likelihood: one intercept, 60 points of quadrature."""
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()

    def deviance(at: Floats) -> float:
        eta = (design @ at[:2])[:, None] + abs(at[2]) * points
        terms = y[:, None] * eta - np.logaddexp(0, eta)
        sums = np.array([terms[person == each].sum(0) for each in range(person.max() + 1)])
        return float(-2 * np.log(np.exp(sums) @ weights).sum())

    result = optimize.minimize(deviance, np.array([0.0, 0.0, 0.5]), method="BFGS")
    return np.asarray(result.x[:2]), float(abs(result.x[2]))


def test_it_is_near_the_exact_likelihood() -> None:
    y, design, person = world(25, 30, 0.9, 0.8)
    found = fit(y, design, [person])
    assert found is not None
    mean, spread = exactly(y, design, person)
    assert found.mean == pytest.approx(mean, abs=0.02)
    assert found.spreads[0] == pytest.approx(spread, abs=0.03)


def test_it_gives_the_numbers_that_lme4_documents() -> None:
    """glmer(cbind(incidence, size - incidence) ~ period + (1 | herd), binomial, cbpp), as its
    reference page prints it."""
    y: list[float] = []
    herd: list[int] = []
    period: list[int] = []
    for at, line in enumerate(CBPP.split("; ")):
        for time, cell in enumerate(line.split()):
            if cell != "-":
                cases, size = map(int, cell.split("/"))
                y += [1.0] * cases + [0.0] * (size - cases)
                herd += [at] * size
                period += [time] * size
    design = np.column_stack([np.ones(len(y)), *(np.array(period) == n for n in (1, 2, 3))])
    model = fit(np.array(y), design.astype(np.float64), [np.array(herd)])
    assert model is not None
    assert model.mean == pytest.approx([-1.3983, -0.9919, -1.1282, -1.5797], abs=1e-3)
    assert model.sd == pytest.approx([0.2312, 0.3032, 0.3228, 0.4220], rel=0.02)
    assert model.spreads[0] == pytest.approx(0.6421, abs=1e-3)


def test_a_search_does_not_stay_where_a_factor_does_not_differ() -> None:
    """Of standard deviations every slope at 0 is flat; the intercepts of these pictures differ."""
    rng = np.random.default_rng(0)
    person, picture = np.repeat(np.arange(20), 20), np.tile(np.arange(20), 20)
    eta = 0.8 * rng.normal(size=20)[picture] + 0.5 * rng.normal(size=20)[person]
    y = (rng.random(400) < 1 / (1 + np.exp(-eta))).astype(np.float64)
    fits = [fit(y, np.ones((400, 1)), [person, picture], start) for start in ((0.5, 0), (0.5, 1))]
    low, high = (model.spreads if model else () for model in fits)
    assert low == pytest.approx(high, abs=1e-3)
    assert low[1] > 0.4


RARE = (
    "000:6/0 000:5/0 000:6/0 000:6/0 010:5/0 010:5/0 010:5/0 010:5/0 010:5/0 010:5/0 100:4/1 "
    "100:6/0 100:3/1 100:5/0 100:4/1 100:6/0 110:5/0 110:5/0 110:5/0 110:5/0 201:2/1 201:6/0 "
    "201:6/0 201:6/0 201:6/0 201:6/0 211:3/1 211:5/0 211:5/0 211:5/0 211:5/0 301:6/0 301:6/0 "
    "301:5/0 301:6/0 311:3/1 311:5/0 311:5/0 311:5/0 311:5/0"
)
"""Harms of simulated participants, a picture each: model, kind and person; settings and harms."""
PURITY = (-0.110307, 1.0885, 0.588997, -1.56719)


def test_of_rare_outcomes_the_greater_of_two_maxima_is_taken() -> None:
    """One lies where nothing differs, which is where a single search ended; its errors were a third
    too small."""
    rows: list[tuple[int, int, int, int, float]] = []
    for picture, cell in enumerate(RARE.split()):
        of, counts = cell.split(":")
        model, kind, person = map(int, of)
        size, harms = map(int, counts.split("/"))
        rows += [(picture, model, kind, person, float(n < harms)) for n in range(size)]
    picture, model, kind, person, y = (np.array(column) for column in zip(*rows, strict=True))
    design = np.column_stack([np.ones(y.size), np.array(PURITY)[model], kind.astype(float)])
    result = fit(y, design, [person, picture, model])
    assert result is not None
    # By a dense search of the same likelihood from several beginnings.
    assert result.deviance == pytest.approx(51.445, abs=2e-3)
    assert result.spreads[1] == pytest.approx(1.98, abs=0.02)
    assert result.sd[1] == pytest.approx(0.900, abs=2e-3)


def test_a_rough_search_is_near_the_other() -> None:
    y, design, person = world(25, 30, 0.9, 0.8)
    picture = np.arange(y.size) % 50
    rough, model = (fit(y, design, [person, picture], rough=way) for way in (True, False))
    assert rough is not None
    assert model is not None
    assert rough.mean == pytest.approx(model.mean, abs=0.05)
    assert rough.sd == pytest.approx(model.sd, rel=0.03)
    assert rough.deviance == pytest.approx(model.deviance, abs=0.5)
    assert rough.deviance >= model.deviance - 1e-6


def test_people_who_do_not_differ_leave_an_ordinary_regression() -> None:
    y, design, _ = world(40, 20, 0.0, 0.6, seed=3)
    person = np.arange(y.size) % 40  # whoever it was: at random
    plain = Logit(y, design).fit(disp=False)
    found = fit(y, design, [person])
    assert found is not None
    if found.spreads[0] < 1e-3:
        assert found.mean == pytest.approx(plain.params, abs=1e-3)
        assert found.sd == pytest.approx(plain.bse, rel=0.01)
    alone = fit(y, design, [np.zeros(y.size, np.int64)])  # one level cannot differ from itself
    assert alone is not None
    assert alone.spreads[0] == pytest.approx(0.0, abs=0.02)
    assert alone.mean == pytest.approx(plain.params, abs=1e-3)


def test_intervals_hold_a_known_slope() -> None:
    """Of crossed intercepts with few values each, as of pictures: 19 of 20 in the mean."""
    hits = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        person, picture = np.repeat(np.arange(15), 12), np.tile(np.arange(60), 3)
        x = rng.normal(size=180)
        eta = 0.7 * x + 0.6 * rng.normal(size=15)[person] + 0.4 * rng.normal(size=60)[picture]
        y = (rng.random(180) < 1 / (1 + np.exp(-eta))).astype(np.float64)
        found = fit(y, np.column_stack([np.ones(180), x]), [person, picture])
        assert found is not None
        hits += abs(found.mean[1] - 0.7) < 1.96 * found.sd[1]
    assert hits >= 6


def test_what_is_separated_has_no_value() -> None:
    x = np.linspace(-1, 1, 40)
    y = (x > 0).astype(np.float64)
    found = fit(y, np.column_stack([np.ones(40), x]), [np.arange(40) % 8])
    assert found is None or not found.finite(1)


@pytest.mark.parametrize("rough", [False, True])
def test_an_effect_without_a_finite_value_hides_no_other(rough: bool) -> None:
    """Of a rare kind of picture all were forecast wrongly: these say nothing of the slope."""
    y, design, person = world(20, 20, 0.6, 0.8)
    without = fit(y, design, [person], rough=rough)
    rare = np.zeros(y.size + 5)
    rare[-5:] = 1
    wider = np.column_stack([np.vstack([design, design[:5]]), rare])
    model = fit(np.append(y, np.ones(5)), wider, [np.append(person, person[:5])], rough=rough)
    assert without is not None
    assert model is not None
    assert model.finite(1)
    assert not model.finite(2)
    assert model.mean[:2] == pytest.approx(without.mean, abs=5e-3)
    assert model.sd[:2] == pytest.approx(without.sd, rel=0.01)
