"""Figure 9: answers that replicate a wrong prediction."""

from __future__ import annotations

import numpy as np
import pytest

from labapp.tasks.unmasking.report.contents import bias
from labapp.tasks.unmasking.report.results import AGREED, DONT_KNOW, MASKED, OTHER, WHOLE
from tests.helpers.observers import World, annotated, cells_of, observed, tables_with, with_frames

WORLD = World(methods=("one", "other"), percents=(5.0, 60.0), images=10)


def test_images_weigh_alike_and_only_wrong_predictions_count() -> None:
    # Of images 0 and 5 the prediction is wrong. Image 0 is annotated by three, 5 by one alone.
    rows = []
    for one in WORLD.rows():
        people = ("P1",) if one["image"] == "image-05" else ("P1", "P2", "P3")
        for who in people:
            follows = who == "P1"
            rows.append(annotated(one, who, one["prediction"] if follows else one["truth"]))
    shares = bias(cells_of(tables_with(WORLD, rows))).shares
    whole = shares[shares["wrong"] == WHOLE]
    assert whole["n_images"].tolist() == [2] * 4
    assert whole["n"].tolist() == [4] * 4
    # A third of the annotations of image 0, all of image 5.
    assert whole["share"].tolist() == pytest.approx([(1 / 3 + 1) / 2] * 4)


def test_shares_are_those_that_pandas_counts() -> None:
    tables = observed(6, WORLD, {"one": 8.0, "other": 12.0}, right=0.6)
    found = bias(cells_of(tables)).shares.set_index(["wrong", "method", "percent"])
    for wrong, end in ((WHOLE, ""), (MASKED, "_masked")):
        rows = tables.annotations
        rows = rows[~rows[f"correct_prediction{end}"].astype(bool)]
        agreed = rows["response"] == rows[f"prediction{end}"]
        images = agreed.fillna(False).groupby([rows["method"], rows["percent"], rows["image"]])
        theirs = images.mean().groupby(["method", "percent"])
        for key, share in theirs.mean().items():
            row = found.loc[(wrong, *key)]  # type: ignore[misc]
            assert row["share"] == pytest.approx(share)
            assert row["n_images"] == theirs.size()[key]


def test_times_of_agreeing_and_of_other_answers() -> None:
    rows = []
    for one in WORLD.rows():
        rows.append(annotated(one, "P1", one["prediction"], 500.0))
        rows.append(annotated(one, "P2", one["truth"], 900.0))
        rows.append(annotated(one, "P3", None, 700.0))
    times = bias(cells_of(tables_with(WORLD, rows))).times
    whole = times[times["wrong"] == WHOLE].set_index("answer")
    # Two images, two methods, two masks.
    assert whole["n"].to_dict() == {AGREED: 8, OTHER: 8, DONT_KNOW: 8}
    assert whole["mean"].to_dict() == {AGREED: 500.0, OTHER: 900.0, DONT_KNOW: 700.0}
    assert whole["median"].to_dict() == {AGREED: 500.0, OTHER: 900.0, DONT_KNOW: 700.0}


def test_without_outputs_on_masked_pictures() -> None:
    world = World(images=5, model=False)
    found = bias(cells_of(observed(3, world)))
    masked = found.shares[found.shares["wrong"] == MASKED]
    assert (masked["n"] == 0).all()
    assert masked["share"].isna().all()
    assert (found.times[found.times["wrong"] == MASKED]["n"] == 0).all()
    assert found.shares[found.shares["wrong"] == WHOLE]["share"].notna().all()


def test_a_model_that_is_always_right_has_no_bias() -> None:
    tables = observed(3, World(images=5))
    right = tables.annotations.assign(
        prediction=tables.annotations["truth"], correct_prediction=True
    )
    found = bias(cells_of(with_frames(tables, annotations=right)))
    whole = found.shares[found.shares["wrong"] == WHOLE]
    assert (whole["n_images"] == 0).all()
    assert np.isnan(whole["share"]).all()
