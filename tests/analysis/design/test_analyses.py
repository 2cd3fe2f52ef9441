"""Every outcome of a study is analysed by its design; what cannot be is said."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats
from statsmodels.regression.mixed_linear_model import MixedLM
from statsmodels.stats.anova import AnovaRM

from labapp.analysis.columns import table_columns
from labapp.analysis.declared import read_declaration
from labapp.analysis.design.analyses import MIXED, VARIANCE, Analysis, StudyAnalyses, analyse
from labapp.analysis.design.anova import CONTRAST, EFFECT, EQUIVALENCE, MEAN, MOST_LEVELS, pairs
from labapp.analysis.design.layout import Factor
from labapp.analysis.design.sections import find_tested_row as row_of
from labapp.analysis.design.sections import paper_tables, sections, term_tests
from labapp.analysis.statistic import Statistic, select
from labapp.analysis.tables import Tables, build_frame
from labapp.base.report.listing import df_words, p_cell
from labapp.base.report.page import join_parts
from tests.analysis.design.studies import MODELS, cells, study
from tests.helpers.nightly import EVERYTHING

AGAINST = {"name": "first against the others", "weights": {"model": {
    MODELS[0]: 1, MODELS[1]: -0.5, MODELS[2]: -0.5}}}  # fmt: skip
DESIGN = {
    "design": {"between": {"hint": ["with", "without"]}, "within": ["model"]},
    "analysis": {
        "outcomes": {"primary": ["completion_rate"], "secondary": ["response_time_s", "trust"]},
        "transform": {"response_time_s": "log"},
        "contrasts": [
            AGAINST,
            {"name": "hint", "weights": {"hint": {"with": 1, "without": -1}}},
        ],
        "smallest_effect": {"completion_rate": {"contrast": AGAINST["name"], "raw": 0.2}},
    },
    "hypotheses": [
        {
            "text": "less", "outcome": "completion_rate", "contrast": AGAINST["name"],
            "direction": "less",
        }
    ],
}  # fmt: skip
OPPOSITE = DESIGN | {
    "analysis": DESIGN["analysis"]
    | {
        "family": "all",
        "smallest_effect": {
            "completion_rate": {"contrast": AGAINST["name"], "raw": 0.02},
            "response_time_s": {"contrast": AGAINST["name"], "raw": 4},
        },
    },
    "hypotheses": [
        {
            "text": f"{outcome} {direction}", "outcome": outcome, "contrast": AGAINST["name"],
            "direction": direction,
        }
        for outcome in ("completion_rate", "response_time_s")
        for direction in ("less", "two-sided", "equivalent")
    ],
}  # fmt: skip
"""Each outcome is tested in every way, all in one family."""


BOTH = DESIGN | {
    "analysis": DESIGN["analysis"]
    | {
        "smallest_effect": {
            "completion_rate": [
                {"contrast": AGAINST["name"], "raw": 0.2},
                {"contrast": "hint", "standardised": 0.4},
            ],
        },
    },
}
"""An outcome with a smallest effect in each of its contrasts."""


def analysed(tables: Tables, *, by_trials: bool = True) -> StudyAnalyses:
    return analyse(tables.included(), read_declaration(tables, "own"), by_trials=by_trials)


@cache
def plain() -> tuple[Tables, StudyAnalyses]:
    """Of a study without a declared design; for tests that only look at it."""
    tables = study()
    return tables, analysed(tables)


@cache
def declared() -> tuple[Tables, StudyAnalyses]:
    """Of a study with `DESIGN`; for tests that only look at it."""
    tables = study(DESIGN)
    return tables, analysed(tables)


def of(results: StudyAnalyses, name: str) -> Analysis:
    return next(a for a in results.analyses if a.outcome.name == name)


@pytest.mark.parametrize("column", ["completion_rate", "response_time_s", "seq"])
def test_three_models_of_two_data_sets_are_one_test_equal_to_anova_rm(column: str) -> None:
    tables, results = plain()
    analysis = of(results, column)
    expected = AnovaRM(
        tables.stages.astype({column: float}), column, "participant", within=["model"]
    ).fit()
    table = expected.anova_table
    (test,) = term_tests(analysis)
    assert analysis.main.name == VARIANCE
    ours = [test.statistic, test.df, test.df_2, test.p]
    assert ours == pytest.approx(table.iloc[0].to_numpy(dtype=float), rel=1e-8)
    assert {each.pair for each in analysis.comparisons} == {
        ("model", MODELS[0], MODELS[1]),
        ("model", MODELS[0], MODELS[2]),
        ("model", MODELS[1], MODELS[2]),
    }
    for row in analysis.select(CONTRAST):
        wide = cells(tables, column)
        values = (wide[name].astype(float) for name in (row.model, row.compared_with))
        assert row.p == pytest.approx(stats.ttest_rel(*values).pvalue, rel=1e-8)


def test_a_complete_design_always_says_quantity_statistic_and_df() -> None:
    for _, results in (plain(), declared()):
        made = [row for row in results.rows if row.kind == "test"]
        names = {"completion_rate", "response_time_s"}
        own = [row for row in made if row.test == "ANOVA F" and row.quantity in names]
        assert {row.quantity for row in own} == names
        assert all(row.statistic is not None and row.df and row.df_2 for row in own)
        assert all(row.effect_low is not None for row in own if (row.effect or 0) > 0.1)


def test_a_declared_design_has_its_factors_contrasts_direction_and_equivalence() -> None:
    tables, results = declared()
    analysis = of(results, "completion_rate")
    assert [row.factors for row in term_tests(analysis)] == ["hint", "model", "hint × model"]
    against, hint = analysis.select(CONTRAST)
    wide = cells(tables, "completion_rate").astype(float)
    scores = wide[MODELS[0]] - wide[[MODELS[1], MODELS[2]]].mean(axis=1)
    group = np.arange(12) % 2
    values = scores.to_numpy()
    # The mean of two groups of equal size: pooled variance, n - 2 degrees of freedom.
    error = np.sqrt((values[group == 0].var(ddof=1) + values[group == 1].var(ddof=1)) / 2 / 12)
    assert against.statistic == pytest.approx(values.mean() / error)
    assert against.p == pytest.approx(stats.t.cdf(values.mean() / error, 10))
    (equal,) = analysis.select(EQUIVALENCE)
    above, below = (values.mean() + 0.2) / error, (values.mean() - 0.2) / error
    assert equal.p == pytest.approx(max(stats.t.sf(above, 10), stats.t.cdf(below, 10)))
    assert (equal.p_corrected, equal.n_tests) == (equal.p, 1)
    means = wide.mean(axis=1).to_numpy()
    expected = stats.ttest_ind(means[group == 0], means[group == 1])
    assert hint.p == pytest.approx(expected.pvalue)
    low, high = sorted(each.p or 0.0 for each in (against, hint))
    corrected = [each.p_corrected for each in (against, hint)]
    assert sorted(p or 0.0 for p in corrected) == pytest.approx([2 * low, max(high, 2 * low)])
    log = of(results, "response_time_s")
    assert log.transform == "log"
    assert log.frame["value"].max() < 6


def test_what_is_declared_and_not_there_is_said() -> None:
    _, results = declared()
    (left,) = results.left_out
    assert (left.name, left.role) == ("trust", "secondary")
    text = str(join_parts(sections(results)))
    assert "trust" in text
    assert left.why in text


def test_gaps_are_analysed_by_a_mixed_model_and_the_complete_ones_beside_it() -> None:
    tables = study(gaps=3)
    analysis = of(analysed(tables), "response_time_s")
    assert analysis.main.name == MIXED
    assert analysis.main.n == 12
    (complete, *_) = analysis.beside
    assert (complete.name, complete.n, complete.n_left_out) == (VARIANCE, 9, 3)
    frame = analysis.frame
    fit = MixedLM.from_formula("value ~ model", frame, groups="participant").fit(reml=True)
    (first,) = analysis.select(MEAN, levels=f"model={MODELS[0]}")
    assert first.mean == pytest.approx(fit.fe_params["Intercept"], rel=1e-4)


def test_an_outcome_without_variance_is_left_out_and_says_so() -> None:
    tables = study()
    tables.stages["seq"] = 4.0
    results = analysed(tables)
    (left,) = [left for left in results.left_out if left.name == "seq"]
    assert "no variation" in left.why


def test_a_factor_of_which_one_level_was_met_is_named() -> None:
    results = analysed(study(models=MODELS[:1]))
    assert results.analyses == []
    assert {left.name for left in results.left_out} >= {"completion_rate", "response_time_s"}
    assert all("model" in left.why for left in results.left_out)


def test_skipped_questions_can_be_left_out() -> None:
    design: dict[str, Any] = {"design": {"within": ["model"]}}
    if EVERYTHING:
        whole = of(analysed(study(design)), "completion_rate")
        assert whole.frame["value"].min() < 1
    design["missing"] = {"skipped_trials": "left_out"}
    left_out = analysed(study(design), by_trials=EVERYTHING)
    # Every question that was not solved was skipped: nothing is left to compare.
    (left,) = [left for left in left_out.left_out if left.name == "completion_rate"]
    assert "no variation" in left.why


def test_a_study_without_a_design_is_analysed_by_what_was_assigned() -> None:
    tables = study()
    hints = ["with", "without"] * 6
    tables.participants["assignment"] = [
        f'{{"hint": "{hint}", "number": {at % 3}}}' for at, hint in enumerate(hints)
    ]
    analysis = of(analysed(tables, by_trials=EVERYTHING), "completion_rate")
    assert {factor.name for factor in analysis.outcome.layout.between} == {"factor_hint"}
    assert [f.name for f in analysis.outcome.layout.within] == ["model"]


def test_models_of_which_each_participant_met_one_are_compared_between_them() -> None:
    tables = study()
    stages = tables.stages
    own = stages[stages["stage_number"] == 1].reset_index(drop=True)
    frames = tables.small() | {"stages": own}
    made = Tables.of(frames, build_frame([], table_columns()["snapshots"]))
    analysis = of(analysed(made), "completion_rate")
    samples = [g["completion_rate"].astype(float) for _, g in own.groupby("model")]
    expected = stats.f_oneway(*samples)
    assert next(term_tests(analysis)).p == pytest.approx(expected.pvalue)


def test_one_family_holds_all_outcomes_where_the_study_says_so() -> None:
    own = {"design": {"within": ["model"]}, "analysis": {"family": "all"}}
    tested = select(analysed(study(own)).rows, kind=CONTRAST)
    n = sum(row.p is not None for row in tested)
    assert n > 3
    assert {row.n_tests for row in tested} == {n}


@pytest.mark.parametrize(
    ("hypothesis", "told"),
    [
        ({"term": "model"}, "model: F(1.58, 15.82)"),
        ({"term": ["model", "hint"]}, "hint × model: F(1.58, 15.82)"),
        ({}, "set `term` to one of [hint], [model], [hint, model]"),
        ({"term": ["order"]}, "no term order"),
    ],
)
def test_a_hypothesis_is_tested_by_the_term_that_it_names(
    hypothesis: dict[str, Any], told: str
) -> None:
    """Without one, of several terms, it is said what would have to be named."""
    own = {"text": "They differ.", "outcome": "completion_rate", **hypothesis}
    results = analysed(study(DESIGN | {"hypotheses": [own]}), by_trials=EVERYTHING)
    page = str(join_parts(sections(results)))
    table = page[page.index("They differ.") :]
    table = table[: table.index("</table>")]
    assert told in table
    assert ("supported" in table) == (hypothesis.get("term") in ("model", ["model", "hint"]))


def test_a_hypothesis_about_three_models_is_decided_by_the_corrected_p() -> None:
    """As the registration says; the report's line says the same as the table for the paper."""
    tables = study(
        DESIGN
        | {"hypotheses": [{"text": "They differ.", "outcome": "completion_rate", "term": "model"}]}
    )
    declaration = read_declaration(tables, "own")
    results = analyse(tables.included(), declaration)
    analysis = of(results, "completion_rate")
    row, _ = row_of(analysis, declaration.hypotheses[0])
    plain_row = next(row for row in term_tests(analysis) if row.factors == "model")
    assert row is not None
    assert row.epsilon is not None
    assert (row.df, row.p) != (plain_row.df, plain_row.p)
    printed = next(t for t in paper_tables(results) if t.title.startswith("Tests of effects"))
    (line,) = (cells for cells in printed.rows if cells[:2] == ("completion_rate", "model"))
    assert (line[3], line[5]) == (df_words(row.df), p_cell(row.p))


def test_cohens_d_says_which_it_is() -> None:
    """Paired: in the mean variance of both; independent: in the pooled one, without correction."""
    tables, results = plain()
    analysis = of(results, "completion_rate")
    wide = cells(tables, "completion_rate").astype(float)
    for row in analysis.select(EFFECT):
        a, b = wide[row.model], wide[row.compared_with]
        unit = np.sqrt((a.var() + b.var()) / 2)
        assert row.effect_name == "Cohen's d_av"
        assert row.effect == pytest.approx((a - b).mean() / unit)
        t = (a - b).mean() / ((a - b).std() / np.sqrt(12))
        ends = [end / ((a - b).std() / np.sqrt(12) / unit) for end in _ends(row)]
        assert [stats.nct.cdf(t, 11, end) for end in ends] == pytest.approx([0.975, 0.025])
    analysis = of(declared()[1], "completion_rate")
    (hint,), (cohen,) = (analysis.select(kind, contrast="hint") for kind in (CONTRAST, EFFECT))
    assert hint.effect is not None
    assert cohen.effect is not None
    assert cohen.effect_name == "Cohen's d_s"
    small = 1 - 3 / (4 * 10 - 1)
    assert hint.effect / cohen.effect == pytest.approx(small, rel=2e-3)


def _ends(row: Statistic) -> tuple[float, float]:
    assert row.effect_low is not None
    assert row.effect_high is not None
    return row.effect_low, row.effect_high


def test_each_contrast_of_an_outcome_has_a_smallest_effect_of_its_own() -> None:
    """The first test is the same as if it were the only one; both are one family."""
    alone = analysed(study(DESIGN), by_trials=False).analyses[0]
    both = analysed(study(BOTH), by_trials=False).analyses[0]
    (single,) = alone.select(EQUIVALENCE)
    first, second = both.select(EQUIVALENCE)
    assert (first.contrast, second.contrast) == (AGAINST["name"], "hint")
    assert (first.p, first.bound) == (single.p, 0.2)
    assert second.bound != 0.4, "in standard deviations"
    assert first.p is not None
    assert second.p is not None
    smaller, larger = sorted((first, second), key=lambda row: row.p or 0.0)
    assert smaller.p_corrected == pytest.approx(min(1.0, 2 * (smaller.p or 0.0)))
    assert larger.p_corrected == pytest.approx(max(larger.p or 0.0, smaller.p_corrected or 0.0))


def test_pairs_that_nobody_asked_for_are_compared_of_few_levels_alone() -> None:
    few, many = (
        Factor(name, tuple(f"{name}{at}" for at in range(n)))
        for name, n in (("few", MOST_LEVELS), ("many", MOST_LEVELS + 1))
    )
    assert len(pairs([few])) == MOST_LEVELS * (MOST_LEVELS - 1) // 2
    assert pairs([many]) == []
    assert {name for each in pairs([many, few]) for name in each.weights} == {"few"}
