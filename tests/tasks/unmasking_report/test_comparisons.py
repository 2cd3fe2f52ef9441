"""Tests between methods against scipy and statsmodels, called on their own."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from labapp.analysis.tables import Tables
from labapp.tasks.unmasking.report import contents as of_comparisons
from labapp.tasks.unmasking.report.contents import comparisons
from tests.helpers.observers import (
    METHODS,
    World,
    annotated,
    cells_of,
    observed,
    tables_with,
    with_frames,
)


@cache
def sample_tables() -> Tables:
    """What people saw; made once, where it is asked for."""
    return observed(15, World(images=6))


def shares(percent: float | None = None) -> pd.DataFrame:
    """Accuracy by participant and method."""
    rows = sample_tables().annotations
    some = rows if percent is None else rows[rows["percent"] == percent]
    return some.groupby(["participant", "method"])["correct"].mean().unstack("method").astype(float)


def test_friedman_is_scipys() -> None:
    found = comparisons(cells_of(sample_tables())).friedman
    overall, masks = found[found["percent"].isna()], found[found["percent"].notna()]
    assert len(overall) == 1
    theirs = stats.friedmanchisquare(*shares().round(9).to_numpy().T)
    assert overall.iloc[0]["statistic"] == pytest.approx(theirs.statistic)
    assert overall.iloc[0]["p"] == pytest.approx(theirs.pvalue)
    assert overall.iloc[0]["p_holm"] == pytest.approx(theirs.pvalue)
    assert (overall.iloc[0]["n"], overall.iloc[0]["df"]) == (15, 2)
    raw = [
        stats.friedmanchisquare(*shares(percent).round(9).to_numpy().T).pvalue
        for percent in masks["percent"]
    ]
    assert masks["p"].to_numpy() == pytest.approx(raw)
    assert masks["p_holm"].to_numpy() == pytest.approx(multipletests(raw, method="holm")[1])


def test_pairs_are_scipys_wilcoxon_with_holms_correction_over_all_masks() -> None:
    found = comparisons(cells_of(sample_tables())).pairs
    masks = found[found["percent"].notna()]
    assert len(masks) == 3 * 10
    raw = []
    for row in masks.to_dict("records"):
        own = shares(row["percent"])
        differences = (own[row["method"]] - own[row["other"]]).round(9).to_numpy()
        if not differences.any():
            raw.append(np.nan)
            continue
        sizes = np.abs(differences)
        exact = bool(sizes.all()) and len(set(sizes)) == len(sizes)
        theirs = stats.wilcoxon(differences, method="exact" if exact else "approx")
        assert row["statistic"] == pytest.approx(theirs.statistic)
        assert row["mean_difference"] == pytest.approx(differences.mean(), abs=1e-8)
        raw.append(theirs.pvalue)
    assert masks["p"].to_numpy() == pytest.approx(raw, nan_ok=True)
    known = np.isfinite(raw)
    corrected = multipletests(np.array(raw)[known], method="holm")[1]
    assert masks["p_holm"].to_numpy()[known] == pytest.approx(corrected)
    assert masks["significant"].tolist() == (masks["p_holm"] < 0.05).tolist()


def test_methods_that_differ_are_found_and_in_order() -> None:
    found = comparisons(cells_of(observed(40)))
    assert found.friedman.iloc[0]["p"] < 1e-6
    pairs = found.pairs[found.pairs["percent"].isna()].set_index(["method", "other"])
    for one, other in combinations(METHODS, 2):
        row = pairs.loc[(one, other)]
        assert np.sign(row["mean_difference"]) == np.sign(METHODS[other] - METHODS[one])
        assert row["significant"]


def test_methods_that_do_not_differ_are_rarely_found_to() -> None:
    same = dict.fromkeys(METHODS, 13.0)
    small = World(images=3, percents=(5.0, 11.0, 19.0, 60.0))
    found = [
        comparisons(cells_of(observed(12, small, same, seed=seed))).pairs["significant"].any()
        for seed in range(5)
    ]
    assert sum(found) <= 2  # two families, each wrong in one of twenty


def test_four_participants_are_never_significant() -> None:
    found = comparisons(cells_of(observed(4)))
    assert not found.pairs["significant"].any()
    assert (found.pairs["n"] == 4).all()


def test_why_there_is_no_test() -> None:
    alone = comparisons(cells_of(observed(1)))
    assert (alone.friedman["why"] == of_comparisons.FEW_PEOPLE).all()
    assert (alone.pairs["why"] == of_comparisons.FEW_PAIRS).all()
    nobody = comparisons(cells_of(observed(0)))
    assert nobody.friedman["n"].tolist() == [0] * 11
    two = comparisons(cells_of(observed(6, World(methods=("one", "two")), {"one": 9, "two": 14})))
    assert (two.friedman["why"] == of_comparisons.FEW_METHODS).all()
    assert (two.pairs["why"] == "").any()
    world = World(images=2)
    right = [annotated(one, who, one["truth"]) for who in ("P1", "P2") for one in world.rows()]
    same = comparisons(cells_of(tables_with(world, right)))
    assert (same.friedman["why"] == of_comparisons.NO_DIFFERENCE).all()
    assert (same.pairs["why"] == of_comparisons.NO_DIFFERENCE).all()


def test_who_lacks_a_method_is_left_out() -> None:
    tables = observed(6, World(images=4))
    rows = tables.annotations
    fewer = rows[(rows["participant"] != "P00") | (rows["method"] != "lrp")]
    found = comparisons(cells_of(with_frames(tables, annotations=fewer)))
    assert found.friedman.iloc[0]["n"] == 5
    pairs = found.pairs[found.pairs["percent"].isna()].set_index(["method", "other"])["n"]
    assert pairs.to_dict() == {
        ("gradient", "guided_backprop"): 6,
        ("gradient", "lrp"): 5,
        ("guided_backprop", "lrp"): 5,
    }
