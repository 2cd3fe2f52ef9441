"""Results of tasks on which it can depend what comes next.

Conditions name those of stages, or of a practice, that have a `name`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from labapp.study.adaptive import AnyRule
from labapp.study.adaptive.counting import Criterion
from labapp.study.adaptive.tracks import CRITERION, MISSED, REACHED, THRESHOLD
from labapp.study.when import as_tuple

RIGHT = "right"
"""The share of the questions that were answered rightly."""
VALUES = {
    RIGHT: "a share from 0 to 1",
    CRITERION: f"{REACHED} or {MISSED}",
    THRESHOLD: "a number above 0",
}
"""Every result by name, with the values that it has."""
_MOST = {RIGHT: 1.0, THRESHOLD: float("inf")}


def list_results(rule: AnyRule | None) -> frozenset[str]:
    """The results of stages whose answers are right or wrong. rule: by which levels are chosen."""
    if rule is None:
        return frozenset({RIGHT})
    return frozenset({RIGHT, CRITERION if isinstance(rule, Criterion) else THRESHOLD})


def find_never(name: str, result: str, wanted: Any) -> Iterator[str]:
    """Why a result never has the values, or is never within the limits, of a condition."""
    if isinstance(wanted, Mapping):
        low, high = wanted.get("above", float("-inf")), wanted.get("below", float("inf"))
        most = _MOST.get(result, float("-inf"))
        if not (low < most and high > 0 and low < high):
            yield f"{name} is never within these limits; it is {VALUES[result]}"
        return
    for value in as_tuple(wanted):
        if not _can_be(result, value):
            yield f"{name} is never {value!r}; it is {VALUES[result]}"


def _can_be(result: str, value: Any) -> bool:
    if result == CRITERION:
        return value in (REACHED, MISSED)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 <= value <= _MOST[result]
