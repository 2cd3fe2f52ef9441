"""Frames for the comparison with R: drawn once from a seed, one row a participant and cell."""

from __future__ import annotations

import numpy as np
import pandas as pd

from labapp.analysis.design.layout import Factor, Layout

SIZES = {"g": 2, "h": 3, "a": 3, "b": 2}
"""The levels of the factors: g and h between participants, a and b within them."""


def layout(names: str, covariates: tuple[str, ...] = ()) -> Layout:
    """The factors of a design by their letters."""
    return Layout(
        tuple(
            Factor(name, tuple(f"{name}{at}" for at in range(SIZES[name])), name in "ab")
            for name in names
        ),
        covariates,
    )


def frame(names: str, n: int, seed: int, *, x: bool = False) -> pd.DataFrame:
    """One value a participant and cell; groups of unequal size; x: with a covariate."""
    rng = np.random.default_rng(seed)
    rows = []
    for at in range(n):
        own = {"participant": f"P{at:02}"}
        for name in names:
            if name in "gh":
                place = (at // 2 if name == "h" else at) % SIZES[name]
                own[name] = f"{name}{0 if at == n - 1 else place}"
        cells: list[dict[str, str]] = [{}]
        for name in names:
            if name in "ab":
                cells = [c | {name: f"{name}{k}"} for c in cells for k in range(SIZES[name])]
        person = rng.normal()
        covariate = {"x": round(float(rng.normal(30, 8)), 3)} if x else {}
        for cell in cells:
            levels = {**own, **cell}
            shift = sum(0.4 * int(levels[name][1]) for name in names)
            value = 5 + person + shift + rng.normal() * (1 + 0.5 * ("a2" in cell.values()))
            rows.append(levels | covariate | {"value": round(float(value), 6)})
    return pd.DataFrame(rows)


def with_gaps(whole: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The same less one row in eight."""
    rng = np.random.default_rng(seed)
    return whole[rng.random(len(whole)) > 0.125].reset_index(drop=True)


def trials(names: str, n: int, seed: int, *, binary: bool) -> pd.DataFrame:
    """Six trials a cell, each of one of six stimuli."""
    rng = np.random.default_rng(seed)
    cells = frame(names, n, seed)
    stimuli = rng.normal(scale=0.7, size=6)
    repeated = cells.loc[cells.index.repeat(6)].reset_index(drop=True)
    stimulus = np.arange(len(repeated)) % 6
    value = repeated["value"] + stimuli[stimulus] + rng.normal(size=len(repeated))
    if binary:
        value = (rng.random(len(repeated)) < 1 / (1 + np.exp(-(value - 5.5)))).astype(int)
    return repeated.assign(value=np.round(value, 6), stimulus=[f"s{k}" for k in stimulus])


CASES = {
    "one factor within": ("anova", "a", 14),
    "two factors within": ("anova", "ab", 14),
    "two factors between": ("anova", "gh", 14),
    "one between, one within": ("anova", "ga", 14),
    "one between, two within": ("anova", "gab", 13),
    "two between, one within": ("anova", "gha", 17),
    "with a covariate": ("anova", "ga", 12),
    "gaps, one factor": ("mixed", "a", 14),
    "gaps, two factors": ("mixed", "ga", 14),
    "gaps, two factors within": ("mixed", "ab", 14),
    "trials": ("mixed", "ga", 12),
    "yes or no": ("logistic", "ga", 14),
}
"""By name the analysis, the factors and the participants."""


def case(name: str, seed: int = 3) -> pd.DataFrame:
    """The frame of one of `CASES`."""
    kind, names, n = CASES[name]
    if kind == "logistic":
        return trials(names, n, seed, binary=True)
    if name == "trials":
        return trials(names, n, seed, binary=False)
    whole = frame(names, n, seed, x=name == "with a covariate")
    return with_gaps(whole, seed + 2) if kind == "mixed" else whole
