"""Heatmaps in the published colours, on one scale."""

from __future__ import annotations

from typing import get_args

import matplotlib
import numpy as np
import pytest

from labapp.models.stimuli import masked_pictures
from labapp.models.stimuli.manifest import ColourMap


@pytest.mark.parametrize("name", get_args(ColourMap))
def test_the_tables_are_those_of_matplotlib(name: ColourMap) -> None:
    known = {"rdbu_r": "RdBu_r", "puor_r": "PuOr_r"}.get(name, name)
    expected = matplotlib.colormaps[known](np.arange(256), bytes=True)[:, :3]
    assert np.array_equal(masked_pictures.table(name), expected)


def test_a_positive_map_is_half_photo_half_colour() -> None:
    photo = np.full((8, 8, 3), 100, np.uint8)
    heat = np.full((2, 2), 255, np.uint8)
    shown = masked_pictures.overlay(photo, heat, "positive", "jet")
    expected = 0.5 * 100 + 0.5 * masked_pictures.table("jet")[255]
    assert np.abs(shown - expected).max() <= 0.5


def test_maps_are_not_stretched_one_by_one() -> None:
    photo = np.zeros((8, 8, 3), np.uint8)
    weak = masked_pictures.overlay(photo, np.array([[0, 60]], np.uint8), "positive", "jet")
    assert weak[..., 0].max() < 10  # no red: blue to cyan alone


def test_a_signed_map_is_white_at_nothing_and_darker_at_edges() -> None:
    flat = np.full((16, 16, 3), 90, np.uint8)
    nothing = np.full((4, 4, 3), 128, np.uint8)
    shown = masked_pictures.overlay(flat, nothing, "signed", "rdbu_r")
    assert shown.min() > 240
    split = flat.copy()
    split[:, 8:] = 200
    edged = masked_pictures.overlay(split, nothing, "signed", "rdbu_r")
    assert edged[:, 7:9].max() < 190
    assert edged[:, [0, 15]].min() > 240


def test_grain_is_no_edge() -> None:
    rng = np.random.default_rng(1)
    photo = np.full((64, 64, 3), 60.0)
    photo[:, 32:] = 110
    photo += rng.normal(0, 12, (64, 64, 1))
    nothing = np.full((4, 4), 128, np.uint8)
    shown = masked_pictures.overlay(photo.round().astype(np.uint8), nothing, "signed", "rdbu_r")
    assert shown[:, 31:33].mean() < 200
    assert shown[:, :28].mean() > 0.99 * masked_pictures.table("rdbu_r")[128].mean()


def test_a_ready_picture_is_shown_as_it_is() -> None:
    rng = np.random.default_rng(1)
    ready = rng.integers(0, 255, (8, 8, 3), np.uint8)
    shown = masked_pictures.overlay(np.zeros((8, 8, 3), np.uint8), ready, "ready", "jet")
    assert np.array_equal(shown, ready)


def test_enlarging_keeps_places_and_constants() -> None:
    grid = np.zeros((3, 3), np.float32)
    grid[1, 2] = 1
    large = masked_pictures.enlarged(grid, 90, 90)
    assert np.unravel_index(large.argmax(), large.shape)[1] >= 74
    assert abs(int(np.unravel_index(large.argmax(), large.shape)[0]) - 45) <= 1
    assert np.allclose(masked_pictures.enlarged(np.full((3, 5), 7, np.float32), 40, 20), 7)
    assert masked_pictures.enlarged(np.ones((1, 1), np.float32), 4, 4).shape == (4, 4)
