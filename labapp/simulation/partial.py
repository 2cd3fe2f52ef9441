"""Partial understanding: knows which dials have to do with what, and experiments within the group.

On VAEs people found that some dials moved the object and others changed its form, without knowing
how exactly: it made them "randomly experiment more within each group of dimensions" (paper 000,
6.1.2), with numerous loops through "a partial set" of them (section 7). Groups are found from what
was seen: the dials that mostly change what differs most. One that does what is expected of it is
turned there at once; the others are turned to a local maximum of the alignment.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from labapp.simulation.hands import RISES
from labapp.simulation.learning import Learning
from labapp.simulation.mind import NOTICED, RELIABLE, Mind
from labapp.simulation.percept import KINDS
from labapp.simulation.understanding import NEARLY, probe, settle, turn
from labapp.simulation.view import Acts, Move, View

BELONGS = 0.35
"""Share of a dial's effect that is on one kind of property, from which it belongs to that group
(ours)."""
STRIDE = 0.05
"""Slider widths from look to look while experimenting; half as much after a loop in vain."""
SMALLEST = 0.0125


class Partial(Learning):
    """Goes by what it has seen of groups of dials."""

    def attempt(self, mind: Mind, view: View) -> Generator[Move, View, View]:
        stride = STRIDE
        while True:
            before = view.alignment
            for dial in range(len(view.dials)):
                if not mind.effects.tried(dial):
                    view = yield from probe(mind, self.hands, view, dial)
                    view = yield from turn(mind, self.hands, view, dial)
            for kind in self._wrong(mind, view):
                for dial in self._group(mind, view, kind):
                    view = yield from self._try(mind, view, dial, kind, stride)
            if view.goal - view.alignment <= NEARLY:
                view = yield from settle(self.hands, view)
            if view.alignment > before + RISES:
                continue
            if stride <= SMALLEST:
                return view
            stride /= 2

    def _wrong(self, mind: Mind, view: View) -> list[int]:
        """Kinds of properties that differ, the most different first; all where none is noticed."""
        gap = np.square(mind.gap(view))
        amount = {kind: float(gap[mind.kinds == kind].sum()) for kind in KINDS}
        order = sorted(KINDS, key=lambda kind: -amount[kind])
        return [kind for kind in order if amount[kind] > NOTICED] or list(order)

    def _group(self, mind: Mind, view: View, kind: int) -> list[int]:
        """The dials that have to do with that kind, the strongest first."""
        does = np.array([mind.does(view, dial) for dial in range(len(view.dials))])
        share = does[:, kind] / (does.sum(axis=1) + NOTICED)
        group = [dial for dial in range(len(view.dials)) if share[dial] >= BELONGS]
        return sorted(group, key=lambda dial: -does[dial, kind])

    def _try(self, mind: Mind, view: View, dial: int, kind: int, stride: float) -> Acts:
        sure = mind.effects.reliable(dial) >= RELIABLE
        if sure and mind.plan(view, dial, kind).worth_it:
            return (yield from turn(mind, self.hands, view, dial, kind))
        return (yield from self.hands.climb(view, dial, stride))
