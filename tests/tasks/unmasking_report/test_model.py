"""Figure 7 and Tables 1 and 2, against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, classification_report, log_loss

from labapp.tasks.unmasking.report import contents
from tests.helpers.nightly import examples
from tests.helpers.observers import World, group_of, observed

PUBLISHED = {
    ("anger", "anger"): 21,
    ("anger", "happiness"): 24,
    ("happiness", "anger"): 23,
    ("happiness", "happiness"): 46,
}
"""A confusion of 45 and 69 photos that gives the rounded numbers of Table 2 of the paper."""


def expanded(pool: dict[tuple[str, str], int]) -> tuple[list[str], list[str]]:
    pairs = [pair for pair, count in pool.items() for _ in range(count)]
    return [truth for truth, _ in pairs], [prediction for _, prediction in pairs]


@settings(deadline=None, max_examples=examples(25))
@given(st.lists(st.integers(0, 30), min_size=9, max_size=9).filter(any))
def test_precision_recall_and_f1_are_scikit_learns(counts: list[int]) -> None:
    classes = ("a", "b", "c")
    pairs = [(truth, prediction) for truth in classes for prediction in classes]
    pool = dict(zip(pairs, counts, strict=True))
    group = group_of(observed(0, World(images=3, classes=classes, pool=pool)))
    found = contents.report(group)
    theirs = classification_report(
        *expanded(pool), labels=list(classes), output_dict=True, zero_division=np.nan
    )
    rows = found.to_dict("records")
    for row in rows:
        name = row["class"] or "weighted avg"
        for ours, sklearns in (("precision",) * 2, ("recall",) * 2, ("f1", "f1-score")):
            their = theirs[name][sklearns]
            if name == "weighted avg" and not np.isfinite(their):
                continue  # scikit-learn has no average where a class has no value
            if name == "weighted avg" and not any(
                each["support"] and np.isfinite(each[ours]) for each in rows if each["class"]
            ):
                assert np.isnan(row[ours])  # there scikit-learn takes classes without a photo
                continue
            assert row[ours] == pytest.approx(their, nan_ok=True), (name, ours)
        assert row["support"] == theirs[name]["support"]


def test_the_published_table() -> None:
    group = group_of(observed(0, World(images=4, pool=PUBLISHED)))
    rows = contents.report(group).round(2).to_dict("records")
    assert rows == [
        {"class": "anger", "precision": 0.48, "recall": 0.47, "f1": 0.47, "support": 45},
        {"class": "happiness", "precision": 0.66, "recall": 0.67, "f1": 0.66, "support": 69},
        {"class": "", "precision": 0.59, "recall": 0.59, "f1": 0.59, "support": 114},
    ]
    classes = contents.classes(group)
    assert classes.to_numpy().tolist() == [["anger", 45, 2], ["happiness", 69, 2]]


def test_without_a_pool_there_is_no_second_table() -> None:
    group = group_of(observed(0, World(images=4)))
    assert contents.report(group).empty
    assert contents.classes(group)["n"].isna().all()
    assert contents.classes(group)["n_shown"].tolist() == [2, 2]


def test_accuracy_and_loss_on_masked_images() -> None:
    tables = observed(0, World(images=6))
    group = group_of(tables)
    found = contents.accuracy(group).set_index(["method", "percent"])
    for key, some in tables.masked_predictions.groupby(["method", "percent"]):
        row = found.loc[key]
        assert row["n"] == 6
        share = accuracy_score(some["truth"], some["prediction_masked"])
        assert row["share"] == pytest.approx(share)
        assert row["low"] <= row["share"] <= row["high"]
        right = (some["truth"] == "happiness").to_numpy(bool)
        p = some["p_truth_masked"].to_numpy(float)
        p = np.where(right, p, 1 - p)
        assert row["cross_entropy"] == pytest.approx(log_loss(right, p, labels=[False, True]))
    whole = contents.whole(group).iloc[0]
    # Images 0 and 5 are predicted wrongly.
    assert (whole["n"], whole["share"]) == (6, pytest.approx(4 / 6))


def test_without_outputs_of_the_model() -> None:
    group = group_of(observed(0, World(images=4, model=False)))
    found = contents.accuracy(group)
    assert not group.has_model
    assert (found["n"] == 0).all()
    assert found[["share", "low", "high", "cross_entropy"]].isna().all(axis=None)
    assert contents.whole(group).iloc[0]["share"] == pytest.approx(3 / 4)
