"""What all rules share that choose the next level by the answers so far.

Levels are those of the stage, ascending, and the higher the easier. A rule works on their positions
`x`: natural logarithms of the levels, or the levels themselves (`scale`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import exp, log
from typing import TYPE_CHECKING, Literal

from pydantic import Field, field_validator

from labapp.base.documents import Strict

Scale = Literal["log", "linear"]
TRIALS = "trials"
"""A track is over because it had as many trials as it may have."""


@dataclass(frozen=True)
class Levels:
    """The levels that a stage can show. values: ascending, in the stage's own unit."""

    values: tuple[float, ...]
    scale: Scale

    @cached_property
    def x(self) -> tuple[float, ...]:
        """Their positions."""
        return tuple(map(self.position, self.values))

    def position(self, value: float) -> float:
        return log(value) if self.scale == "log" else value

    def value(self, x: float) -> float:
        """In the stage's unit."""
        return exp(x) if self.scale == "log" else x

    def include(self, x: float) -> bool:
        """Whether a position is not beyond the lowest and the highest level."""
        return self.x[0] - 1e-9 <= x <= self.x[-1] + 1e-9

    def nearest(self, x: float) -> int:
        """The place, from 0, of the level nearest to a position; of two equally near the easier."""
        distances = [round(abs(at - x), 9) for at in self.x]
        return len(distances) - 1 - distances[::-1].index(min(distances))


@dataclass(frozen=True)
class Progress:
    """How far a track has come; rules add what they need to know.

    Attributes
    ----------
    level : place of the next level, from 0; of the last one where the track is over.
    answers : of each trial the level and whether the answer was right, None if it is left out.
    over : why the track is over, empty before.
    """

    level: int
    answers: tuple[tuple[int, bool | None], ...] = ()
    over: str = ""

    @property
    def counted(self) -> list[tuple[int, bool]]:
        """The answers that count."""
        return [(level, right) for level, right in self.answers if right is not None]


@dataclass(frozen=True)
class Estimate:
    """A threshold.

    Attributes
    ----------
    x : its position.
    se : the standard error of that position; None if there is too little to say.
    low, high : positions between which it lies with 95 %.
    slope : of the psychometric function, per unit of x; None if it is not estimated.
    """

    x: float
    se: float | None = None
    low: float | None = None
    high: float | None = None
    slope: float | None = None


class Rule(Strict):
    """A rule by which the next level is chosen.

    Attributes
    ----------
    trials : the maximum number of trials in a track.
    scale : whether levels are compared by their logarithms (`log`) or as they are (`linear`).
    interleave : in which order tracks take turns. `random`: in random order, each once before any
        comes again; `in-turn`: one after the other.
    dont_know : how "I don't know" counts. `wrong`: as a wrong answer; `leave-out`: as a trial, but
        not as an answer. A trial that is interrupted never counts: it is asked again.
    """

    trials: int = Field(ge=1, le=500)
    scale: Scale = "log"
    interleave: Literal["random", "in-turn"] = "random"
    dont_know: Literal["wrong", "leave-out"] = "wrong"

    if TYPE_CHECKING:

        @property
        def method(self) -> str:
            """Its name in a study file."""

    @property
    @abstractmethod
    def starts(self) -> tuple[float, ...]:
        """Where tracks start, in the stage's unit: as many tracks for each thing that is asked."""

    @abstractmethod
    def begin(self, levels: Levels, start: int) -> Progress:
        """A track before its first trial. start: a level, from 0."""

    @abstractmethod
    def move(self, levels: Levels, progress: Progress, right: bool) -> Progress:
        """The track with its next level, after an answer that counts and is among its answers."""

    @abstractmethod
    def describe(self, levels: Levels, progress: Progress) -> Mapping[str, float]:
        """The state by which it decides, for the record."""

    @abstractmethod
    def find_threshold(self, levels: Levels, progress: Progress) -> Estimate | None:
        """The threshold; None if the rule estimates none, or nothing was answered."""

    def after(self, levels: Levels, progress: Progress, right: bool | None) -> Progress:
        """The track after an answer. right: None for one that is left out."""
        answered = replace(progress, answers=(*progress.answers, (progress.level, right)))
        moved = answered if right is None else self.move(levels, answered, right)
        if not moved.over and len(moved.answers) >= self.trials:
            moved = replace(moved, over=TRIALS)
        return replace(moved, level=progress.level) if moved.over else moved

    def problems(self, levels: Levels) -> Mapping[str, str]:
        """What does not fit the levels of a stage, by key."""
        return {}

    @property
    def share(self) -> float | None:
        """The share of right answers at the threshold; None without a threshold."""
        return None

    @property
    def words(self) -> tuple[str, ...]:
        """Its name and its settings, in parts that a report translates."""
        return self.method, *self._settings(), self._stop()

    def _settings(self) -> tuple[str, ...]:
        """By which the next level is chosen."""
        return ()

    def _stop(self) -> str:
        """When a track ends."""
        return f"a track ends after {self.trials} trials"

    @property
    def estimator(self) -> str:
        """How the threshold is estimated: `fit`, `reversals` or `posterior`; empty without one."""
        return ""


class Started(Rule):
    """A rule whose first level is declared.

    Attributes
    ----------
    start : the first level of a track; a list starts several tracks.
    """

    start: float | tuple[float, ...] | None

    @field_validator("start")
    @classmethod
    def _few(cls, start: float | tuple[float, ...] | None) -> float | tuple[float, ...] | None:
        if isinstance(start, tuple) and not 1 <= len(start) <= 4:
            raise ValueError(f"one to four starting levels; found {len(start)}")
        return start

    @property
    def starts(self) -> tuple[float, ...]:
        if self.start is None:  # of a rule that needs none
            return ()
        return self.start if isinstance(self.start, tuple) else (self.start,)

    def problems(self, levels: Levels) -> Mapping[str, str]:
        low, high = levels.values[0], levels.values[-1]
        if outside := [start for start in self.starts if not low <= start <= high]:
            return {"start": f"found {outside[0]:g}; allowed: levels from {low:g} to {high:g}"}
        return super().problems(levels)
