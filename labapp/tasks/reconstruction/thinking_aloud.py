"""What a simulated participant says in front of the dials, from what it knows and does there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from labapp.simulation.learning import LearningStrategy
from labapp.simulation.motor import MotorModel
from labapp.simulation.phrases import (
    AIMS,
    EFFECT,
    EXPLORES,
    FOLLOWS_NUMBER,
    GIVES_UP,
    NO_EFFECT,
    SOLVED,
    TRIES,
)
from labapp.simulation.view import Move, Strategy, View
from labapp.simulation.vocabulary import NOTHING

TELLS = 0.25
"""How often somebody who takes another dial, or goes about it otherwise, says so (ours)."""


class Say(Protocol):
    """Says a thought, see `labapp.plugins.simulated.SimulatedParticipant.think_aloud`."""

    def __call__(self, thought: str, what: str = "", /) -> bool: ...


class ThinkingAloud:
    """The thoughts of one participant at one stage.

    Parameters
    ----------
    say : callable
        Says a thought.
    rng : numpy.random.Generator
        Whether something is said at all.
    motor : MotorModel
        What the hand goes by.
    words : dict
        By what a dial changes, what the participant calls that.
    """

    def __init__(
        self, say: Say, rng: np.random.Generator, motor: MotorModel, words: Mapping[str, str]
    ) -> None:
        self._say = say
        self._rng = rng
        self._motor = motor
        self._words = words
        self._counts = self._counted()
        self._dial: int | None = None
        self._way: str | None = None
        self._meant: dict[int, str] = {}

    def moves(self, strategy: Strategy, move: Move, view: View) -> None:
        """A dial is about to be turned: what it is turned for, at times."""
        way, dial = self._way_of(strategy, move), move.dial
        if way is None or (way, dial) == (self._way, self._dial):
            return
        self._way, self._dial = way, dial
        if self._rng.random() < TELLS:
            self._say(way)

    def leaves(self, strategy: Strategy, view: View, *, solved: bool) -> None:
        """A question is about to be left: how that feels, then what was learnt of the dials."""
        self._say(SOLVED if solved else GIVES_UP)
        self._dial = self._way = None
        meant = strategy.meanings(view) if isinstance(strategy, LearningStrategy) else {}
        for dial, meaning in meant.items():
            if self._meant.get(dial) == meaning:
                continue
            nothing = meaning == NOTHING
            spoken = self._say(NO_EFFECT) if nothing else self._say(EFFECT, self._words[meaning])
            if not spoken:
                return
            self._meant[dial] = meaning

    def _counted(self) -> tuple[int, int, int]:
        return self._motor.by_plan, self._motor.by_number, self._motor.by_chance

    def _way_of(self, strategy: Strategy, move: Move) -> str | None:
        """What a movement is made for; None where it goes on as before."""
        before, self._counts = self._counts, self._counted()
        if isinstance(strategy, LearningStrategy) and not strategy.tried(move.dial):
            return EXPLORES
        ways = (AIMS, FOLLOWS_NUMBER, TRIES)
        counts = zip(ways, before, self._counts, strict=True)
        return next((way for way, then, now in counts if now > then), None)
