"""Understanding: one pass over the dials, each turned the right way and far enough.

"When users felt they understood the meanings of dimensions, they could modify them in a single pass
through the list, knowing in advance in which direction and how much to change them" (paper 000,
section 7). That knowledge is earned: in the first question each dial is turned to see what it does,
and what was seen there and later predicts how far it must be turned. Each dial is thought of by
itself, the one that promises most first ("used the dials that they understood first", 6.2.2), so
that dials with effects of their own need one pass, and dials that share theirs many.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from labapp.simulation.hands import RISES, Hands
from labapp.simulation.learning import Learning
from labapp.simulation.mind import Mind
from labapp.simulation.view import Acts, Move, View

PROBE = 0.3
"""Slider widths that an unknown dial is turned, to see what it does (ours)."""
CORRECTIONS = 2
"""Small movements after an aimed one, to get nearer (two-component model of aimed movements,
Woodworth 1899: one or two corrections)."""
NEARLY = 0.15
"""So near to the goal the number is watched instead of the picture (ours)."""
NUDGE = 0.02
"""Slider widths of a first small stride then; halved to a quarter of that."""
CLOSER = 0.9
"""A pass that leaves more than this share of the (squared) difference has brought nothing."""
STRIDE = 0.05
"""After a pass in vain the dials are turned by the number, as those do who understand nothing (with
reluctance, "their strategy changed" to "finicking with the dials", 6.2.2), in such strides."""
IN_VAIN = 3
"""Passes in vain on end before it does not know what else to try (ours)."""


def probe(mind: Mind, hands: Hands, view: View, dial: int) -> Acts:
    """Turn an unknown dial to see what it does: to the side that has more room, or every button."""
    dimension, at = view.dials[dial], view.z[dial]
    if dimension.options:
        for k in range(dimension.options):
            if k != view.z[dial]:
                view = yield Move(dial, float(k), pause=True)
        return view
    way = 1.0 if dimension.high - at > at - dimension.low else -1.0
    return (yield from hands.drag(view, dial, dimension.inside(at + way * PROBE * dimension.width)))


def turn(
    mind: Mind, hands: Hands, view: View, dial: int, kind: int | None = None, more: int = 0
) -> Acts:
    """Turn a dial to where it promises most, and correct it so often where that is not enough."""
    for _ in range(1 + more):
        plan = mind.plan(view, dial, kind)
        if not plan.worth_it:
            break
        goal = hands.aimed(view, dial, plan.goal)
        before, expected = mind.now(view), mind.expected(view, dial, goal)
        view = yield from hands.drag(view, dial, goal)
        mind.learn(dial, expected, before, view)
    return view


def settle(hands: Hands, view: View) -> Acts:
    """Small movements to and fro, watching the number, until they bring nothing."""
    stride = NUDGE
    while True:
        before = view.alignment
        for dial, dimension in enumerate(view.dials):
            if not dimension.options:
                view = yield from hands.climb(view, dial, stride)
        if view.alignment > before + RISES:
            continue
        if stride <= NUDGE / 4:
            return view
        stride /= 2


class Understanding(Learning):
    """Plans by what it has seen in this stage."""

    def attempt(self, mind: Mind, view: View) -> Generator[Move, View, View]:
        vain = 0
        while vain < IN_VAIN:
            alignment, gap = view.alignment, float(np.square(mind.gap(view)).sum())
            view = yield from self._pass(mind, view)
            if view.goal - view.alignment <= NEARLY:
                view = yield from settle(self.hands, view)
            left = float(np.square(mind.gap(view)).sum())
            if view.alignment > alignment + RISES or left < CLOSER * gap:
                vain = 0
                continue
            vain += 1
            for dial in range(len(view.dials)):
                view = yield from self.hands.climb(view, dial, STRIDE)
        return view

    def _pass(self, mind: Mind, view: View) -> Acts:
        """Each dial at most once: the unknown ones first, then whichever promises most."""
        left = list(range(len(view.dials)))
        while left:
            unknown = [dial for dial in left if not mind.effects.tried(dial)]
            if unknown:
                dial = unknown[0]
                view = yield from probe(mind, self.hands, view, dial)
            else:
                plans = [mind.plan(view, dial) for dial in left]
                best = max(plans, key=lambda plan: plan.gain)
                if not best.worth_it:
                    break
                dial = best.dial
            left.remove(dial)
            view = yield from turn(mind, self.hands, view, dial, more=CORRECTIONS)
        return view
