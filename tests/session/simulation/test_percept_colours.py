"""Pictures in colour as simulated participants see them."""

from __future__ import annotations

import numpy as np

from labapp.session.simulation.percept import COLOUR_KINDS, IMAGE_KINDS, kinds_of, properties


def disc(colour: tuple[float, float, float]) -> np.ndarray:
    """A disc of this colour on black, float32 (64, 64, 3)."""
    rows, columns = np.indices((64, 64)) - 31.5
    inside = (rows**2 + columns**2 < 400)[..., None]
    return np.where(inside, np.float32(colour), np.float32(0)).astype(np.float32)


def test_colours_of_one_lightness_are_told_apart() -> None:
    red, green = disc((0.6, 0.0, 0.0)), disc((0.0, 0.6 * 0.299 / 0.587, 0.0))
    seen = properties(red), properties(green)
    same = len(IMAGE_KINDS)
    assert len(seen[0]) == len(COLOUR_KINDS) == len(kinds_of(red))
    assert np.allclose(seen[0][:same], seen[1][:same], atol=1e-3)
    assert np.abs(seen[0] - seen[1]).max() > 5


def test_a_grey_picture_in_three_channels_is_seen_as_the_grey_one() -> None:
    rows, columns = np.indices((64, 64))
    grey = (np.exp(-((rows - 20) ** 2 + (columns - 40) ** 2) / 80)).astype(np.float32)
    coloured = np.repeat(grey[..., None], 3, axis=2)
    same = len(IMAGE_KINDS)
    assert np.allclose(properties(coloured)[:same], properties(grey), atol=1e-3)
    assert np.allclose(properties(coloured)[same:], 0, atol=1e-4)
