"""Data as they come: people in two groups, lost levels, few values, huge and tiny numbers."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from labapp.analysis.columns import table_columns
from labapp.analysis.design import anova, logistic, mixed
from labapp.analysis.design.analyses import TRIALS_MIXED
from labapp.analysis.design.anova import CONTRAST, EQUIVALENCE
from labapp.analysis.design.contents import ANALYSED_VALUES
from labapp.analysis.design.further import HUGE, LARGEST, bayes_factor
from labapp.analysis.design.layout import wide
from labapp.analysis.design.sections import paper_tables, sections
from labapp.analysis.design.sources import NO_VALUES, NOT_MEASURED, ONE_LEVEL
from labapp.analysis.inference import FEW
from labapp.analysis.statistic import Statistic
from labapp.analysis.tables import build_frame
from labapp.base.report.page import join_parts
from labapp.study.design import Design
from tests.analysis.design import frames
from tests.analysis.design.studies import study
from tests.analysis.design.test_analyses import AGAINST, DESIGN, analysed, of
from tests.analysis.design.test_further import MEDIUM, made

TIMES = {"outcomes": {"primary": ["response_time_s"]}}
GROUPS = {"design": {"between": {"hint": ["with", "without"]}}, "analysis": TIMES}


def test_somebody_in_two_groups_is_in_no_analysis_of_them() -> None:
    tables = study(GROUPS)
    again = tables.stages["participant"].isin(["P01", "P02"])
    tables.stages.loc[again, "participant"] = "P01"
    (analysis,) = analysed(tables).analyses
    assert analysis.main.n == 10
    assert "P01" not in set(analysis.frame["participant"])
    assert any(remark.endswith("in several groups: 1") for remark in analysis.remarks)


def test_a_level_that_a_transform_leaves_without_values_is_none() -> None:
    tables = study(DESIGN)
    tables.stages.loc[tables.stages["model"] == "digits8/pca5", "response_time_s"] = -1.0
    analysis = of(analysed(tables), "response_time_s")
    assert [len(factor.levels) for factor in analysis.outcome.layout.factors] == [2, 2]
    assert all(row.n == 6 for row in analysis.select("values"))
    lost = study(GROUPS | {"analysis": TIMES | {"transform": {"response_time_s": "log"}}})
    lost.stages.loc[lost.stages["factor_hint"] == "with", "response_time_s"] = -1.0
    (left,) = analysed(lost).left_out
    assert left.why.endswith(f"have no log and are missing; {ONE_LEVEL.format('hint')}")


def test_of_nobody_who_counts_nothing_is_said_of_tables() -> None:
    tables = study(GROUPS)
    tables.participants["included"] = False
    assert [left.why for left in analysed(tables).left_out] == [NOT_MEASURED]
    tables = study(GROUPS)
    tables.stages["response_time_s"] = None
    assert [left.why for left in analysed(tables).left_out] == [NO_VALUES]


def test_hedges_g_needs_two_degrees_of_freedom() -> None:
    frame, layout = frames.frame("g", 4, 1), frames.layout("g")
    for n, name in ((4, "Hedges' g"), (3, "")):
        model = anova.variance(wide(frame[:n], layout).complete)
        assert isinstance(model, anova.Variance)
        test, cohen = anova.compare(model, anova.pairs(layout.factors)[0], layout.factors)
        assert test.effect_name == name
        assert cohen.effect_name == "Cohen's d_s"


def test_a_bayes_factor_beyond_all_numbers_is_said_to_be() -> None:
    assert bayes_factor(40.0, 100, 30, MEDIUM) < LARGEST
    assert bayes_factor(1e9, 100, 30, MEDIUM) == inf
    frame, layout = frames.frame("g", 120, 1), frames.layout("g")
    apart = frame.assign(value=frame["value"] * 1e-8 + (frame["g"] == "g1"))
    (row,) = made(apart, layout, "bayes_factor")
    assert (row.statistic, row.why) == (None, HUGE)


def test_a_page_only_says_that_a_bayes_factor_is_above_a_million() -> None:
    tables = study(GROUPS | {"analysis": TIMES | {"further_tests": ["bayes_factor"]}}, n=40)
    rows = tables.stages["factor_hint"] == "with"
    tables.stages.loc[rows, "response_time_s"] += 500
    page = str(join_parts(sections(analysed(tables))))
    assert "&gt; 1,000,000" in page


def test_degrees_of_freedom_are_the_same_in_every_unit() -> None:
    frame, layout = frames.with_gaps(frames.frame("ga", 20, 3), 4), frames.layout("ga")
    dfs = []
    for unit in (1.0, 1e-6, 1e6):
        model = mixed.of_cells(frame.assign(value=frame["value"] * unit), layout)
        assert isinstance(model, mixed.Mixed)
        dfs.append([term.plain.df_2 for term in model.terms()])
    assert np.array(dfs[1:]) == pytest.approx(np.array([dfs[0]] * 2), rel=1e-4)


def test_only_a_bound_in_the_outcomes_unit_is_tested_untransformed() -> None:
    bounds = [
        {"contrast": AGAINST["name"], "standardised": 0.5},
        {"contrast": "hint", "raw": 4},
    ]
    plan = DESIGN["analysis"] | {"smallest_effect": {"response_time_s": bounds}}
    results = analysed(study(DESIGN | {"analysis": plan}))
    analysis = of(results, "response_time_s")
    standardised, raw = analysis.select(EQUIVALENCE)
    assert [analysis.is_raw(row) for row in (standardised, raw)] == [False, True]
    (test,) = analysis.select(CONTRAST, contrast=AGAINST["name"])
    assert standardised.difference == test.difference
    *_, last = paper_tables(results)
    assert [row[0] for row in last.rows] == ["response_time_s (log s)", "response_time_s"]


def test_groups_with_one_person_each_cannot_be_told_from_people() -> None:
    rows = frames.frame("ga", 3, 1).query("participant != 'P02'")
    trials = rows.loc[rows.index.repeat(4)].reset_index(drop=True)
    noise = np.random.default_rng(1).normal(size=len(trials))
    fitted = mixed.of_trials(trials.assign(value=noise), frames.layout("ga"), None)
    assert isinstance(fitted, Statistic)
    assert fitted.why == FEW


def test_the_trials_of_one_person_have_no_error_of_log_odds() -> None:
    trials = frames.trials("g", 16, 2, binary=True)
    alone = trials["g"].eq("g0") | trials["participant"].eq("P01")
    for rows, why in ((trials, ""), (trials[alone], logistic.ALONE)):
        fitted = logistic.of_trials(rows.reset_index(drop=True), frames.layout("g"))
        assert getattr(fitted, "why", "") == why


def test_few_degrees_of_freedom_are_those_of_lmertest() -> None:
    # lmerTest:::get_Fstat_ddf
    assert mixed._together([1.9, 8.0]) == 2.0
    assert mixed._together([4.0, 8.0]) == pytest.approx(2 * (2 + 8 / 6) / (2 + 8 / 6 - 2))


def test_a_measured_group_is_in_the_models_of_trials_and_a_covariate_is_related() -> None:
    design = {"within": ["model"], "measured": ["used", "age"]}
    tables = study({"design": design, "analysis": TIMES}, n=16)
    people = tables.participants["participant"]
    asked = {"study": "own", "session": "1", "instrument": "pre", "submitted": True}
    tables = replace(
        tables,
        answers=build_frame(
            [
                asked | {"participant": who, "item": item, **value}
                for at, who in enumerate(people)
                for item, value in (
                    ("used", {"value_text": ("often", "never")[at // 3 % 2]}),
                    ("age", {"value": 20.0 + at * at}),
                )
            ],
            table_columns()["answers"],
        ),
    )
    results = analysed(tables)
    (analysis,) = results.analyses
    assert [model.name for model in analysis.beside] == [TRIALS_MIXED]
    page = str(join_parts(sections(results)))
    assert "Response time was related to age, F(1, 13)" in page


def test_what_was_not_analysed_is_not_called_exploratory() -> None:
    tables = study(GROUPS)
    tables.stages["response_time_s"] = None
    page = str(join_parts(sections(analysed(tables))))
    assert NO_VALUES in page
    assert "Exploratory" not in page


def test_every_covariate_has_a_column() -> None:
    (most,) = (x.max_length for x in Design.model_fields["measured"].metadata)
    assert f"covariate_{most}" in {column.name for column in ANALYSED_VALUES}
