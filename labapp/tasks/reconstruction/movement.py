"""What was done with the dials in one question: distances, slides, switches, reversals, devices."""

from __future__ import annotations

from collections import Counter

from labapp.tasks.reconstruction.plan import ReconstructionPart

DEVICES = ("mouse", "keyboard", "wheel", "touch", "simulated")
"""The inputs that `dial.moved` names."""


class Movement:
    """Adds up the movements of one question.

    distance: in full slider widths by dimension, where a change of a discrete dimension counts 1
    (paper 000, 4.4). A *slide* is a run of moves of one dial: it ends when
    another dial is moved or a dial is taken hold of anew. A *switch* is a move of another dial
    than the one moved before; a *reversal* is a move of the same dial the other way.
    """

    def __init__(self, part: ReconstructionPart, z: tuple[float, ...]) -> None:
        self._widths = [part.width(dimension) for dimension in range(len(z))]
        self._z = list(z)
        self.distance = [0.0] * len(z)
        self.slides = [0] * len(z)
        self.selections = [0] * len(z)
        self.switches = 0
        self.reversals = 0
        self.moves = 0
        self._devices: Counter[str] = Counter()
        self._dimension: int | None = None
        self._direction = 0
        self._held_anew = True

    def selected(self, dimension: int) -> None:
        """A dial was taken hold of."""
        self.selections[dimension] += 1
        self._held_anew = True

    def moved(self, dimension: int, value: float, device: str) -> None:
        """A dial stands at a new value."""
        change = value - self._z[dimension]
        if change == 0:
            return
        width = self._widths[dimension]
        direction = 0 if width is None else (1 if change > 0 else -1)
        if dimension != self._dimension:
            self.switches += self._dimension is not None
        elif direction and direction == -self._direction:
            self.reversals += 1
        if dimension != self._dimension or self._held_anew:
            self.slides[dimension] += 1
        self.distance[dimension] += 1.0 if width is None else abs(change) / width
        self.moves += 1
        self._devices[device] += 1
        self._z[dimension] = value
        self._dimension, self._direction, self._held_anew = dimension, direction, False

    def locked(self, z: tuple[float, ...]) -> None:
        """The dials were set to the solution by the program; that is nobody's movement."""
        self._z = list(z)

    @property
    def z(self) -> tuple[float, ...]:
        """The dials as they stand."""
        return tuple(self._z)

    def share(self, device: str) -> float | None:
        """Share of the moves made with a device, None without a move."""
        return self._devices[device] / self.moves if self.moves else None
