"""The cluster bootstrap, and the reasons why there is no interval."""

from __future__ import annotations

import numpy as np
import pytest

from labapp.coding.agreement.coefficients import (
    CohenKappa,
    FleissKappa,
    GwetAC1,
    Intraclass,
    alpha_for,
)
from labapp.coding.agreement.measure import (
    DRAWS,
    SEED,
    Measure,
    Ratings,
    category_text,
    coefficient,
    ratings_of,
    resample,
)


def coded(participants: int, units: int, seed: int = 1) -> Ratings:
    rng = np.random.default_rng(seed)
    first = rng.integers(1, 4, participants * units)
    second = np.where(rng.random(first.size) < 0.7, first, rng.integers(1, 4, first.size))
    clusters = np.repeat(np.arange(participants), units)
    return ratings_of(np.stack([first, second], 1).tolist(), clusters=clusters.tolist())


@pytest.mark.parametrize("participants", [1, 9])
def test_few_participants_have_no_interval(participants: int) -> None:
    result = coefficient(CohenKappa(), coded(participants, 20), interval=True)
    assert result.value is not None
    assert (result.interval.low, result.interval.clusters) == (None, participants)
    assert "too few" in result.interval.reason
    assert f"{participants} participant" in result.interval.reason


def test_ten_participants_have_one_and_it_is_always_the_same() -> None:
    result = coefficient(CohenKappa(), coded(10, 20), interval=True)
    assert result.value is not None
    assert result.interval.low is not None
    assert result.interval.high is not None
    assert result.interval.low < result.value < result.interval.high
    assert result == coefficient(CohenKappa(), coded(10, 20), interval=True)


def test_each_draw_is_the_coefficient_of_the_sessions_drawn() -> None:
    ratings = coded(12, 5)
    measures: list[Measure] = [CohenKappa(), FleissKappa(), GwetAC1(), Intraclass()]
    measures += [alpha_for(ratings, level) for level in ("nominal", "ordinal", "interval", "ratio")]
    times = np.random.Generator(np.random.PCG64(SEED)).multinomial(12, [1 / 12] * 12, DRAWS)
    for measure in measures:
        drawn = resample(measure, measure.sums(ratings), np.full(12, 1 / 12), 12, DRAWS, SEED)
        assert drawn.shape == (DRAWS,)
        for at in range(0, DRAWS, 199):
            sessions = np.repeat(np.arange(12), times[at])
            rows = np.concatenate([np.flatnonzero(ratings.clusters == s) for s in sessions])
            alone = np.arange(len(rows))
            again = Ratings(ratings.codes[rows], ratings.categories, alone, alone)
            assert drawn[at] == pytest.approx(coefficient(measure, again).value, abs=1e-9)


def test_sessions_that_hang_together_widen_the_interval() -> None:
    """Ten sessions in which both raters agree on all or on nothing: a unit more says nothing."""
    rows = [[s % 2 + 1, 2 if s % 4 < 2 else s % 2 + 1] for s in range(20) for _ in range(30)]
    clusters = [s for s in range(20) for _ in range(30)]
    wide = coefficient(CohenKappa(), ratings_of(rows, clusters=clusters), interval=True).interval
    narrow = coefficient(CohenKappa(), ratings_of(rows), interval=True).interval
    assert wide.high is not None
    assert wide.low is not None
    assert narrow.high is not None
    assert narrow.low is not None
    assert wide.high - wide.low > 3 * (narrow.high - narrow.low)


def test_no_interval_where_most_draws_have_no_value() -> None:
    rows = [["a", "a"]] * 11 + [["b", "b"]]
    result = coefficient(CohenKappa(), ratings_of(rows), interval=True)
    assert result.value == 1
    # A draw without the twelfth unit: (11 / 12) ** 12 of them, a third.
    assert result.interval.undefined == pytest.approx(DRAWS * (11 / 12) ** 12, rel=0.1)
    clusters = [*range(11), 11]
    rows = [["a", "a"], *[["a", None]] * 10, ["b", "b"]]
    result = coefficient(CohenKappa(), ratings_of(rows, clusters=clusters), interval=True)
    assert result.interval.low is None
    assert "most bootstrap draws" in result.interval.reason


def test_json_has_a_reason_where_there_is_no_value() -> None:
    assert coefficient(CohenKappa(), ratings_of([["a", "b"], ["b", "b"]])).to_json() == {
        "measure": "Cohen's kappa",
        "level": "nominal",
        "value": 0.0,
        "n_units": 2,
        "n_raters": 2,
    }
    assert coefficient(CohenKappa(), ratings_of([["a", "a"]])).to_json()["reason"]


def test_a_category_is_named_in_a_sentence() -> None:
    sets = (frozenset(), frozenset({"goal"}), frozenset({"goal", "aim"}))
    assert [category_text(category) for category in (*sets, "aim", 3.0)] == [
        "no code", "“goal”", "“aim” and “goal”", "“aim”", "3",
    ]  # fmt: skip
