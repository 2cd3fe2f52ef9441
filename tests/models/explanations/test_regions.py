"""Boxes around places of maps."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from labapp.models.explanations import patches


def test_an_enlarged_map_is_the_bicubic_one_at_the_positions_of_the_network() -> None:
    """Torch puts position i in the middle of cell i, which is 3.5 pixels further on here."""
    maps = np.random.default_rng(0).random((2, 12, 12), np.float32)
    wide = functional.interpolate(
        torch.from_numpy(maps)[:, None], size=(192, 192), mode="bicubic", align_corners=False
    )
    # Pixel 2k + 8 of 192 in torch's way lies k / 8 + 1/32 positions on; compare off the edges.
    found = patches.enlarged(maps, 192)[:, 32:-32, 32:-32]
    shifted = wide[:, 0, 39:-25, 39:-25].numpy(), wide[:, 0, 40:-24, 40:-24].numpy()
    np.testing.assert_allclose(found, (shifted[0] + shifted[1]) / 2, atol=0.01)


def test_an_enlarged_map_passes_through_the_map_and_keeps_a_constant() -> None:
    maps = np.random.default_rng(1).random((3, 12, 12), np.float32)
    np.testing.assert_allclose(patches.enlarged(maps, 96)[:, ::8, ::8], maps, atol=1e-5)
    np.testing.assert_allclose(patches.enlarged(np.full((1, 6, 6), 0.7), 48), 0.7, atol=1e-5)


def test_a_single_cell_is_boxed_as_on_a_map_of_seven() -> None:
    boxes = patches.around_cells(np.array([[4, 7], [0, 0], [11, 11]]), (12, 12))
    left, top, right, bottom = boxes[0]
    assert (left + right) / 2 == pytest.approx(7 / 12)
    assert (top + bottom) / 2 == pytest.approx(4 / 12)
    assert right - left == pytest.approx(2 / 7) == pytest.approx(bottom - top)
    assert boxes[1].tolist() == pytest.approx([0, 0, 1 / 7, 1 / 7])
    assert boxes[2, 2:].tolist() == [1, 1]


def test_only_what_hangs_together_with_the_peak_is_in_the_box() -> None:
    maps = np.zeros((2, 12, 12), np.float32)
    maps[:, 2, 3] = 2
    maps[1, 9:11, 8:10] = 1.9  # bright too, but elsewhere
    alone, beside = patches.around_peaks(maps, 96) * 96
    for left, top, right, bottom in (alone, beside):
        assert left <= 3 * 8 < right
        assert top <= 2 * 8 < bottom
        assert right < 6 * 8
        assert bottom < 5 * 8


def test_a_box_holds_the_peaks_own_cell_at_least() -> None:
    sharp = np.random.default_rng(3).random((5, 12, 12), np.float32)
    sharp[:, 6, 6] = 50
    for box in patches.around_peaks(sharp, 96):
        assert (box[:2] * 12 <= 5.2).all()
        assert (box[2:] * 12 >= 6.8).all()
