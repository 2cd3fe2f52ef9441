"""Figures 3 to 6, 8 and 9, counted in another way."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from labapp.tasks.unmasking.report import contents, curves
from labapp.tasks.unmasking.report.contents import (
    KENDALL,
    OVERALL,
    SPEARMAN,
    UNITS,
    bias,
    correlation,
    rank_scores,
)
from labapp.tasks.unmasking.report.contents import ranks as ranks_of
from labapp.tasks.unmasking.report.curves import AnnotationCells
from labapp.tasks.unmasking.report.results import (
    AGREED,
    DONT_KNOW,
    MASKED,
    MODEL,
    OTHER,
    PEOPLE,
    WHOLE,
    Ranks,
)
from labapp.tasks.unmasking.report.sections import overall
from tests.helpers.nightly import EVERYTHING
from tests.helpers.observers import (
    World,
    annotated,
    cells_of,
    group_of,
    observed,
    sample,
    tables_with,
    with_frames,
)


@pytest.fixture(scope="module")
def cells() -> AnnotationCells:
    return cells_of(sample(8, 4))


def test_labels_by_mask_are_those_of_all_methods(cells: AnnotationCells) -> None:
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


def test_labels_by_method_add_up_to_all(cells: AnnotationCells) -> None:
    found = curves.labels_by_method(cells)
    both = found.groupby("percent")[["labels", "dont_know", "n"]].sum()
    assert both.to_numpy().tolist() == (
        curves.labels(cells)[["labels", "dont_know", "n"]].to_numpy().tolist()
    )


def test_accuracy_with_dont_know_counted_and_left_out(cells: AnnotationCells) -> None:
    found = curves.accuracy(cells).set_index(["method", "percent"])
    for key, some in sample(8, 4).annotations.groupby(["method", "percent"]):
        row = found.loc[key]
        labels = some[~some["dont_know"]]
        assert row["n"] == len(some)
        assert row["share"] == pytest.approx(some["correct"].mean())
        assert row["n_labels"] == len(labels)
        right = labels["correct"].mean() if len(labels) else np.nan
        assert row["share_of_labels"] == pytest.approx(right, nan_ok=True)


def test_times_are_means_and_medians_of_all(cells: AnnotationCells) -> None:
    found = curves.times(cells).set_index(["method", "percent"])
    for key, some in sample(8, 4).annotations.groupby(["method", "percent"]):
        row, ms = found.loc[key], some["reaction_time_ms"]
        assert row["n"] == len(ms)
        assert row["mean"] == pytest.approx(ms.mean())
        assert row["median"] == pytest.approx(ms.median())
        assert row["mean_low"] < row["mean"] < row["mean_high"]
        assert row["median_low"] <= row["median"] <= row["median_high"]


def test_an_interval_is_over_participants_and_not_over_annotations(cells: AnnotationCells) -> None:
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
    found = curves.accuracy(AnnotationCells.of(group))
    assert (found["share"] == 1).all()
    assert (found["n"] == 2).all()
    assert isinstance(curves.labels(AnnotationCells.of(group)), pd.DataFrame)


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


SCORES = arrays(np.float64, (4, 5), elements=st.integers(0, 3).map(float))


def ranks(tables: object) -> Ranks:
    group = group_of(tables)  # type: ignore[arg-type]
    return ranks_of(group, AnnotationCells.of(group))


@given(SCORES)
def test_ranks_are_scipys_with_the_greatest_first(scores: np.ndarray) -> None:
    assert (rank_scores(scores) == stats.rankdata(-scores, axis=-1)).all()


def test_where_a_method_lacks_there_is_no_rank() -> None:
    found = rank_scores(np.array([[1.0, np.nan, 0.0], [1.0, 2.0, 0.0]]))
    assert np.isnan(found[0]).all()
    assert found[1].tolist() == [2.0, 1.0, 3.0]


def test_one_method_alone_has_no_rank() -> None:
    assert np.isnan(rank_scores(np.array([[1.0], [0.5]]))).all()


@settings(max_examples=100 if EVERYTHING else 12)
@given(SCORES, SCORES)
def test_correlations_are_scipys(one: np.ndarray, other: np.ndarray) -> None:
    first, second = rank_scores(one), rank_scores(other)
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
