"""Names of scores, items and outcomes: by themselves, and behind their questionnaire and a dot."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

from labapp.analysis.columns import table_columns
from labapp.analysis.declared import read_declaration, with_declared
from labapp.analysis.design import anova, mixed
from labapp.analysis.design.analyses import Analysis, StudyAnalyses, analyse
from labapp.analysis.design.anova import EQUIVALENCE, Comparison
from labapp.analysis.design.layout import PARTICIPANT, VALUE, Factor, Layout
from labapp.analysis.design.sections import term_tests
from labapp.analysis.tables import Tables, build_frame
from tests.analysis.design.studies import MODELS, study

PAIR = {"name": "pair", "weights": {"model": {MODELS[0]: 1, MODELS[1]: -1}}}


def answered(
    declared: Mapping[str, Any], scores: Mapping[tuple[str, str], float], n: int = 21
) -> Tables:
    """A study whose participants also have these scores: a number of their own times so much."""
    tables = study(declared, n=n)
    own = np.random.default_rng(3).normal(4, 1, size=n)
    columns = with_declared(table_columns(), [json.dumps(declared)])
    rows = [
        {
            "study": "own", "participant": f"P{at + 1:02}", "session": "1", "instrument": of,
            "instrument_version": 1, "score": name, "value": float(own[at] ** power),
            "meaning": f"{of} {name}",
            "factor_hint": ("with", "without")[at % 2],
        }
        for (of, name), power in scores.items()
        for at in range(n)
    ]  # fmt: skip
    frames = {**tables.small(), "scores": build_frame(rows, columns["scores"])}
    return Tables.of(frames, tables.snapshots)


def analysed(tables: Tables) -> StudyAnalyses:
    return analyse(tables.included(), read_declaration(tables, "own"), by_trials=False)


def one(results: StudyAnalyses, name: str) -> Analysis:
    (found,) = (each for each in results.analyses if each.outcome.name == name)
    return found


@pytest.mark.parametrize("name", ["skill", "skill.skill"])
def test_a_covariate_is_the_same_by_either_name(name: str) -> None:
    declared = {
        "design": {"between": {"hint": ["with", "without"]}, "measured": [name]},
        "analysis": {"outcomes": {"primary": ["response_time_s"]}},
    }
    tables = answered(declared, {("skill", "skill"): 1})
    analysis = one(analysed(tables), "response_time_s")
    assert not [remark for remark in analysis.remarks if "nobody" in remark]
    assert analysis.outcome.layout.covariates == (name,)
    # By ordinary least squares.
    means = tables.stages.groupby("participant")["response_time_s"].mean().to_numpy(float)
    values = tables.scores.set_index("participant")["value"].sort_index().to_numpy(float)
    group = np.where(np.arange(means.size) % 2 == 0, 1.0, -1.0)
    design = np.column_stack([np.ones(means.size), values - values.mean(), group])
    beta, (squares,), *_ = np.linalg.lstsq(design, means, rcond=None)
    error = squares / (means.size - 3) * np.linalg.inv(design.T @ design)
    (test,) = (test for test in term_tests(analysis) if test.factors == name)
    assert test.statistic == pytest.approx(beta[1] ** 2 / error[1, 1])


def test_equal_names_in_two_questionnaires_are_told_and_never_averaged() -> None:
    declared = {
        "design": {"between": {"hint": ["with", "without"]}, "measured": ["skill"]},
        "analysis": {"outcomes": {"primary": ["trust"], "secondary": ["a.trust"]}},
    }
    scores = {("a", "skill"): 1.0, ("b", "skill"): 2.0, ("a", "trust"): 1.0, ("b", "trust"): 2.0}
    results = analysed(answered(declared, scores))
    (left,) = results.left_out
    assert (left.name, left.why) == ("trust", "'trust' has several meanings: a.trust and b.trust")
    analysis = one(results, "a.trust")
    assert analysis.outcome.layout.covariates == ()
    told = "'skill' has several meanings: a.skill and b.skill; it is in no analysis"
    assert told in analysis.remarks


def test_without_declared_outcomes_equal_names_are_told_apart() -> None:
    results = analysed(answered({}, {("a", "trust"): 1.0, ("b", "trust"): 2.0, ("b", "x"): 1.0}))
    told = {each.name for each in results.left_out} | {
        each.outcome.name for each in results.analyses
    }
    assert {"a.trust", "b.trust", "x"} <= told
    assert "trust" not in told


def test_transform_effect_and_hypothesis_find_an_outcome_by_its_other_name() -> None:
    declared = {
        "design": {"between": {"hint": ["with", "without"]}},
        "analysis": {
            "outcomes": {"primary": ["a.trust"]},
            "transform": {"trust": "log"},
            "contrasts": [{"name": "hint", "weights": {"hint": {"with": 1, "without": -1}}}],
            "smallest_effect": {"trust": {"contrast": "hint", "standardised": 0.5}},
        },
        "hypotheses": [
            {"text": "x", "outcome": "trust", "contrast": "hint", "direction": "equivalent"}
        ],
    }
    results = analysed(answered(declared, {("a", "trust"): 1.0}))
    analysis = one(results, "a.trust")
    assert analysis.transform == "log"
    assert len(analysis.select(EQUIVALENCE)) == 1
    assert [h.outcome for h in results.declaration.hypotheses] == ["a.trust"]


def test_the_model_of_trials_does_not_depend_on_what_levels_are_called() -> None:
    """Three orders of the same three models give the same tests, also where trials are missing;
    the note names the effects that are fitted."""
    rng = np.random.default_rng(4)
    rows = []
    for person in range(14):
        own = rng.normal(0, 1, size=3)
        for level in range(3):
            for _ in range(int(rng.integers(2, 6))):
                value = 0.5 * level + rng.normal() + 0.8 * own[level] + rng.normal(0, 0.2)
                rows.append((f"P{person:02}", level, value))
    found = []
    for names in (("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b")):
        frame = pd.DataFrame(rows, columns=[PARTICIPANT, "model", VALUE])
        frame["model"] = [names[level] for level in frame["model"]]
        layout = Layout((Factor("model", tuple(sorted(names)), within=True),))
        fitted = mixed.of_trials(frame, layout, None)
        assert isinstance(fitted, mixed.Mixed)
        assert list(fitted.sds) == ["1 | participant", "1 | participant:model", "residual"]
        (term,) = fitted.terms()
        test = term.plain
        pair, *_ = anova.compare(
            fitted, Comparison("x", {"model": {names[0]: 1.0, names[2]: -1.0}}), ()
        )
        found.append(
            [
                test.statistic, fitted.criterion, pair.statistic, pair.df, pair.p,
                *fitted.sds.values(),
            ]
        )  # fmt: skip
    assert found[1] == pytest.approx(found[0], rel=1e-5)
    assert found[2] == pytest.approx(found[0], rel=1e-5)
