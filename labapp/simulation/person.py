"""Who takes part: how fast, how exact and how patient a simulated participant is.

Every constant below was fixed before any study was simulated with it, from what is written about
people in general or from what paper 000 reports over all of its models; none was fitted so that a
model comes out as published. What is said to be ours has no source.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np

from labapp.study.assignment import generator

STRIDE_S = 0.12
"""Seconds between two places of a dial that is dragged, at a person's pace (see `driver.HUMAN`)."""

DRAG_WIDTHS_PER_S = 0.4
"""Middle speed of a hand. Paper 000, A.3: people move 0.08 to 0.17 slider widths in a second of a
question, all thinking and looking included; about a third of the time is taken to be dragging."""

SPEED_SD = 0.3
"""Of the logarithm, between participants: the fastest of twenty is about 2.5 times the slowest."""

THINKING_SD = 0.35
"""Of the logarithm, from decision to decision; reaction times are skewed like log-normal ones."""

AIM_SD = 0.06
"""Of where a first movement ends, as a share of its length: the endpoint scatter of aimed movements
(Fitts 1954: about 4 % of what is moved within the target's width), rounded up for sliders."""

PATIENCE_S, PATIENCE_SD = 75.0, 0.5
"""Median time after which a question is given up, and the sd of its logarithm. Paper 000, A.3:
where hardly anybody succeeds (dSprites AE, 15 % solved) a question takes 80.6 ± 47.2 s; a
log-normal time of this median and sd has the mean 85 and the sd 45."""

NEAR, STAYS_ON = 0.05, 1.5
"""So near to the goal, people stay on so much longer (ours)."""

FATIGUE = 0.9
"""Patience after each question given up in a stage, as a share of before: on autoencoders people
got worse from question to question, "suggesting users give up" (paper 000, figure 10). The share
is ours."""

NOISE_SD = 0.25
"""Of the logarithm of the noise of seeing, between participants (ours)."""


@dataclass(frozen=True, slots=True)
class Person:
    """The traits of one participant.

    speed: slider widths a second. thinking: its decisions' length, as a share of the middle one.
    noise: of its seeing, as a share of the middle one (see `percept`). patience_s: seconds.
    """

    speed: float = DRAG_WIDTHS_PER_S
    thinking: float = 1.0
    noise: float = 1.0
    patience_s: float = PATIENCE_S

    @classmethod
    def drawn(cls, seed: int, participant: str) -> Person:
        """A participant's traits: the same for the same seed, whatever the model or strategy."""
        rng = generator(seed, participant, "person")
        return cls(
            DRAG_WIDTHS_PER_S * float(rng.lognormal(0.0, SPEED_SD)),
            float(rng.lognormal(0.0, SPEED_SD)),
            float(rng.lognormal(0.0, NOISE_SD)),
            float(rng.lognormal(log(PATIENCE_S), PATIENCE_SD)),
        )

    @property
    def stride(self) -> float:
        """Slider widths from one place of a dragged dial to the next."""
        return self.speed * STRIDE_S

    def gives_up_after(self, skipped: int, near: bool) -> float:
        """Seconds for a question; skipped: questions of the stage given up before it; near: the
        goal is nearly reached."""
        return self.patience_s * FATIGUE**skipped * (STAYS_ON if near else 1.0)

    def hesitates(self, rng: np.random.Generator) -> float:
        """How long the next decision takes, as a share of the middle one."""
        return self.thinking * float(rng.lognormal(0.0, THINKING_SD))
