"""All metrics: how they are called, what they refuse, what changes none of them, and published
values."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.base import resources
from labapp.base.errors import MetricError
from labapp.models.datasets import sinelines
from labapp.models.datasets.split import Float64
from labapp.models.metrics.dci import dci
from labapp.models.metrics.information import (
    Binning,
    dcimig,
    mi,
    mig,
    modularity,
    mutual_information,
)
from labapp.models.metrics.inputs import (
    MOST_CLASSES,
    Score,
    check_count,
    check_inputs,
    check_rows,
    check_seed,
    check_vectors,
    concepts,
    divide_rows,
    generator,
)
from labapp.models.metrics.registry import METRICS, Metric
from labapp.models.metrics.sap import explicitness, sap
from tests.helpers.sample import examples, sample
from tests.models.metrics.brief import few_epochs_of_nis, few_trees_of_dci, few_trees_of_r4
from tests.models.metrics.made import BINNINGS, array, mixed, seeds

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


RNG = np.random.default_rng(0)

CODES, FACTORS = RNG.normal(size=(40, 3)), RNG.normal(size=(40, 2))


def changed(table: np.ndarray, row: int, column: int, value: float) -> np.ndarray:
    table = table.copy()
    table[row, column] = value
    return table


REFUSED = {
    "one column as a vector": (CODES[:, 0], FACTORS, r"codes have shape \(40,\)"),
    "no code": (CODES[:, :0], FACTORS, r"codes have shape \(40, 0\)"),
    "three axes": (CODES, FACTORS[..., None], r"factors have shape \(40, 2, 1\)"),
    "other lengths": (CODES[:-1], FACTORS, "there are 39 rows of codes, but 40 rows of factors"),
    "no rows": (CODES[:0], FACTORS[:0], "codes and factors have 0 rows"),
    "one row": (CODES[:1], FACTORS[:1], "codes and factors have 1 rows"),
    "text": (CODES.astype(str), FACTORS, "codes have the type <U"),
    "complex": (CODES, FACTORS + 1j, "factors have the type complex128"),
    "not a number": (changed(CODES, 7, 1, np.nan), FACTORS, "codes: row 7, column 1 is nan"),
    "infinite": (CODES, changed(FACTORS, 0, 1, -np.inf), "factors: row 0, column 1 is -inf"),
    "beyond squaring": (changed(CODES, 2, 2, 1e200), FACTORS, "codes: row 2, column 2 is 1e\\+200"),
    "a factor that does not vary": (CODES, FACTORS * [1, 0] + 4, "factors: column 1 is 4 in every"),
}


@pytest.mark.parametrize("name", ["checked", "mutual_information", *METRICS])
@pytest.mark.parametrize("case", REFUSED)
def test_bad_tables_are_refused_by_name_and_place(name: str, case: str) -> None:
    codes, factors, message = REFUSED[case]
    shared: dict[str, Callable[..., Any]] = {
        "checked": check_inputs,
        "mutual_information": mutual_information,
    }
    metric = shared.get(name) or METRICS[name].load()
    task = {"labels": FACTORS[:, 0] > 0} if name in METRICS and METRICS[name].labels else {}
    with pytest.raises(MetricError, match=message) as refused:
        metric(codes, factors, **task)
    assert refused.value.todo


@pytest.mark.parametrize("kind", [np.bool_, np.uint8, np.int64, np.float32, np.float64])
def test_any_kind_of_real_number_becomes_float64(kind: type) -> None:
    codes, factors = check_inputs((CODES > 0).astype(kind), (FACTORS > 0).astype(kind).tolist())
    assert codes.dtype == factors.dtype == np.float64
    assert np.array_equal(codes, CODES > 0)
    assert np.array_equal(factors, FACTORS > 0)


def test_a_code_that_does_not_vary_is_let_through() -> None:
    check_inputs(np.zeros((5, 2)), FACTORS[:5])


@pytest.mark.parametrize("case", [name for name in REFUSED if name != "three axes"])
def test_bad_tables_are_refused_of_codes_of_several_numbers_too(case: str) -> None:
    codes, factors, message = REFUSED[case]
    with pytest.raises(MetricError, match=message):
        check_vectors(codes, factors)


def test_codes_of_several_numbers_keep_their_shape() -> None:
    vectors = RNG.normal(size=(40, 3, 2))
    codes, factors = check_vectors(vectors.tolist(), FACTORS)
    assert np.array_equal(codes, vectors)
    assert np.array_equal(factors, FACTORS)
    assert np.array_equal(check_vectors(CODES, FACTORS)[0], CODES[:, :, None])


@pytest.mark.parametrize("shape", [(40, 0, 2), (40, 3, 0), (40, 3, 2, 2), (40,)])
def test_other_shapes_of_codes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(MetricError, match=f"codes have shape {re.escape(str(shape))}"):
        check_vectors(np.ones(shape), FACTORS)


def test_the_place_of_a_bad_number_is_told() -> None:
    vectors = np.zeros((40, 3, 2))
    vectors[7, 1, 0] = np.inf
    with pytest.raises(MetricError, match="codes: row 7, column 1, number 0 is inf"):
        check_vectors(vectors, FACTORS)
    with pytest.raises(MetricError, match=r"factors have shape \(40, 2, 1\)"):
        check_vectors(CODES, FACTORS[..., None])


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_that_not_all_take_is_refused(seed: int) -> None:
    check_seed(0)
    check_seed(2**32 - 1)
    for take in (check_seed, generator):
        with pytest.raises(MetricError, match=f"the seed is {seed}"):
            take(seed)


def test_fewer_rows_or_draws_than_make_sense_are_refused() -> None:
    check_rows(10, 10)
    check_count("batch", 2, 2)
    with pytest.raises(MetricError, match="there are 9 rows"):
        check_rows(9, 10)
    with pytest.raises(MetricError, match="batch is 1") as refused:
        check_count("batch", 1, 2)
    assert refused.value.todo == "Give at least 2."


def test_values_become_classes_in_their_order() -> None:
    found = concepts(np.array([[-1.0, 0.5], [7, 0.25], [-1, 0.5], [7, 2], [7, 2], [7, 0.25]]))
    assert found.classes == (2, 3)
    assert found.labels.T.tolist() == [[0, 1, 0, 1, 1, 1], [1, 0, 1, 2, 2, 0]]


def test_a_measurement_is_no_concept() -> None:
    with pytest.raises(MetricError, match=r"factors: column 1 is 0 in only one row"):
        concepts(np.stack([np.arange(40) % 2, np.arange(40)], axis=1).astype(float))
    many = np.repeat(np.arange(MOST_CLASSES + 1.0), 2)[:, None]
    with pytest.raises(
        MetricError, match="column 0 has 101 values, but a concept can have at most 100"
    ):
        concepts(many)
    concepts(many[:-2])


@examples(40)
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(60, 200))
def test_every_class_is_on_both_sides(seed: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    labels = np.stack([rng.integers(0, 3, rows), np.arange(rows) < 4], axis=1).astype(float)
    found = concepts(labels)
    division = divide_rows(found, rng)
    assert len(division.test) == round(rows / 5)
    both = np.concatenate([division.train, division.test])
    assert np.array_equal(np.sort(both), np.arange(rows))
    for side in (division.train, division.test):
        assert [len(np.unique(column)) for column in found.labels[side].T] == [3, 2]


def test_the_first_draw_is_taken_where_it_will_do() -> None:
    found = concepts((np.random.default_rng(0).random((300, 2)) > 0.5).astype(float))
    order = np.random.default_rng(5).permutation(300)
    division = divide_rows(found, np.random.default_rng(5))
    assert np.array_equal(division.test, order[:60])
    assert np.array_equal(division.train, order[60:])


def test_rows_that_cannot_be_divided_are_refused() -> None:
    # One test row cannot hold two classes.
    with pytest.raises(MetricError, match="a class of factor column 0 is too rare: 4 rows"):
        divide_rows(concepts(np.array([[0.0], [0], [1], [1]])), np.random.default_rng(0))


SCORE = Score(
    metric="made-up",
    score=0.5,
    parts={"matrix": np.array([[0.25, np.nan], [1.0, 2.0]]), "other": 0.125, "none": np.nan},
    settings={"seed": 3, "as_published": False},
)


def test_json_is_plain_and_says_null_where_a_part_is_undefined() -> None:
    written = SCORE.to_json()
    assert json.loads(json.dumps(written, allow_nan=False)) == written
    assert written == {
        "metric": "made-up",
        "score": 0.5,
        "parts": {"matrix": [[0.25, None], [1.0, 2.0]], "other": 0.125, "none": None},
        "settings": {"seed": 3, "as_published": False},
    }


def test_a_score_stays_as_it_was_made() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        SCORE.score = 1.0  # type: ignore[misc]


Z = np.random.default_rng(2).uniform(-1, 1, (10_000, 2))

BENT = Z**15

"""Each factor in one code (Fact 6)."""

HIDDEN = np.stack([Z[:, 0], (Z**25).sum(axis=1), Z[:, 1]], axis=1)

"""Each factor in two codes (Fact 8)."""

TURNED = Z @ np.array([[1.0, 1.0], [1.0, -1.0]])

"""Each factor in both codes and each code of both factors."""


def information(name: str, codes: Float64) -> Score:
    """Equal frequencies, so that a monotone map is not what is measured (see Fact 7)."""
    return {"mig": mig, "dcimig": dcimig}[name](codes, Z, binning="equal-frequency")


def test_sap_keeps_neither_promise() -> None:
    assert sap(BENT, Z).score < 0.35
    assert sap(HIDDEN, Z).score > 0.89


@pytest.mark.parametrize("name", ["mig", "dcimig"])
def test_mig_and_dcimig_keep_the_first(name: str) -> None:
    assert information(name, BENT).score > 0.99
    assert information(name, Z).score > 0.99


@pytest.mark.parametrize("name", ["mig", "dcimig"])
def test_mig_and_dcimig_keep_the_second(name: str) -> None:
    assert information(name, TURNED).score < 0.02
    assert information(name, TURNED[:, :1]).score < 0.2


def test_what_each_makes_of_a_factor_hidden_in_a_second_code() -> None:
    # MIG takes off what the second code knows; to DCIMIG the first code is enough.
    assert 0.6 < information("mig", HIDDEN).score < 0.75 < sap(HIDDEN, Z).score
    assert information("dcimig", HIDDEN).score > 0.99


def test_what_each_makes_of_redundant_and_of_compact_codes() -> None:
    """Section 3.3: (x, x^2, y, y^3) has the first characteristic and not the second, any single
    code the second and not, as a rule, the first."""
    x, y = (Z.T + 1) / 2
    factors = np.stack([x, y], axis=1)
    redundant = np.stack([x, x**2, y, y**3], axis=1)
    grid = np.stack([np.floor(4 * x), np.floor(4 * y)], axis=1)
    single = grid[:, :1] * 4 + grid[:, 1:]
    scores = {
        metric.__name__: (metric(redundant, factors).score, metric(single, grid).score)
        for metric in (mi, mig, dcimig, modularity, sap)
    }
    assert scores["mig"][0] < 0.5 < 0.99 < scores["mig"][1]
    assert scores["dcimig"][1] < 0.02 < 0.99 < scores["dcimig"][0]
    assert scores["modularity"][1] < 0.02 < 0.99 < scores["modularity"][0]
    assert scores["sap"][0] < 0.15
    assert min(scores["mi"]) > 0.99  # it looks at neither
    assert explicitness(redundant, factors).score > explicitness(single, grid).score


MetricOfCodes = Callable[..., Score]

metrics = pytest.mark.parametrize("metric", [mi, mig, dcimig, modularity])

several = examples(30)


@metrics
@several
@given(seed=seeds, binning=st.sampled_from(BINNINGS))
def test_order_of_codes_factors_and_rows_changes_nothing(
    metric: MetricOfCodes, seed: int, binning: Binning
) -> None:
    codes, factors = mixed(seed)
    whole = metric(codes, factors, binning=binning)
    rng = np.random.default_rng(seed)
    rows, c, f = rng.permutation(200), rng.permutation(4), rng.permutation(3)
    moved = metric(codes[rows][:, c], factors[rows][:, f], binning=binning)
    assert 0 <= moved.score <= 1 + 1e-12
    assert moved.score == pytest.approx(whole.score, abs=1e-12)
    orders = {"per_code": c, "per_factor": f, "mutual_information": np.ix_(c, f)}
    for name in orders.keys() & whole.parts.keys():
        np.testing.assert_allclose(array(moved, name), array(whole, name)[orders[name]], atol=1e-12)


@metrics
@several
@given(seed=seeds, unit=st.floats(1e-6, 1e6), shift=st.floats(-10, 10))
def test_sign_unit_and_origin_of_a_code_change_nothing(
    metric: MetricOfCodes, seed: int, unit: float, shift: float
) -> None:
    codes, factors = mixed(seed)
    score = metric(codes, factors).score
    assert metric(codes * [-1, 1, -1, 1], factors).score == pytest.approx(score, abs=1e-9)
    assert metric(codes * unit + shift, factors).score == pytest.approx(score, abs=1e-9)


@metrics
@several
@given(seed=seeds)
def test_equal_frequency_bins_keep_the_promise_of_monotone_maps(
    metric: MetricOfCodes, seed: int
) -> None:
    codes, factors = mixed(seed)
    score = metric(codes, factors, binning="equal-frequency").score
    for mapped in (np.exp(codes), codes**15, np.arctan(codes)):
        assert metric(mapped, factors, binning="equal-frequency").score == score
    # Rows at a cut change sides when all is turned over; 200 rows fill 20 bins without a rest.
    turned = metric(-codes, factors, binning="equal-frequency").score
    assert turned == pytest.approx(score, abs=1e-12)


def hand_made(seed: int, covariance: float) -> tuple[Float64, Float64, Float64]:
    """Concepts, pure codes and impure codes of paper 001, 4.1: 3,000 rows, 5 concepts.

    A pure code lies anywhere in [0.95, 1] for 1 and in [0, 0.05] for 0. Of an impure one, the
    sixteenth of that interval in which it lies tells the other four concepts.
    """
    rng = np.random.default_rng(seed)
    sigma = np.full((5, 5), covariance) + (1 - covariance) * np.eye(5)
    concepts = (rng.multivariate_normal(np.zeros(5), sigma, 3_000) >= 0).astype(np.float64)
    place = rng.random((3_000, 5))
    tile = np.stack([np.delete(concepts, j, axis=1) @ [8, 4, 2, 1] for j in range(5)], axis=1)
    pure = 0.95 * concepts + 0.05 * place
    return concepts, pure, 0.95 * concepts + 0.05 * (tile + place) / 16


# Paper 001, Table 1, was computed on independent concepts; with the covariance of 0.25 that its
# text states, the released code gives the second row.
@pytest.mark.parametrize(
    ("covariance", "published_mig", "published_impure_dci"),
    [(0.0, 0.9993, 0.9950), (0.25, 0.9785, 0.9943)],
)
def test_table_1_of_paper_001(
    covariance: float, published_mig: float, published_impure_dci: float
) -> None:
    migs, pure_dci, impure_dci = [], [], []
    for seed in sample(range(3), range(1)):
        concepts, pure, impure = hand_made(seed, covariance)
        for codes in (pure, impure):
            migs.append(mig(codes, concepts, as_published=True).score)
            # Two values, evenly spaced: the histogram is the definition here.
            assert mig(codes, concepts).score == pytest.approx(migs[-1], abs=1e-12)
        pure_dci.append(dci(pure, concepts, as_published=True).score)
        impure_dci.append(dci(impure, concepts, as_published=True).score)
    assert np.mean(migs) == pytest.approx(published_mig, abs=0.004)
    assert np.mean(pure_dci) == pytest.approx(0.9999, abs=0.0002)
    assert np.mean(impure_dci) == pytest.approx(published_impure_dci, abs=0.001)


@pytest.mark.parametrize(("covariance", "published"), [(0.0, 0.4878), (0.25, 0.4140)])
def test_sap_in_table_1_of_paper_001(covariance: float, published: float) -> None:
    # Printed as 48.74 % of pure and 48.83 % of impure codes; the second row is again what the
    # released code gave. Means over 5 seeds have an SD of 0.002: over 20 seeds of pure codes, ours
    # are 0.4873 and 0.4101.
    for kind in (1, 2):
        scores = []
        for seed in sample(range(5), range(1)):
            made = hand_made(seed, covariance)
            scores.append(sap(made[kind], made[0], as_published=True).score)
            # Half of the rows, drawn, instead of the first fifth.
            assert sap(made[kind], made[0]).score == pytest.approx(scores[-1], abs=0.03)
        assert np.mean(scores) == pytest.approx(published, abs=0.008)


def shipped(name: str) -> tuple[Float64, Float64]:
    """Encodings of the held-out series, and their factors."""
    with np.load(resources.models() / "sinelines" / name / "latents.npz") as arrays:
        codes = arrays["latents"].astype(np.float64)
    return codes, sinelines.draw_factors(50_000, seed=0)[-len(codes) :]


def test_the_shipped_sinelines_vae_scores_as_the_published_one() -> None:
    # Paper 000, Table 2: 0.15 and, with the roles exchanged, 0.40. Another training run has other
    # codes: its scores are near, not equal.
    codes, factors = shipped("vae")
    assert mig(codes, factors, as_published=True).score == pytest.approx(0.15, abs=0.03)
    found = dci(codes, factors, as_published=True)
    assert found.score == pytest.approx(0.40, abs=0.05)
    # Figure 2 of the paper: slope and intercept have a code each, the wave's parameters do not.
    linear, wave = np.split(np.asarray(found.parts["per_factor"]), [2])
    assert linear.min() > 0.5 > wave.max()


def test_the_shipped_sinelines_ae_is_more_entangled_than_the_vae() -> None:
    scores = {name: mig(*shipped(name)).score for name in ("ae", "vae")}
    assert scores["ae"] < 0.9 * scores["vae"]
