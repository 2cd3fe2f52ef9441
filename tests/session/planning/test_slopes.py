"""Power of slopes over models: what is planted is found, and models limit it as people do not."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from labapp.analysis.task_report import ComparedSlope
from labapp.session.planning import phrases, slopes
from labapp.session.planning.slopes import (
    NO_SLOPE,
    SIMULATED,
    SMALLEST,
    SlopePower,
    slope_powers,
    studies,
)
from labapp.session.planning.thresholds import People
from labapp.session.simulation.simulation_job import Workers
from tests.session.planning.people import cohort

PEOPLE, MODELS, PICTURES = 20, 8, 6


class Here(Executor):
    """Does the work at once."""

    def submit(self, work: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(work(*args, **named))
        return future


def people() -> People:
    return cohort(
        {"careful": (0.5, 0.5), "random": (0.5, 0.5)}, PEOPLE, {"careful": 3, "random": 1}
    )


def compared(
    slope: float, models: int = MODELS, odds: float = 0.0, n_tests: int = 2
) -> ComparedSlope:
    """What people did who met two models each, six pictures of two kinds with each."""
    rng = np.random.default_rng(4)
    values = np.linspace(0.1, 0.5, models)
    z = (values - values.mean()) / values.std()
    rows = []
    for number, who in enumerate(people().strategies):
        for model in {number % models, (number + models // 2) % models}:
            for picture in range(PICTURES):
                p = 1 / (1 + np.exp(-(odds + slope * z[model])))
                rows.append((who, f"m{model}", f"p{picture}", f"k{picture % 2}", values[model], p))
    names = ("participant", "model", "picture", "kind", "value", "outcome")
    frame = pd.DataFrame(rows, columns=list(names))
    frame["outcome"] = (rng.random(len(frame)) < frame["outcome"]).astype(float)
    return ComparedSlope("wrong by value", True, 0.5, n_tests, frame)


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slopes, "REPLICATIONS", 16)
    monkeypatch.setattr(slopes, "SIZES", (8, 32))


def planned(test: ComparedSlope, seed: int = 1) -> SlopePower:
    (power,), _ = slope_powers([test], people(), seed, Workers(Here(), 1, None))
    return power


def test_a_planted_slope_is_found_and_none_is_not() -> None:
    power = planned(compared(1.2))
    assert power.fitted is not None
    assert power.fitted.mean[1] == pytest.approx(1.2, abs=0.35)
    shares = {(each.effect, each.n_people, each.n_models): each for each in power.shares}
    assert set(shares) == {
        *((effect, n, MODELS) for effect in (SIMULATED, SMALLEST) for n in (8, 32)),
        *((effect, 32, 2 * MODELS) for effect in (SIMULATED, SMALLEST)),
        (NO_SLOPE, 32, MODELS),
    }
    assert shares[SIMULATED, 32, MODELS].power > 0.9
    assert shares[SMALLEST, 8, MODELS].power < shares[SIMULATED, 32, MODELS].power
    assert shares[NO_SLOPE, 32, MODELS].power < 0.3
    assert all(each.corrected <= each.power for each in power.shares)


def test_power_is_told_at_the_level_of_one_test_and_where_holm_begins() -> None:
    several = planned(compared(1.2, n_tests=3))
    rows = phrases.slope_rows(several)
    assert [row[1] for row in rows] == ["0.05", "0.017"] * 3
    assert {len(row) for row in rows} == {2 + len(phrases.slope_columns(several))}
    own = [each for each in several.shares if each.effect == SMALLEST]
    shown = [row[2:] for row in rows if row[0].startswith(SMALLEST)]
    assert shown == [
        tuple(phrases.percent(each.power) for each in own),
        tuple(phrases.percent(each.corrected) for each in own),
    ]
    alone = phrases.slope_rows(planned(compared(1.2, n_tests=1)))
    assert [row[1] for row in alone] == ["0.05"] * 3


def test_a_kind_of_picture_of_which_nothing_was_seen_hides_no_slope() -> None:
    test = compared(1.2)
    never = test.rows.assign(kind="k9", outcome=0.0).iloc[:30]
    known, world = slopes._estimate_slope(
        replace(test, rows=pd.concat([test.rows, never], ignore_index=True)), people()
    )
    assert known.fitted is not None
    assert known.fitted.mean[1] == pytest.approx(1.2, abs=0.35)
    assert world is not None
    assert world.odds[2] <= -slopes.WIDEST
    assert np.abs(world.odds[:2]).max() < 1


def test_people_do_not_make_up_for_models_that_differ_anyway() -> None:
    """With models that differ by much else, more people add little, and more models do."""
    test = compared(0.6)
    known, world = slopes._estimate_slope(test, people())
    assert known.spread >= slopes.LEAST_SPREAD
    assert world is not None

    def power(spread: float, n_people: int, times: int) -> float:
        spreads = np.array([*world.spreads[:2], spread])
        return studies(
            replace(world, spreads=spreads), SIMULATED, 0.6, n_people, times, 24, [3]
        ).power

    alike, apart = power(0.0, 48, 1), power(1.0, 48, 1)
    assert alike > 0.85
    assert apart < 0.7
    assert power(1.0, 96, 1) < alike
    assert power(1.0, 96, 4) > apart


def test_the_same_seed_gives_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slopes, "REPLICATIONS", 4)
    monkeypatch.setattr(slopes, "SIZES", (8,))
    test = compared(0.6)
    first, again, other = planned(test), planned(test), planned(test, seed=2)
    assert first.shares == again.shares
    assert first.shares != other.shares


def test_strategies_count_by_their_shares() -> None:
    """Three quarters are careful: of the others a third takes part in the fit."""
    test = compared(0.6)
    rows = slopes._in_shares(test.rows["participant"], people().strategies, people().shares)
    names = pd.Series(test.rows["participant"].iloc[rows].unique())
    assert names.str.endswith("careful").sum() == PEOPLE
    assert names.str.endswith("random").sum() == round(PEOPLE / 3)


def test_what_cannot_be_planned_says_why() -> None:
    assert planned(compared(0.5, models=2)).why == slopes.FEW
    assert planned(compared(0.0, odds=-9.0)).why == slopes.UNKNOWN
    nothing = replace(compared(0.5), rows=pd.DataFrame(), why="nobody says anything")
    assert planned(nothing).why == "nobody says anything"
    assert not planned(nothing).shares
