"""Strategies that learn what the dials do from question to question, and can name them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np

from labapp.simulation.learner import NOTICED, RELIABLE, LearnerModel
from labapp.simulation.motor import RISES, MotorModel, Solving
from labapp.simulation.naming import meanings
from labapp.simulation.percept import KINDS, Eye
from labapp.simulation.view import Acts, Move, View

PROBE = 0.3
"""Slider widths that an unknown dial is turned, to see what it does (ours)."""
CORRECTIONS = 2
"""Small movements after an aimed one, to get nearer (two-component model of aimed movements,
Woodworth 1899: one or two corrections)."""
NEARLY = 0.15
"""From this near to the goal on, the number is watched instead of the picture (ours)."""
NUDGE = 0.02
"""Slider widths of a first small stride then; halved to a quarter of that."""
CLOSER = 0.9
"""A pass that leaves more than this share of the (squared) difference has brought nothing."""
STRIDE = 0.05
"""Slider widths from look to look after a pass in vain. The dials are turned by the number then, as
people did with reluctance: "their strategy changed" to "finicking with the dials" (6.2.2)."""
IN_VAIN = 3
"""Passes in vain in a row before it gives up (ours)."""
BELONGS = 0.35
"""A dial belongs to the group of a kind of property that takes at least this share of its effect
(ours)."""
EXPERIMENT_STRIDE = 0.05
"""Slider widths from look to look while experimenting within a group; half as much after a loop in
vain."""
SMALLEST_STRIDE = 0.0125
"""Nobody looks more closely than that while experimenting (ours)."""


@dataclass
class LearningStrategy(ABC):
    """Remembers from question to question of a stage, and can tell what dials do.

    eye: how it sees; motor: how it moves.
    """

    eye: Eye
    motor: MotorModel
    _learner: LearnerModel | None = field(default=None, init=False)

    def understands(self, view: View) -> float:
        return self._learner.understanding(view) if self._learner is not None else 0.0

    def meanings(self, view: View) -> dict[int, str]:
        """What each dial is known to change, where that is understood; see `naming`."""
        return meanings(self._learner, view) if self._learner is not None else {}

    def tried(self, dial: int) -> bool:
        """Whether it knows a dial by having turned it."""
        return self._learner is not None and self._learner.effects.tried(dial)

    def solve(self, view: View) -> Solving:
        self._learner = learner = self._learner or LearnerModel(self.eye, view)
        learner.begin(view)
        return learner.watch(self.attempt(learner, view))

    @abstractmethod
    def attempt(self, learner: LearnerModel, view: View) -> Generator[Move, View, View]:
        """Move after move, until it does not know what else to try."""


def probe(learner: LearnerModel, motor: MotorModel, view: View, dial: int) -> Acts:
    """Turn an unknown dial to see what it does: to the side that has more room, or every button."""
    dimension, at = view.dials[dial], view.z[dial]
    if dimension.options:
        for k in range(dimension.options):
            if k != view.z[dial]:
                view = yield Move(dial, float(k), pause=True)
        return view
    way = 1.0 if dimension.high - at > at - dimension.low else -1.0
    return (yield from motor.drag(view, dial, dimension.inside(at + way * PROBE * dimension.width)))


def turn(
    learner: LearnerModel,
    motor: MotorModel,
    view: View,
    dial: int,
    kind: int | None = None,
    more: int = 0,
) -> Acts:
    """Turn a dial to where it promises most; more: the most corrections after that."""
    for _ in range(1 + more):
        plan = learner.plan(view, dial, kind)
        if not plan.worth_it:
            break
        goal = motor.aimed(view, dial, plan.goal)
        before, expected = learner.now(view), learner.expected(view, dial, goal)
        view = yield from motor.drag(view, dial, goal)
        learner.learn(dial, expected, before, view)
    return view


def settle(motor: MotorModel, view: View) -> Acts:
    """Small movements to and fro, watching the number, until they bring nothing."""
    stride = NUDGE
    while True:
        before = view.alignment
        for dial, dimension in enumerate(view.dials):
            if not dimension.options:
                view = yield from motor.climb(view, dial, stride)
        if view.alignment > before + RISES:
            continue
        if stride <= NUDGE / 4:
            return view
        stride /= 2


class UnderstandingStrategy(LearningStrategy):
    """One pass over the dials, each turned the right way and far enough.

    "When users felt they understood the meanings of dimensions, they could modify them in a single
    pass through the list, knowing in advance in which direction and how much to change them" (paper
    000, section 7). That knowledge is earned: in the first question each dial is turned to see what
    it does, and what was seen there and later predicts how far it must be turned. Each dial is
    thought of by itself, the one that promises most first ("used the dials that they understood
    first", 6.2.2), so that dials with effects of their own need one pass, and dials that share
    theirs many.
    """

    def attempt(self, learner: LearnerModel, view: View) -> Generator[Move, View, View]:
        vain = 0
        while vain < IN_VAIN:
            alignment, gap = view.alignment, float(np.square(learner.gap(view)).sum())
            view = yield from self._pass(learner, view)
            if view.goal - view.alignment <= NEARLY:
                view = yield from settle(self.motor, view)
            left = float(np.square(learner.gap(view)).sum())
            if view.alignment > alignment + RISES or left < CLOSER * gap:
                vain = 0
                continue
            vain += 1
            for dial in range(len(view.dials)):
                view = yield from self.motor.climb(view, dial, STRIDE)
        return view

    def _pass(self, learner: LearnerModel, view: View) -> Acts:
        """Each dial at most once: the unknown ones first, then whichever promises most."""
        left = list(range(len(view.dials)))
        while left:
            unknown = [dial for dial in left if not learner.effects.tried(dial)]
            if unknown:
                dial = unknown[0]
                view = yield from probe(learner, self.motor, view, dial)
            else:
                plans = [learner.plan(view, dial) for dial in left]
                best = max(plans, key=lambda plan: plan.gain)
                if not best.worth_it:
                    break
                dial = best.dial
            left.remove(dial)
            view = yield from turn(learner, self.motor, view, dial, more=CORRECTIONS)
        return view


class PartialStrategy(LearningStrategy):
    """Knows which dials have to do with what, and experiments within the group.

    On VAEs people found that some dials moved the object and others changed its form, without
    knowing how exactly: it made them "randomly experiment more within each group of dimensions"
    (paper 000, 6.1.2), with numerous loops through "a partial set" of them (section 7). Groups are
    found from what was seen: the dials that mostly change what differs most. One that does what is
    expected of it is turned there at once; the others are turned to a local maximum of the
    alignment.
    """

    def attempt(self, learner: LearnerModel, view: View) -> Generator[Move, View, View]:
        stride = EXPERIMENT_STRIDE
        while True:
            before = view.alignment
            for dial in range(len(view.dials)):
                if not learner.effects.tried(dial):
                    view = yield from probe(learner, self.motor, view, dial)
                    view = yield from turn(learner, self.motor, view, dial)
            for kind in self._wrong(learner, view):
                for dial in self._group(learner, view, kind):
                    view = yield from self._try(learner, view, dial, kind, stride)
            if view.goal - view.alignment <= NEARLY:
                view = yield from settle(self.motor, view)
            if view.alignment > before + RISES:
                continue
            if stride <= SMALLEST_STRIDE:
                return view
            stride /= 2

    def _wrong(self, learner: LearnerModel, view: View) -> list[int]:
        """Kinds of properties that differ, the most different first; all where none is noticed."""
        gap = np.square(learner.gap(view))
        amount = {kind: float(gap[learner.kinds == kind].sum()) for kind in KINDS}
        order = sorted(KINDS, key=lambda kind: -amount[kind])
        return [kind for kind in order if amount[kind] > NOTICED] or list(order)

    def _group(self, learner: LearnerModel, view: View, kind: int) -> list[int]:
        """The dials that have to do with that kind, the strongest first."""
        does = np.array([learner.does(view, dial) for dial in range(len(view.dials))])
        share = does[:, kind] / (does.sum(axis=1) + NOTICED)
        group = [dial for dial in range(len(view.dials)) if share[dial] >= BELONGS]
        return sorted(group, key=lambda dial: -does[dial, kind])

    def _try(self, learner: LearnerModel, view: View, dial: int, kind: int, stride: float) -> Acts:
        sure = learner.effects.reliable(dial) >= RELIABLE
        if sure and learner.plan(view, dial, kind).worth_it:
            return (yield from turn(learner, self.motor, view, dial, kind))
        return (yield from self.motor.climb(view, dial, stride))
