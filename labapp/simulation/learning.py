"""What the strategies have in common that learn what the dials do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass, field

from labapp.simulation.hands import Hands, Solving
from labapp.simulation.mind import Mind
from labapp.simulation.naming import meanings
from labapp.simulation.percept import Eye
from labapp.simulation.view import Move, View


@dataclass
class Learning(ABC):
    """Remembers from question to question of a stage, and can tell what dials do.

    eye: how it sees; hands: how it moves.
    """

    eye: Eye
    hands: Hands
    _mind: Mind | None = field(default=None, init=False)

    def understands(self, view: View) -> float:
        return self._mind.understanding(view) if self._mind is not None else 0.0

    def meanings(self, view: View) -> dict[int, str]:
        """What each dial is known to change, where that is understood; see `naming`."""
        return meanings(self._mind, view) if self._mind is not None else {}

    def solve(self, view: View) -> Solving:
        self._mind = mind = self._mind or Mind(self.eye, view)
        mind.begin(view)
        return mind.watch(self.attempt(mind, view))

    @abstractmethod
    def attempt(self, mind: Mind, view: View) -> Generator[Move, View, View]:
        """Move after move, until it does not know what else to try."""
