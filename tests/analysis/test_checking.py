"""What nothing measures is told when a study is checked; the report lists what differs from a
registration."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import pandas as pd
import pytest

from labapp.analysis.checking import check_study
from labapp.analysis.declared import Registration
from labapp.analysis.design.sections import sections
from labapp.analysis.sections import _sample_as_registered, registration_section
from labapp.base import resources
from labapp.base.report.page import join_parts
from tests.analysis.design.studies import study
from tests.analysis.design.test_analyses import DESIGN, declared
from tests.analysis.test_inclusion import STUDY, ruled

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
    assert "is not a number in a table, a score" in error


@pytest.mark.parametrize(
    ("effect", "told"),
    [
        ("completion_rate: {contrast: first, raw: 15}", "completion_rate ranges from 0 to 1"),
        ("completion_rate: {contrast: first, raw: 1}", "can be at most 1, and 1 is not below that"),
        ("trust: {contrast: first, raw: 6}", "trust ranges from 1 to"),
        ("opinions.trust: {contrast: first, raw: 60}", "opinions.trust ranges from 1 to"),
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


def told(registered: dict[str, object], utc: str = "2025-12-01T00:00:00Z") -> str:
    tables, results = declared()
    registration = Registration("own", 1, "", utc, 0, registered)
    return str(
        join_parts(registration_section([registration], "own", tables.participants, results))
    )


def test_nothing_differs_where_nothing_does() -> None:
    assert "Nothing differs" in told(DESIGN)


def test_changes_and_what_was_not_registered_are_listed() -> None:
    before = deepcopy(DESIGN)
    before["analysis"]["outcomes"] = {"primary": ["response_time_s"]}  # type: ignore[index]
    before["analysis"]["contrasts"].pop()  # type: ignore[index]
    text = told(before)
    assert "analysis.outcomes.primary" in text
    assert "outcome completion_rate" in text
    assert "contrast hint" in text
    assert "outcome response_time_s" not in text


def test_sessions_that_began_before_are_counted() -> None:
    assert "5 sessions began before" in told(DESIGN, "2026-01-06T00:00:00Z")
    assert "began before" not in told(DESIGN)


def test_simulated_sessions_began_at_no_time() -> None:
    people = declared()[0].participants.assign(simulated=True)
    registration = Registration("own", 1, "", "2026-01-06T00:00:00Z", 0, DESIGN)
    text = str(join_parts(registration_section([registration], "own", people, None)))
    assert "Registered on" in text
    assert "began before" not in text


def test_the_report_of_another_study_says_nothing_of_it() -> None:
    people = declared()[0].participants
    registration = Registration("another", 1, "", "2025-12-01T00:00:00Z", 0, {})
    assert not list(registration_section([registration], "own", people, None))


def test_each_hypothesis_has_its_result() -> None:
    _, results = declared()
    text = str(join_parts(sections(results)))
    against, _ = results.analyses[0].select("contrast")
    assert against.p_corrected is not None
    assert ("not supported" in text) == (against.p_corrected >= 0.05)
    assert "Hypotheses." in text


def test_decisions_by_hand_other_files_and_cells_that_are_not_full_are_listed() -> None:
    tables = study({**DESIGN, "design": {**DESIGN["design"], "per_cell": 100}})  # type: ignore[dict-item]
    people = tables.participants
    first = people.index[0]
    people = people.assign(decided_by_hand=None, study_sha256="a" * 64)
    people.loc[first, ["decided_by_hand", "included", "excluded_because"]] = (
        "excluded",
        False,
        "by_hand",
    )
    people.loc[first, "study_sha256"] = "b" * 64
    registered = {**DESIGN, "design": {**DESIGN["design"], "per_cell": 100}}  # type: ignore[dict-item]
    registration = Registration("own", 1, "a" * 64, "2025-12-01T00:00:00Z", 0, registered)
    text = str(join_parts(registration_section([registration], "own", people, None)))
    assert f"{people.loc[first, 'participant']}, session" in text
    assert "excluded by hand" in text
    assert f"1 session of {len(people)} ran with study files" in text
    assert "6 analysed, but 100 were registered (hint: without)" in text
    assert "5 analysed, but 100 were registered (hint: with)" in text
    assert "Nothing differs" not in text


def test_cells_are_counted_by_their_factors_in_whatever_order_these_stand() -> None:
    """A journal does not keep the order of factors, and levels may be numbers."""
    design = {"between": {"zoom": [1, 2], "hint": ["with", "without"]}, "per_cell": 2}
    cells = [(1, "with"), (1, "without"), (2, "with"), (2, "with")]
    people = pd.DataFrame(
        {
            "participant": [f"P{at // 2}" for at in range(8)],
            "factor_hint": [hint for _, hint in cells for _ in (1, 2)],
            "factor_zoom": [str(zoom) for zoom, _ in cells for _ in (1, 2)],
            "included": [True] * 7 + [False],
        }
    )
    registration = Registration("own", 1, "", "2025-12-01T00:00:00Z", 0, {"design": design})
    assert list(_sample_as_registered(registration, people)) == [
        "1 analysed, but 2 were registered (hint: with, zoom: 1)",
        "1 analysed, but 2 were registered (hint: without, zoom: 1)",
        "0 analysed, but 2 were registered (hint: without, zoom: 2)",
    ]
    people.loc[0, "participant"] = "P9"
    told = list(_sample_as_registered(registration, people))
    assert told[0] == "1 analysed, but 2 were registered (hint: without, zoom: 1)"


def test_the_sample_is_told_whatever_the_versions_of_a_study_declare() -> None:
    tables = study(DESIGN)
    people = tables.participants
    people.loc[people.index[0], "declared"] = "{}"
    registered = {"design": {**DESIGN["design"], "per_cell": 6}}  # type: ignore[dict-item]
    registration = Registration("own", 1, "", "2025-12-01T00:00:00Z", 0, registered)
    assert list(_sample_as_registered(registration, people)) == []
    registered = {"design": {"within": ["model"], "per_cell": 6}}
    registration = Registration("own", 1, "", "2025-12-01T00:00:00Z", 0, registered)
    assert list(_sample_as_registered(registration, people)) == [
        "12 analysed, but 6 were registered"
    ]
