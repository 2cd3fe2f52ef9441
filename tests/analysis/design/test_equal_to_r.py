"""Analyses of variance, mixed models and logistic regressions have the values of R.

`pinned.json` was made by `pinned.R` (R 4, afex, emmeans, lmerTest) over `frames.py`; make it anew
by `python -m tests.analysis.design.test_equal_to_r`. Where R is installed, it is also run over
designs that are drawn.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from labapp.analysis.design import anova, logistic, mixed
from labapp.analysis.design.layout import Layout, wide
from labapp.analysis.statistic import Statistic
from tests.analysis.design import frames

HERE = Path(__file__).parent
PINNED = HERE / "pinned.json"
CLOSED, ITERATIVE = 1e-8, 1e-4
Lines = list[list[str]]


def run_r(frame: pd.DataFrame, kind: str, folder: Path) -> Lines:
    path = folder / "frame.csv"
    frame.to_csv(path, index=False)
    command = ["Rscript", str(HERE / "pinned.R"), str(path), kind]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100)
    return [line.split("\t") for line in done.stdout.splitlines()]


@cache
def r_is_missing() -> str:
    if shutil.which("Rscript") is None:
        return "R is not installed"
    missing = r_lacks("afex", "emmeans", "lmerTest")
    return f"R lacks the packages {', '.join(missing)}" if missing else ""


def r_lacks(*packages: str) -> list[str]:
    """Which of the packages R does not have."""
    query = f"cat(sapply(c({', '.join(map(repr, packages))}), requireNamespace, quietly = TRUE))"
    done = subprocess.run(["Rscript", "-e", query], capture_output=True, text=True, check=True)
    return [p for p, there in zip(packages, done.stdout.split(), strict=True) if there != "TRUE"]


def check(kind: str, frame: pd.DataFrame, names: str, lines: Lines) -> int:
    layout = frames.layout(names, ("x",) if "x" in frame else ())
    if kind == "anova":
        return _check_anova(frame, layout, lines)
    checks = _check_mixed if kind == "mixed" else _check_odds
    return checks(frame, layout, lines)


def _check_anova(frame: pd.DataFrame, layout: Layout, lines: Lines) -> int:
    model = anova.variance(wide(frame, layout).complete)
    assert isinstance(model, anova.Variance)
    terms = {frozenset(term.factors): term for term in model.terms()}
    checked = 0
    for what, name, *cells in lines:
        if what in ("mean", "pair"):
            checked += _check_mean(model, layout, what, name, cells, CLOSED)
            continue
        term = terms[frozenset(name.split(":"))]
        numbers = [float(cell) for cell in cells]
        checked += 1
        if what == "term":
            ours = [
                term.plain.statistic, term.plain.df, term.plain.df_2, term.plain.p,
                term.generalised and term.generalised.effect,
                term.plain.effect,
            ]  # fmt: skip
            assert ours == pytest.approx(numbers, rel=CLOSED, abs=1e-12), name
        elif what == "gg":
            assert term.corrected is not None
            assert [term.corrected.epsilon, term.corrected.p] == pytest.approx(
                numbers, rel=CLOSED
            ), name
        else:
            assert term.sphericity is not None
            assert [term.sphericity.statistic] == pytest.approx(numbers, rel=CLOSED), name
    return checked


def _check_mean(
    model: anova.Means, layout: Layout, what: str, name: str, cells: list[str], rel: float
) -> int:
    factor = next(factor for factor in layout.factors if factor.name == name)
    if what == "mean":
        estimate = model.estimate({name: {cells[0]: 1.0}})
        assert not isinstance(estimate, Statistic)
        ours: list[Any] = [estimate.value, estimate.error, estimate.df]
    else:
        comparison = anova.pairs([factor])[int(cells[0]) - 1]
        row, *_ = anova.compare(model, comparison, layout.factors)
        ours = [row.difference, row.standard_error, row.df, row.p]
    assert ours == pytest.approx([float(cell) for cell in cells[1:]], rel=rel, abs=rel)
    return 1


def _check_mixed(frame: pd.DataFrame, layout: Layout, lines: Lines) -> int:
    model: mixed.Mixed | Statistic
    if "stimulus" in frame:
        effects = [
            mixed.Random(name, pd.factorize(frame[name])[0].astype(np.intp))
            for name in ("participant", "stimulus")
        ]
        model = mixed.fit(frame, layout, effects)
    else:
        model = mixed.of_cells(frame, layout)
    assert isinstance(model, mixed.Mixed)
    sds = {name.removeprefix("1 | "): sd for name, sd in model.sds.items()}
    terms = {frozenset(term.factors): term.plain for term in model.terms()}
    for what, name, *cells in lines:
        if what in ("mean", "pair"):
            _check_mean(model, layout, what, name, cells, ITERATIVE)
        elif what == "sd":
            own = sds[{"Residual": "residual"}.get(name, name)]
            assert own == pytest.approx(float(cells[0]), rel=ITERATIVE, abs=1e-3)
        else:
            test = terms[frozenset(name.split(":"))]
            ours = [test.statistic, test.df, test.df_2, test.p]
            expected = [float(cell) for cell in cells]
            assert ours == pytest.approx(expected, rel=ITERATIVE, abs=ITERATIVE), name
    return len(lines)


def _check_odds(frame: pd.DataFrame, layout: Layout, lines: Lines) -> int:
    model = logistic.of_trials(frame, layout)
    assert isinstance(model, logistic.Logistic)
    errors = np.sqrt(np.diag(model.covariance))
    ours = sorted(zip(model.coefficients, errors, strict=True))
    expected = sorted((float(b), float(error)) for _, _, b, error in lines)
    assert np.array(ours) == pytest.approx(np.array(expected), rel=1e-6)
    return len(lines)


@pytest.mark.parametrize("name", list(frames.CASES))
def test_values_are_those_of_r(name: str) -> None:
    kind, names, _ = frames.CASES[name]
    lines = json.loads(PINNED.read_text(encoding="utf-8"))[name]
    assert check(kind, frames.case(name), names, lines) >= 6


@pytest.mark.r
@pytest.mark.parametrize("seed", range(3))
def test_designs_that_are_drawn_have_the_values_of_r(seed: int, tmp_path: Path) -> None:
    if why := r_is_missing():
        pytest.skip(f"{why}: the pinned values of R hold in its place")
    drawn = random.Random(seed)
    kind = ("anova", "mixed", "logistic")[seed % 3]
    names = drawn.choice(("a", "b", "ga", "gb", "hb") if kind != "anova" else ("gh", "gab", "hab"))
    n = drawn.randint(15, 24)
    data = frames.frame(names, n, drawn.randrange(10**6))
    if kind == "mixed":
        data = frames.with_gaps(data, seed)
    elif kind == "logistic":
        data = frames.trials(names, n, drawn.randrange(10**6), binary=True)
    assert check(kind, data, names, run_r(data, kind, tmp_path)) >= 2


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as scratch:
        PINNED.write_text(
            json.dumps(
                {
                    name: run_r(frames.case(name), kind, Path(scratch))
                    for name, (kind, _, _) in frames.CASES.items()
                },
                indent=1,
            )
            + "\n",
            encoding="utf-8",
        )
