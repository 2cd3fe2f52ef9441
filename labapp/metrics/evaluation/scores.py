"""One metric or all of them, on the same codes and factors."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labapp.errors import MetricError, UsageError
from labapp.metrics.inputs import check_vectors
from labapp.metrics.registry import METRICS, Metric
from labapp.metrics.score import Score

Float64 = NDArray[np.float64]
Say = Callable[[str, float | None], None]
"""Called with the name of each metric and None before it is computed; for metrics that may take
minutes, also with the share that is done, 0 to 1."""

OF_CONCEPTS = ("oracle", "deviation", "leakage", "between_codes", "between_concepts")
"""Parts of shape (K, K), whose rows are concepts and not codes."""
LEARNT_WITHOUT_CONCEPTS = {"ois": {"align": True}, "ctl": {"align": True}, "icl": {"align": True}}
"""Settings, by metric, for codes that stand for no concepts of their own."""
MEDIAN = "above the median"
"""Value of the setting `factors_are` of OIS and NIS if measurements were divided at their
median."""


@dataclass(frozen=True, slots=True, eq=False)
class MetricOutcome:
    """What one metric gave: its score, or why there is none."""

    metric: Metric
    score: Score | None = None
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """As `Score.to_json`; without a score, "score" is null and "reason" says why."""
        if self.score is None:
            return {"metric": self.metric.name, "score": None, "reason": self.reason}
        return dict(self.score.to_json())


def without_labels() -> tuple[str, ...]:
    """The metrics that need no labels of a task."""
    return tuple(name for name, metric in METRICS.items() if not metric.labels)


def find(name: str) -> Metric:
    """The metric of a name on the command line. Raises UsageError, which lists them."""
    if name not in METRICS:
        raise UsageError(
            f"There is no metric {name!r}.", todo=f"Use one of: {', '.join(METRICS)}; or all."
        )
    return METRICS[name]


def compute(
    metric: Metric,
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    seed: int = 0,
    as_published: bool = False,
    cut: bool = False,
    settings: Mapping[str, object] | None = None,
    train: tuple[ArrayLike, ArrayLike] | None = None,
    labels: ArrayLike | None = None,
    train_labels: ArrayLike | None = None,
    say: Say | None = None,
) -> Score:
    """One metric.

    Parameters
    ----------
    cut : for a metric of concepts, take whether each factor is above its median. The settings of
        the score say so.
    settings : further ones of that metric, by name.
    train : codes and factors of other rows to learn from, for a metric that takes them; cut at
        medians of all rows.
    labels, train_labels : the labels of a task, of the rows that are scored and of those to learn
        from; for a metric that takes them, which needs them.

    Raises
    ------
    MetricError : the metric refuses the data, or the settings, takes no rows to learn from, or
        lacks labels; or it is of another package and fails.
    """
    cut = cut and metric.concepts
    more: dict[str, object] = dict(settings or {})
    taken: ArrayLike
    if train is not None:
        if not metric.train:
            raise MetricError(
                f"{metric.label} takes no other rows to learn from.",
                safe="Nothing was written.",
                todo="Leave them out.",
            )
        learnt, of_learnt = train
        taken = factors
        if cut:
            tables = [check_vectors(learnt, of_learnt)[1], check_vectors(codes, factors)[1]]
            if tables[0].shape[1] == tables[1].shape[1]:
                whole = above_medians(np.concatenate(tables))
                of_learnt, taken = whole[: len(tables[0])], whole[len(tables[0]) :]
        more["train"] = (learnt, of_learnt)
        if metric.labels:
            more["train"] = (learnt, of_learnt, _given(metric, train_labels, "to learn from"))
    else:
        taken = above_medians(check_vectors(codes, factors)[1]) if cut else factors
    if metric.labels:
        more["labels"] = _given(metric, labels, "to score")
    if say is not None:
        say(metric.name, None)
        if metric.progress:
            more["progress"] = partial(say, metric.name)
    try:
        score = metric.load()(codes, taken, seed=seed, as_published=as_published, **more)
    except MetricError:
        raise
    except Exception as error:
        if metric.name in METRICS.shipped:
            raise
        raise MetricError(
            f"The metric {metric.name!r} of an installed package failed: "
            f"{type(error).__name__}: {error}.",
            todo="Tell its authors; `labapp plugins list` names the package.",
        ) from error
    if not cut:
        return score
    told = {**score.settings, "factors_are": MEDIAN}
    return replace(score, settings=told)


def compute_all(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    seed: int = 0,
    as_published: bool = False,
    cut: bool = False,
    settings: Mapping[str, Mapping[str, object]] | None = None,
    names: Sequence[str] | None = None,
    labels: ArrayLike | None = None,
    say: Say | None = None,
) -> list[MetricOutcome]:
    """Every metric in the order of the registry. One that cannot be computed says why.

    Parameters
    ----------
    settings : further ones, by metric and name.
    names : of the metrics; by default all that there are.
    labels : of a task, for metrics that take them.

    Raises
    ------
    MetricError : no metric could be computed on such data.
    """
    check_vectors(codes, factors)
    outcomes = []
    for name in METRICS if names is None else names:
        metric = find(name)
        try:
            score = compute(
                metric,
                codes,
                factors,
                seed=seed,
                as_published=as_published,
                cut=cut,
                settings=(settings or {}).get(name),
                labels=labels,
                say=say,
            )
        except MetricError as error:
            outcomes.append(MetricOutcome(metric, reason=f"{error.what} {error.todo}".strip()))
        else:
            outcomes.append(MetricOutcome(metric, score))
    return outcomes


def _given(metric: Metric, labels: ArrayLike | None, rows: str) -> ArrayLike:
    if labels is None:
        option = "--labels" if rows == "to score" else "--train-labels"
        raise MetricError(
            f"{metric.label} needs the labels of a task, of the rows {rows}.",
            safe="Nothing was written.",
            todo=f"Give them with {option}.",
        )
    return labels


def above_medians(factors: ArrayLike) -> Float64:
    """Whether each factor is above its median, 0 or 1; of a factor of two values, which it is.

    A factor of which more than half of the rows have the greatest value is cut below that value,
    so that both classes occur.
    """
    table = np.asarray(factors, dtype=np.float64)
    middle = np.median(table, axis=0)
    above = np.where(middle < table.max(axis=0), table > middle, table >= middle)
    return np.asarray(above, dtype=np.float64)


def settings_of(metric: Metric) -> dict[str, inspect.Parameter]:
    """The further settings that a metric takes, plain values only."""
    shared = ("codes", "factors", "seed", "as_published")
    parameters = inspect.signature(metric.load()).parameters
    return {
        name: parameter
        for name, parameter in parameters.items()
        if name not in shared and _kind(parameter) is not None
    }


def parse_settings(metric: Metric, texts: Sequence[str]) -> dict[str, object]:
    """Settings written KEY=VALUE, as the types that the metric takes.

    Raises
    ------
    UsageError : not of this form, no setting of the metric, or a value of another type.
    """
    known = settings_of(metric)
    result: dict[str, object] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or key not in known:
            told = ", ".join(f"{name}={parameter.default}" for name, parameter in known.items())
            raise UsageError(
                f"--set {text}: {metric.name} has no such setting.",
                todo=f"Its settings and their defaults: {told}." if told else "It takes none.",
            )
        result[key] = _as(known[key], value)
    return result


def parse_all_settings(texts: Sequence[str]) -> dict[str, dict[str, object]]:
    """Settings written METRIC.KEY=VALUE. Raises UsageError as `find` and `parse_settings`."""
    result: dict[str, dict[str, object]] = {}
    for text in texts:
        name, dot, rest = text.partition(".")
        if not dot or "=" in name:
            raise UsageError(
                f"--set {text}: it does not say of which metric.",
                todo="With all, write METRIC.KEY=VALUE, for example mig.binning=equal-frequency.",
            )
        result.setdefault(name, {}).update(parse_settings(find(name), [rest]))
    return result


def _kind(parameter: inspect.Parameter) -> type | None:
    """The type of a plain setting, None of any other. One of None by default is told by its
    annotation, a text."""
    kinds = {"bool": bool, "int": int, "float": float, "str": str}
    if parameter.default is None:
        return kinds.get(str(parameter.annotation).removesuffix(" | None"))
    return kinds.get(type(parameter.default).__name__)


def _as(parameter: inspect.Parameter, value: str) -> object:
    kind = _kind(parameter)
    assert kind is not None
    try:
        if kind is bool:
            return {"true": True, "false": False}[value.lower()]
        return kind(value)
    except (KeyError, ValueError) as error:
        allowed = "true or false" if kind is bool else f"of type {kind.__name__}"
        raise UsageError(
            f"--set {parameter.name}={value}: a value must be {allowed}.",
            todo=f"The default is {parameter.default}.",
        ) from error
