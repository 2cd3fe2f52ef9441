"""Changes over questions: of recorded sessions they are those of the table of stages."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.analysis import load
from labapp.analysis.reconstruction.changes import changes
from labapp.analysis.reconstruction.findings import findings
from tests.analysis.test_report import quiet_session


def test_they_are_the_columns_of_the_table_of_stages(tmp_path: Path) -> None:
    for label in ("P01", "P02"):
        quiet_session(label).write(tmp_path)
    tables = load(tmp_path).included()
    (found,) = findings(tables)
    stages = tables.stages.set_index("participant")
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
