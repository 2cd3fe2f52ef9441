"""One metric or all, with settings, on measurements and concepts."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labapp.base.errors import MetricError, UsageError
from labapp.models.metrics.evaluation import scores
from labapp.models.metrics.information import mig
from labapp.models.metrics.registry import METRICS

QUICK = ("mi", "mig", "dcimig", "modularity", "sap")


def some(rows: int = 400) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(rows, 2))
    return factors + 0.2 * rng.normal(size=factors.shape), factors


def test_an_unknown_metric_is_told_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"no metric 'mug'[\s\S]*mi, mig, sap"):
        scores.find("mug")


def test_all_is_what_each_gives() -> None:
    codes, factors = some()
    found = scores.compute_all(codes, factors, names=QUICK)
    assert [outcome.metric.name for outcome in found] == list(QUICK)
    for outcome in found:
        alone = METRICS[outcome.metric.name].load()(codes, factors)
        assert outcome.score is not None
        assert outcome.score.score == alone.score


def test_a_metric_that_cannot_be_computed_says_why_and_the_others_go_on() -> None:
    codes, factors = some()
    said: list[tuple[str, float | None]] = []
    mig_, ois, nis = scores.compute_all(
        codes, factors, names=("mig", "ois", "nis"), say=lambda *told: said.append(told)
    )
    assert said == [("mig", None), ("ois", None), ("nis", None)]
    assert mig_.score is not None
    for outcome in (ois, nis):
        assert outcome.score is None
        assert "only one row" in outcome.reason
        assert outcome.to_json() == {
            "metric": outcome.metric.name,
            "score": None,
            "reason": outcome.reason,
        }


def test_what_may_take_minutes_tells_how_far_it_is() -> None:
    codes, factors = some(rows=60)
    said: list[tuple[str, float | None]] = []
    (found,) = scores.compute_all(
        codes,
        factors[:, :1],
        names=["r4"],
        settings={"r4": {"splits": 1}},
        say=lambda *told: said.append(told),
    )
    assert said == [("r4", share) for share in (None, 0.25, 0.5, 0.75, 1)]
    assert found.score is not None


def test_vectors_are_scored_by_the_metrics_that_take_them() -> None:
    rng = np.random.default_rng(1)
    concepts = rng.integers(0, 2, size=(300, 2))
    codes = concepts[:, :, None] + 0.1 * rng.normal(size=(300, 2, 3))
    found = scores.compute_all(codes, concepts, names=("mig", "ois"))
    assert found[0].score is None
    assert "(300, 2, 3)" in found[0].reason
    assert found[1].score is not None


def test_what_no_metric_could_score_is_refused_at_once() -> None:
    codes, factors = some()
    with pytest.raises(MetricError, match="there are 399 rows of codes, but 400 rows of factors"):
        scores.compute_all(codes[1:], factors)
    codes[3, 1] = np.nan
    with pytest.raises(MetricError, match="row 3, column 1 is nan"):
        scores.compute_all(codes, factors)


def test_factors_are_cut_for_metrics_of_concepts_alone_and_never_with_holes() -> None:
    codes, factors = some()
    cut = scores.compute(METRICS["ois"], codes, factors, cut=True)
    assert cut.settings["factors_are"] == scores.MEDIAN
    by_hand = METRICS["ois"].load()(codes, (factors > np.median(factors, axis=0)).astype(float))
    assert cut.score == by_hand.score
    whole = scores.compute(METRICS["mig"], codes, factors, cut=True)
    assert "factors_are" not in whole.settings
    assert whole.score == mig(codes, factors).score
    factors[0, 0] = np.nan
    with pytest.raises(MetricError, match="nan"):
        scores.compute(METRICS["ois"], codes, factors, cut=True)


@given(arrays(np.float64, (9, 3), elements=st.integers(0, 4).map(float)))
def test_both_sides_of_a_median_occur(factors: np.ndarray) -> None:
    found = scores.above_medians(factors)
    for column, cut in zip(factors.T, found.T, strict=True):
        if len(set(column)) > 1:
            assert set(cut) == {0.0, 1.0}
            assert column[cut == 1].min() > column[cut == 0].max()


def test_settings_are_taken_as_the_types_of_the_metric() -> None:
    codes, factors = some()
    found = scores.parse_settings(METRICS["mig"], ["bins=7", "binning=equal-frequency"])
    assert found == {"bins": 7, "binning": "equal-frequency"}
    score = scores.compute(METRICS["mig"], codes, factors, settings=found)
    assert score.score == mig(codes, factors, bins=7, binning="equal-frequency").score
    assert scores.parse_settings(METRICS["ois"], ["align=TRUE"]) == {"align": True}
    both = scores.parse_all_settings(["mig.bins=7", "ois.hidden=8", "mig.binning=equal-frequency"])
    assert both == {"mig": found, "ois": {"hidden": 8}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mig.bins=few", "of type int"),
        ("mig.width=3", r"bins=20, binning=equal-width"),
        ("ois.align=perhaps", "true or false"),
        ("bins=3", "METRIC.KEY=VALUE"),
        ("bins=0.5", "METRIC.KEY=VALUE"),
        ("mug.bins=3", "no metric 'mug'"),
        ("betavae.sampler=x", "no such setting"),
    ],
)
def test_wrong_settings_are_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        scores.parse_all_settings([text])


def test_every_outcome_is_json_without_nan() -> None:
    codes, factors = some()
    outcomes = scores.compute_all(codes, factors, names=QUICK)
    texts = [json.dumps(outcome.to_json(), allow_nan=False) for outcome in outcomes]
    assert [json.loads(text)["metric"] for text in texts] == list(QUICK)
