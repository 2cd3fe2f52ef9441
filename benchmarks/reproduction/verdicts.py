"""Whether what a paper says came out: intervals over seeds, and rules that read them.

A claim holds where the whole 95 % interval lies on the claim's side of its bound, and cannot be
told where the bound lies within, or where there are fewer than two seeds. It does not hold where
the whole interval lies on the other side, widened for as many numbers as the claim is about: of
many, some lie beyond their bound by chance; how many do is told beside the verdict. No verdict is
written by hand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.reproduction.printing import Table

LEVEL = 0.95
"""Of the intervals."""
MARGIN = 0.05
"""How far apart scores and areas may lie that count as equal. The number is ours."""
Reading = Literal["ours", "released"]
"""Of a score: labapp's default, or what the code released with the paper gives."""


class Verdict(StrEnum):
    HOLDS = "holds"
    FAILS = "does not hold here"
    OPEN = "cannot be told at this size"


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """A number over seeds, and how far it may be off.

    Attributes
    ----------
    mean : the number.
    n : seeds, of the smallest group where several are compared.
    error, freedom : its standard error and the degrees of freedom of it, for Student's interval;
        NaN where there are too few seeds.
    draws : of a bootstrap in their place, float64 (draws,); NaN of one that gave no number.
    """

    mean: float
    n: int
    error: float = math.nan
    freedom: float = math.nan
    draws: NDArray[np.float64] | None = None

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Its ends, NaN where there are too few seeds."""
        tail = (1 - level) / 2
        if self.draws is not None:
            low, high = np.nanquantile(self.draws, [tail, 1 - tail])
            return float(low), float(high)
        if not self.error:
            return self.mean, self.mean
        half = float(stats.t.ppf(1 - tail, self.freedom)) * self.error
        return self.mean - half, self.mean + half

    @property
    def low(self) -> float:
        return self.interval()[0]

    @property
    def high(self) -> float:
        return self.interval()[1]

    @property
    def told(self) -> str:
        if self.n == 0:
            return "missing"
        ends = f", {self.low:.3f} to {self.high:.3f}" if math.isfinite(self.low) else ""
        return f"{self.mean:.3f}{ends} (n = {self.n})"


MISSING = Evidence(math.nan, 0)


def contrast(groups: Sequence[tuple[float, Sequence[float]]]) -> Evidence:
    """A sum of means of independent groups, each times a weight; with Welch's interval, of one
    group Student's."""
    n = min(len(values) for _, values in groups)
    if n == 0:
        return MISSING
    mean = sum(weight * float(np.mean(values)) for weight, values in groups)
    if n == 1:
        return Evidence(mean, 1)
    parts = [weight**2 * float(np.var(values, ddof=1)) / len(values) for weight, values in groups]
    error = math.sqrt(sum(parts))
    if error == 0.0:
        return Evidence(mean, n, 0.0)
    # Relative to the largest, whose square cannot vanish.
    shares = [part / max(parts) for part in parts]
    freedom = sum(shares) ** 2 / sum(
        share**2 / (len(values) - 1) for share, (_, values) in zip(shares, groups, strict=True)
    )
    return Evidence(mean, n, error, freedom)


def over_seeds(values: Sequence[float]) -> Evidence:
    """The mean of one number a seed, with Student's interval."""
    return contrast([(1.0, values)])


def difference(first: Sequence[float], second: Sequence[float]) -> Evidence:
    """The mean of the first less that of the second, with Welch's interval."""
    return contrast([(1.0, first), (-1.0, second)])


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


class Judged(Protocol):
    """A part of a claim."""

    @property
    def label(self) -> str:
        """What it is of."""
        ...

    @property
    def number(self) -> str:
        """What there is of it, in words."""
        ...

    @property
    def told(self) -> str:
        """Both."""
        ...

    @property
    def known(self) -> bool:
        """Whether there is anything to tell."""
        ...

    @property
    def contrary(self) -> bool:
        """Whether it does not hold, were it all that is claimed."""
        ...

    def verdict(self, among: int = 1) -> Verdict:
        """among: of how many parts of the claim it is one."""
        ...


@dataclass(frozen=True, slots=True)
class Test:
    """That a number lies between two bounds. `label`: of what it is, empty where the claim has one
    alone."""

    label: str
    evidence: Evidence
    above: float = -math.inf
    below: float = math.inf

    @property
    def number(self) -> str:
        return self.evidence.told

    @property
    def told(self) -> str:
        return _labelled(self)

    @property
    def known(self) -> bool:
        return self.evidence.n > 0

    def holds(self, of: int = 1) -> bool:
        """of: of how many alternatives one has to hold."""
        if self.evidence.n < 2:
            return False
        low, high = self.evidence.interval(_widened(of))
        return self.above < low and high < self.below

    def margin(self, of: int = 1) -> float:
        """By how much the interval lies within the bounds; of: as for `holds`."""
        low, high = self.evidence.interval(_widened(of))
        margin = min(low - self.above, self.below - high)
        return margin if math.isfinite(margin) else self.evidence.mean

    def verdict(self, among: int = 1) -> Verdict:
        if self.holds():
            return Verdict.HOLDS
        if self.evidence.n < 2:
            return Verdict.OPEN
        low, high = self.evidence.interval(_widened(among))
        beyond = low >= self.below or high <= self.above
        return Verdict.FAILS if beyond else Verdict.OPEN

    @property
    def contrary(self) -> bool:
        return self.verdict() == Verdict.FAILS


def _widened(number: int) -> float:
    """The level at which so many intervals all cover theirs with at least `LEVEL` (Bonferroni)."""
    return 1 - (1 - LEVEL) / number


def above(label: str, evidence: Evidence, bound: float) -> Test:
    """Claimed: the number is greater than the bound."""
    return Test(label, evidence, above=bound)


def below(label: str, evidence: Evidence, bound: float) -> Test:
    """Claimed: the number is less than the bound."""
    return Test(label, evidence, below=bound)


def within(label: str, evidence: Evidence, margin: float) -> Test:
    """Claimed: the number is nearer to 0 than the margin."""
    return Test(label, evidence, above=-margin, below=margin)


@dataclass(frozen=True, slots=True)
class Some:
    """That one of several tests holds, whichever: with intervals widened for as many. It fails
    where all do."""

    label: str
    tests: tuple[Test, ...]

    @property
    def number(self) -> str:
        known = [test for test in self.tests if test.known]
        if not known:
            return MISSING.told
        of = len(self.tests)
        # Of those with an interval, the one that lies farthest on the claim's side.
        surest = max(known, key=lambda test: (test.evidence.n > 1, test.margin(of)))
        if surest.evidence.n < 2:
            return f"of {of}, {surest.told}"
        low, high = surest.evidence.interval(_widened(of))
        evidence = surest.evidence
        number = f"{evidence.mean:.3f}, {low:.3f} to {high:.3f} (n = {evidence.n})"
        return f"the surest of {of}, its interval widened for them: {surest.label}: {number}"

    @property
    def told(self) -> str:
        return _labelled(self)

    @property
    def known(self) -> bool:
        return any(test.known for test in self.tests)

    def verdict(self, among: int = 1) -> Verdict:
        if any(test.holds(len(self.tests)) for test in self.tests):
            return Verdict.HOLDS
        failed = all(test.verdict(among) == Verdict.FAILS for test in self.tests)
        return Verdict.FAILS if failed else Verdict.OPEN

    @property
    def contrary(self) -> bool:
        return self.verdict() == Verdict.FAILS


@dataclass(frozen=True, slots=True)
class Count:
    """That there is at least one of a kind among so many, which were all looked at."""

    label: str
    count: int
    among: int

    @property
    def number(self) -> str:
        return f"{self.count} of {self.among}"

    @property
    def told(self) -> str:
        return _labelled(self)

    @property
    def known(self) -> bool:
        return self.among > 0

    def verdict(self, among: int = 1) -> Verdict:
        if self.count:
            return Verdict.HOLDS
        return Verdict.FAILS if self.known else Verdict.OPEN

    @property
    def contrary(self) -> bool:
        return self.verdict() == Verdict.FAILS


def _labelled(test: Judged) -> str:
    return f"{test.label}: {test.number}" if test.label else test.number


def judged(tests: Sequence[Judged]) -> Verdict:
    """Of a claim with all these parts."""
    verdicts = {test.verdict(len(tests)) for test in tests}
    if Verdict.FAILS in verdicts:
        return Verdict.FAILS
    return Verdict.HOLDS if verdicts == {Verdict.HOLDS} else Verdict.OPEN


Source = Literal["paper", "finding", "beyond"]
STARTS: dict[Source, str] = {"paper": "", "finding": "Ours: ", "beyond": "Beyond the paper: "}


@dataclass(frozen=True, slots=True)
class Claim:
    """What is claimed, and what there is to say to it.

    Attributes
    ----------
    says : what is claimed.
    rule : what must be so for it to hold.
    tests : all of them must hold, and one that does not hold is enough for the claim not to; none
        where nothing of it can be judged here.
    source : who claims it: the paper; an earlier trial of ours ("finding"); nobody beforehand, or
        the paper of other data ("beyond").
    released : of a claim about scores, the same tests of those that the released code gives; None
        where there are no others.
    why_not : why there are no tests.
    """

    says: str
    rule: str
    tests: tuple[Judged, ...]
    source: Source = "paper"
    released: tuple[Judged, ...] | None = None
    why_not: str = ""

    @property
    def verdict(self) -> Verdict:
        return judged(self.tests)

    @property
    def verdict_as_released(self) -> Verdict:
        """Where the released code gives no other scores, the same."""
        return self.verdict if self.released is None else judged(self.released)

    @property
    def contrary(self) -> int:
        """How many of its tests would each not hold alone, though the claim cannot be told."""
        if self.verdict != Verdict.OPEN:
            return 0
        return sum(test.contrary for test in self.tests)

    @property
    def differs(self) -> bool:
        return self.verdict != self.verdict_as_released


def scored(
    says: str,
    rule: str,
    tests: Callable[[Reading], Sequence[Judged]],
    source: Source = "paper",
) -> Claim:
    """A claim about scores of purity, judged by both readings of them."""
    return Claim(says, rule, tuple(tests("ours")), source, tuple(tests("released")))


MANY = 4
"""More tests of a claim than so many are counted in its table and listed below it, folded."""


def claims_table(claims: Sequence[Claim]) -> str:
    twice = any(claim.released is not None for claim in claims)
    columns = ["claim", "holds where", "here", "verdict"]
    table = Table([*columns, "as the released code scores", "verdict"] if twice else columns)
    lists = []
    for claim in claims:
        cells = [_told(claim.tests, claim.why_not), f"*{claim.verdict}*"]
        if twice and claim.released is None:
            cells += ["–", "–"]
        elif claim.released is not None:
            cells += [_told(claim.released, ""), f"*{claim.verdict_as_released}*"]
        table.add(STARTS[claim.source] + claim.says, claim.rule, *cells)
        if len(claim.tests) > MANY and any(test.known for test in claim.tests):
            lists.append(_listed(claim))
    return "\n\n".join((str(table), *lists))


def _told(tests: Sequence[Judged], why_not: str) -> str:
    known = [test for test in tests if test.known]
    if not known:
        return why_not or "nothing trained yet"
    if len(tests) <= MANY:
        return "; ".join(test.told for test in tests)
    verdicts = [test.verdict(len(tests)) for test in tests]
    counts = (f"{verdicts.count(of)} {words}" for of, words in COUNTED.items())
    contrary = sum(
        test.contrary and verdict == Verdict.OPEN
        for test, verdict in zip(tests, verdicts, strict=True)
    )
    alone = f", of which {contrary} would not hold alone" if contrary else ""
    return f"of {len(tests)} (listed below), {', '.join(counts)}{alone}"


COUNTED = {
    Verdict.HOLDS: "hold",
    Verdict.FAILS: "do not",
    Verdict.OPEN: "cannot be told",
}


def _verdict(test: Judged, among: int) -> str:
    verdict = test.verdict(among)
    alone = ", alone it would not hold" if verdict == Verdict.OPEN and test.contrary else ""
    return f"*{verdict}*{alone}"


def _listed(claim: Claim) -> str:
    """Each test of a claim, folded."""
    table = Table(
        ["", "here", "verdict", *(["as released", "verdict"] if claim.released is not None else [])]
    )
    for test, released in zip(claim.tests, claim.released or claim.tests, strict=True):
        among = len(claim.tests)
        cells = [test.label, test.number, _verdict(test, among)]
        if claim.released is not None:
            cells += [released.number, _verdict(released, among)]
        table.add(*cells)
    return f"<details><summary>{claim.says}</summary>\n\n{table}\n\n</details>"
