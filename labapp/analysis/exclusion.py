"""Which of a study's own rules of exclusion a session fails: judged by the rows that its tables
have, so that whoever has the tables can work out the same.

An answer that was not given, or that a de-identified copy withholds, fails no rule; what the
session decided at its end stands beside what is worked out here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from labapp.analysis.task_records import Row
from labapp.study.design import SKIPPED, SOLVED, ExcludeRule, Level
from labapp.study.measures import is_called

ENDED_BY_PARTICIPANT = frozenset({SOLVED, SKIPPED, "answered"})
"""The outcomes of questions that the participant ended, and whose time is therefore a response."""


@dataclass(frozen=True, slots=True)
class Given:
    """One answer as it is judged. values: its number or text, or each option that was chosen."""

    instrument: str
    item: str
    values: tuple[str | float, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """What rules are judged by. trials, stages, scores: rows of the tables of these names;
    interrupted_s: seconds that were lost to stops of the program; failed_checks: attention checks
    that were failed."""

    given: Sequence[Given]
    scores: Sequence[Row]
    trials: Sequence[Row]
    stages: Sequence[Row]
    interrupted_s: float
    failed_checks: int = 0


def failed_rules(rules: Mapping[str, ExcludeRule], judged: Judged) -> tuple[str, ...]:
    """The names of the rules that are failed, in the order of the study."""
    return tuple(name for name, rule in rules.items() if _fails(rule, judged))


def values_of(cell: Any) -> tuple[str | float, ...]:
    """An answer's cell (`cells_of`) as it is judged: options that were chosen one by one."""
    if cell is None or cell == "":
        return ()
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return (float(cell),)
    return tuple(str(cell).split(";"))


def response_times(trials: Iterable[Row]) -> Iterator[float]:
    """Seconds to the response of every question of stages that counts and that the participant
    ended, with the keyboard at hand."""
    for row in trials:
        if row["role"] != "stage" or row["excluded"] or row["keyboard_away"]:
            continue
        if row["outcome"] not in ENDED_BY_PARTICIPANT:
            continue
        seconds = row.get("response_s")
        seconds = row.get("duration_s") if seconds is None else seconds
        if seconds is not None:
            yield float(seconds)


def completion_rate(stages: Iterable[Row]) -> float | None:
    """The share of questions that were solved, 0 to 1: the mean of the stages' rates."""
    rates = [float(rate) for row in stages if (rate := row.get("completion_rate")) is not None]
    return fmean(rates) if rates else None


def _fails(rule: ExcludeRule, judged: Judged) -> bool:
    if rule.item is not None:
        answers = [
            each for each in judged.given if is_called(rule.item, each.instrument, each.item)
        ]
        return any(_of_answer(rule, answer.values) for answer in answers)
    if rule.score is not None:
        rows = (
            r for r in judged.scores if is_called(rule.score or "", r["instrument"], r["score"])
        )
        return any(_beyond(rule, (row["value"],)) for row in rows)
    if rule.interrupted_s_above is not None:
        return judged.interrupted_s > rule.interrupted_s_above
    if rule.failed_checks_above is not None:
        return judged.failed_checks > rule.failed_checks_above
    if rule.completion_rate_below is not None:
        rate = completion_rate(judged.stages)
        return rate is not None and rate < rule.completion_rate_below
    times = list(response_times(judged.trials))
    if not times:
        return False
    if rule.median_response_s_below is not None:
        return median(times) < rule.median_response_s_below
    assert rule.median_response_s_above is not None
    return median(times) > rule.median_response_s_above


def _of_answer(rule: ExcludeRule, values: Sequence[str | float]) -> bool:
    if not values:
        return False
    if rule.answer is not None:
        return any(same(level, value) for level in _levels(rule.answer) for value in values)
    if rule.answer_not is not None:
        allowed = _levels(rule.answer_not)
        return not all(any(same(level, value) for level in allowed) for value in values)
    return _beyond(rule, values)


def _beyond(rule: ExcludeRule, values: Iterable[Any]) -> bool:
    numbers = [float(value) for value in values if isinstance(value, int | float)]
    below, above = rule.below, rule.above
    return any(
        (below is not None and number < below) or (above is not None and number > above)
        for number in numbers
    )


def _levels(levels: Level | tuple[Level, ...]) -> tuple[Level, ...]:
    return levels if isinstance(levels, tuple) else (levels,)


def same(level: Level, value: str | float) -> bool:
    """Whether an answer is the one that a study file writes, as a number or as a text."""
    wanted, answered = _number(level), _number(value)
    if wanted is not None and answered is not None:
        return wanted == answered
    return str(level) == str(value)


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None
