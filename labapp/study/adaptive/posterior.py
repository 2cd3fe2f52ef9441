"""Rules that keep the probability of each threshold, and what they fit.

QUEST: Watson and Pelli, QUEST: A Bayesian adaptive psychometric method, Perception & Psychophysics
33 (1983). The slope is known; the next level is the most probable threshold, or the mean.
Psi: Kontsevich and Tyler, Bayesian adaptive estimation of psychometric slope and threshold, Vision
Research 39 (1999). The next level is the one after whose answer the least entropy of threshold and
slope is expected.

    p(x) = guess + (1 - guess - lapse) * F(slope * (x - threshold) + u)

with F the logistic function or Weibull's 1 - exp(-exp(.)), and u such that p is the target at the
threshold.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import exp, log, sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from labapp.base.documents import Strict
from labapp.study.adaptive.rule import Estimate, Levels, Progress, Rule, Started

Float64 = NDArray[np.float64]
THRESHOLDS, SLOPES = 121, 17
"""Points of the grid."""
BEYOND = 0.25
"""How far thresholds are looked for beyond the levels, as a share of their range."""


class Psychometric(Strict):
    """What is known of the psychometric function.

    Attributes
    ----------
    shape : `logistic` or `weibull`.
    guess : share of right answers where nothing is recognised; without it one divided by the number
        of answers.
    lapse : share of wrong answers where everything is recognised.
    slopes : the least and the greatest slope that is looked for, per unit of the scale (per e-fold
        of the level with `scale: log`).
    """

    shape: Literal["logistic", "weibull"] = "logistic"
    guess: float | None = Field(default=None, ge=0, lt=1)
    lapse: float = Field(default=0.02, ge=0, lt=0.5)
    slopes: tuple[float, float] = (1.0, 16.0)

    @model_validator(mode="after")
    def _possible_function(self) -> Psychometric:
        if not 0 < self.slopes[0] <= self.slopes[1]:
            raise ValueError(f"slopes from low to high above 0; found {list(self.slopes)}")
        if (self.guess or 0.0) + self.lapse >= 1:
            raise ValueError("guess and lapse that leave a range between them")
        return self


@dataclass(frozen=True)
class Grid:
    """Thresholds, shape (t,), slopes, shape (s,), the probability of a right answer, and the
    entropy of an answer in nats, both of shape (levels, t, s)."""

    thresholds: Float64
    slopes: Float64
    right: Float64
    unsure: Float64


def probability(
    known: Psychometric, x: Any, threshold: Any, slope: Any, target: float | None
) -> Float64:
    """Of a right answer at positions x; arguments broadcast. target: the share of right answers at
    the threshold, None for half-way between guess and lapse."""
    guess = known.guess or 0.0
    span = 1 - guess - known.lapse
    share = 0.5 if target is None else (target - guess) / span
    logistic = known.shape == "logistic"
    offset = log(share / (1 - share)) if logistic else log(-log(1 - share))
    u = np.clip(np.asarray(slope) * (np.asarray(x) - np.asarray(threshold)) + offset, -700, 30)
    recognised = 1 / (1 + np.exp(-u)) if logistic else -np.expm1(-np.exp(u))
    values: Float64 = np.asarray(guess + span * recognised, np.float64)
    return values


def find_target_problem(known: Psychometric, target: float | None) -> dict[str, str]:
    """Why no psychometric function can have this share of right answers at a threshold, by key;
    empty if one can."""
    low, high = known.guess or 0.0, 1 - known.lapse
    if target is None or low < target < high:
        return {}
    what = f"{low:.3g} right answers by guessing and {high:.3g} at most, between which the"
    return {"guess": f"found {what} {target:.3g} of the threshold does not lie"}


@lru_cache(maxsize=32)
def make_grid(known: Psychometric, levels: Levels, target: float | None, slope: float) -> Grid:
    """slope: the only one, 0 for those of `known`."""
    low, high = levels.x[0], levels.x[-1]
    margin = BEYOND * (high - low)
    thresholds = np.linspace(low - margin, high + margin, THRESHOLDS)
    slopes = np.array([slope]) if slope else np.geomspace(*known.slopes, SLOPES)
    x = np.array(levels.x)[:, None, None]
    right = probability(known, x, thresholds[:, None], slopes, target)
    right = np.clip(right, 1e-9, 1 - 1e-9)
    return Grid(thresholds, slopes, right, compute_answer_entropy(right))


@dataclass(frozen=True)
class Belief(Progress):
    """log_p: of thresholds and slopes, shape (t, s), not normalised."""

    log_p: Float64 | None = None

    @property
    def p(self) -> Float64:
        """Normalised."""
        assert self.log_p is not None
        p = np.exp(self.log_p - self.log_p.max())
        values: Float64 = p / p.sum()
        return values


def learn(grid: Grid, log_p: Float64, level: int, right: bool) -> Float64:
    """The logarithm of the posterior after an answer at a level, from 0; not normalised."""
    p = grid.right[level]
    learnt: Float64 = log_p + np.log(p if right else 1 - p)
    return learnt


def summarise(grid: Grid, p: Float64) -> Estimate:
    """Mean, standard deviation and 95 % of a posterior over the grid."""
    marginal = p.sum(axis=1)
    mean = float(marginal @ grid.thresholds)
    se = sqrt(max(float(marginal @ (grid.thresholds - mean) ** 2), 0.0))
    # Each point stands for its cell: the share below a point has half of its own.
    below = np.cumsum(marginal) - marginal / 2
    low, high = np.interp((0.025, 0.975), below, grid.thresholds)
    slope = exp(float(p.sum(axis=0) @ np.log(grid.slopes))) if len(grid.slopes) > 1 else None
    return Estimate(mean, se, float(low), float(high), slope)


def fit(
    known: Psychometric, levels: Levels, progress: Progress, target: float | None
) -> Estimate | None:
    """The threshold by all answers of a track, with the same probability of each threshold on the
    grid and of each slope's logarithm before them."""
    if not progress.counted:
        return None
    grid = make_grid(known, levels, target, 0.0)
    log_p = np.zeros(grid.right.shape[1:])
    for level, right in progress.counted:
        log_p = learn(grid, log_p, level, right)
    return summarise(grid, Belief(0, log_p=log_p).p)


class Bayesian(Rule, Psychometric):
    """A rule that keeps the probability of each threshold.

    Attributes
    ----------
    target : the share of right answers at the threshold; without it half-way between guess and
        lapse.
    se : the track is over as soon as the standard deviation of the threshold is as small, in units
        of the scale; without it, after its trials.
    """

    target: float | None = Field(default=None, gt=0, lt=1)
    se: float | None = Field(default=None, gt=0)

    def _settings(self) -> tuple[str, ...]:
        described = type(self).model_fields["method"].description or ""
        return (described[:1].lower() + described[1:].rstrip("."),)

    def _stop(self) -> str:
        if self.se is None:
            return super()._stop()
        return f"a track ends at a standard error of {self.se:g} or after {self.trials} trials"

    def problems(self, levels: Levels) -> Mapping[str, str]:
        return {**super().problems(levels), **find_target_problem(self, self.share)}

    @property
    def share(self) -> float:
        middle = ((self.guess or 0.0) + 1 - self.lapse) / 2
        return middle if self.target is None else self.target

    @property
    def estimator(self) -> str:
        return "posterior"

    def grid(self, levels: Levels) -> Grid:
        return make_grid(self, levels, self.share, 0.0)

    @abstractmethod
    def choose(self, levels: Levels, belief: Belief) -> int:
        """The next level, from 0."""

    def move(self, levels: Levels, progress: Progress, right: bool) -> Belief:
        assert isinstance(progress, Belief)
        assert progress.log_p is not None
        grid = self.grid(levels)
        belief = replace(progress, log_p=learn(grid, progress.log_p, progress.level, right))
        if self.se is not None and (summarise(grid, belief.p).se or 0.0) <= self.se:
            return replace(belief, over="se")
        if len(belief.answers) >= self.trials:
            return belief
        return replace(belief, level=self.choose(levels, belief))

    def describe(self, levels: Levels, progress: Progress) -> Mapping[str, float]:
        assert isinstance(progress, Belief)
        now = summarise(self.grid(levels), progress.p)
        state = {"threshold": levels.value(now.x), "se": now.se or 0.0}
        return state if now.slope is None else {**state, "slope": now.slope}

    def find_threshold(self, levels: Levels, progress: Progress) -> Estimate | None:
        assert isinstance(progress, Belief)
        return summarise(self.grid(levels), progress.p) if progress.counted else None


class Quest(Bayesian, Started):
    """QUEST (Watson and Pelli, 1983).

    Attributes
    ----------
    sd : the standard deviation of the threshold before the first trial, in units of the scale; its
        mean is `start`.
    slope : of the psychometric function, per unit of the scale.
    place : the next level is nearest to the most probable threshold (`mode`, as published) or to
        its mean.
    """

    method: Literal["quest"] = Field(description="The level at the most probable threshold.")
    shape: Literal["logistic", "weibull"] = "weibull"
    sd: float = Field(default=1.0, gt=0)
    slope: float = Field(default=3.5, gt=0)
    place: Literal["mode", "mean"] = "mode"

    def grid(self, levels: Levels) -> Grid:
        return make_grid(self, levels, self.share, self.slope)

    def begin(self, levels: Levels, start: int) -> Belief:
        away = self.grid(levels).thresholds - levels.x[start]
        return Belief(start, log_p=(-((away / self.sd) ** 2) / 2)[:, None])

    def choose(self, levels: Levels, belief: Belief) -> int:
        grid, p = self.grid(levels), belief.p
        if self.place == "mean":
            return levels.nearest(summarise(grid, p).x)
        return levels.nearest(float(grid.thresholds[find_first_highest(p.sum(axis=1))]))


class Psi(Bayesian):
    """The Psi method (Kontsevich and Tyler, 1999), with a flat prior over thresholds and over
    logarithms of slopes."""

    method: Literal["psi"] = Field(
        description="The level whose answer should say most about threshold and slope."
    )

    @property
    def starts(self) -> tuple[float, ...]:
        return ()

    def begin(self, levels: Levels, start: int) -> Belief:
        grid = self.grid(levels)
        belief = Belief(start, log_p=np.zeros(grid.right.shape[1:]))
        return replace(belief, level=self.choose(levels, belief))

    def choose(self, levels: Levels, belief: Belief) -> int:
        """The level with the least expected entropy; of several the easiest."""
        expected = compute_expected_entropy(self.grid(levels), belief.p)
        return len(expected) - 1 - find_first_highest(-expected[::-1])


def find_first_highest(values: Float64) -> int:
    """The first place of the highest value, taken as equal where rounding alone tells apart."""
    return int(np.argmax(np.round(values, 9)))


def compute_expected_entropy(grid: Grid, p: Float64) -> Float64:
    """The entropy (nats) that is expected after a trial at each level, shape (levels,).

    The entropy now, less what the answer is expected to say: the entropy of the answer, less its
    entropy where threshold and slope are known.

    p: of threshold and slope, shape (t, s).
    """
    flat, shape = p.ravel(), (len(grid.right), p.size)
    now = -float(np.sum(flat * np.log(flat, out=np.zeros_like(flat), where=flat > 0)))
    answer = compute_answer_entropy(grid.right.reshape(shape) @ flat)
    expected: Float64 = now - answer + grid.unsure.reshape(shape) @ flat
    return expected


def compute_answer_entropy(right: Float64) -> Float64:
    """The entropy (nats) of an answer that is right with these probabilities, inside 0 and 1."""
    values: Float64 = -(right * np.log(right) + (1 - right) * np.log1p(-right))
    return values
