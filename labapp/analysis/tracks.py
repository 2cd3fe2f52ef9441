"""Tracks of adaptive stages, of any task: what became of them, and their table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labapp.analysis.column import INCLUDED, WHO, columns_in, of, text, whole
from labapp.study.adaptive.counting import Steps
from labapp.study.adaptive.tracks import FollowedTracks, PlannedTrack
from labapp.study.plugins.part import TrialsPart

if TYPE_CHECKING:
    import pandas as pd


def beyond(tracks: pd.DataFrame) -> pd.Series[bool]:
    """Whether the threshold of each track lies beyond its levels: it was not measured."""
    low, high = tracks["lowest_level"] * (1 - 1e-9), tracks["highest_level"] * (1 + 1e-9)
    return tracks["threshold"].notna() & ~tracks["threshold"].between(low, high)


class TrackRecord:
    """A track of an adaptive stage, and what its answers say of the threshold. number_of: of the
    track, from 1."""

    part: TrialsPart
    planned: PlannedTrack
    track: int
    rule: str
    scale: str
    start: float
    lowest_level: float
    highest_level: float
    n_trials: int
    n_counted: int
    n_right: int
    ended_by: str | None

    def __init__(self, part: TrialsPart, followed: FollowedTracks, number_of: int) -> None:
        self.part = part
        self.track = number_of
        self.tracks = followed.tracks
        self.planned = followed.tracks.tracks[number_of - 1]
        self.progress = followed.state.tracks[number_of - 1]
        self.rule, self.scale = self.tracks.rule.method, self.tracks.rule.scale
        self.start = self.tracks.levels[self.planned.start - 1]
        self.lowest_level, self.highest_level = self.tracks.levels[0], self.tracks.levels[-1]
        self.n_trials, self.n_counted = len(self.progress.answers), len(self.progress.counted)
        self.n_right = sum(right for _, right in self.progress.counted)
        self.ended_by = self.progress.over or None
        self.estimate = self.tracks.find_threshold(self.progress)

    @property
    def levels(self) -> list[float]:
        """Of each of its trials."""
        return [self.tracks.levels[level] for level, _ in self.progress.answers]

    @property
    def reversals(self) -> int | None:
        return len(self.progress.reversals) if isinstance(self.progress, Steps) else None

    @property
    def target(self) -> float | None:
        return self.tracks.rule.share

    @property
    def estimator(self) -> str:
        return self.tracks.rule.estimator

    def _value(self, x: float | None) -> float | None:
        return None if x is None else self.tracks.scale.value(x)

    @property
    def threshold(self) -> float | None:
        return None if self.estimate is None else self._value(self.estimate.x)

    @property
    def threshold_low(self) -> float | None:
        return None if self.estimate is None else self._value(self.estimate.low)

    @property
    def threshold_high(self) -> float | None:
        return None if self.estimate is None else self._value(self.estimate.high)

    @property
    def threshold_se(self) -> float | None:
        return None if self.estimate is None else self.estimate.se

    @property
    def slope(self) -> float | None:
        return None if self.estimate is None else self.estimate.slope


TRACKS = of(
    TrackRecord,
    *WHO,
    text("stage", "id of the plan's part", "part.id"),
    whole("stage_number", "place of the stage among the stages"),
    *columns_in("""
        text task: what is done in the stage
        text role: stage, or practice
    """),
    whole("track", "number of the track in its part, from 1"),
    text("model", "what the stage is about"),
    text("about", "what it asks about: an explanation method, or a dial", "planned.about"),
    *columns_in("""
        text rule: how levels are chosen: up-down, weighted-up-down, quest, psi or criterion
        text scale: scale on which thresholds are averaged: log (natural logarithm) or linear
        number start: the first level: for masked pictures, percentage of the pixels shown; for
            dials, how far apart low, medium and high are
        number lowest_level: the lowest level that the rule could choose
        number highest_level: the highest level that the rule could choose, at which it is easiest
        each levels: the level of each of its trials
        whole n_trials [trials]: trials that were answered
        whole n_counted [trials]: of these, those that the rule counts
        whole n_right [trials]: of these, those answered rightly
        whole reversals [reversals]: reversals of a staircase; empty for other rules
        text ended_by: reversals, se, criterion, trials (the maximum number); empty if it never
            ended
        number target [0-1]: share of right answers at the threshold
        text estimate: how the threshold is estimated: fit (of a psychometric function to all
            answers), reversals (mean of their midpoints) or posterior (its mean); empty without one
        number threshold: the level at which the share of right answers equals the target; beyond
            the lowest or highest level, it is extrapolated by the fit
        number threshold_se: standard error of the threshold: of its natural logarithm, or of itself
            if the study declares a linear scale
        number threshold_low: lower end of the threshold's 95 % interval
        number threshold_high: upper end of the threshold's 95 % interval
        number slope: slope of the psychometric function, per unit of the scale; empty if it is
            given
    """),
    INCLUDED,
    stage_number="part.number",
    task="part.task",
    role="part.role",
    model="part.model",
    estimate="estimator",
)
