"""Whether what a paper says came out: intervals over seeds, and rules that read them.

A claim holds where the whole 95 % interval lies on the claim's side of its bound, does not hold
where the whole interval lies on the other side, and cannot be told where the bound lies within, or
where there are fewer than two seeds. No verdict is written by hand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy import stats

from benchmarks.reproduction.printing import Table

LEVEL = 0.95
"""Of the intervals."""


class Verdict(StrEnum):
    HOLDS = "holds"
    FAILS = "does not hold here"
    OPEN = "cannot be told at this size"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A number over seeds: its mean and the ends of its 95 % interval, NaN where there are too few
    seeds; `n` says how many there are, of the smaller group where two are compared."""

    mean: float
    low: float
    high: float
    n: int

    @property
    def told(self) -> str:
        if self.n == 0:
            return "missing"
        ends = f", {self.low:.3f} to {self.high:.3f}" if math.isfinite(self.low) else ""
        return f"{self.mean:.3f}{ends} (n = {self.n})"


MISSING = Evidence(math.nan, math.nan, math.nan, 0)


def over_seeds(values: Sequence[float]) -> Evidence:
    """The mean of one number a seed, with Student's interval."""
    n = len(values)
    if n == 0:
        return MISSING
    mean = float(np.mean(values))
    if n == 1:
        return Evidence(mean, math.nan, math.nan, 1)
    half = float(stats.t.ppf((1 + LEVEL) / 2, n - 1) * np.std(values, ddof=1) / math.sqrt(n))
    return Evidence(mean, mean - half, mean + half, n)


def difference(first: Sequence[float], second: Sequence[float]) -> Evidence:
    """The mean of the first less that of the second, with Welch's interval."""
    n = min(len(first), len(second))
    if n == 0:
        return MISSING
    mean = float(np.mean(first) - np.mean(second))
    if n == 1:
        return Evidence(mean, math.nan, math.nan, 1)
    parts = [float(np.var(values, ddof=1)) / len(values) for values in (first, second)]
    error = math.sqrt(sum(parts))
    if error == 0.0:
        return Evidence(mean, mean, mean, n)
    # Relative to the larger, whose square cannot vanish.
    shares = [part / max(parts) for part in parts]
    freedom = sum(shares) ** 2 / sum(
        share**2 / (len(values) - 1) for share, values in zip(shares, (first, second), strict=True)
    )
    half = float(stats.t.ppf((1 + LEVEL) / 2, freedom)) * error
    return Evidence(mean, mean - half, mean + half, n)


def welch_p(first: Sequence[float], second: Sequence[float]) -> float:
    """Of a two-sided Welch t test; NaN with fewer than two seeds of either or without variance."""
    if min(len(first), len(second)) < 2 or np.ptp(first) == np.ptp(second) == 0:
        return math.nan
    # From the moments: of values that are all the same, their own way would warn of rounding.
    moments = [
        (float(np.mean(values)), float(np.std(values, ddof=1)), len(values))
        for values in (first, second)
    ]
    return float(stats.ttest_ind_from_stats(*moments[0], *moments[1], equal_var=False).pvalue)


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Spearman's; 0 where either is constant, which has no order."""
    if min(np.ptp(first), np.ptp(second)) == 0:
        return 0.0
    return float(stats.spearmanr(first, second).statistic)


@dataclass(frozen=True, slots=True)
class Test:
    """A number beside its bound. `label`: of what it is, empty where the claim has one alone."""

    label: str
    evidence: Evidence
    verdict: Verdict

    @property
    def told(self) -> str:
        return f"{self.label}: {self.evidence.told}" if self.label else self.evidence.told


def above(label: str, evidence: Evidence, bound: float) -> Test:
    """Claimed: the number is greater than the bound."""
    if evidence.n < 2:
        return Test(label, evidence, Verdict.OPEN)
    if evidence.low > bound:
        return Test(label, evidence, Verdict.HOLDS)
    return Test(label, evidence, Verdict.FAILS if evidence.high <= bound else Verdict.OPEN)


def below(label: str, evidence: Evidence, bound: float) -> Test:
    """Claimed: the number is less than the bound."""
    if evidence.n < 2:
        return Test(label, evidence, Verdict.OPEN)
    if evidence.high < bound:
        return Test(label, evidence, Verdict.HOLDS)
    return Test(label, evidence, Verdict.FAILS if evidence.low >= bound else Verdict.OPEN)


def within(label: str, evidence: Evidence, margin: float) -> Test:
    """Claimed: the number is nearer to 0 than the margin."""
    if evidence.n < 2:
        return Test(label, evidence, Verdict.OPEN)
    if max(abs(evidence.low), abs(evidence.high)) < margin:
        return Test(label, evidence, Verdict.HOLDS)
    outside = evidence.low >= margin or evidence.high <= -margin
    return Test(label, evidence, Verdict.FAILS if outside else Verdict.OPEN)


@dataclass(frozen=True, slots=True)
class Claim:
    """`says`: what is claimed; `rule`: what must be so for it to hold; `tests`: all of them must
    hold, and one that does not hold is enough for the claim not to; `ours`: whether it is none of
    the paper's, but of an earlier trial of ours."""

    says: str
    rule: str
    tests: tuple[Test, ...]
    ours: bool = False

    @property
    def verdict(self) -> Verdict:
        verdicts = {test.verdict for test in self.tests}
        if Verdict.FAILS in verdicts:
            return Verdict.FAILS
        return Verdict.HOLDS if verdicts == {Verdict.HOLDS} else Verdict.OPEN


def claims_table(claims: Sequence[Claim]) -> str:
    table = Table(["claim", "holds where", "here", "verdict"])
    for claim in claims:
        trained = any(test.evidence.n for test in claim.tests)
        here = "; ".join(test.told for test in claim.tests) if trained else "nothing trained yet"
        says = f"Ours: {claim.says}" if claim.ours else claim.says
        table.add(says, claim.rule, here, f"*{claim.verdict}*")
    return str(table)
