"""The tests of forecasts over models, on rows whose effects are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from labapp.analysis import sections
from labapp.analysis.design.summing_up import summary
from labapp.analysis.inference import EQUIVALENT, holm
from labapp.analysis.task_report import HypothesisResult, default_analyses, reports
from labapp.base.report.page import join_parts
from labapp.study import loading
from labapp.study.design import Hypothesis
from labapp.tasks.concept_repair.report.forecast_section import (
    TYPES,
    by_type,
    declared_rows,
    hypothesis_results,
    of_forecasts,
)
from labapp.tasks.concept_repair.report.forecasts import (
    PURITY,
    SENSITIVITY,
    TESTS,
    TRUST,
    Forecasts,
    d_prime,
    fitted_line,
    model_estimates,
    person_scores,
    slope_over_models,
    with_outcomes,
)
from labapp.tasks.concept_repair.task import TESTS as DECLARABLE

PEOPLE, EACH, TYPE = 72, 4, 12


def models_of(count: int) -> pd.DataFrame:
    purity = np.linspace(0.2, 0.3, count)
    return pd.DataFrame(
        {
            "name": [f"m{n}" for n in range(count)],
            "task_accuracy": 90.0 + np.arange(count) % 5 / 10,
            "concept_accuracy": 97.0,
            "leak_rate": np.linspace(0.01, 0.1, count) ** 2,
            PURITY: purity,
            "ois_common_sd": 0.007,
            "ois_common_seeds": 10.0,
            "rate_follows": 0.28,
            "rate_stays": 0.68,
            "rate_leaks": np.linspace(0.01, 0.06, count),
            "at": np.arange(count),
        }
    )


def study(
    moves: Callable[[str, float], tuple[float, float]], count: int = 24, seed: int = 1
) -> Forecasts:
    """A study in which everybody forecasts with these probabilities (moves, right)."""
    rng = np.random.default_rng(seed)
    models = models_of(count)
    z = (models[PURITY] - models[PURITY].mean()) / models[PURITY].std()
    rows = []
    for person in range(PEOPLE):
        for block in range(EACH):
            at = (person + block * 5) % count
            row: dict[str, float] = {"person": person, "at": at, "block": block}
            for kind in ("follows", "stays", "leaks"):
                moved, right = moves(kind, float(z[at]))
                row |= {
                    f"n_{kind}": TYPE,
                    f"moved_{kind}": rng.binomial(TYPE, moved),
                    f"right_{kind}": rng.binomial(TYPE, right),
                }
            rows.append(row)
    people = with_outcomes(pd.DataFrame(rows).assign(who="p"), models)
    declared = tuple(
        Hypothesis(text=name, test=name, role="primary" if at < 2 else "secondary")
        for at, name in enumerate(TESTS)
    )
    return Forecasts(people, models, declared)


def test_every_test_that_studies_can_declare_is_carried_out() -> None:
    assert set(TESTS) == set(DECLARABLE)


def test_people_who_find_fewer_leaks_in_impure_models_are_noticed() -> None:
    made = study(lambda kind, z: (0.5 - 0.12 * z if kind == "leaks" else 0.15, 0.85))
    (hypothesis, row, equal), *others = made.results()
    assert hypothesis.test == "leak_sensitivity"
    assert row.difference is not None
    assert row.difference < -0.2
    assert row.p_corrected is not None
    assert row.p_corrected < 0.01
    assert row.df == 22
    assert equal is not None
    trust = others[0][1]
    assert trust.p is not None
    assert row.p is not None
    assert [row.p_corrected, trust.p_corrected] == pytest.approx(holm([row.p, trust.p]).tolist())
    assert all(made.p_corrected is None for _, made, _ in others[1:])


@pytest.mark.parametrize(
    "moves",
    [
        lambda kind, z: (0.0, float(kind == "stays")),
        lambda kind, z: (float(kind == "follows"), 1.0),
    ],
    ids=["always the same", "the card"],
)
def test_those_who_heed_no_model_give_no_slope(
    moves: Callable[[str, float], tuple[float, float]],
) -> None:
    for _, row, equal in study(moves).results()[:2]:
        assert row.p is None
        assert row.why == "all models have the same value"
        assert equal is None


def test_no_slope_is_tested_with_fewer_than_twelve_models() -> None:
    for _, row, _ in study(lambda kind, z: (0.5, 0.5), count=11).results():
        assert row.p is None
        assert row.why.startswith("fewer than 12 models")


def test_the_reliability_of_the_predictor() -> None:
    made = study(lambda kind, z: (0.5, 0.5))
    purity = made.models[PURITY].to_numpy()
    within = 0.007**2 / 10
    between = purity.var(ddof=1) - within
    assert made.reliability == pytest.approx(between / (between + within))


def test_d_prime_is_that_of_hautus() -> None:
    value = float(d_prime(np.array([12.0]), np.array([12.0]), np.array([0.0]), np.array([12.0]))[0])
    assert value == pytest.approx(2 * 1.7688, abs=1e-3)  # z(12.5 / 13) twice


def test_the_estimates_of_models_are_those_of_a_mixed_model() -> None:
    """Of statsmodels."""
    import statsmodels.formula.api as smf

    own = study(lambda kind, z: (0.4 + 0.1 * z if kind == "leaks" else 0.2, 0.7), count=12).people
    rng = np.random.default_rng(3)
    own = own.assign(y=own[SENSITIVITY] + rng.normal(size=PEOPLE)[own["person"]])
    kept = own.sample(frac=0.95, random_state=1)  # some are missing
    columns = [kept[name].to_numpy(np.int64) for name in ("person", "block", "at")]
    made = model_estimates(kept["y"].to_numpy(np.float64), *columns)
    fitted = smf.mixedlm("y ~ 0 + C(at) + C(block, Sum)", kept, groups=kept["person"]).fit()
    wanted = [fitted.params[f"C(at)[{at}]"] for at in range(12)]
    assert made == pytest.approx(wanted, abs=2e-3)


def test_a_slope_is_that_of_a_regression() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=20)
    y = 0.3 * x + rng.normal(size=20)
    made = slope_over_models(y, x)
    assert made is not None
    from scipy import stats

    wanted = stats.linregress((x - x.mean()) / x.std(ddof=1), y)
    assert (made.value, made.error, made.p) == pytest.approx(
        (wanted.slope, wanted.stderr, wanted.pvalue)
    )


def test_the_band_is_that_of_a_regression() -> None:
    """Of statsmodels."""
    import statsmodels.api as sm

    rng = np.random.default_rng(5)
    x = rng.normal(size=24)
    y = 0.3 * x + rng.normal(size=24)
    made = fitted_line(y, x)
    assert made is not None
    along, line, half = made
    known = sm.OLS(y, sm.add_constant(x)).fit().get_prediction(sm.add_constant(along))
    low, high = known.conf_int(alpha=0.05).T
    assert line == pytest.approx(known.predicted_mean)
    assert (line - half, line + half) == (pytest.approx(low), pytest.approx(high))


def test_each_type_of_change_has_a_row() -> None:
    made = study(lambda kind, z: (0.5 if kind == "leaks" else 0.25, 0.75))
    page = str(by_type(made))
    for kind, words in TYPES.items():
        assert words in page
        shares = made.people.groupby("person")[f"moved_{kind}"].sum() / (EACH * TYPE)
        assert f"{100 * shares.mean():.1f}" in page
    assert page.count(f"{PEOPLE * EACH * TYPE:,}") == 3


def test_rows_become_counts_by_participant_and_model() -> None:
    rows = pd.DataFrame(
        [
            ("a", 1, "leaks", 1.0, 0.0, 10.0), ("a", 1, "leaks", 0.0, 0.0, 11.0),
            ("a", 1, "stays", 0.0, 1.0, 12.0), ("a", 0, "follows", 1.0, 1.0, 20.0),
            ("b", 0, "stays", 1.0, 0.0, 5.0),
        ],
        columns=["who", "at", "change_type", "moved", "right", "session_s"],
    )  # fmt: skip
    made = person_scores(rows, models_of(2)).set_index(["who", "at"])
    first = made.loc[("a", 1)]
    assert (first["n_leaks"], first["moved_leaks"], first["n_stays"]) == (2, 1, 1)
    assert (first["block"], made.loc[("a", 0), "block"]) == (0, 1)  # in the order they were met
    assert np.isnan(made.loc[("b", 0), SENSITIVITY])
    assert np.isfinite(made.loc[("b", 0), TRUST])


def test_declared_tests_begin_the_summary() -> None:
    tested = list(
        hypothesis_results(study(lambda kind, z: (0.5 - 0.12 * (kind == "leaks") * z, 0.85)))
    )
    assert [each.hypothesis.test for each in tested] == list(TESTS)
    assert all("t(22) = " in each.words and "95 % interval" in each.words for each in tested)
    assert all("corrected p" in each.words for each in tested[:2])
    assert "not within ± 0.3" in tested[0].words
    assert "within ± 0.5: too small to matter" in tested[1].words
    assert all("90 % interval" not in each.words for each in tested[2:])
    people = pd.DataFrame({"included": [True], "excluded_because": [""]})
    page = str(join_parts(summary(people, None, {}, tested)))
    assert page.index("supported") < page.index("not supported")
    why = study(lambda kind, z: (0.5, 0.5), count=11)
    assert "not tested" in str(join_parts(summary(people, None, {}, list(hypothesis_results(why)))))


def test_the_report_has_each_registered_test_and_calls_no_other_primary() -> None:
    """As the shipped study declares them, which is what a registration records."""
    registered = loading.load("concept-forecast").study.hypotheses
    made = study(lambda kind, z: (0.5 - 0.12 * (kind == "leaks") * z, 0.85))
    made = replace(made, declared=registered)
    page = str(join_parts([*of_forecasts(made), by_type(made)]))
    for hypothesis in registered:
        assert page.count(f"{hypothesis.role}, {hypothesis.test}<") == 1
    primary = [each for each in registered if each.role == "primary"]
    assert page.count("primary,") == len(primary) == 2
    assert page.count("secondary,") == len(registered) - 2
    assert "confirm" not in page
    rows = declared_rows(made)
    assert {row.role for row in rows if row.item in {f"4 {each.test}" for each in primary}} == {
        "primary"
    }
    assert [row.item for row in rows if row.direction != EQUIVALENT] == [
        f"4 {each.test}" for each in registered
    ]
    hidden = replace(made, declared=registered[1:2])
    page = str(join_parts(of_forecasts(hidden)))
    assert "card_trust" in page
    assert "leak_sensitivity" not in page, "what is not declared is not tested"


def test_a_report_with_declared_tests_comes_before_the_analyses_by_the_design() -> None:
    hypothesis = HypothesisResult(Hypothesis(text="it", test="card_trust"), None, "why")
    task = next(each for each in reports() if "concept-repair" in each.activities)
    ranked = sorted(
        reports(),
        key=lambda each: sections._rank(each, {**dict.fromkeys(reports()), task: [hypothesis]}),
    )
    assert ranked[:2] == [task, default_analyses()]
    assert sorted(reports(), key=lambda each: sections._rank(each, dict.fromkeys(reports())))[
        0
    ] == (default_analyses())
