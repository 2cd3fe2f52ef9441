"""What a participant learns of the dials by turning them: what each of them does to the picture.

The picture as a person describes it: every dial changes its properties in its own way, whatever the
others stand at ("dial 4 moves it to the right"). So the memory is additive: each property is the
sum of one curve per dial, learnt from all that was seen in the stage, the latest best. Where the
dials of a model do that, a few turns of each tell how far to turn it; where what a dial does
depends on the others, the same memory predicts badly. (Paper 000, 6.1.2 and 6.2.2: people name what
a dial does, or cannot.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labapp.simulation.view import Dial

Float64 = NDArray[np.float64]

KNOTS = 9
"""A slider's effect is remembered at so many places, and in between by straight lines."""
SMOOTH = 0.3
"""Weight of the expectation that a place goes on as its neighbours do; one look has weight 1."""
TIMID = 0.01
"""How much no effect is expected, of what was never tried."""
HALF_LIFE = 200
"""Looks after which one counts half as much: about half a minute of dragging."""
TRIED_PLACES, TRIED_BUTTONS = 3, 2
"""A dial counts as tried once it was seen at so many of its places."""
FORGIVES = 0.7
"""Share of the error at one turn of a dial that still counts at its next turn."""


@dataclass(frozen=True, slots=True)
class _Columns:
    start: int
    size: int


class Effects:
    """The additive memory of one stage. n: properties of a percept."""

    def __init__(self, dials: Sequence[Dial], n: int) -> None:
        self._dials = tuple(dials)
        self._columns: list[_Columns] = []
        at = 1  # column 0 is what is seen whatever the dials stand at
        for dial in dials:
            size = dial.options or KNOTS
            self._columns.append(_Columns(at, size))
            at += size
        self._seen = np.zeros((at, at))
        self._what = np.zeros((at, n))
        self._prior = self._expected(at)
        self._known: Float64 | None = None
        self._places: list[set[int]] = [set() for _ in dials]
        self._wrong = np.zeros(len(dials))
        self._all = np.zeros(len(dials))
        self._mistaken = np.zeros((len(dials), n))
        self._changed = np.zeros((len(dials), n))

    def __len__(self) -> int:
        return len(self._dials)

    def _expected(self, size: int) -> Float64:
        prior = np.eye(size) * TIMID
        prior[0, 0] = 1e-6
        for dial, at in zip(self._dials, self._columns, strict=True):
            if dial.options:
                continue
            bend = np.diff(np.eye(at.size), 2, axis=0)
            here = slice(at.start, at.start + at.size)
            prior[here, here] += SMOOTH * bend.T @ bend
        return prior

    def _hats(self, dial: int, values: Float64) -> Float64:
        """How much each place of a dial has to do with values of it: shape (values, places)."""
        dimension = self._dials[dial]
        if dimension.options:
            return np.eye(dimension.options)[np.rint(values).astype(np.int64)]
        at = (values - dimension.low) / dimension.width * (KNOTS - 1)
        return np.maximum(0.0, 1.0 - np.abs(at[:, None] - np.arange(KNOTS)))

    def _all_hats(self, z: Sequence[float]) -> list[Float64]:
        return [self._hats(dial, np.array([value]))[0] for dial, value in enumerate(z)]

    def see(self, z: Sequence[float], percept: Float64) -> None:
        """Remember a look."""
        hats = self._all_hats(z)
        row = np.concatenate(([1.0], *hats))
        fades = 0.5 ** (1 / HALF_LIFE)
        self._seen *= fades
        self._what *= fades
        self._seen += np.outer(row, row)
        self._what += np.outer(row, percept)
        self._known = None
        for places, near in zip(self._places, hats, strict=True):
            places.add(int(np.argmax(near)))

    def tried(self, dial: int) -> bool:
        """Whether a dial was seen at several places, so that something is known of it."""
        least = TRIED_BUTTONS if self._dials[dial].options else TRIED_PLACES
        return len(self._places[dial]) >= least

    def judge(self, dial: int, expected: Float64, happened: Float64, noise: float) -> None:
        """Compare what turning a dial changed with what was expected; noise: sd of what was seen,
        which counts as no error."""
        mistaken = float(np.square(happened - expected).sum()) - happened.size * noise**2
        changed = float(np.square(happened).sum()) - happened.size * noise**2
        self._wrong[dial] = FORGIVES * self._wrong[dial] + max(mistaken, 0.0)
        self._all[dial] = FORGIVES * self._all[dial] + max(changed, 0.0)
        for average, new in ((self._mistaken, happened - expected), (self._changed, happened)):
            average[dial] = FORGIVES * average[dial] + np.square(new) - noise**2

    def reliable(self, dial: int) -> float:
        """How much of what a dial did was expected, 0..1: 0 while nothing was."""
        if self._all[dial] <= 0:
            return 0.0
        return float(np.clip(1 - self._wrong[dial] / self._all[dial], 0.0, 1.0))

    def judged(self, dial: int, properties: Sequence[int]) -> tuple[float, float]:
        """How much some properties were seen to change when a dial was turned, and how much of that
        was not expected (squared just noticeable differences, the latest turns most)."""
        at = list(properties)
        return float(self._changed[dial, at].sum()), float(self._mistaken[dial, at].sum())

    def effect(self, dial: int, values: Float64) -> Float64:
        """What a dial adds to the properties at values of it: shape (values, n)."""
        at = self._columns[dial]
        result: Float64 = self._hats(dial, values) @ self._solved()[at.start : at.start + at.size]
        return result

    def remembered(self, z: Sequence[float]) -> Float64:
        """The properties where the dials stand like that, without looking: shape (n,)."""
        result: Float64 = np.concatenate(([1.0], *self._all_hats(z))) @ self._solved()
        return result

    def _solved(self) -> Float64:
        """What each place of each dial adds, after all that was seen."""
        if self._known is None:
            self._known = np.linalg.solve(self._seen + self._prior, self._what).astype(np.float64)
        return self._known
