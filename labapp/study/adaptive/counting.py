"""Rules that count right and wrong answers.

n-down-1-up: Levitt, Transformed up-down methods in psychoacoustics, JASA 49 (1971). After n right
answers in a row it gets harder, after a wrong one easier; it settles where p^n = 1/2.
Weighted up-down: Kaernbach, Simple adaptive testing with the weighted up-down method, Perception &
Psychophysics 49 (1991). Steps to easier and harder levels differ in size; it settles where
p * harder = (1 - p) * easier.
The threshold of both is that of a psychometric function fitted to all answers of the track, or the
mean of the midpoints of successive pairs of reversals (Levitt's "mid-run estimates"). Midpoints
follow each other: intervals of their own standard error hold the threshold in about 60 % of
simulated tracks instead of 95 % (benchmarks/adaptive.py). So the error is that of the fit. A track
that stays at its last level has midpoints below it, so that a threshold beyond the levels would
look reached: where the fit puts it there, it is that of the fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal

from pydantic import Field, model_validator

from labapp.study.adaptive.posterior import Psychometric, find_target_problem, fit
from labapp.study.adaptive.rule import Estimate, Levels, Progress, Started

EASIER, HARDER = 1, -1


@dataclass(frozen=True)
class Steps(Progress):
    """A staircase. row: right answers since the last move; direction: of the last move, 0 before
    the first; reversals: the levels at which the direction changed; stuck: moves for which there
    was no level left."""

    row: int = 0
    direction: int = 0
    reversals: tuple[int, ...] = ()
    stuck: int = 0


class Staircase(Started, Psychometric):
    """A staircase.

    Attributes
    ----------
    steps : how many levels a step has: at first, after the first reversal, and so on; the last one
        holds from there.
    reversals : the number of reversals after which the track ends (default: it ends after its
        trials).
    estimate : of the threshold. `fit`: of a psychometric function with the declared `guess` and
        `lapse`, over all answers; `reversals`: the mean of midpoints of reversals, with the
        standard error of the fit, unless that puts the threshold beyond the levels.
    discard : how many of the first reversals the mean leaves out.
    """

    steps: tuple[int, ...] = (1,)
    reversals: int | None = Field(default=None, ge=2, le=200)
    estimate: Literal["fit", "reversals"] = "fit"
    discard: int = Field(default=2, ge=0, le=100)

    @model_validator(mode="after")
    def _settled(self) -> Staircase:
        if not self.steps or min(self.steps) < 1:
            raise ValueError("steps of at least one level")
        counted = self.estimate == "reversals"
        if counted and self.reversals is not None and self.reversals < self.discard + 2:
            raise ValueError(
                f"at least {self.discard + 2} reversals: discard leaves out {self.discard}, but "
                "a mean needs two"
            )
        return self

    def problems(self, levels: Levels) -> Mapping[str, str]:
        return {**super().problems(levels), **find_target_problem(self, self.share)}

    @property
    def estimator(self) -> str:
        return self.estimate

    def sizes(self) -> tuple[int, int]:
        """How many steps it gets easier after a wrong answer, and harder."""
        return 1, 1

    def rights(self) -> int:
        """How many right answers in a row make it harder."""
        return 1

    def _sizes_in_words(self) -> str:
        sizes = " → ".join(map(str, self.steps))
        changes = ", changing after each reversal" if len(self.steps) > 1 else ""
        return f"step size in levels: {sizes}{changes}"

    def _stop(self) -> str:
        if self.reversals is None:
            return super()._stop()
        return f"a track ends after {self.reversals} reversals or {self.trials} trials"

    def begin(self, levels: Levels, start: int) -> Steps:
        return Steps(start)

    def move(self, levels: Levels, progress: Progress, right: bool) -> Steps:
        assert isinstance(progress, Steps)
        row = progress.row + 1 if right else 0
        if right and row < self.rights():
            return replace(progress, row=row)
        direction = HARDER if right else EASIER
        turned = progress.direction not in (0, direction)
        reversals = (*progress.reversals, progress.level) if turned else progress.reversals
        easier, harder = self.sizes()
        step = self.steps[min(len(reversals), len(self.steps) - 1)]
        wanted = progress.level + direction * step * (harder if right else easier)
        level = min(max(wanted, 0), len(levels.values) - 1)
        done = self.reversals is not None and len(reversals) >= self.reversals
        return replace(
            progress,
            level=level,
            row=0,
            direction=direction,
            reversals=reversals,
            stuck=progress.stuck + (level == progress.level),
            over="reversals" if done else "",
        )

    def describe(self, levels: Levels, progress: Progress) -> Mapping[str, float]:
        assert isinstance(progress, Steps)
        return {
            "right_in_row": progress.row,
            "direction": progress.direction,
            "reversals": len(progress.reversals),
            "stuck": progress.stuck,
        }

    def find_threshold(self, levels: Levels, progress: Progress) -> Estimate | None:
        assert isinstance(progress, Steps)
        fitted = fit(self, levels, progress, self.share)
        if self.estimate == "fit" or fitted is None or not levels.include(fitted.x):
            return fitted
        turns = [levels.x[level] for level in progress.reversals[self.discard :]]
        turns = turns[len(turns) % 2 :]  # as many tops as bottoms
        if not turns:
            return None
        x, margin = fmean(turns), 1.96 * (fitted.se or 0.0)
        return Estimate(x, fitted.se, x - margin, x + margin)


class UpDown(Staircase):
    """n-down-1-up (Levitt, 1971).

    Attributes
    ----------
    down : right answers in a row after which it gets harder: 2 settles at 70.7 % right answers, 3
        at 79.4 %.
    """

    method: Literal["up-down"] = Field(
        description="`down` right answers in a row make it harder, and a wrong one makes it easier."
    )
    down: int = Field(default=2, ge=1, le=10)

    def rights(self) -> int:
        return self.down

    def _settings(self) -> tuple[str, ...]:
        rights = f"{self.down} right answers in a row make it harder"
        rights = "each right answer makes it harder" if self.down == 1 else rights
        return rights, "a wrong answer makes it easier", self._sizes_in_words()

    @property
    def share(self) -> float:
        return float(0.5 ** (1 / self.down))


class WeightedUpDown(Staircase):
    """Weighted up-down (Kaernbach, 1991): 3 up and 1 down settle at 75 % right answers.

    Attributes
    ----------
    up : steps by which it gets easier after a wrong answer.
    down : steps by which it gets harder after a right one.
    """

    method: Literal["weighted-up-down"] = Field(
        description="A right answer makes it harder by `down` steps, a wrong one makes it "
        "easier by `up` steps."
    )
    up: int = Field(default=3, ge=1, le=100)
    down: int = Field(default=1, ge=1, le=100)

    def sizes(self) -> tuple[int, int]:
        return self.up, self.down

    def _settings(self) -> tuple[str, ...]:
        return (
            f"steps of a right answer to a harder level: {self.down}",
            f"steps of a wrong answer to an easier level: {self.up}",
            self._sizes_in_words(),
        )

    @property
    def share(self) -> float:
        return self.up / (self.up + self.down)


class Criterion(Started):
    """Learning to criterion: the same level again and again, until enough answers are right.

    Attributes
    ----------
    start : the level; without it the easiest.
    right : how many answers must be right.
    of : the number of successive answers among which they must be; without it, all must be right.
    missed : what happens if the maximum is reached first. `continue`: the session continues; `end`:
        it ends.
    """

    method: Literal["criterion"] = Field(
        description="The same level until enough answers are right."
    )
    start: float | tuple[float, ...] | None = None
    right: int = Field(ge=1, le=100)
    of: int | None = Field(default=None, ge=1, le=100)
    missed: Literal["continue", "end"] = "continue"

    @model_validator(mode="after")
    def _possible(self) -> Criterion:
        if self.of is not None and self.of < self.right:
            raise ValueError(
                f"of is {self.of}, but it must be at least {self.right}, the "
                "number of right answers"
            )
        if self.trials < self.right:
            raise ValueError(
                f"trials is {self.trials}, but it must be at least {self.right}, "
                "the number of right answers"
            )
        return self

    def begin(self, levels: Levels, start: int) -> Progress:
        return Progress(start)

    def _settings(self) -> tuple[str, ...]:
        last = self.of or self.right
        return (f"the same level until {self.right} of the last {last} answers are right",)

    def _rights(self, progress: Progress) -> int:
        return sum(right for _, right in progress.counted[-(self.of or self.right) :])

    def move(self, levels: Levels, progress: Progress, right: bool) -> Progress:
        reached = self._rights(progress) >= self.right
        return replace(progress, over="criterion" if reached else "")

    def describe(self, levels: Levels, progress: Progress) -> Mapping[str, float]:
        return {"right": self._rights(progress)}

    def find_threshold(self, levels: Levels, progress: Progress) -> None:
        return None
