"""Masked pictures in the screen's own pixels."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtGui import QColor

from labapp.tasks.unmasking.screen import StimulusField, scaled
from labapp.ui import theme
from labapp.ui.widgets.photo_view import image_of


@pytest.mark.parametrize("ratio", [1.0, 1.25, 1.5, 2.0])
@pytest.mark.parametrize("side", [384.0, 481.3])
def test_scaled_for_any_screen(ratio: float, side: float) -> None:
    rgb = np.random.default_rng(1).integers(0, 256, (48, 48, 3), np.uint8)
    made_ready = scaled(image_of(rgb), side, ratio)
    factor = made_ready.width() // 48
    assert made_ready.width() == 48 * factor == made_ready.height()
    assert made_ready.width() <= side * ratio < made_ready.width() + 48
    assert made_ready == image_of(np.repeat(np.repeat(rgb, factor, 0), factor, 1))


def test_a_picture_larger_than_the_window_is_made_smaller() -> None:
    rgb = np.zeros((490, 640, 3), np.uint8)
    assert (scaled(image_of(rgb), 320, 1.0).width(), scaled(image_of(rgb), 320, 1.0).height()) == (
        320,
        245,
    )


def test_an_empty_field_is_of_the_level_of_masked_pixels(qapp: object) -> None:
    grey = StimulusField((112,), theme.LIGHT)
    tinted = StimulusField((10, 20, 30), theme.LIGHT)
    assert grey.ground == QColor(112, 112, 112)
    assert tinted.ground == QColor(10, 20, 30)


def test_another_size_makes_ready_pictures_unready_and_keeps_the_one_that_is_seen(
    qapp: object,
) -> None:
    field = StimulusField((112,), theme.LIGHT)
    field.set_room(400, 96)
    assert field.side == 384
    told: list[float] = []
    field.rescaled.connect(lambda: told.append(field.side))
    field.prepare("a", image_of(np.zeros((96, 96, 3), np.uint8)))
    field.show_picture("a")
    field.set_room(400, 96)
    assert field.ready("a")
    field.set_room(300, 96)
    assert told == [288]
    assert not field.ready("a")
    assert field.shown == "a"
