"""Metrics of a stage: one participant with one model (paper 000, 4.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import fsum
from statistics import fmean

from labapp.study.design import Missing
from labapp.tasks.reconstruction.attempts import SOLVED_AT_START, TrialRecord
from labapp.tasks.reconstruction.plan import ReconstructionPart


@dataclass(frozen=True, slots=True)
class Measures:
    """Of some questions; None where there is no question to take it from.

    left_out: questions that do not count for the share that was solved. error_auc_sum and
    error_auc_mean are summed over the questions (error x s).
    """

    n: int
    solved: int
    left_out: int
    response_time_s: float | None
    slide_distance: float | None
    error_auc_sum: float | None
    error_auc_mean: float | None


@dataclass(frozen=True, slots=True)
class Change:
    """Last minus first (n - 1) / 2 questions, n being the questions counted; error AUC a
    question. `questions` is the size of each group; all None when it is 0 (Figure 10)."""

    questions: int
    completion_rate: float | None = None
    response_time_s: float | None = None
    slide_distance: float | None = None
    error_auc_sum: float | None = None
    error_auc_mean: float | None = None


@dataclass(frozen=True, slots=True)
class StageRecord:
    """A stage that was begun."""

    part: ReconstructionPart
    completion_rate: float | None
    measures: Measures
    change: Change


def measure(trials: Sequence[TrialRecord], missing: Missing) -> Measures:
    """Metrics over questions that count (none of them excluded)."""
    solved = [missing.solved(t.outcome) for t in trials]
    responses = [t.duration_s for t in trials if t.left_by_participant]
    return Measures(
        n=len(trials),
        solved=solved.count(True),
        left_out=solved.count(None),
        response_time_s=_mean(responses),
        slide_distance=_mean(fsum(t.movement.distance) for t in trials),
        error_auc_sum=_sum(t.error_auc_sum for t in trials),
        error_auc_mean=_sum(t.error_auc_mean for t in trials),
    )


def stage_record(
    part: ReconstructionPart,
    outcome: str | None,
    trials: Sequence[TrialRecord],
    missing: Missing,
) -> StageRecord:
    """The metrics of a stage from all of its attempts; outcome: of the stage, None without an end.

    Questions that the time limit kept from being asked count as not completed; questions that
    were not asked because the moderator skipped the stage, or the session broke off, do not count,
    nor do those that were solved before the first move. Skipped ones count as the study declares
    (missing).
    """
    counted = sorted(
        (t for t in trials if t.excluded_because is None), key=lambda trial: trial.trial
    )
    measures = measure(counted, missing)
    done = outcome in ("completed", "time_expired")
    at_start = sum(t.excluded_because == SOLVED_AT_START for t in trials)
    asked = (part.trials - at_start if done else measures.n) - measures.left_out
    change = first_to_last(counted, missing)
    if part.solved_at is None:  # nothing can be solved in a calibration
        asked, change = 0, replace(change, completion_rate=None)
    return StageRecord(
        part=part,
        completion_rate=measures.solved / asked if asked else None,
        measures=measures,
        change=change,
    )


def first_to_last(trials: Sequence[TrialRecord], missing: Missing) -> Change:
    """The change from the first to the last (n - 1) / 2 of n questions."""
    size = max((len(trials) - 1) // 2, 0)
    if size == 0:
        return Change(0)
    first, last = measure(trials[:size], missing), measure(trials[-size:], missing)

    def change(metric: Callable[[Measures], float | None]) -> float | None:
        before, after = metric(first), metric(last)
        return None if before is None or after is None else after - before

    def rate(measures: Measures) -> float | None:
        asked = measures.n - measures.left_out
        return measures.solved / asked if asked else None

    def a_question(total: float | None) -> float | None:
        return None if total is None else total / size

    return Change(
        size,
        change(rate),
        change(lambda m: m.response_time_s),
        change(lambda m: m.slide_distance),
        change(lambda m: a_question(m.error_auc_sum)),
        change(lambda m: a_question(m.error_auc_mean)),
    )


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _mean(values: Iterable[float | None]) -> float | None:
    known = _known(values)
    return fmean(known) if known else None


def _sum(values: Iterable[float | None]) -> float | None:
    known = _known(values)
    return fsum(known) if known else None
