"""Tests between methods against scipy and statsmodels, called on their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from labapp.analysis.statistic import Statistic, select
from labapp.tasks.unmasking.report import contents as of_comparisons
from labapp.tasks.unmasking.report.contents import comparisons
from labapp.tasks.unmasking.report.results import Comparisons
from tests.helpers.observers import (
    METHODS,
    World,
    annotated,
    cells_of,
    observed,
    sample,
    tables_with,
    with_frames,
)
from tests.helpers.rough_fits import rough_fits as rough_fits


@cache
def sample_comparisons() -> Comparisons:
    return comparisons(cells_of(sample(15, 6)))


def shares(percent: float | None = None) -> pd.DataFrame:
    """Accuracy by participant and method."""
    rows = sample(15, 6).annotations
    some = rows if percent is None else rows[rows["percent"] == percent]
    return some.groupby(["participant", "method"])["correct"].mean().unstack("method").astype(float)


def frame(rows: Sequence[Statistic]) -> pd.DataFrame:
    made = pd.DataFrame([asdict(row) for row in rows])
    return made.astype({"percent": float, "statistic": float, "p": float, "p_corrected": float})


def test_friedman_is_scipys() -> None:
    found = frame(sample_comparisons().friedman)
    overall, masks = found[found["percent"].isna()], found[found["percent"].notna()]
    assert len(overall) == 1
    theirs = stats.friedmanchisquare(*shares().round(9).to_numpy().T)
    assert overall.iloc[0]["statistic"] == pytest.approx(theirs.statistic)
    assert overall.iloc[0]["p"] == pytest.approx(theirs.pvalue)
    assert overall.iloc[0]["p_corrected"] == pytest.approx(theirs.pvalue)
    assert (overall.iloc[0]["n"], overall.iloc[0]["df"]) == (15, 2)
    raw = [
        stats.friedmanchisquare(*shares(percent).round(9).to_numpy().T).pvalue
        for percent in masks["percent"]
    ]
    assert masks["p"].to_numpy() == pytest.approx(raw)
    assert masks["p_corrected"].to_numpy() == pytest.approx(multipletests(raw, method="holm")[1])


def test_pairs_are_scipys_wilcoxon_with_holms_correction_over_all_masks() -> None:
    found = frame(sample_comparisons().pairs)
    masks = found[found["percent"].notna()]
    assert len(masks) == 3 * 10
    raw = []
    for row in masks.to_dict("records"):
        own = shares(row["percent"])
        differences = (own[row["method"]] - own[row["compared_with"]]).round(9).to_numpy()
        if not differences.any():
            raw.append(np.nan)
            continue
        sizes = np.abs(differences)
        exact = bool(sizes.all()) and len(set(sizes)) == len(sizes)
        theirs = stats.wilcoxon(differences, method="exact" if exact else "approx")
        assert row["statistic"] == pytest.approx(theirs.statistic)
        assert row["mean"] == pytest.approx(differences.mean(), abs=1e-8)
        raw.append(theirs.pvalue)
    assert masks["p"].to_numpy() == pytest.approx(raw, nan_ok=True)
    known = np.isfinite(raw)
    corrected = multipletests(np.array(raw)[known], method="holm")[1]
    assert masks["p_corrected"].to_numpy()[known] == pytest.approx(corrected)
    assert masks["significant"].eq(True).tolist() == (masks["p_corrected"] < 0.05).tolist()


def test_methods_that_differ_are_found_and_in_order() -> None:
    found = comparisons(cells_of(observed(30)))
    assert (found.friedman[0].p or 1.0) < 1e-6
    pairs = frame(select(found.pairs, percent=None)).set_index(["method", "compared_with"])
    for one, other in combinations(METHODS, 2):
        row = pairs.loc[(one, other)]
        assert np.sign(row["mean"]) == np.sign(METHODS[other] - METHODS[one])
        assert row["significant"]


def test_methods_that_do_not_differ_are_rarely_found_to() -> None:
    same = dict.fromkeys(METHODS, 13.0)
    small = World(images=3, percents=(5.0, 11.0, 19.0, 60.0))
    found = [
        any(row.significant for row in comparisons(cells_of(own)).pairs)
        for own in (observed(12, small, same, seed=seed) for seed in range(5))
    ]
    assert sum(found) <= 2  # two families, each wrong in one of twenty


def test_four_participants_are_never_significant() -> None:
    found = comparisons(cells_of(observed(4)))
    assert not any(row.significant for row in found.pairs)
    assert {row.n for row in found.pairs} == {4}


def test_why_there_is_no_test() -> None:
    alone = comparisons(cells_of(observed(1)))
    assert {row.why for row in alone.friedman} == {of_comparisons.FEW_PEOPLE}
    assert {row.why for row in alone.pairs} == {of_comparisons.FEW_PAIRS}
    nobody = comparisons(cells_of(observed(0)))
    assert [row.n for row in nobody.friedman] == [0] * 11
    two = comparisons(cells_of(observed(6, World(methods=("one", "two")), {"one": 9, "two": 14})))
    assert {row.why for row in two.friedman} == {of_comparisons.FEW_METHODS}
    assert "" in {row.why for row in two.pairs}
    world = World(images=2)
    right = [annotated(one, who, one["truth"]) for who in ("P1", "P2") for one in world.rows()]
    same = comparisons(cells_of(tables_with(world, right)))
    assert {row.why for row in same.friedman} == {of_comparisons.NO_DIFFERENCE}
    assert {row.why for row in same.pairs} == {of_comparisons.NO_DIFFERENCE}


def test_who_lacks_a_method_is_left_out() -> None:
    tables = observed(6, World(images=4))
    rows = tables.annotations
    fewer = rows[(rows["participant"] != "P00") | (rows["method"] != "lrp")]
    found = comparisons(cells_of(with_frames(tables, annotations=fewer)))
    assert found.friedman[0].n == 5
    pairs = frame(select(found.pairs, percent=None)).set_index(["method", "compared_with"])["n"]
    assert pairs.to_dict() == {
        ("gradient", "guided_backprop"): 6,
        ("gradient", "lrp"): 5,
        ("guided_backprop", "lrp"): 5,
    }
