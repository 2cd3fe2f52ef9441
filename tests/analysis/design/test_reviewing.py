"""What reviewers ask for: without exclusions, correlations, manipulation checks, residuals."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from labapp.analysis import Tables
from labapp.analysis.analyze import _translation
from labapp.analysis.columns import table_columns
from labapp.analysis.declared import Declaration, with_declared
from labapp.analysis.design.analyses import Analysis, StudyAnalyses, _analysis
from labapp.analysis.design.contents import REPORT, residuals_figure
from labapp.analysis.design.reviewing import (
    ANSWERS,
    CORRELATION,
    PASSED_ONLY,
    WITHIN,
    WITHOUT,
)
from labapp.analysis.design.sections import deciding_tests
from labapp.analysis.design.sources import MANIPULATION, PRIMARY, SECONDARY, Outcome
from labapp.analysis.design.summing_up import UNCORRECTED, summary
from labapp.analysis.statistic import Statistic, select
from labapp.analysis.tables import build_frame
from labapp.analysis.task_report import ReportedStudy
from labapp.base.report.page import speaking
from tests.analysis.design import frames, studies

DECLARED: dict[str, Any] = {
    "design": {"between": {"hint": ["with", "without"]}, "within": ["model"]},
    "analysis": {
        "outcomes": {
            "primary": ["completion_rate"],
            "secondary": ["response_time_s", "seq"],
            "manipulation_checks": ["noticed"],
        },
        "contrasts": [{"name": "hints", "hint": {"with": 1, "without": -1}}],
        "further_tests": ["bayes_factor", "trimmed_means", "permutation", "aligned_ranks"],
    },
    "hypotheses": [{"text": "Hints help.", "outcome": "completion_rate", "contrast": "hints"}],
}


def with_answers(tables: Tables, answer: Any, **more: Any) -> Tables:
    """With an answer to the item `noticed` of every participant; answer: gives it, by number and
    the level of the hint."""
    people = tables.participants
    texts = [str(text) for text in people["declared"].dropna().unique()]
    columns = with_declared(table_columns(), texts)["answers"]
    rows = [
        {
            "study": "own", "participant": who, "session": "1", "instrument": "after",
            "item": "noticed", "submitted": True, "factor_hint": hint,
            **answer(at, hint), **more,
        }
        for at, (who, hint) in enumerate(
            zip(people["participant"], people["factor_hint"], strict=True)
        )
    ]  # fmt: skip
    frames = tables.small() | {"answers": build_frame(rows, columns)}
    return Tables.of(frames, tables.snapshots)


def in_words(at: int, hint: str) -> dict[str, Any]:
    return {"value_text": "yes" if (hint == "with") != (at % 5 == 0) else "no"}


def tables(excluded: tuple[str, ...] = ("P03", "P04")) -> Tables:
    made = studies.study(DECLARED, n=20)
    made.participants.loc[made.participants["participant"].isin(excluded), "included"] = False
    return with_answers(made, in_words)


def rows_of(given: Tables) -> list[Statistic]:
    findings = REPORT.findings(given.included(), ())
    (found,) = findings.reviews.values()
    return list(found.rows)


def page(given: Tables) -> str:
    counted = given.included()
    about = ReportedStudy("own", "own", given, counted)
    return "".join(REPORT.sections(about, REPORT.findings(counted, ())))


def test_results_without_exclusions_are_those_of_everybody() -> None:
    everybody = tables(())
    expected = REPORT.findings(everybody.included(), ()).studies["own"].analyses[0]
    row = select(rows_of(tables()), kind=WITHOUT, quantity="completion_rate", contrast="hints")
    own = expected.select("contrast", contrast="hints")
    assert len(row) == len(own) == 1
    assert (row[0].statistic, row[0].p, row[0].n) == (own[0].statistic, own[0].p, 20)


def test_nothing_is_repeated_where_nobody_is_excluded() -> None:
    assert not select(rows_of(tables(())), kind=WITHOUT)
    assert "without exclusions" not in page(tables(()))


def test_every_two_outcomes_are_correlated_over_the_participants_means() -> None:
    given = tables(())
    rows = select(rows_of(given), kind=CORRELATION)
    assert [(row.quantity, row.compared_with) for row in rows] == [
        ("completion_rate", "response_time_s"), ("completion_rate", "seq"),
        ("response_time_s", "seq"),
    ]  # fmt: skip
    means = given.stages.groupby("participant")[["completion_rate", "seq"]].mean()
    test = stats.pearsonr(means["completion_rate"], means["seq"])
    ends = test.confidence_interval()
    assert (rows[1].statistic, rows[1].p, rows[1].low, rows[1].high) == pytest.approx(
        (test.statistic, test.pvalue, ends.low, ends.high), rel=1e-9
    )


def test_a_check_in_words_is_counted_by_condition_and_tested() -> None:
    given = tables(())
    chi, fisher = select(rows_of(given), kind=ANSWERS)
    answers = given.answers
    counts = pd.crosstab(answers["factor_hint"], answers["value_text"]).to_numpy()
    expected = stats.chi2_contingency(counts, correction=False)
    assert (chi.statistic, chi.df, chi.p, chi.n) == pytest.approx(
        (expected.statistic, expected.dof, expected.pvalue, 20)
    )
    assert chi.effect == pytest.approx(stats.contingency.association(counts, method="cramer"))
    assert fisher.p == pytest.approx(stats.fisher_exact(counts)[1])
    assert {chi.role, fisher.role} == {MANIPULATION}


def test_the_summary_has_secondary_outcomes_and_the_check_with_its_counts() -> None:
    given = tables()
    counted = given.included()
    findings = REPORT.findings(counted, ())
    (results,), (reviewed,) = findings.studies.values(), findings.reviews.values()
    told = page_text(summary(counted.participants, results, {}, reviewed=reviewed))
    for analysis in results.analyses:
        if analysis.outcome.role == SECONDARY:
            (f, *_) = deciding_tests(analysis)
            assert f"{analysis.outcome.label} secondary hint: F(1, 16) = {f.statistic:.2f}" in told
    assert "noticed manipulation check with: no 2, yes 7; without: no 7, yes 2" in told
    assert "Fisher's exact test, p = .057" in told
    assert UNCORRECTED in told
    assert "The answers were not shown to differ between the levels of hint" in told


def page_text(parts: Iterable[str]) -> str:
    return html.unescape(" ".join(re.sub("<[^>]+>", " ", "".join(parts)).split()))


def test_tests_are_repeated_without_people_who_failed_a_check() -> None:
    made = tables()
    answers = made.answers
    failed = ["P05", "P06", "P11"]
    answers["check"] = np.where(answers["participant"].isin(failed), "failed", "passed")
    mine = select(rows_of(made), kind=PASSED_ONLY)
    made.participants.loc[made.participants["participant"].isin(failed), "included"] = False
    (results,) = REPORT.findings(made.included(), ()).studies.values()
    theirs = [row for each in results.analyses for row in deciding_tests(each)]
    assert [row.statistic for row in select(mine, model_name="test")] == [
        row.statistic for row in theirs
    ]
    answers["check"] = "passed"
    assert not select(rows_of(made), kind=PASSED_ONLY)


def test_a_check_that_shows_no_difference_is_said_to() -> None:
    told = "were not shown to differ between the levels of hint"
    assert told not in page(tables(()))
    guessed = studies.study(DECLARED, n=20)
    given = with_answers(guessed, lambda at, hint: {"value_text": "yes" if at % 4 < 2 else "no"})
    assert told in page(given)


def test_a_check_in_words_that_was_answered_several_times_says_what_it_needs() -> None:
    given = tables(())
    twice = pd.concat([given.answers, given.answers], ignore_index=True)
    given = Tables.of(given.small() | {"answers": twice}, given.snapshots)
    (row,) = select(rows_of(given), kind=ANSWERS)
    assert (row.p, row.why) == (None, WITHIN)
    assert WITHIN in page(given)


def test_a_check_in_numbers_is_analysed_as_an_outcome() -> None:
    made = studies.study(DECLARED, n=20)
    given = with_answers(made, lambda at, hint: {"value": float(at % 7 + 3 * (hint == "with"))})
    results = REPORT.findings(given.included(), ()).studies["own"]
    (check,) = [each for each in results.analyses if each.outcome.role == MANIPULATION]
    (row,) = check.select("contrast", contrast="hints")
    groups = [
        given.answers.loc[given.answers["factor_hint"] == hint, "value"].astype(float)
        for hint in ("with", "without")
    ]
    assert row.statistic == pytest.approx(stats.ttest_ind(*groups).statistic)
    assert not results.left_out


def test_residuals_of_every_declared_outcome_are_drawn() -> None:
    results = REPORT.findings(tables(()).included(), ()).studies["own"]
    drawn = residuals_figure(results)
    assert drawn is not None
    shown = [ax for ax in drawn.figure.axes if ax.get_visible()]
    assert len(shown) == 6
    model = results.analyses[0].complete
    assert model is not None
    values = model.wide.values.ravel()
    levels = model.wide.values.mean(axis=1, keepdims=True)
    middle = np.repeat(levels - levels.mean(), model.wide.values.shape[1], axis=1).ravel()
    assert np.corrcoef(values - model.fitted(), model.residuals() + middle)[0, 1] > 0.99


@pytest.mark.parametrize("unit", ["0-1", "s"])
def test_residuals_of_shares_are_in_percent_and_equal_ones_are_seen(unit: str) -> None:
    frame = frames.frame("a", 24, 1)
    value = (frame["value"].rank() % 4).to_numpy() / 3
    outcome = Outcome(
        "rate", "share", unit, "seen", PRIMARY, frames.layout("a"), frame.assign(value=value)
    )
    made = _analysis(outcome, Declaration(study="own"), 1, by_trials=False)
    assert isinstance(made, Analysis)
    drawn = residuals_figure(StudyAnalyses("own", Declaration(study="own"), [made]))
    assert drawn is not None
    assert ("Shares have few different values" in drawn.caption) == (unit == "0-1")
    assert "logistic" not in drawn.caption, "there are no trials"
    _, spread = (ax for ax in drawn.figure.axes if ax.get_visible())
    clouds = [line for line in spread.lines if line.get_marker() == "o"]
    n = [len(cloud.get_xdata()) * round((cloud.get_markersize() / 3) ** 2) for cloud in clouds]
    assert sum(n) == len(frame), "as many as there are values"
    assert len(clouds) > 1
    assert made.complete is not None
    times = 100 if unit == "0-1" else 1
    drawn_x = {round(x, 6) for cloud in clouds for x in cloud.get_xdata()}
    assert drawn_x == {round(times * x, 6) for x in made.complete.fitted()}


def test_the_page_says_it_in_german() -> None:
    with speaking(_translation("de", "")):
        made = page(tables())
    assert "Ergebnisse ohne Ausschlüsse" in made
    assert "Manipulationsprüfung" in made
