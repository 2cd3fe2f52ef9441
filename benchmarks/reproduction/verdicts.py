"""Whether what a paper says came out: intervals over seeds, and rules that read them.

The rules were fixed before the models were trained whose numbers they judge.

1. A number lies beyond a bound if a one-sided test says so at `ALPHA`; it lies between two bounds
   if both such tests do. With fewer than two seeds nothing can be told.
2. Claims about several tasks are judged for each data set. The tests of a data set share one
   variance, pooled over its cells: with five seeds a cell's own is too uncertain. A cell is a
   learner in a task.
3. A claim holds on a data set if it holds in each of its cells. That is an intersection-union test,
   which needs no correction for their number.
4. A claim does not hold on a data set if one of its cells speaks against it, tested at `ALPHA` over
   the number of cells: of many cells, some speak against it by chance.
5. Over all, it is counted on how many data sets a claim holds, and a fixed-effect mean is given,
   which says nothing of other data sets. A claim holds if it holds on each data set, and does not
   hold if it does not hold on one.

No verdict is written by hand.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.reproduction.printing import Table

LEVEL = 0.95
"""Of the intervals in tables of numbers."""
ALPHA = 0.05
"""Of each one-sided test. So verdicts read intervals of 1 - 2 ALPHA, which claims are printed
with."""
DATA_SET = re.compile(r"\b(TabularToy|dSprites|3dshapes)\(")
"""In the label of a test: the task that it is of, which begins with its data set."""
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
    groups : what it is the weighted sum of means of: each group's weight and its numbers.
    draws : of a bootstrap in their place, float64 (draws,); NaN of one that gave no number.
    """

    mean: float
    n: int
    error: float = math.nan
    freedom: float = math.nan
    groups: tuple[tuple[float, tuple[float, ...]], ...] = ()
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
        return self.told_at(LEVEL)

    def told_at(self, level: float) -> str:
        """The number in words, with its interval."""
        if self.n == 0:
            return "missing"
        low, high = self.interval(level)
        ends = f", {low:.3f} to {high:.3f}" if math.isfinite(low) else ""
        return f"{self.mean:.3f}{ends} (n = {self.n})"


MISSING = Evidence(math.nan, 0)


def contrast(groups: Sequence[tuple[float, Sequence[float]]]) -> Evidence:
    """A sum of means of independent groups, each times a weight; with Welch's interval, of one
    group Student's."""
    n = min(len(values) for _, values in groups)
    if n == 0:
        return MISSING
    mean = sum(weight * float(np.mean(values)) for weight, values in groups)
    kept = tuple((weight, tuple(values)) for weight, values in groups)
    if n == 1:
        return Evidence(mean, 1, groups=kept)
    parts = [weight**2 * float(np.var(values, ddof=1)) / len(values) for weight, values in groups]
    error = math.sqrt(sum(parts))
    if error == 0.0:
        return Evidence(mean, n, 0.0, groups=kept)
    # Relative to the largest, whose square cannot vanish.
    shares = [part / max(parts) for part in parts]
    freedom = sum(shares) ** 2 / sum(
        share**2 / (len(values) - 1) for share, (_, values) in zip(shares, groups, strict=True)
    )
    return Evidence(mean, n, error, freedom, kept)


def pooled(every: Sequence[Evidence]) -> list[Evidence]:
    """The same numbers, with one variance for all groups that they are made of, each counted once.
    Those without groups, or with a group of one number, stay as they are."""
    several = [evidence for evidence in every if evidence.n > 1 and evidence.groups]
    cells = {values for evidence in several for _, values in evidence.groups}
    freedom = sum(len(values) - 1 for values in cells)
    if not freedom:
        return list(every)
    squares = sum(float(np.var(values)) * len(values) for values in cells)

    def error(evidence: Evidence) -> float:
        parts = sum(weight**2 / len(values) for weight, values in evidence.groups)
        return math.sqrt(parts * squares / freedom)

    return [
        replace(evidence, error=error(evidence), freedom=freedom)
        if evidence in several
        else evidence
        for evidence in every
    ]


def mean_of(every: Sequence[Evidence]) -> Evidence:
    """The mean of several numbers, whose groups may be the same in part."""
    weights: dict[tuple[float, ...], float] = {}
    for evidence in every:
        for weight, values in evidence.groups:
            weights[values] = weights.get(values, 0.0) + weight / len(every)
    return contrast([(weight, values) for values, weight in weights.items()])


def fixed_effect(every: Sequence[Evidence]) -> Evidence:
    """The mean of independent numbers, each weighted by one over its squared error."""
    weights = [1 / evidence.error**2 for evidence in every]
    mean = float(np.average([evidence.mean for evidence in every], weights=weights))
    return Evidence(mean, min(evidence.n for evidence in every), sum(weights) ** -0.5, math.inf)


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

    @property
    def leaves(self) -> tuple[Test, ...]:
        """The tests that it is made of."""
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
        return self.evidence.told_at(_level())

    @property
    def told(self) -> str:
        return _labelled(self)

    @property
    def known(self) -> bool:
        return self.evidence.n > 0

    @property
    def leaves(self) -> tuple[Test, ...]:
        return (self,)

    def holds(self, of: int = 1) -> bool:
        """of: of how many alternatives one has to hold."""
        if self.evidence.n < 2:
            return False
        low, high = self.evidence.interval(_level(of))
        return self.above < low and high < self.below

    def margin(self, of: int = 1) -> float:
        """By how much the interval lies within the bounds; of: as for `holds`."""
        low, high = self.evidence.interval(_level(of))
        margin = min(low - self.above, self.below - high)
        return margin if math.isfinite(margin) else self.evidence.mean

    def verdict(self, among: int = 1) -> Verdict:
        if self.holds():
            return Verdict.HOLDS
        if self.evidence.n < 2:
            return Verdict.OPEN
        low, high = self.evidence.interval(_level(among))
        beyond = low >= self.below or high <= self.above
        return Verdict.FAILS if beyond else Verdict.OPEN

    @property
    def contrary(self) -> bool:
        return self.verdict() == Verdict.FAILS


def _level(among: int = 1) -> float:
    """Of the interval whose ends are both tested one-sided, as one of so many."""
    return 1 - 2 * ALPHA / among


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
        low, high = surest.evidence.interval(_level(of))
        evidence = surest.evidence
        number = f"{evidence.mean:.3f}, {low:.3f} to {high:.3f} (n = {evidence.n})"
        return f"the surest of {of}, its interval widened for them: {surest.label}: {number}"

    @property
    def told(self) -> str:
        return _labelled(self)

    @property
    def known(self) -> bool:
        return any(test.known for test in self.tests)

    @property
    def leaves(self) -> tuple[Test, ...]:
        return self.tests

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

    @property
    def leaves(self) -> tuple[Test, ...]:
        return ()

    def verdict(self, among: int = 1) -> Verdict:
        if self.count:
            return Verdict.HOLDS
        return Verdict.FAILS if self.known else Verdict.OPEN

    @property
    def contrary(self) -> bool:
        return self.verdict() == Verdict.FAILS


def _labelled(test: Judged) -> str:
    return f"{test.label}: {test.number}" if test.label else test.number


def data_set(label: str) -> str:
    """The data set that a test is of, by its label; empty where that names no task."""
    match = DATA_SET.search(label)
    return match[1] if match else ""


def with_pooled_variance(tests: Sequence[Judged]) -> tuple[Judged, ...]:
    """The same parts of a claim; the tests of a data set share one variance."""
    leaves = [leaf for test in tests for leaf in test.leaves]
    evidence = {id(leaf): leaf.evidence for leaf in leaves}
    for name in {data_set(leaf.label) for leaf in leaves} - {""}:
        of_it = [leaf for leaf in leaves if data_set(leaf.label) == name]
        every = pooled([leaf.evidence for leaf in of_it])
        evidence |= {id(leaf): new for leaf, new in zip(of_it, every, strict=True)}

    def changed(test: Judged) -> Judged:
        if isinstance(test, Test):
            return replace(test, evidence=evidence[id(test)])
        if isinstance(test, Some):
            return replace(
                test, tests=tuple(replace(leaf, evidence=evidence[id(leaf)]) for leaf in test.tests)
            )
        return test

    return tuple(changed(test) for test in tests)


def by_data_set(tests: Iterable[Judged]) -> dict[str, list[Judged]]:
    """Parts of a claim by the data set that they are of; all others under an empty name."""
    sets: dict[str, list[Judged]] = {}
    for test in tests:
        sets.setdefault(data_set(test.label), []).append(test)
    return sets


def judged(tests: Sequence[Judged]) -> Verdict:
    """Of parts that must all hold, on one data set."""
    verdicts = {test.verdict(len(tests)) for test in tests}
    if Verdict.FAILS in verdicts:
        return Verdict.FAILS
    return Verdict.HOLDS if verdicts == {Verdict.HOLDS} else Verdict.OPEN


def over_all(tests: Sequence[Judged]) -> Verdict:
    """Of a claim with all these parts, of whatever data sets."""
    verdicts = {judged(of_set) for of_set in by_data_set(tests).values()}
    if Verdict.FAILS in verdicts:
        return Verdict.FAILS
    return Verdict.HOLDS if verdicts == {Verdict.HOLDS} else Verdict.OPEN


def mean_over_data_sets(tests: Sequence[Judged]) -> Evidence | None:
    """The fixed-effect mean of what a claim's tests are of, over data sets, each the mean of its
    cells with their pooled variance; None where there are not several data sets with numbers."""
    sets = [
        [leaf.evidence for test in of_set for leaf in test.leaves]
        for name, of_set in by_data_set(tests).items()
        if name
    ]
    if len(sets) < 2 or any(not e.groups or e.n < 2 for every in sets for e in every):
        return None
    means = [pooled([mean_of(every)])[0] for every in sets]
    return fixed_effect(means) if all(mean.error > 0 for mean in means) else None


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
    apart : the same tests, each with its own variance (Welch's).
    """

    says: str
    rule: str
    tests: tuple[Judged, ...]
    source: Source = "paper"
    released: tuple[Judged, ...] | None = None
    why_not: str = ""
    apart: tuple[Judged, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        # A claim is frozen, as its tests are.
        object.__setattr__(self, "apart", self.tests)
        object.__setattr__(self, "tests", with_pooled_variance(self.tests))
        if self.released is not None:
            object.__setattr__(self, "released", with_pooled_variance(self.released))

    @property
    def verdict(self) -> Verdict:
        return over_all(self.tests)

    @property
    def verdict_as_released(self) -> Verdict:
        """Where the released code gives no other scores, the same."""
        return self.verdict if self.released is None else over_all(self.released)

    @property
    def by_data_set(self) -> dict[str, Verdict]:
        """The verdict on each data set."""
        return {name: judged(tests) for name, tests in by_data_set(self.tests).items()}

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


def claims_table(
    claims: Sequence[Claim],
    more: Callable[[Claim], tuple[str, str]] = lambda claim: ("", ""),
) -> str:
    """more: what is said next to a claim's verdict, and its sensitivity analyses."""
    twice = any(claim.released is not None for claim in claims)
    added = [more(claim) for claim in claims]
    columns = ["claim", "holds where", "here", "verdict"]
    if any(sensitivity for _, sensitivity in added):
        columns.append("sensitivity")
    if twice:
        columns += ["as the released code scores", "verdict"]
    table = Table(columns)
    lists = []
    for claim, (note, sensitivity) in zip(claims, added, strict=True):
        verdict = told_verdict(claim.tests) + (f" ({note})" if note else "")
        cells = [_told(claim.tests, claim.why_not), verdict]
        if "sensitivity" in columns:
            cells.append(sensitivity)
        if twice and claim.released is None:
            cells += ["–", "–"]
        elif claim.released is not None:
            cells += [_told(claim.released, ""), told_verdict(claim.released)]
        table.add(STARTS[claim.source] + claim.says, claim.rule, *cells)
        if len(claim.tests) > MANY and any(test.known for test in claim.tests):
            lists.append(_listed(claim))
    return "\n\n".join((str(table), *lists))


def told_verdict(tests: Sequence[Judged]) -> str:
    """Over all, and of several data sets on each, with the fixed-effect mean."""
    sets = {name: judged(of_set) for name, of_set in by_data_set(tests).items()}
    if len(sets) < 2:
        return f"*{over_all(tests)}*"
    count = sum(verdict == Verdict.HOLDS for verdict in sets.values())
    each = ", ".join(f"{name} *{verdict}*" for name, verdict in sets.items())
    text = f"*{over_all(tests)}*: holds on {count} of {len(sets)} data sets ({each})"
    mean = mean_over_data_sets(tests)
    return text if mean is None else f"{text}; fixed-effect mean {mean.told_at(_level())}"


def _told(tests: Sequence[Judged], why_not: str) -> str:
    known = [test for test in tests if test.known]
    if not known:
        return why_not or "nothing trained yet"
    if len(tests) <= MANY:
        return "; ".join(test.told for test in tests)
    verdicts = [test.verdict(_cells(test, tests)) for test in tests]
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


def _cells(test: Judged, tests: Sequence[Judged]) -> int:
    """Of how many tests of its data set it is one."""
    return len(by_data_set(tests)[data_set(test.label)])


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
        among = _cells(test, claim.tests)
        cells = [test.label, test.number, _verdict(test, among)]
        if claim.released is not None:
            cells += [released.number, _verdict(released, among)]
        table.add(*cells)
    return f"<details><summary>{claim.says}</summary>\n\n{table}\n\n</details>"
