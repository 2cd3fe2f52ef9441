"""analysis.R makes every test of the analyses according to the design again, and has the same
numbers."""

from __future__ import annotations

import json
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from labapp.analysis.analyze import write
from labapp.analysis.design.contents import REPORT, SCRIPT
from labapp.analysis.tables import Tables
from labapp.analysis.task_report import Findings
from tests.analysis.design.studies import MODELS, study
from tests.analysis.design.test_analyses import AGAINST, DESIGN, OPPOSITE
from tests.analysis.design.test_equal_to_r import r_is_missing

ALL = {"design": {"within": ["model"]}, "analysis": {"family": "all", "correction": "fdr"}}
AWKWARD = {
    "design": {"between": {"hint": ["+0.1(", '+011 "two"']}, "within": ["model"]},
    "analysis": {
        "contrasts": [
            {"name": "-it's", "weights": {"hint": {"+0.1(": 1, '+011 "two"': -1}}},
            {"name": "é − b", "weights": {"model": {MODELS[0]: 1, MODELS[1]: -1}}},
        ]
    },
}
BOUND = {
    "design": {"between": {"hint": ["with", "without"]}, "within": ["model"]},
    "analysis": DESIGN["analysis"]
    | {
        "smallest_effect": {
            "response_time_s": [
                {"contrast": AGAINST["name"], "raw": 4},
                {"contrast": "hint", "standardised": 0.5},
            ]
        }
    },
}
FURTHER = DESIGN | {
    "analysis": DESIGN["analysis"]
    | {"further_tests": ["bayes_factor", "trimmed_means", "aligned_ranks"]}
}
STUDIES: dict[str, dict[str, Any]] = {
    "as declared": {"declared": DESIGN, "n": 14},
    "with gaps": {"declared": DESIGN, "n": 16, "gaps": 4, "seed": 4},
    "nobody with every cell": {"declared": DESIGN, "n": 14, "gaps": 14, "seed": 10},
    "not declared, two models": {"n": 9, "models": MODELS[:2], "seed": 2},
    "one family": {"declared": ALL, "seed": 3},
    "log with a raw bound": {"declared": BOUND, "seed": 6},
    "one contrast, several tests": {"declared": OPPOSITE, "seed": 7},
    "further tests": {"declared": FURTHER, "n": 17, "seed": 8},
    "further tests, gaps": {"declared": FURTHER, "n": 20, "seed": 9, "gaps": 3},
    "awkward names": {"declared": AWKWARD, "seed": 5, "hints": ("+0.1(", '+011 "two"')},
}


@cache
def tables_of(name: str) -> Tables:
    """Made where they are asked for: every worker reads this module."""
    return study(**STUDIES[name])


SEEN = {
    "as declared": (
        "equivalence t", "90 % interval", "back-transformed mean", "ratio", "odds ratio",
        "trials, ", "Cohen's d_s", "Cohen's d_av", "Hedges' g",
    ),
    "with gaps": ("mixed model", "trials, "),
    "log with a raw bound": ("equivalence t", "back-transformed mean"),
    "further tests": ("Bayes factor", "trimmed means, df", "aligned ranks, hint × model F"),
}  # fmt: skip
"""What R must have made again."""
RECOMPUTED = Path(__file__).with_name("recomputed.json")
PINNED_COLUMNS = (
    "mean", "difference", "standard_error", "statistic", "df", "df_2", "p", "p_corrected", "low",
    "high", "effect", "effect_low", "effect_high", "epsilon",
)  # fmt: skip


def run(tables: Tables, folder: Path) -> subprocess.CompletedProcess[str]:
    """Write the analysis into a folder, and run its script from another one."""
    folder = folder / "my results"
    folder.mkdir()
    findings = Findings.find(tables.included())
    write(tables, folder, findings)
    REPORT.write(findings.of[REPORT], folder)
    command = ["Rscript", str(Path(folder.name) / SCRIPT)]
    return subprocess.run(
        command, cwd=folder.parent, capture_output=True, text=True, timeout=100, check=False
    )


@pytest.mark.r
@pytest.mark.parametrize("name", list(STUDIES))
def test_r_has_the_same_numbers(name: str, tmp_path: Path) -> None:
    if why := r_is_missing():
        pytest.skip(f"{why}: recomputed.json holds in its place")
    done = run(tables_of(name), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    told = re.search(r"(\d+) numbers compared, 0 off", done.stdout)
    assert told is not None
    assert int(told[1]) > 100
    assert "Not recomputed" not in done.stdout, done.stdout
    what = " ".join(pd.read_csv(tmp_path / "my results" / "analysis-R.csv")["what"])
    assert "upper end" in what
    assert [text for text in SEEN.get(name, ()) if text not in what] == []


def numbers(tables: Tables) -> dict[str, float]:
    """Every number of the analyses according to the design that R makes again, by what it is of."""
    made: dict[str, float] = {}
    for results in Findings.find(tables.included()).of[REPORT].studies.values():
        for row in (each.row() for each in results.rows):
            of = [row.get(name) for name in ("quantity", "kind", "test", "factors", "levels")]
            of += [row.get("contrast"), row.get("model_name")]
            for name in PINNED_COLUMNS:
                if isinstance(row.get(name), float):
                    made["|".join(map(str, [*of, name]))] = row[name]
    return made


@pytest.mark.parametrize("name", list(SEEN))
def test_numbers_are_those_that_r_computed(name: str) -> None:
    """Where R is not installed: `recomputed.json` was written by this module as a program, which
    ends with an error where R has any other number."""
    pinned = json.loads(RECOMPUTED.read_text(encoding="utf-8"))[name]
    ours = numbers(tables_of(name))
    assert ours.keys() == pinned.keys()
    off = {k: (ours[k], v) for k, v in pinned.items() if ours[k] != pytest.approx(v, 1e-4, 1e-6)}
    assert off == {}


@pytest.mark.r
def test_a_number_that_is_off_is_found(tmp_path: Path) -> None:
    if why := r_is_missing():
        pytest.skip(f"{why}, and its script is what is tested")
    tables = tables_of("not declared, two models")
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


if __name__ == "__main__":
    import tempfile

    made = {}
    for name in SEEN:
        with tempfile.TemporaryDirectory() as scratch:
            done = run(tables_of(name), Path(scratch))
            if done.returncode:
                raise SystemExit(done.stdout + done.stderr)
            made[name] = numbers(tables_of(name))
    RECOMPUTED.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
