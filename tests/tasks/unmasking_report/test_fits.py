"""Known observers and fits, against scipy, statsmodels and scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.metrics import accuracy_score, classification_report, log_loss
from statsmodels.genmod.bayes_mixed_glm import BinomialBayesMixedGLM

from labapp.analysis.bootstrap import NORMAL
from labapp.models.stimuli.masked_pictures import sizes
from labapp.tasks.unmasking.report import contents
from labapp.tasks.unmasking.report import contents as of_mixed
from labapp.tasks.unmasking.report import fits as of_fits
from labapp.tasks.unmasking.report.contents import INTERCEPT, LOG_PERCENT, fit_mixed_model
from labapp.tasks.unmasking.report.fits import MOST_RATES, SLOPES, fit, fits, share
from labapp.tasks.unmasking.report.results import CORRECT, LABEL
from tests.helpers.nightly import EVERYTHING, examples
from tests.helpers.observers import (
    METHODS,
    World,
    annotated,
    cells_of,
    group_of,
    observed,
    tables_with,
)


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


PERCENTS = np.array(sizes())

X = np.log(PERCENTS)

Values = NDArray[np.float64]


def loss(at: Values, hits: Values, counts: Values) -> float:
    location, log_slope, guess, lapse = at
    p = guess + (1 - guess - lapse) * expit(np.exp(log_slope) * (X - location))
    p = np.clip(p, 1e-9, 1 - 1e-9)
    return -float((hits * np.log(p) + (counts - hits) * np.log1p(-p)).sum())


def best(hits: Values, counts: Values, rates: tuple[float, float] | None = None) -> float:
    """The greatest log likelihood that scipy finds from many starts."""
    guess, lapse = (
        ((0.0, MOST_RATES[0]), (0.0, MOST_RATES[1])) if rates is None else ((r, r) for r in rates)
    )
    bounds = [(X.min() - 1.38, X.max() + 1.38), tuple(np.log(SLOPES)), guess, lapse]
    starts = [
        [location, slope, 0.05 if rates is None else rates[0], 0.02 if rates is None else rates[1]]
        for location in (2.0, 2.5, 3.2)
        for slope in (0.5, 1.4, 2.3)
    ]
    options = {"ftol": 1e-14, "gtol": 1e-9, "maxiter": 5000}
    return -min(
        minimize(loss, start, (hits, counts), method="L-BFGS-B", bounds=bounds, options=options).fun
        for start in starts
    )


@pytest.mark.parametrize("people", [1, 5, 62])
def test_no_likelihood_is_greater_than_that_of_the_fit(people: int) -> None:
    rng = np.random.default_rng(people)
    truths = [(8.0, 3.0, 0.15, 0.01), (13.0, 4.0, 0.1, 0.02), (25.0, 6.0, 0.0, 0.0)]
    counts = np.full((len(truths), PERCENTS.size), 10.0 * people)
    hits = np.array([rng.binomial(10 * people, share(PERCENTS, *one)) for one in truths], float)
    found = fit(X, hits, counts)
    for row in range(len(truths)):
        assert found.log_likelihood[row] >= best(hits[row], counts[row]) - 1e-4
    assert (found.guess <= MOST_RATES[0]).all()
    assert (found.lapse <= MOST_RATES[1]).all()


def test_known_rates_are_kept() -> None:
    rng, many = np.random.default_rng(4), 8 if EVERYTHING else 2
    counts = np.full((many, PERCENTS.size), 10.0)
    hits = rng.binomial(10, share(PERCENTS, 13.0, 4.0, 0.1, 0.02), counts.shape).astype(float)
    rates = (np.full(many, 0.1), np.full(many, 0.02))
    found = fit(X, hits, counts, rates)
    assert found.guess == pytest.approx(rates[0])
    assert found.lapse == pytest.approx(rates[1])
    for row in range(many):
        theirs = best(hits[row], counts[row], (0.1, 0.02))
        assert found.log_likelihood[row] >= theirs - 1e-4


def test_without_noise_the_parameters_come_back() -> None:
    p = share(PERCENTS, 13.0, 4.0, 0.1, 0.02)
    found = fit(X, 1e6 * p[None], np.full((1, PERCENTS.size), 1e6))
    assert found.threshold[0] == pytest.approx(13.0, rel=1e-3)
    assert found.slope[0] == pytest.approx(4.0, rel=1e-3)
    assert found.guess[0] == pytest.approx(0.1, abs=1e-3)
    assert found.lapse[0] == pytest.approx(0.02, abs=1e-3)


def test_the_threshold_is_half_way_between_the_ends() -> None:
    assert float(share(13.0, 13.0, 4.0, 0.1, 0.02)) == pytest.approx(0.1 + 0.88 / 2)


def test_a_lapse_rate_beyond_its_bound_takes_another_bound() -> None:
    p = share(PERCENTS, 13.0, 4.0, 0.05, 0.25)
    counts = np.full((1, PERCENTS.size), 1e5)
    bound = fit(X, 1e5 * p[None], counts)
    free = fit(X, 1e5 * p[None], counts, most=(0.5, 0.5))
    assert bound.lapse[0] == pytest.approx(MOST_RATES[1], abs=1e-4)
    assert free.lapse[0] == pytest.approx(0.25, abs=1e-3)
    assert free.threshold[0] == pytest.approx(13.0, rel=1e-3)


def test_effects_are_those_of_statsmodels_formula() -> None:
    """Its estimates are modes under priors that draw effects to 0: ours are a little larger."""
    tables = observed(12, World(images=6))
    effects, why = fit_mixed_model(cells_of(tables))
    assert why == ""
    rows = pd.DataFrame(
        {
            "correct": tables.annotations["correct"].astype(float),
            "method": tables.annotations["method"].astype(str),
            "participant": tables.annotations["participant"].astype(str),
            "image": tables.annotations["image"].astype(str),
        }
    )
    x = np.log(tables.annotations["percent"].to_numpy(float))
    rows["x"] = x - np.log(np.unique(tables.annotations["percent"])).mean()
    random = {"participant": "0 + C(participant)", "image": "0 + C(image)"}
    model = BinomialBayesMixedGLM.from_formula("correct ~ method + x", random, rows)
    # From a place of its own that leads to the mode that holds the most: not every one does.
    precise = {"ftol": 1e-14, "gtol": 1e-7, "maxiter": 10_000, "maxfun": 100_000}
    theirs = model.fit_map(method="L-BFGS-B", minim_opts=precise, rng=5)
    assert effects["effect"].tolist() == [INTERCEPT, "guided_backprop", "lrp", LOG_PERCENT]
    assert effects["estimate"].to_numpy() == pytest.approx(theirs.fe_mean, abs=0.035)
    assert (effects["estimate"].abs() > np.abs(theirs.fe_mean)).tolist()[1:] == [True] * 3
    assert effects["sd"].to_numpy()[1:] == pytest.approx(theirs.fe_sd[1:], rel=0.02)
    assert (effects["n"] == 12 * 6 * 30).all()
    ends = effects["estimate"] + NORMAL * effects["sd"]
    assert effects["high"].to_numpy() == pytest.approx(ends.to_numpy())


def test_the_better_method_has_the_greater_odds() -> None:
    effects = fit_mixed_model(cells_of(observed(12)))[0].set_index("effect")
    assert effects.loc["guided_backprop", "low"] > 0
    assert effects.loc["guided_backprop", "estimate"] > effects.loc["lrp", "estimate"]
    assert effects.loc[LOG_PERCENT, "low"] > 0


def test_the_same_annotations_have_the_same_numbers_to_the_last_digit() -> None:
    cells = cells_of(observed(4, World(images=4)))
    pd.testing.assert_frame_equal(
        fit_mixed_model(cells)[0], fit_mixed_model(cells)[0], check_exact=True
    )


def test_why_it_is_not_fitted() -> None:
    for tables in (observed(0), observed(1), observed(3, World(images=1))):
        found, why = fit_mixed_model(cells_of(tables))
        assert found.empty
        assert why == of_mixed.FEW
    world = World(images=2)
    right = [annotated(one, who, one["truth"]) for who in ("P1", "P2") for one in world.rows()]
    assert fit_mixed_model(cells_of(tables_with(world, right)))[1] == of_mixed.FLAT


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
