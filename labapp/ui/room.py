"""How much room the windows need on a screen, in logical pixels."""

from __future__ import annotations

PARTICIPANT = (900, 500)
CONSOLE = HOME = (900, 460)
"""The least width and height of each window. A display of 1366 × 768 at 150 % has 911 × 512: there
a window that needs more would hide its buttons, and those of the moderator have a title bar."""

AROUND_PICTURE, BESIDE_PICTURE = 256, 24
"""Logical pixels of height that bars, question and buttons take, and of width on either side."""


def fits(width: float, height: float, *windows: tuple[int, int]) -> bool:
    """Whether each of the windows has room on a screen of this size."""
    return all(width >= wide and height >= high for wide, high in windows)


def for_picture(side: int) -> tuple[int, int]:
    """What the participant's window needs to show a picture of this size."""
    return side + 2 * BESIDE_PICTURE, side + AROUND_PICTURE


def needed(*windows: tuple[int, int]) -> str:
    """The room for all of them, such as `1100 × 700`."""
    return f"{max(w for w, _ in windows)} × {max(h for _, h in windows)}"
