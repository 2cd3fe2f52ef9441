"""analysis.R makes every test of the analyses by the design again, and has the same numbers."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from labapp.analysis.design.contents import REPORT
from labapp.analysis.design.r_script import SCRIPT
from labapp.analysis.task_report import Findings
from labapp.analysis.writing import write
from tests.analysis.design.studies import MODELS, study
from tests.analysis.design.test_analyses import DESIGN
from tests.analysis.design.test_equal_to_r import r_is_missing

ALL = {"design": {"within": ["model"]}, "analysis": {"family": "all", "correction": "fdr"}}
AWKWARD = {
    "design": {"between": {"hint": ["+01", '01 "two"']}, "within": ["model"]},
    "analysis": {
        "contrasts": [
            {"name": "-it's", "weights": {"hint": {"+01": 1, '01 "two"': -1}}},
            {"name": "é − b", "weights": {"model": {MODELS[0]: 1, MODELS[1]: -1}}},
        ]
    },
}
STUDIES: dict[str, Any] = {
    "as declared": study(DESIGN, n=14),
    "with gaps": study(DESIGN, n=16, gaps=4, seed=4),
    "not declared, two models": study(n=9, models=MODELS[:2], seed=2),
    "one family": study(ALL, seed=3),
    "awkward names": study(AWKWARD, seed=5, hints=("+01", '01 "two"')),
}


@pytest.mark.r
@pytest.mark.parametrize("name", list(STUDIES))
def test_r_has_the_same_numbers(name: str, tmp_path: Path) -> None:
    if why := r_is_missing():
        pytest.skip(why)
    tables = STUDIES[name]
    findings = Findings.find(tables.included())
    write(tables, tmp_path, findings)
    REPORT.write(findings.of[REPORT], tmp_path)
    done = subprocess.run(
        ["Rscript", SCRIPT], cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = re.search(r"(\d+) numbers compared, 0 off", done.stdout)
    assert told is not None
    assert int(told[1]) > 60
    assert "Not recomputed" not in done.stdout, done.stdout


@pytest.mark.r
def test_a_number_that_is_off_is_found(tmp_path: Path) -> None:
    if why := r_is_missing():
        pytest.skip(why)
    tables = STUDIES["not declared, two models"]
    findings = Findings.find(tables.included())
    write(tables, tmp_path, findings)
    REPORT.write(findings.of[REPORT], tmp_path)
    path = tmp_path / "statistics.csv"
    rows = pd.read_csv(path)
    at = rows.index[rows["test"] == "ANOVA F"][0]
    rows.loc[at, "statistic"] *= 1 + 1e-6
    rows.to_csv(path, index=False)
    done = subprocess.run(
        ["Rscript", SCRIPT], cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 1
    assert "1 off" in done.stdout
