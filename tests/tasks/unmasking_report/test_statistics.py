"""Statistics, groups, times and tests between methods."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from labapp.analysis import Tables
from labapp.analysis.analyze import STATISTICS
from labapp.analysis.inference import FRIEDMAN
from labapp.analysis.statistic import Statistic, select
from labapp.analysis.tables import build_frame
from labapp.tasks.unmasking.report import contents as of_comparisons
from labapp.tasks.unmasking.report import curves
from labapp.tasks.unmasking.report.contents import (
    FIT,
    MIXED,
    comparisons,
    findings,
    groups_of,
    rows,
)
from labapp.tasks.unmasking.report.curves import AnnotationCells
from labapp.tasks.unmasking.report.results import LABEL, MethodComparisons, UnmaskingResults
from labapp.tasks.unmasking.report.sections import QUICK_MS, timing
from tests.helpers.observers import (
    METHODS,
    World,
    annotated,
    cells_of,
    group_of,
    observed,
    sample,
    tables_with,
    with_frames,
)
from tests.helpers.one_test import faults_of
from tests.helpers.rough_fits import rough_fits as rough_fits
from tests.helpers.unmasked import group, nobody

POOL = {("anger", "anger"): 21, ("anger", "happiness"): 24, ("happiness", "happiness"): 69}


@pytest.fixture(scope="module")
def found() -> UnmaskingResults:
    (one,) = findings(observed(7, World(images=5, pool=POOL)))
    return one


@pytest.fixture(scope="module")
def table(found: UnmaskingResults) -> pd.DataFrame:
    return build_frame(rows(found), STATISTICS)


def test_every_row_fits_the_columns(found: UnmaskingResults, table: pd.DataFrame) -> None:
    names = {column.name for column in STATISTICS}
    assert all(set(row) <= names for row in rows(found))
    assert set(table["item"]) == {str(item) for item in range(1, 13)}
    assert table[["quantity", "test", "n", "ours"]].notna().all(axis=None)
    assert set(table["design"]) == {"unmasking"}


def test_shares_and_times_are_those_of_the_figures(
    found: UnmaskingResults, table: pd.DataFrame
) -> None:
    six = table[(table["item"] == "6") & table["quantity"].str.contains("is not")]
    assert six["mean"].tolist() == found.accuracy["share"].tolist()
    assert six["low"].tolist() == found.accuracy["low"].tolist()
    assert six["n"].tolist() == found.accuracy["n"].tolist()
    assert six["method"].tolist() == found.accuracy["method"].tolist()
    assert six["percent"].tolist() == found.accuracy["percent"].tolist()
    assert (six["n_participants"] == 7).all()
    five = table[(table["item"] == "5") & (table["test"] == "median")]
    assert five["mean"].tolist() == found.times["median"].tolist()
    assert five["high"].tolist() == found.times["median_high"].tolist()
    conditional = table[table["quantity"] == "correct, of named classes"]
    assert conditional["n"].tolist() == found.accuracy["n_labels"].tolist()


def test_the_papers_values_stand_beside_what_they_are_of(table: pd.DataFrame) -> None:
    three = table[table["item"] == "3"].set_index("percent")["published"]
    assert three[6.0] == "0.356 (663 of 1,860)"
    assert three.drop(6.0).isna().all()
    two = table[table["item"] == "2"].set_index("quantity")["published"].to_dict()
    assert two["precision, anger"] == "0.48"
    assert two["f1, happiness"] == "0.66"
    one = table[table["item"] == "1"].set_index("quantity")
    assert one["published"].to_dict() == {"photos of anger": "45", "photos of happiness": "69"}
    assert one["mean"].tolist() == [45.0, 69.0]


def test_what_is_ours_is_marked(table: pd.DataFrame) -> None:
    ours = table[table["ours"]]
    assert set(ours["item"]) == {"8", "10", "11", "12"}
    assert set(ours[ours["item"] == "8"]["test"]) == {"Kendall's tau-b", "Spearman's rho"}


def test_each_row_is_one_test(table: pd.DataFrame) -> None:
    assert table["p"].notna().sum() > 5
    assert faults_of(table) == []


def test_fits_and_tests(found: UnmaskingResults, table: pd.DataFrame) -> None:
    fitted = table[table["quantity"] == "threshold, a class is named"]
    pooled = found.fits.pooled[found.fits.pooled["of"] == LABEL]
    assert fitted["mean"].tolist() == pooled["threshold"].tolist()
    assert fitted["high"].tolist() == pooled["threshold_high"].tolist()
    assert set(fitted["test"]) == {FIT}
    assert fitted["n"].tolist() == pooled["n"].tolist()
    rates = table[table["quantity"] == "guess rate, a class is named"]
    assert rates["mean"].tolist() == pooled["guess"].tolist()
    friedman = table[table["test"] == FRIEDMAN]
    assert friedman["n_participants"].tolist() == [row.n for row in found.comparisons.friedman]
    pairs = table[table["test"] == "Wilcoxon signed rank"]
    assert pairs["compared_with"].tolist() == [row.compared_with for row in found.comparisons.pairs]
    known = pairs["p"].notna()
    assert (pairs[known]["significant"] == (pairs[known]["p_corrected"] < 0.05)).all()
    assert pairs[~known]["significant"].isna().all()
    mixed = table[table["test"] == MIXED]
    assert mixed["mean"].tolist() == found.comparisons.mixed["estimate"].tolist()


def test_a_threshold_that_means_nothing_is_not_written() -> None:
    # The masks end long before anything is recognised.
    world = World(methods=("late",), images=4)
    (alone,) = findings(observed(6, world, {"late": 3000.0}))
    assert (alone.fits.pooled["why"] != "").all()
    found = build_frame(rows(alone), STATISTICS)
    fitted = found[found["item"] == "10"]
    assert len(fitted) == 8
    assert fitted[["mean", "low", "high"]].isna().all(axis=None)


def test_nobody_and_no_model_have_rows_without_values() -> None:
    (alone,) = findings(observed(0, World(images=3, model=False)))
    found = build_frame(rows(alone), STATISTICS)
    assert (found[found["item"] == "6"]["n"] == 0).all()
    assert np.isnan(found[found["item"] == "6"]["mean"]).all()
    assert found["p"].isna().all()
    assert rows(nobody())


SMALL = World(images=4, percents=(5.0, 8.0, 15.0, 26.0, 60.0))


def together(*tables: Tables) -> Tables:
    frames = [one.by_name() for one in tables]
    all_of = {
        name: pd.concat([frame[name] for frame in frames], ignore_index=True) for name in frames[0]
    }
    return Tables.of(all_of, all_of["snapshots"])


def changed(tables: Tables, **values: object) -> Tables:
    """With other values in the columns that annotations and masked predictions share."""
    frames = tables.by_name()
    for name in ("annotations", "masked_predictions"):
        frames[name] = frames[name].assign(**values)
    return Tables.of(frames, frames["snapshots"])


def test_the_set_is_known_from_the_tables() -> None:
    world = World(images=4, pool={("anger", "happiness"): 3, ("happiness", "happiness"): 5})
    (group,) = groups_of(observed(3, world))
    assert list(group.methods.items()) == [
        ("gradient", "GRADIENT"),
        ("guided_backprop", "GUIDED_BACKPROP"),
        ("lrp", "LRP"),
    ]
    assert group.percents == tuple(world.percents)
    assert group.images == ("image-00", "image-01", "image-02", "image-03")
    assert (group.classes, group.grid) == (("anger", "happiness"), (48, 48))
    assert (group.classifier, group.accuracy) == ("some/model", 80.0)
    assert [(one.truth, one.prediction, one.count) for one in group.pool] == [
        ("anger", "happiness", 3),
        ("happiness", "happiness", 5),
    ]
    assert (group.participants, group.has_model, group.name) == (3, True, "made-up")


def test_methods_keep_the_order_of_the_set() -> None:
    world = World(methods=("zeta", "alpha"), images=2)
    (group,) = groups_of(observed(2, world, {"zeta": 9.0, "alpha": 9.0}))
    assert list(group.methods) == ["zeta", "alpha"]


def test_studies_sets_and_ways_of_masking_are_apart() -> None:
    one = observed(3, SMALL)
    groups = groups_of(
        together(
            one,
            changed(one, study="another"),
            changed(one, fill="black"),
            changed(one, sign="absolute"),
        )
    )
    assert [group.name for group in groups] == [
        "another",
        "made-up, a-set, fill black, scores signed",
        "made-up, a-set, fill mean, scores absolute",
        "made-up, a-set, fill mean, scores signed",
    ]
    assert [len(group.annotations) for group in groups] == [len(one.annotations)] * 4


def test_a_set_that_was_made_anew_is_another() -> None:
    one = observed(3, SMALL)
    groups = groups_of(together(one, changed(one, manifest_sha256="b" * 64)))
    assert [group.name for group in groups] == [
        "made-up, a-set, fill mean, scores signed, manifest aaaaaaaa",
        "made-up, a-set, fill mean, scores signed, manifest bbbbbbbb",
    ]


def test_a_set_without_a_model_package() -> None:
    (group,) = groups_of(changed(observed(2, SMALL), classifier=None))
    assert group.classifier is None
    assert len(group.annotations) == 2 * 4 * 3 * 5


def test_a_participant_of_two_sessions_is_one() -> None:
    one = observed(3, SMALL)
    again = one.annotations.assign(session="2")
    twice = one.by_name() | {"annotations": pd.concat([one.annotations, again])}
    group = group_of(Tables.of(twice, twice["snapshots"]))
    assert group.participants == 3
    found, alone = (curves.accuracy(AnnotationCells.of(each)) for each in (group, group_of(one)))
    assert (found["n"] == 2 * alone["n"]).all()
    # Nothing new was learnt of any participant: the intervals are the same.
    ends = ["share", "low", "high"]
    assert found[ends].to_numpy() == pytest.approx(alone[ends].to_numpy())


def test_no_unmasking_no_groups() -> None:
    empty = {name: frame.iloc[:0] for name, frame in observed(0).by_name().items()}
    assert findings(Tables.of(empty, empty["snapshots"])) == ()


def test_the_same_tables_give_the_same_numbers() -> None:
    (one,), (other,) = findings(observed(4, SMALL)), findings(observed(4, SMALL))
    for name in ("labels", "times", "accuracy", "model"):
        pd.testing.assert_frame_equal(getattr(one, name), getattr(other, name))
    pd.testing.assert_frame_equal(one.fits.pooled, other.fits.pooled)
    pd.testing.assert_frame_equal(one.ranks.overall, other.ranks.overall)


QUICK = re.compile(rf"below {QUICK_MS:g} ms \(kept\)</th><td>[^<]*</td><td[^>]*>(\d+)</td>")


def test_times_that_are_left_out_are_not_told_as_kept() -> None:
    made = group(2)
    rows = made.annotations.assign(reaction_time_ms=400.0, keyboard_away=False)
    rows.iloc[:3, rows.columns.get_loc("reaction_time_ms")] = QUICK_MS - 50
    rows.iloc[:2, rows.columns.get_loc("keyboard_away")] = True
    said = "".join(timing(replace(made, annotations=rows)))
    assert "Keyboard away, reaction time left out" in said
    (kept,) = QUICK.findall(said)
    assert kept == "1"
    nothing = "".join(timing(replace(made, annotations=rows.assign(keyboard_away=True))))
    assert "(kept)" not in nothing


@cache
def sample_comparisons() -> MethodComparisons:
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
