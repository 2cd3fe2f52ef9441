"""Each method over all masks, counted in another way: by pandas, row by row."""

from __future__ import annotations

import numpy as np
import pytest

from labapp.tasks.unmasking.report.sections import overall
from tests.helpers.observers import World, annotated, group_of, observed, sample, tables_with


def test_each_method_is_the_mean_of_its_annotations() -> None:
    found = overall(group_of(sample(6, 5))).methods.set_index("method")
    rows = sample(6, 5).annotations
    for method, some in rows.groupby("method"):
        own = found.loc[str(method)]
        labels = some[~some["dont_know"]]
        wrong = some[~some["correct_prediction"]]
        assert own["n"] == len(some)
        assert own["labels"] == pytest.approx(1 - some["dont_know"].mean())
        assert own["accuracy"] == pytest.approx(some["correct"].mean())
        assert own["of_labels"] == pytest.approx(labels["correct"].mean())
        assert own["ms"] == pytest.approx(some["reaction_time_ms"].mean())
        assert own["median_ms"] == pytest.approx(some["reaction_time_ms"].median())
        assert own["repeated"] == pytest.approx(wrong["follows_prediction"].mean())
        for name in ("labels", "accuracy", "of_labels", "ms", "repeated"):
            assert own[f"{name}_low"] <= own[name] <= own[f"{name}_high"]


def test_reaction_times_by_mask_are_over_all_methods() -> None:
    found = overall(group_of(sample(6, 5))).by_mask
    assert found["percent"].tolist() == list(World().percents)
    for row in found.to_dict("records"):
        some = sample(6, 5).annotations[sample(6, 5).annotations["percent"] == row["percent"]]
        assert row["ms"] == pytest.approx(some["reaction_time_ms"].mean())
        assert row["n"] == len(some)


def test_of_one_participant_there_is_no_interval() -> None:
    found = overall(group_of(observed(1, World(images=5)))).methods
    assert found["accuracy"].notna().all()
    assert found["accuracy_low"].isna().all()


def test_a_method_nobody_saw_is_left_out_and_nobody_at_all_gives_no_rows() -> None:
    world = World(images=2)
    only = [annotated(row, "P01", None) for row in world.rows() if row["method"] == "lrp"]
    assert overall(group_of(tables_with(world, only))).methods["method"].tolist() == ["lrp"]
    none = overall(group_of(tables_with(world, [])))
    assert none.methods.empty
    assert none.by_mask.empty


def test_where_the_model_is_never_wrong_nothing_can_be_repeated() -> None:
    world = World(images=2)
    right = [row for row in world.rows() if row["correct_prediction"]]
    found = overall(group_of(tables_with(world, [annotated(row, "P01", None) for row in right])))
    assert np.isnan(found.methods["repeated"]).all()
    assert (found.methods["accuracy"] == 0).all()
    assert np.isnan(found.methods["of_labels"]).all()
