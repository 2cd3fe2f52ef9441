"""The example with all of a study's awkward parts at once: its plan, its people, its numbers.

The numbers are computed a second time from the tables alone, by statsmodels and scipy.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.regression.linear_model import OLS

from labapp.analysis.declared import read_declaration
from labapp.analysis.design import analyses
from labapp.analysis.design.analyses import StudyAnalyses, analyse
from labapp.analysis.design.anova import CONTRAST, EQUIVALENCE
from labapp.analysis.design.reviewing import answers_by_condition, correlations
from labapp.analysis.design.sections import sections
from labapp.analysis.design.summing_up import summary
from labapp.analysis.retention import retention
from labapp.analysis.sections import methods
from labapp.analysis.tables import Tables, load
from labapp.analysis.task_report import Findings, ReportedStudy
from labapp.base.report.page import clock
from labapp.record.journal.opening import open_record
from labapp.session.gate import gate
from labapp.session.overview import overview
from labapp.session.simulation.simulation_job import simulate_study
from tests.helpers.hint_study import STUDY, shorter
from tests.helpers.nightly import EVERYTHING

PEOPLE = 24 if EVERYTHING else 6
MODELS = {"sinelines/ae": 1.0, "sinelines/gt": -0.5, "sinelines/vae": -0.5}
"""With the weights of the declared contrast."""


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("hint")
    study = STUDY if EVERYTHING else shorter(folder / "study")
    return simulate_study(str(study), PEOPLE, "understanding=0.6,random=0.4", folder / "data")


@pytest.fixture(scope="module")
def tables(sessions: list[Path]) -> Tables:
    return load(sessions[0].parent)


@pytest.fixture(scope="module")
def results(tables: Tables) -> StudyAnalyses:
    with pytest.MonkeyPatch.context() as patch:
        if not EVERYTHING:  # which are tested in tests/analysis/design/test_further.py
            patch.setattr(analyses, "further_tests", lambda *given: ())
        counted = tables.included()
        return analyse(counted, read_declaration(counted, "hint-study"), by_trials=EVERYTHING)


def test_it_is_in_order_and_its_plan_names_all_that_is_awkward(tmp_path: Path) -> None:
    assert gate(STUDY).study.quota_limits == {"experts": 12, "young": 12}
    lines = overview(str(STUDY), 2, tmp_path).lines()
    shown = "\n".join(lines)
    assert "By language: en 0, de 0." in lines
    assert "Hint: With a hint     0 of 10 included" in shown
    assert "Hint: Without a hint  0 of 14 included" in shown
    assert "Stage 4: at most 32 masked pictures at 8 levels (up-down, 2 tracks)" in shown
    places = lines[lines.index("Slots (a slot is the condition and order of one participant):") :]
    assert not [line for line in places if "sinelines/" in line], "models have their labels"
    first = next(number for number, line in enumerate(places) if "at most 0 apart" in line)
    assert [line.split("  ")[2] for line in places[first + 1 : first + 4]] == [
        "True factors", "VAE", "Autoencoder",
    ], "in the order of the study"  # fmt: skip


def test_everybody_reads_and_hears_it_in_a_language(sessions: list[Path], tables: Tables) -> None:
    assert sorted(tables.participants["language"].unique()) == ["de", "en"]
    answers = tables.answers.set_index("item")
    assert (answers.loc["same", "check"].isin(["passed", "failed"])).all()
    assert answers.loc["tone", "heard"].astype(bool).all()
    assert {"gradient", "lrp"} == set(tables.tracks["about"])
    events = [payload for _, payload in open_record(sessions[0]).payloads()]
    kinds = [type(event).__name__ for event in events]
    assert kinds.count("LevelChosen") == len(tables.annotations.query("participant == 'P01'"))


def test_methods_say_how_long_each_part_took_and_how_often_a_check_may_be_answered(
    tables: Tables,
) -> None:
    counted = tables.included()
    told = methods(ReportedStudy("hint-study", "s", tables, counted), Findings.find(counted))
    assert "“Before it begins” (1 item and 1 check, at most 2 attempts allowed, " in told
    own = counted.stages.pivot_table("duration_s", "participant", "task", "sum")
    every = counted.participants.query("included").set_index("participant")["duration_s"]
    own["all other parts"] = every - own.sum(axis=1)
    for name, seconds in {"min:s; quartiles": every, **own}.items():
        low, median, high = map(clock, np.percentile(seconds, [25, 50, 75]))
        whole = f"{median} ({name} {low} and {high})"
        assert whole in told or f"{name} {median} ({low} and {high})" in told


def cells(tables: Tables, quantity: str) -> tuple[pd.DataFrame, np.ndarray]:
    """From the raw tables, participants by models, and 1 or -1 for the hint."""
    counted = tables.included()
    if quantity == "sure":
        rows = counted.answers[counted.answers["item"] == "sure"]
        wide = rows.pivot(index="participant", columns="model", values="value")
    else:
        rows = counted.trials[counted.trials["task"] == "reconstruction"]
        values = (
            rows["outcome"].eq("solved") if quantity == "completion_rate" else rows["duration_s"]
        )
        wide = values.groupby([rows["participant"], rows["model"]]).mean().unstack()
    hint = counted.participants.set_index("participant")["factor_hint"][wide.index]
    return wide[list(MODELS)].astype(float), np.where(hint == "with", 1.0, -1.0)


@pytest.mark.parametrize("quantity", ["sure", "completion_rate", "response_time_s"])
def test_its_numbers_are_those_of_statsmodels(
    tables: Tables, results: StudyAnalyses, quantity: str
) -> None:
    wide, hint = cells(tables, quantity)
    design = np.column_stack([np.ones(len(hint)), hint])
    analysis = next(
        each for each in results.analyses
        if each.outcome.name == quantity and each.main.n == len(wide) and len(each.cells) == 6
    )  # fmt: skip
    for cell in analysis.cells:
        group = wide[cell.levels["model"]][
            hint == (1 if cell.levels["factor_hint"] == "with" else -1)
        ]
        np.testing.assert_allclose(sorted(cell.values), sorted(group))

    between = OLS(wide.mean(axis=1).to_numpy(), design).fit()
    turned, _ = np.linalg.qr(np.column_stack([np.ones(3), np.eye(3)[:, :2]]))
    within = [OLS(wide.to_numpy() @ weights, design).fit() for weights in turned.T[1:]]
    error = sum(fit.ssr for fit in within) / sum(fit.df_resid for fit in within)
    spread = np.cov(np.array([fit.resid for fit in within]), bias=True)
    epsilon = np.trace(spread) ** 2 / (2 * (spread * spread).sum())
    f = {
        "hint": between.tvalues[1] ** 2,
        "model": sum(fit.tvalues[0] ** 2 * fit.mse_resid for fit in within) / 2 / error,
        "hint × model": sum(fit.tvalues[1] ** 2 * fit.mse_resid for fit in within) / 2 / error,
    }
    n = len(wide)
    for factors, value in f.items():
        df = (1, n - 2) if factors == "hint" else (2, 2 * (n - 2))
        (row,) = analysis.select("test", factors=factors, test="ANOVA F")
        assert (row.statistic, row.df, row.df_2, row.p) == pytest.approx(
            (value, *df, stats.f.sf(value, *df)), rel=1e-9
        )
        if factors != "hint":
            (row,) = analysis.select("test", factors=factors, test="ANOVA F, Greenhouse-Geisser")
            low = [each * epsilon for each in df]
            assert (row.epsilon, row.p) == pytest.approx((epsilon, stats.f.sf(value, *low)))

    fits = {
        "the hint": (between, [0.0, 2.0]),
        "the autoencoder against the others": (
            OLS(wide.to_numpy() @ list(MODELS.values()), design).fit(), [1.0, 0.0],
        ),
    }  # fmt: skip
    for name, (fit, weights) in fits.items():
        tested = fit.t_test(weights)
        (row,) = analysis.select(CONTRAST, contrast=name)
        p = np.asarray(tested.pvalue)
        if row.direction == "greater":
            p = stats.t.sf(tested.tvalue, fit.df_resid)
        low, high = tested.conf_int()[0]
        assert (
            row.difference, row.standard_error, row.statistic, row.p, row.low, row.high,
        ) == pytest.approx(
            (tested.effect[0], tested.sd.item(), tested.tvalue.item(), p.item(), low, high),
            rel=1e-8,
        )  # fmt: skip
    if quantity == "sure":
        (row,) = analysis.select(EQUIVALENCE, contrast="the hint")
        tested = fits["the hint"][0].t_test([0.0, 2.0])
        distance = 10 - abs(tested.effect[0])
        assert row.p == pytest.approx(stats.t.sf(distance / tested.sd.item(), n - 2))


def test_the_manipulation_check_is_tested_by_condition(
    tables: Tables, results: StudyAnalyses
) -> None:
    counted = tables.included()
    (check,) = answers_by_condition(results.declaration, counted)
    noticed = counted.answers[counted.answers["item"] == "noticed"]
    table = pd.crosstab(noticed["factor_hint"], noticed["value_text"])
    rows = {row.test: row for row in check.rows}
    expected = stats.chi2_contingency(table, correction=False)
    assert rows["chi-square"].statistic == pytest.approx(expected.statistic)
    assert rows["chi-square"].p == pytest.approx(expected.pvalue)
    assert rows["Fisher's exact test"].p == pytest.approx(stats.fisher_exact(table).pvalue)


def test_a_rule_that_depends_on_the_condition_is_warned_of(tables: Tables) -> None:
    page = "".join(retention(tables.participants, "hint-study", "s1"))
    assert "above 80 (applies only to: hint: without)” depends on hint, so by design" in page
    assert page.count("The rule “") == 1, "the other one is the same for everybody"


def test_the_summary_says_of_no_outcome_that_it_was_analysed_and_not(
    tables: Tables, results: StudyAnalyses
) -> None:
    analysed = {each.outcome.name for each in results.analyses}
    assert analysed & {each.name for each in results.left_out}, "in one task, not in another"
    page = "".join(map(str, summary(tables.participants, results, {})))
    assert "Not analysed" not in page
    assert "0-100" not in page, "a difference on a scale has no unit"


def test_outcomes_with_one_name_say_of_which_task_they_are(results: StudyAnalyses) -> None:
    times = [each.outcome for each in results.analyses if each.outcome.name == "response_time_s"]
    assert [str(outcome.label) for outcome in times] == [
        "response_time_s (reconstruction)", "response_time_s (unmasking)",
    ]  # fmt: skip
    rows = list(correlations("hint-study", results.analyses))
    named = {name for row in rows for name in (row.quantity, row.compared_with)}
    assert {"reconstruction.response_time_s", "unmasking.response_time_s", "sure"} <= named
    assert len(rows) == len(results.analyses) * (len(results.analyses) - 1) / 2


def test_models_have_the_order_of_the_study(results: StudyAnalyses) -> None:
    levels = results.analyses[0].outcome.layout.within[0].levels
    assert levels == ("sinelines/gt", "sinelines/vae", "sinelines/ae")


def test_a_threshold_has_its_unit_and_its_direction(
    results: StudyAnalyses,
) -> None:
    (threshold,) = (each for each in results.analyses if each.outcome.name == "threshold")
    assert threshold.outcome.unit == "% of pixels shown (lower is better)"
    page = "".join(map(str, sections(results)))
    assert "M (SD), % of pixels shown (lower is better)" in page
