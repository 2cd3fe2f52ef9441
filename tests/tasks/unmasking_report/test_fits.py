"""Known observers, drawn without any session: what was put in comes out."""

from __future__ import annotations

import numpy as np
import pytest

from labapp.tasks.unmasking.report import fits as of_fits
from labapp.tasks.unmasking.report.fits import fits
from labapp.tasks.unmasking.report.results import CORRECT, LABEL
from tests.helpers.observers import METHODS, World, annotated, cells_of, observed, tables_with


def test_the_thresholds_of_62_observers_lie_in_their_intervals_and_in_order() -> None:
    found = fits(cells_of(observed(62)))
    pooled = found.pooled.set_index(["of", "method"])
    for of in (LABEL, CORRECT):
        for method, threshold in METHODS.items():
            row = pooled.loc[(of, method)]
            assert row["why"] == ""
            assert row["n"] == 62 * 100
            assert row["n_participants"] == 62
            assert row["threshold_low"] < threshold < row["threshold_high"], (of, method)
            assert row["threshold_high"] / row["threshold_low"] < 1.3
        ranking = pooled.loc[of].sort_values("threshold").index.tolist()
        assert ranking == ["guided_backprop", "lrp", "gradient"]
        intervals = pooled.loc[of].sort_values("threshold")
        assert (
            intervals["threshold_high"].to_numpy()[:-1] < intervals["threshold_low"].to_numpy()[1:]
        ).all()
    labels = pooled.loc[LABEL]
    assert labels["guess"].to_numpy() == pytest.approx(0.1, abs=0.08)
    # Nine labels in ten are right, so that the curve of correct ones ends lower.
    assert pooled.loc[CORRECT]["lapse"].to_numpy() == pytest.approx(1 - 0.98 * 0.9, abs=0.08)


def test_thresholds_of_each_participant() -> None:
    found = fits(cells_of(observed(30, sd=0.4)))
    own = found.own[found.own["of"] == LABEL]
    assert len(own) == 30 * 3
    known = own[own["why"] == ""]
    medians = known.groupby("method")["threshold"].median()
    for method, threshold in METHODS.items():
        assert medians[method] == pytest.approx(threshold, rel=0.25)
    # Who has a high threshold with one method has one with another.
    by_method = known.pivot(index="participant", columns="method", values="threshold").dropna()
    assert np.log(by_method).corr(method="spearman").to_numpy().min() > 0.4


def test_intervals_are_wider_with_fewer_participants_and_missing_with_one() -> None:
    widths = []
    for participants in (6, 40):
        pooled = fits(cells_of(observed(participants))).pooled
        label = pooled[pooled["of"] == LABEL]
        widths.append(np.log(label["threshold_high"] / label["threshold_low"]).mean())
    assert widths[0] > 1.5 * widths[1]
    alone = fits(cells_of(observed(1))).pooled
    assert alone[["threshold_low", "threshold_high", "slope_low"]].isna().all(axis=None)
    assert alone[alone["of"] == LABEL]["threshold"].notna().any()


def test_why_there_is_no_fit() -> None:
    world = World(methods=("all", "none", "falls", "late"), images=4)
    rows = []
    for one in world.rows():
        for who in ("P1", "P2", "P3"):
            named = {
                "all": True,
                "none": False,
                "falls": one["percent"] < 15,
                "late": one["percent"] > 50 and who == "P1",
            }[one["method"]]
            rows.append(annotated(one, who, one["truth"] if named else None))
    found = fits(cells_of(tables_with(world, rows)))
    label = found.pooled[found.pooled["of"] == LABEL].set_index("method")
    assert label["why"].to_dict() == {
        "all": of_fits.FLAT,
        "none": of_fits.FLAT,
        "falls": of_fits.FALLS,
        "late": label.loc["late", "why"],
    }
    assert label.loc[["all", "none", "falls"], "threshold"].isna().all()
    late = label.loc["late"]
    assert late["threshold"] > 45
    assert (late["why"] == of_fits.OUTSIDE) == (late["threshold"] > 60)
    own = found.own[found.own["of"] == LABEL].set_index(["method", "participant"])["why"]
    assert own[("late", "P2")] == of_fits.FLAT


def test_too_few_masks_and_nobody() -> None:
    few = fits(cells_of(observed(5, World(percents=(5.0, 15.0, 60.0)))))
    assert (few.pooled["why"] == of_fits.FEW).all()
    nobody = fits(cells_of(observed(0)))
    assert (nobody.pooled["why"] == of_fits.NOBODY).all()
    assert nobody.own.empty


def test_who_presses_any_button_has_no_threshold() -> None:
    world = World(images=6)
    rng = np.random.default_rng(11)
    rows = [
        annotated(one, f"P{number:02d}", rng.choice([*world.classes, None]))
        for number in range(20)
        for one in world.rows()
    ]
    found = fits(cells_of(tables_with(world, rows)))
    assert (found.pooled["why"] != "").all()
    # One in twenty is taken for an observer by chance.
    assert (found.own["why"] == "").mean() < 0.1


def test_a_threshold_that_few_answers_do_not_settle() -> None:
    # Four people of whom one knows it all at the largest mask, the others never.
    world = World(methods=("one",), images=6, percents=(5.0, 10.0, 20.0, 40.0))
    rows = [
        annotated(one, who, one["truth"] if who == "P1" and one["percent"] == 40 else None)
        for one in world.rows()
        for who in ("P1", "P2", "P3", "P4")
    ]
    row = fits(cells_of(tables_with(world, rows))).pooled.iloc[0]
    assert row["why"] in (of_fits.OUTSIDE, of_fits.UNSETTLED)
