"""What groups of models say, as rows of the table of statistics.

Items: 1 values by model, 2 analyses of variance, 3 pairs of models, 4 checks of what the tests
assume, 5 mixed models.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from labapp.analysis.design.rows import effect_row, outcome_row
from labapp.analysis.inference import GENERALISED, SMALLEST
from labapp.papers.interactive_reconstruction import results as paper
from labapp.papers.interactive_reconstruction.groups import names_of
from labapp.papers.interactive_reconstruction.results import (
    Compared,
    Found,
    Omnibus,
    Pair,
)

Row = dict[str, Any]
VALUES, VARIANCE, PAIRS, CHECKS, MIXED = "1", "2", "3", "4", "5"


def rows(result: Found) -> list[Row]:
    group = result.group
    about = {
        "study": group.study,
        "design": f"{'within' if group.within else 'between'} participants",
        "group": group.name,
    }
    return [
        about | {"quantity": comparison.metric.column, "unit": comparison.metric.unit} | row
        for comparison in result.compared
        for row in _of(result, comparison)
    ]


def _of(result: Found, comparison: Compared) -> Iterator[Row]:
    yield from _values(result, comparison)
    yield from _omnibus(result, comparison)
    for pair in comparison.pairs:
        yield from _pair(result, comparison, pair)
    for what, outcome in comparison.checks.items():
        first, second = names_of(what, result.group.models)
        about = {"item": CHECKS, "model": first, "compared_with": second, "ours": True}
        yield about | outcome_row(outcome)
    if comparison.mixed is not None:
        values = result.group.values.dropna(subset=[comparison.metric.column])
        people = int(values["participant"].nunique())
        yield {"item": MIXED, "ours": True, "n": people} | outcome_row(comparison.mixed)


def _values(result: Found, comparison: Compared) -> Iterator[Row]:
    for model, summary in comparison.summaries.items():
        mean = paper.mean(result.group, model, comparison.metric)
        yield {
            "item": VALUES,
            "model": model,
            "test": "mean",
            "ours": False,
            "n": summary.n,
            "mean": summary.mean,
            "median": summary.median,
            "sd": summary.sd,
            "sd_population": summary.sd_population,
            "published": None if mean is None else mean.spread or None,
        }


def _omnibus(result: Found, comparison: Compared) -> Iterator[Row]:
    omnibus = comparison.omnibus
    if omnibus is None:
        return
    about: Row = {"item": VARIANCE, "n": omnibus.n, "n_left_out": omnibus.left_out}
    test = about | outcome_row(omnibus.outcome) | effect_row(omnibus.effect)
    shown = paper.omnibus(result.group, comparison.metric)
    yield test | _corrected(result, comparison, omnibus, omnibus.smallest or omnibus.n, shown)
    if omnibus.generalised is not None:
        name = {"test": GENERALISED, "effect_name": GENERALISED, "effect": omnibus.generalised}
        yield about | name | {"ours": True}
    if omnibus.robust is not None:
        yield about | outcome_row(omnibus.robust) | {"ours": True}


def _pair(result: Found, comparison: Compared, pair: Pair) -> Iterator[Row]:
    about: Row = {
        "item": PAIRS,
        "model": pair.model,
        "compared_with": pair.other,
        "n": pair.n_one,
        "n_2": pair.n_other,
    }
    test = about | outcome_row(pair.outcome) | effect_row(pair.effect)
    test |= {"difference": pair.difference, "low": pair.low, "high": pair.high}
    shown = paper.pair(result.group, pair.model, pair.other, comparison.metric)
    yield test | _corrected(result, comparison, pair, pair.n, shown)
    if pair.robust is not None:
        yield about | outcome_row(pair.robust) | {"ours": True}


def _corrected(
    result: Found,
    comparison: Compared,
    test: Omnibus | Pair,
    n: int,
    shown: Iterable[paper.Printed],
) -> Row:
    """What a test has that the paper makes too."""
    p = test.p_corrected
    return {
        "ours": False,
        "p_corrected": p,
        "n_tests": result.n_tests,
        "counted": p is not None and not comparison.repeats,
        "stars": test.stars or None,
        "significant": None if p is None else p < 0.05 and n >= SMALLEST,
        "published": ", ".join(row.said for row in shown) or None,
    }
