"""Maps at the size of a picture: on the pixels that each position looks at."""

from __future__ import annotations

import numpy as np
import pytest

from labapp.models.explanations.building.heatmaps import upsampled


@pytest.mark.parametrize("size", [96, 384])
@pytest.mark.parametrize("positions", [12, 24, 96])
def test_a_position_is_put_on_its_pixel(size: int, positions: int) -> None:
    maps = np.zeros((1, 1, positions, positions), np.float32)
    i, j = positions // 2, positions // 3
    maps[0, 0, i, j] = 1
    found = upsampled(maps, size)[0, 0]
    assert found.shape == (size, size)
    weight = found / found.sum()
    middle = (np.arange(size) + 0.5) * 96 / size - 0.5
    stride = 96 / positions
    assert (weight.sum(1) * middle).sum() == pytest.approx(i * stride, abs=1e-3)
    assert (weight.sum(0) * middle).sum() == pytest.approx(j * stride, abs=1e-3)


def test_networks_may_see_other_sizes() -> None:
    maps = np.zeros((1, 1, 6, 6), np.float32)
    maps[0, 0, 2, 4] = 1
    found = upsampled(maps, 48, pixels=48)[0, 0]
    assert np.unravel_index(found.argmax(), found.shape) == (16, 32)


def test_even_maps_stay_even_and_a_map_of_all_pixels_is_itself() -> None:
    assert np.allclose(upsampled(np.full((1, 2, 12, 12), 0.3, np.float32), 100), 0.3)
    maps = np.random.default_rng(0).random((1, 1, 96, 96), dtype=np.float32)
    assert np.allclose(upsampled(maps, 96), maps, atol=1e-6)
