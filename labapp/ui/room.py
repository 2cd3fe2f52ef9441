"""How much room the windows need on a screen, in logical pixels."""

from __future__ import annotations

PARTICIPANT = CONSOLE = HOME = (900, 560)
"""The least width and height of each window: displays of 1366 × 768 at 150 % and of 1920 × 1080 at
200 % have about that."""


def fits(width: float, height: float, *windows: tuple[int, int]) -> bool:
    """Whether each of the windows has room on a screen of this size."""
    return all(width >= wide and height >= high for wide, high in windows)


def needed(*windows: tuple[int, int]) -> str:
    """The room for all of them, such as `1100 × 700`."""
    return f"{max(w for w, _ in windows)} × {max(h for _, h in windows)}"
