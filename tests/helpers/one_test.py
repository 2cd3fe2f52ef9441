"""Whether each row of the table of statistics is one test: its statistic, degrees of freedom,
estimate, interval, effect and p are worked out from one another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from math import isclose, sqrt
from typing import Any

import pandas as pd
from scipy import stats

from labapp.analysis.inference import TOST, adjust

Row = Mapping[str, Any]
NOT_OF_ONE_NUMBER = ("Shapiro-Wilk W", "Wilcoxon", "Mann-Whitney U", "Mauchly's W")
"""Tests whose p is no function of the statistic and degrees of freedom that are printed."""


def near(first: float, other: float, rel: float = 1e-6) -> bool:
    return isclose(first, other, rel_tol=rel, abs_tol=1e-9)


def expected_p(row: Row) -> float | None:
    """p from the statistic and its degrees of freedom; None where it cannot be had of them."""
    test, value, df = row["test"], row["statistic"], row["df"]
    if any(name in test for name in NOT_OF_ONE_NUMBER):
        return None
    if TOST in test:
        ends = (row["difference"] + row["bound"], -row["difference"] + row["bound"])
        tail = stats.norm if df is None else stats.t(df)
        return max(float(tail.sf(end / row["standard_error"])) for end in ends)
    if row["df_2"] is not None:
        return float(stats.f.sf(value, df, row["df_2"]))
    if "chi-square" in test or "Kruskal" in test:
        return float(stats.chi2.sf(value, df))
    if test in ("Pearson r", "Spearman rho"):
        freedom = row["n"] - 2
        t = abs(value) * sqrt(freedom / max(1 - value**2, 1e-300))
        return float(2 * stats.t.sf(t, freedom))
    distribution = stats.norm if df is None else stats.t(df)
    if row["direction"] == "greater":
        return float(distribution.sf(value))
    if row["direction"] == "less":
        return float(distribution.cdf(value))
    return float(2 * distribution.sf(abs(value)))


def faults_of(table: pd.DataFrame) -> list[str]:
    """The same of the table as it is written."""
    return faults(table.to_dict("records"))


def faults(rows: Iterable[Row]) -> list[str]:
    """What does not fit together, a line each."""
    every = [{name: None if pd.isna(cell) else cell for name, cell in r.items()} for r in rows]
    found = [
        f"{row['quantity']}, {row['kind'] or row['item']}, {row['test']}: {fault}"
        for row in every
        if row["p"] is not None
        for fault in _of_row(row)
    ]
    return [*found, *_of_families(every), *_of_terms(every)]


def _of_row(row: Row) -> Iterator[str]:
    p, df, difference, error = row["p"], row["df"], row["difference"], row["standard_error"]
    if not row["test"] or row["statistic"] is None or not 0 <= p <= 1:
        yield "a p without a test, a statistic, or between 0 and 1"
        return
    expected = expected_p(row)
    if expected is not None and not near(p, expected):
        yield f"p is {p}, of its statistic {expected}"
    equivalent = TOST in row["test"]
    level = 0.90 if equivalent else 0.95
    if difference is not None and error is not None:
        t, bound = difference / error, row["bound"] or 0.0
        both = ((difference + bound) / error, (difference - bound) / error)
        if not any(near(row["statistic"], each) for each in (both if equivalent else (t,))):
            yield "the statistic is not the difference over its error"
        tail = stats.norm if df is None else stats.t(df)
        half = float(tail.ppf((1 + level) / 2)) * error
        if not (near(row["low"], difference - half) and near(row["high"], difference + half)):
            yield "the interval is not that of the difference and its error"
        two_sided = float(2 * tail.sf(abs(t)))
        if not equivalent and (row["low"] > 0 or row["high"] < 0) != (two_sided < 0.05):
            yield "the interval and p disagree on 0"
        if equivalent and (-bound < row["low"] and row["high"] < bound) != (p < 0.05):
            yield "the interval and p disagree on the bound"
    ends = [row[name] for name in ("mean", "mean_2", "sd", "sd_2", "n", "n_2")]
    if row["test"] == "two-sample t" and None not in ends:
        mean, mean_2, sd, sd_2, n, n_2 = ends
        pooled = ((n - 1) * sd**2 + (n_2 - 1) * sd_2**2) / (n + n_2 - 2)
        if not near(row["statistic"], (mean - mean_2) / sqrt(pooled * (1 / n + 1 / n_2))):
            yield "the means and deviations are not those of the test"
    if (
        row["against"] is not None
        and row["test"] == "one-sample t"
        and not near(
            row["statistic"], (row["mean"] - row["against"]) / (row["sd"] / sqrt(row["n"]))
        )
    ):
        yield "the mean is not that of the test"
    yield from _of_effect(row)


def _of_effect(row: Row) -> Iterator[str]:
    name, value, low = row["effect_name"], row["effect"], row["effect_low"]
    if value is None or TOST in row["test"]:
        return
    if name in ("partial eta squared", "eta squared"):
        f, df, df_2 = row["statistic"], row["df"], row["df_2"]
        if not near(value, f * df / (f * df + df_2)):
            yield "the effect is not that of F"
        if low is not None and (low > 1e-9) != (row["p"] < 0.05):
            yield "the interval of the effect and p disagree"
    elif name in ("d_z", "Hedges' g"):
        if value * row["statistic"] < 0:
            yield "the effect has another sign than t"
        two_sided = 2 * stats.t.sf(abs(row["statistic"]), row["df"])
        if None not in (low, row["effect_high"]):
            apart = low > 0 or row["effect_high"] < 0
            if apart != (two_sided < 0.05) and abs(two_sided - 0.05) > 1e-6:
                yield "the interval of the effect and p disagree"


def _of_families(rows: Iterable[Row]) -> Iterator[str]:
    families: dict[object, list[Row]] = defaultdict(list)
    for row in rows:
        if row["p_corrected"] is not None and row["p"] is not None:
            alone = row["analysis"] if "per_outcome" in (row["family"] or "") else None
            families[row["study"], row["design"] if alone else None, row["family"], alone].append(
                row
            )
    for (_, _, family, _), own in families.items():  # type: ignore[misc]
        n_tests = {row["n_tests"] for row in own}
        if family is None:
            expected = [min(1.0, row["p"] * row["n_tests"]) for row in own]
        else:
            method = next(m for m in ("holm", "bonferroni", "fdr", "none") if m in family)
            expected = adjust([row["p"] for row in own], method)
            if n_tests != {len(own)}:
                yield f"the family {family} has {len(own)} tests, and says {n_tests}"
        if not all(near(row["p_corrected"], p) for row, p in zip(own, expected, strict=True)):
            yield f"the corrected p of the family {family} are not those of its p"
        if len({row["kind"] for row in own}) > 1:
            yield f"the family {family} has tests of several kinds"


def _of_terms(rows: Iterable[Row]) -> Iterator[str]:
    """Of two levels t squared is F."""
    every = list(rows)
    for term in every:
        if term["kind"] != "test" or term["df"] != 1 or term["epsilon"] is not None:
            continue
        of = (term["analysis"], term["factors"])
        levels = [
            row["levels"]
            for row in every
            if row["kind"] == "estimated mean" and (row["analysis"], row["factors"]) == of
        ]
        for row in every:
            if (row["kind"], row["analysis"], row["factors"]) != ("contrast", *of):
                continue
            if len(levels) == 2 and not near(row["statistic"] ** 2, term["statistic"], 1e-5):
                yield f"{term['quantity']}, {term['factors']}: t squared is not F"
