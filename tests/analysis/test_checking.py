"""Outcomes that nothing measures are told when a study is checked, not in its report."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.analysis.checking import check_study
from labapp.base import resources
from tests.analysis.test_exclusion import STUDY, ruled

PLAN = """\
analysis:
  outcomes: {primary: [completion_rate, trust], secondary: [response_time_s, solved_s]}
  transform: {response_time_s: log}
  contrasts: [{name: first, model: {sinelines/gt: 1, sinelines/vae: -1}}]
  smallest_effect: {completion_rate: {contrast: first, raw: 0.1}}
hypotheses:
- {text: More., outcome: trust, contrast: first, direction: greater}
"""


def errors(folder: Path, plan: str) -> list[str]:
    text = STUDY.replace("flow:\n", f"{plan}flow:\n")
    return [str(error) for error in check_study(str(ruled(folder, text))).errors]


def test_numbers_of_tables_and_scores_can_be_outcomes(tmp_path: Path) -> None:
    assert errors(tmp_path, PLAN) == []


@pytest.mark.parametrize(
    ("known", "unknown", "line", "key"),
    [
        ("[completion_rate, trust]", "[completion_rat, trust]", 19, "analysis.outcomes.primary"),
        ("solved_s", "opinion.trust", 19, "analysis.outcomes.secondary[1]"),
        ("{response_time_s: log}", "{response_tim: log}", 20, "analysis.transform.response_tim"),
        ("{completion_rate: {", "{outcome: {", 22, "analysis.smallest_effect.outcome"),
        ("outcome: trust", "outcome: distrust", 24, "hypotheses[0].outcome"),
    ],
)
def test_an_outcome_that_nothing_measures_is_told_with_its_line(
    tmp_path: Path, known: str, unknown: str, line: int, key: str
) -> None:
    assert known in PLAN
    (error,) = errors(tmp_path, PLAN.replace(known, unknown, 1))
    assert f"line {line}, {key}" in error
    assert "is neither a number of a table nor a score" in error


@pytest.mark.parametrize(
    ("effect", "told"),
    [
        ("completion_rate: {contrast: first, raw: 15}", "completion_rate goes from 0 to 1"),
        ("completion_rate: {contrast: first, raw: 1}", "to 1 at most; 1 is not below that"),
        ("trust: {contrast: first, raw: 6}", "trust goes from 1 to"),
        ("opinions.trust: {contrast: first, raw: 60}", "opinions.trust goes from 1 to"),
        ("completion_rate: {contrast: first, raw: 0.9}", ""),
        ("response_time_s: {contrast: first, raw: 900}", ""),
        ("completion_rate: {contrast: first, standardised: 2}", ""),
    ],
)
def test_an_effect_that_no_difference_reaches_is_told(
    tmp_path: Path, effect: str, told: str
) -> None:
    errors_ = errors(tmp_path, PLAN.replace("completion_rate: {contrast: first, raw: 0.1}", effect))
    assert [told in error for error in errors_] == [True] * bool(told)


SECOND = """\
id: views
version: 1
title: Views
source: ours
scores: {trust: {mean: [w1, w2]}}
scale: {points: 5, low: not at all, high: very much}
items:
- {kind: statement, id: w1, text: I trust it.}
- {kind: statement, id: w2, text: I rely on it.}
"""


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("hypotheses:", "  measured: [trust]\nhypotheses:", "design.measured[0]"),
        ("completion_rate, trust", "completion_rate, trust", "analysis.outcomes.primary[1]"),
        ("{response_time_s: log}", "{trust: log}", "analysis.transform.trust"),
        ("outcome: trust", "outcome: trust", "hypotheses[0].outcome"),
        ("", "", "exclude.low_trust.score"),
    ],
)
def test_a_name_that_two_questionnaires_have_is_an_error_everywhere(
    tmp_path: Path, old: str, new: str, place: str
) -> None:
    measured = "measured" in new
    plan = PLAN if measured else PLAN.replace(old, new)
    text = STUDY.replace("flow:\n", f"{plan}flow:\n") + "- questionnaire: views\n"
    if measured:
        text = text.replace("  within: [model]\n", "  within: [model]\n  measured: [trust]\n")
    path = ruled(tmp_path, text)
    (tmp_path / "instruments" / "views.yaml").write_text(SECOND)
    told = [str(error) for error in check_study(str(path)).errors]
    assert any(
        place in each and "several meanings: opinions.trust and views.trust" in each
        for each in told
    ), told
    clear = path.read_text().replace("opinions.trust", "trust").replace("trust", "views.trust")
    path.write_text(clear.replace("low_views.trust", "low_trust"))
    assert check_study(str(path)).errors == ()


def test_a_near_name_is_proposed(tmp_path: Path) -> None:
    (error,) = errors(tmp_path, PLAN.replace("completion_rate, trust", "completion_rat, trust"))
    assert "Perhaps completion_rate" in error


@pytest.mark.parametrize(
    "path", sorted((resources.assets() / "studies").glob("*.yaml")), ids=lambda path: path.stem
)
def test_shipped_studies_name_what_is_measured(path: Path) -> None:
    from labapp.analysis.checking import unknown_outcomes
    from labapp.study import loading

    assert not list(unknown_outcomes(loading.load(path)))
