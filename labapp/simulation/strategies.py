"""How simulated participants solve a reconstruction question.

A strategy sees what a participant could know and answers with the next dial value. It acts through
the same commands as a widget, so its sessions are journals like any other (paper 000, 6.1.2 and
6.2.3: what participants were observed to do).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from labapp.representations.space import Continuous, LatentSpace
from labapp.tasks.reconstruction.state import Trial


@dataclass(frozen=True, slots=True)
class Move:
    """Set a dial to a value."""

    dimension: int
    value: float


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Skip the question as soon as that is possible."""


class Strategy(Protocol):
    """A strategy is made afresh for each question."""

    def next(self, trial: Trial, space: LatentSpace) -> Move | GiveUp:
        """What to do now, given the dials as they stand."""
        ...


@dataclass
class Understanding:
    """Knows which way and how far to turn each dial, with noise that shrinks from pass to pass.

    One dial after another, the most wrong first; each is dragged there in a few strides, at times
    past its goal and back.

    noise: standard deviation of the first pass's aim, in slider widths.
    passes: after so many passes without success it gives up.
    """

    rng: np.random.Generator
    noise: float = 0.05
    passes: int = 6
    _goals: list[Move] = field(default_factory=list)
    _pass: int = 0

    def next(self, trial: Trial, space: LatentSpace) -> Move | GiveUp:
        if not self._goals:
            if self._pass == self.passes:
                return GiveUp()
            self._goals = self._plan(trial, space)
            self._pass += 1
        if not self._goals:
            return GiveUp()
        return self._goals.pop(0)

    def _plan(self, trial: Trial, space: LatentSpace) -> list[Move]:
        """The strides of one pass over the dials."""
        scale = self.noise * 0.4**self._pass if self._pass + 1 < self.passes else 0.0
        wrong = []
        for index, dimension in enumerate(space.dimensions):
            width = dimension.high - dimension.low if isinstance(dimension, Continuous) else 1.0
            distance = abs(trial.z_target[index] - trial.z[index]) / width
            if distance > 0:
                wrong.append((distance, index, width))
        moves: list[Move] = []
        for _, index, width in sorted(wrong, reverse=True):
            goal = trial.z_target[index]
            if not isinstance(space.dimensions[index], Continuous):
                moves.append(Move(index, goal))
                continue
            aim = goal + float(self.rng.normal(0.0, scale)) * width
            strides = int(self.rng.integers(4, 9))
            at = trial.z[index]
            moves += [Move(index, at + (aim - at) * (k + 1) / strides) for k in range(strides)]
            if scale and self.rng.random() < 0.3:
                past = aim + (aim - at) * 0.1
                moves += [Move(index, past), Move(index, aim)]
        return moves


def away(space: LatentSpace, trial: Trial) -> float:
    """A value of the first dial that is not the present one, and far from the target's."""
    dimension, now, target = space.dimensions[0], trial.z[0], trial.z_target[0]
    if not isinstance(dimension, Continuous):
        others = [float(index) for index in range(dimension.k) if index != now]
        return min(others, key=lambda index: index == target)
    end = max(dimension.low, dimension.high, key=lambda value: abs(value - target))
    inwards = dimension.step if end == dimension.low else -dimension.step
    return end if now != end else end + inwards


STRATEGIES: dict[str, Callable[[np.random.Generator], Strategy]] = {"understanding": Understanding}
"""Those of `labapp.simulation.names` that reconstruct."""
