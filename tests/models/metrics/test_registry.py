"""The metrics by name: each is there, is called alike, and says what it is."""

from __future__ import annotations

import inspect
import json
from functools import partial

import numpy as np
import pytest

from labapp.models.metrics.registry import METRICS, Metric
from tests.models.metrics.brief import few_epochs_of_nis, few_trees_of_dci, few_trees_of_r4

NAMES = (
    "mi", "mig", "sap", "dci", "modularity", "explicitness", "betavae", "factorvae", "r4",
    "dcimig", "ois", "nis", "concept-probe", "task-probe", "completeness", "alignment-accuracy",
    "ctl", "icl",
)  # fmt: skip


LOWER = {"ois", "nis", "ctl", "icl"}
FEW: dict[str, dict[str, object]] = {
    "r4": {"splits": 1},
    "alignment-accuracy": {"epochs": 50},
    "factorvae": {"points": 100, "test_points": 100},
}


def settings_of(metric: Metric, factors: np.ndarray) -> dict[str, object]:
    """A task where a metric takes one, and short training where it trains long."""
    probe = metric.where.startswith("labapp.models.metrics.probes:")
    few: dict[str, object] = {"epochs": 10} if probe else FEW.get(metric.name, {})
    task = {"labels": factors.sum(axis=1) > 1} if metric.labels else {}
    return {**few, **task}


def test_the_names_are_those_of_the_command_line() -> None:
    assert tuple(METRICS) == NAMES
    assert all(metric.name == name for name, metric in METRICS.items())
    assert {name for name, metric in METRICS.items() if metric.better == "lower"} == LOWER


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.name)
def test_every_metric_is_called_alike(metric: Metric) -> None:
    parameters = inspect.signature(metric.load()).parameters
    assert list(parameters)[:2] == ["codes", "factors"]
    assert parameters["seed"].default == 0
    assert parameters["as_published"].default is False
    keywords = list(parameters.values())[2:]
    assert all(one.kind is inspect.Parameter.KEYWORD_ONLY for one in keywords)
    assert metric.load().__doc__


@few_trees_of_r4
@few_trees_of_dci
@few_epochs_of_nis
@pytest.mark.parametrize("as_published", [False, True])
@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.name)
def test_every_metric_says_what_it_did_and_does_it_again(
    metric: Metric, as_published: bool
) -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 2, size=(200, 2)).astype(np.float64)
    codes = factors + 0.1 * rng.normal(size=factors.shape)
    function = metric.load()
    more = settings_of(metric, factors)
    one, two = (
        function(codes, factors, seed=3, as_published=as_published, **more) for _ in range(2)
    )
    assert one.metric == metric.name
    assert one.settings["as_published"] is as_published
    assert one.settings["rows"] == 200
    assert np.isfinite(one.score)
    assert json.dumps(one.to_json(), allow_nan=False) == json.dumps(two.to_json())


@few_trees_of_r4
@few_trees_of_dci
@few_epochs_of_nis
@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.name)
def test_better_codes_have_better_scores(metric: Metric) -> None:
    rng = np.random.default_rng(1)
    factors = rng.integers(0, 2, size=(500, 2)).astype(np.float64)
    mixing = np.array([[0.7, 0.6], [-0.6, 0.7]])
    noise = 0.3 * rng.normal(size=factors.shape)
    found = partial(metric.load(), **settings_of(metric, factors))
    pure, mixed = found(factors + noise, factors).score, found(factors @ mixing + noise, factors)
    if metric.better == "higher":
        assert pure >= mixed.score
    else:
        assert pure <= mixed.score
