"""Where the participant's pointer was, in studies that record it."""

from __future__ import annotations

from labapp.record.events.registry import Payload, kind
from labapp.record.events.types import Whole


@kind("pointer.moved")
class PointerMoved(Payload):
    """A stretch of the pointer's path in the participant's window, at most 30 points a second, only
    while it moves.

    Attributes
    ----------
    began_ns : session time of the first point.
    width, height : of the window, in logical pixels.
    t_ms : of each point, milliseconds from the first.
    x, y : of each point, logical pixels from the window's upper left corner.
    """

    began_ns: Whole
    width: Whole
    height: Whole
    t_ms: tuple[Whole, ...]
    x: tuple[Whole, ...]
    y: tuple[Whole, ...]
