"""How much room the windows need on a screen, in logical pixels."""

from __future__ import annotations

PARTICIPANT = (1024, 700)
CONSOLE = (1100, 640)
HOME = (980, 640)
"""The least width and height of each window."""


def fits(width: float, height: float, *windows: tuple[int, int]) -> bool:
    """Whether each of the windows has room on a screen of this size."""
    return all(width >= wide and height >= high for wide, high in windows)


def needed(*windows: tuple[int, int]) -> str:
    """The room for all of them, such as `1100 × 700`."""
    return f"{max(w for w, _ in windows)} × {max(h for _, h in windows)}"
