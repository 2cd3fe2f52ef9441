"""The table of statistics says what the frames say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from labapp.analysis.analyze import STATISTICS
from labapp.analysis.inference import FRIEDMAN
from labapp.analysis.tables import typed
from labapp.tasks.unmasking.report.contents import FIT, MIXED, findings, rows
from labapp.tasks.unmasking.report.results import LABEL, Found
from tests.helpers.observers import World, observed
from tests.helpers.one_test import faults_of
from tests.helpers.rough_fits import rough_fits as rough_fits
from tests.helpers.unmasked import nobody

POOL = {("anger", "anger"): 21, ("anger", "happiness"): 24, ("happiness", "happiness"): 69}


@pytest.fixture(scope="module")
def found() -> Found:
    (one,) = findings(observed(7, World(images=5, pool=POOL)))
    return one


@pytest.fixture(scope="module")
def table(found: Found) -> pd.DataFrame:
    return typed(rows(found), STATISTICS)


def test_every_row_fits_the_columns(found: Found, table: pd.DataFrame) -> None:
    names = {column.name for column in STATISTICS}
    assert all(set(row) <= names for row in rows(found))
    assert set(table["item"]) == {str(item) for item in range(1, 13)}
    assert table[["quantity", "test", "n", "ours"]].notna().all(axis=None)
    assert set(table["design"]) == {"unmasking"}


def test_shares_and_times_are_those_of_the_figures(found: Found, table: pd.DataFrame) -> None:
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


def test_fits_and_tests(found: Found, table: pd.DataFrame) -> None:
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
    found = typed(rows(alone), STATISTICS)
    fitted = found[found["item"] == "10"]
    assert len(fitted) == 8
    assert fitted[["mean", "low", "high"]].isna().all(axis=None)


def test_nobody_and_no_model_have_rows_without_values() -> None:
    (alone,) = findings(observed(0, World(images=3, model=False)))
    found = typed(rows(alone), STATISTICS)
    assert (found[found["item"] == "6"]["n"] == 0).all()
    assert np.isnan(found[found["item"] == "6"]["mean"]).all()
    assert found["p"].isna().all()
    assert rows(nobody())
