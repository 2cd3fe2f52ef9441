"""Figures 3 to 6, counted in another way: by pandas, row by row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from labapp.tasks.unmasking.report import curves
from labapp.tasks.unmasking.report.curves import Cells
from tests.helpers.observers import (
    World,
    annotated,
    cells_of,
    group_of,
    observed,
    sample,
    tables_with,
)


@pytest.fixture(scope="module")
def cells() -> Cells:
    return cells_of(sample(8, 4))


def test_labels_by_mask_are_those_of_all_methods(cells: Cells) -> None:
    found = curves.labels(cells)
    rows = sample(8, 4).annotations
    assert list(found.columns) == ["percent", "labels", "dont_know", "n", "share", "low", "high"]
    for row in found.to_dict("records"):
        some = rows[rows["percent"] == row["percent"]]
        assert row["n"] == len(some) == 8 * 4 * 3
        assert row["dont_know"] == some["dont_know"].sum()
        assert row["labels"] + row["dont_know"] == row["n"]
        assert row["share"] == pytest.approx(1 - some["dont_know"].mean())
        assert row["low"] <= row["share"] <= row["high"]


def test_labels_by_method_add_up_to_all(cells: Cells) -> None:
    found = curves.labels_by_method(cells)
    both = found.groupby("percent")[["labels", "dont_know", "n"]].sum()
    assert both.to_numpy().tolist() == (
        curves.labels(cells)[["labels", "dont_know", "n"]].to_numpy().tolist()
    )


def test_accuracy_with_dont_know_counted_and_left_out(cells: Cells) -> None:
    found = curves.accuracy(cells).set_index(["method", "percent"])
    for key, some in sample(8, 4).annotations.groupby(["method", "percent"]):
        row = found.loc[key]
        labels = some[~some["dont_know"]]
        assert row["n"] == len(some)
        assert row["share"] == pytest.approx(some["correct"].mean())
        assert row["n_labels"] == len(labels)
        right = labels["correct"].mean() if len(labels) else np.nan
        assert row["share_of_labels"] == pytest.approx(right, nan_ok=True)


def test_times_are_means_and_medians_of_all(cells: Cells) -> None:
    found = curves.times(cells).set_index(["method", "percent"])
    for key, some in sample(8, 4).annotations.groupby(["method", "percent"]):
        row, ms = found.loc[key], some["reaction_time_ms"]
        assert row["n"] == len(ms)
        assert row["mean"] == pytest.approx(ms.mean())
        assert row["median"] == pytest.approx(ms.median())
        assert row["mean_low"] < row["mean"] < row["mean_high"]
        assert row["median_low"] <= row["median"] <= row["median_high"]


def test_an_interval_is_over_participants_and_not_over_annotations(cells: Cells) -> None:
    own = sample(8, 4).annotations.groupby(["participant", "method", "percent"])["correct"].mean()
    shares = own.unstack("participant").loc[("lrp", 15.0)].to_numpy(float)
    drawing = np.random.default_rng(5).integers(0, 8, (20_000, 8))
    low, high = np.percentile(shares[drawing].mean(axis=1), [2.5, 97.5])
    row = curves.accuracy(cells).set_index(["method", "percent"]).loc[("lrp", 15.0)]
    assert row["low"] == pytest.approx(low, abs=0.02)
    assert row["high"] == pytest.approx(high, abs=0.02)


def test_nothing_but_dont_know_has_no_accuracy_of_labels() -> None:
    world = World(images=2)
    rows = [annotated(one, who, None) for who in ("P1", "P2") for one in world.rows()]
    found = curves.accuracy(cells_of(tables_with(world, rows)))
    assert (found["share"] == 0).all()
    assert (found["n_labels"] == 0).all()
    assert found[["share_of_labels", "labels_low", "labels_high"]].isna().all(axis=None)


@pytest.mark.parametrize("participants", [0, 1])
def test_one_participant_and_nobody(participants: int) -> None:
    cells = cells_of(observed(participants, World(images=2)))
    frames = {
        "labels": curves.labels(cells),
        "by_method": curves.labels_by_method(cells),
        "accuracy": curves.accuracy(cells),
        "times": curves.times(cells),
    }
    assert {name: len(frame) for name, frame in frames.items()} == {
        "labels": 10,
        "by_method": 30,
        "accuracy": 30,
        "times": 30,
    }
    for frame in frames.values():
        lows = [name for name in frame if name.endswith(("low", "high"))]
        assert frame[lows].isna().all(axis=None)
    assert (frames["accuracy"]["n"] == 2 * participants).all()
    assert frames["accuracy"]["share"].isna().all() == (participants == 0)


def test_other_classes_methods_and_masks_than_the_published_ones() -> None:
    world = World(methods=("one", "other"), percents=(2.5, 40.0), images=6, classes=("a", "b", "c"))
    tables = observed(3, world, {"one": 5.0, "other": 9.0})
    found = curves.accuracy(cells_of(tables))
    assert found[["method", "percent"]].to_numpy().tolist() == [
        ["one", 2.5],
        ["one", 40.0],
        ["other", 2.5],
        ["other", 40.0],
    ]
    assert group_of(tables).classes == ("a", "b", "c")


def test_what_does_not_count_is_not_in_any_number() -> None:
    world = World(images=2, percents=(5.0, 60.0))
    rows = [annotated(one, "P1", one["truth"]) for one in world.rows()]
    broken = [
        annotated(one, "P1", None, float("nan"), excluded=True, dont_know=None, correct=None)
        for one in world.rows()
    ]
    practice = [
        annotated({**one, "image": "example"}, "P1", None, role="practice", excluded=True)
        for one in world.rows()
    ]
    tables = tables_with(world, [*rows, *broken, *practice])
    group = group_of(tables)
    assert group.images == ("image-00", "image-01")
    assert len(group.every_annotation) == 3 * len(group.annotations)
    found = curves.accuracy(Cells.of(group))
    assert (found["share"] == 1).all()
    assert (found["n"] == 2).all()
    assert isinstance(curves.labels(Cells.of(group)), pd.DataFrame)
