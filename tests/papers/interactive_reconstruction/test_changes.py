"""Changes over questions: of recorded sessions they are those of the table of stages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from labapp.analysis import load
from labapp.papers.interactive_reconstruction.figures import changes
from labapp.papers.interactive_reconstruction.profile import findings
from labapp.tasks.reconstruction.report.contents import METRICS
from tests.analysis.test_report import quiet_session
from tests.helpers.compared import group_of


@pytest.mark.parametrize("skipped", ["unsolved", "left_out"])
def test_they_are_the_columns_of_the_table_of_stages(tmp_path: Path, skipped: str) -> None:
    declared = {"missing": {"skipped_trials": skipped}}
    outcomes = ["solved", "skipped", "solved", "solved", "solved"]
    for label in ("P01", "P02"):
        quiet_session(label, outcomes, declared).write(tmp_path)
    tables = load(tmp_path).included()
    (found,) = findings(tables)
    stages = tables.stages.set_index("participant")
    assert set(stages["change_completion_rate"]) == {0.5 if skipped == "unsolved" else 0.0}
    shown = set()
    for one in found.compared:
        column = f"change_{one.metric.column}"
        own = changes(found.group, one.metric).set_index("participant")["change"]
        if column not in stages:
            assert own.empty
            continue
        expected = stages[column].dropna().astype(float) * one.metric.factor
        assert own.to_dict() == pytest.approx(expected.to_dict())
        if len(own):
            shown.add(one.metric.column)
    assert shown == {
        *("completion_rate", "response_time_s", "slide_distance"),
        *("error_auc_sum", "error_auc_mean"),
    }


def test_each_session_of_a_participant_has_first_and_last_questions_of_its_own() -> None:
    """The stages of two sessions bear the same id."""
    group = group_of(n=1)
    metric = next(one for one in METRICS if one.column == "response_time_s")
    # 7 questions of 1 s less each, and 3 of 10 s more each: -4 s and 20 s.
    again = group.trials[group.trials["trial"] <= 3].assign(session="2")
    again["duration_s"] = 10.0 * again["trial"]
    both = replace(group, trials=pd.concat([group.trials, again]))
    assert changes(both, metric)["change"].to_list() == pytest.approx([(20 - 4) / 2] * 3)
