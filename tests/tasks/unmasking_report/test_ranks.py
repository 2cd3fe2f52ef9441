"""Figure 8: ranks against scipy's, and the agreement of two rankings."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from labapp.tasks.unmasking.report import contents
from labapp.tasks.unmasking.report.contents import (
    KENDALL,
    OVERALL,
    SPEARMAN,
    UNITS,
    correlation,
    ranked,
)
from labapp.tasks.unmasking.report.contents import ranks as ranks_of
from labapp.tasks.unmasking.report.curves import Cells
from labapp.tasks.unmasking.report.results import MODEL, PEOPLE, Ranks
from tests.helpers.nightly import EVERYTHING
from tests.helpers.observers import World, annotated, group_of, observed, tables_with, with_frames

SCORES = arrays(np.float64, (4, 5), elements=st.integers(0, 3).map(float))


def ranks(tables: object) -> Ranks:
    group = group_of(tables)  # type: ignore[arg-type]
    return ranks_of(group, Cells.of(group))


@given(SCORES)
def test_ranks_are_scipys_with_the_greatest_first(scores: np.ndarray) -> None:
    assert (ranked(scores) == stats.rankdata(-scores, axis=-1)).all()


def test_where_a_method_lacks_there_is_no_rank() -> None:
    found = ranked(np.array([[1.0, np.nan, 0.0], [1.0, 2.0, 0.0]]))
    assert np.isnan(found[0]).all()
    assert found[1].tolist() == [2.0, 1.0, 3.0]


def test_one_method_alone_has_no_rank() -> None:
    assert np.isnan(ranked(np.array([[1.0], [0.5]]))).all()


@settings(max_examples=100 if EVERYTHING else 12)
@given(SCORES, SCORES)
def test_correlations_are_scipys(one: np.ndarray, other: np.ndarray) -> None:
    first, second = ranked(one), ranked(other)
    for name, theirs in ((KENDALL, stats.kendalltau), (SPEARMAN, stats.spearmanr)):
        found = correlation(first, second, name)
        for row in range(len(one)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # where one does not vary, which is NaN
                expected = theirs(first[row], second[row]).statistic
            assert found[row] == pytest.approx(expected, nan_ok=True, abs=1e-12)


def test_average_ranks_are_those_counted_unit_by_unit() -> None:
    tables = observed(7, World(images=4))
    found = ranks(tables)
    people = tables.annotations.groupby(["image", "percent", "method"])["correct"].mean()
    theirs = people.unstack("method").rank(axis=1, ascending=False)
    losses = tables.masked_predictions.set_index(["image", "percent", "method"])
    its = losses["cross_entropy_masked"].unstack("method").rank(axis=1)
    for who, frame in ((PEOPLE, theirs), (MODEL, its)):
        own = found.overall[found.overall["who"] == who].set_index("method")
        assert (own["n"] == 40).all()
        assert own["rank"].to_dict() == pytest.approx(frame.mean().to_dict())
        assert (own["low"] <= own["rank"]).all()
        by_mask = found.by_mask[found.by_mask["who"] == who].set_index(["percent", "method"])
        assert by_mask["rank"].to_dict() == pytest.approx(
            frame.groupby("percent").mean().stack().to_dict()
        )
    both = theirs.to_numpy(float), its.to_numpy(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        taus = [stats.kendalltau(one, other).statistic for one, other in zip(*both, strict=True)]
    agreement = found.agreement.set_index(["over", "coefficient"])
    assert agreement.loc[(UNITS, KENDALL), "value"] == pytest.approx(np.nanmean(taus))
    assert agreement.loc[(UNITS, KENDALL), "n"] == np.isfinite(taus).sum()
    rho = stats.spearmanr(theirs.mean(), its.mean()).statistic
    assert agreement.loc[(OVERALL, SPEARMAN), "value"] == pytest.approx(rho)


def test_rank_1_is_best_for_both() -> None:
    world = World(methods=("bad", "good"), percents=(5.0, 60.0), images=3)
    rows = [
        annotated(one, who, one["truth"] if one["method"] == "good" else None)
        for who in ("P1", "P2")
        for one in world.rows()
    ]
    tables = tables_with(world, rows)
    frame = tables.masked_predictions
    better = frame.assign(
        cross_entropy_masked=(frame["method"] == "bad").map({True: 2.0, False: 0.1})
    )
    found = ranks(with_frames(tables, masked_predictions=better))
    best = found.overall[found.overall["method"] == "good"]
    assert best["rank"].tolist() == [1.0, 1.0]
    assert best[["low", "high"]].to_numpy().tolist() == [[1.0, 1.0]] * 2
    assert found.agreement["value"].tolist() == [1.0] * 4


def test_methods_that_nobody_tells_apart_have_the_same_rank_and_no_agreement() -> None:
    world = World(images=3)
    rows = [annotated(one, who, one["truth"]) for who in ("P1", "P2") for one in world.rows()]
    found = ranks(tables_with(world, rows))
    people = found.overall[found.overall["who"] == PEOPLE]
    assert people["rank"].tolist() == [2.0] * 3
    assert found.agreement["value"].isna().all()
    assert found.agreement["why"].str.contains("only ties").all()


@pytest.mark.parametrize("participants", [0, 1])
def test_without_a_model_or_participants(participants: int) -> None:
    tables = observed(participants, World(images=3, model=False))
    found = ranks(tables)
    own = found.overall.set_index("who")
    assert own.loc[MODEL, "rank"].isna().all()
    assert own.loc[MODEL, "n"].tolist() == [0] * 3
    assert own.loc[PEOPLE, "rank"].isna().all() == (participants == 0)
    assert own[["low", "high"]].isna().all(axis=None)
    assert found.agreement["value"].isna().all()
    assert np.isnan(contents.on_grid(group_of(tables), "cross_entropy_masked")).all()


def test_an_interval_lies_around_the_average_rank() -> None:
    # Percentiles of the draws would not: each draw moves the ranks to the middle.
    found = ranks(observed(20)).overall
    people = found[found["who"] == PEOPLE]
    assert (people["low"] < people["rank"]).all()
    assert (people["rank"] < people["high"]).all()
    assert people["low"].min() >= 1
    assert people["high"].max() <= 3


def test_draws_that_lack_a_method_do_not_take_the_interval_away() -> None:
    world = World(methods=("one", "two"), percents=(5.0, 60.0), images=3)
    tables = observed(5, world, {"one": 8.0, "two": 20.0})
    rows = tables.annotations
    # One participant alone saw the second method: many draws have nobody who did.
    fewer = rows[(rows["participant"] == "P00") | (rows["method"] == "one")]
    found = ranks(with_frames(tables, annotations=fewer)).overall
    people = found[found["who"] == PEOPLE]
    assert people[["rank", "low", "high"]].notna().all(axis=None)
