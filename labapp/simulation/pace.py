"""How fast a simulated participant is."""

from __future__ import annotations

from dataclasses import dataclass

from labapp.simulation.person import STRIDE_S


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds of session time: between two strides of a dial, before a decision, on a page.

    reaction: to a stimulus, as a share of what a person takes.
    """

    stride_s: float
    think_s: float
    read_s: float
    reaction: float = 1.0


FAST = Pace(stride_s=0.02, think_s=0.06, read_s=0.12, reaction=0.08)
"""Fast hands, for the demonstration and tests in real time."""

HUMAN = Pace(stride_s=STRIDE_S, think_s=1.2, read_s=6.0)
"""About a person's speed, for simulations on a virtual clock. A decision takes about 1.35 s, the
mental operator of the keystroke-level model (Card, Moran and Newell 1980), looking included."""
