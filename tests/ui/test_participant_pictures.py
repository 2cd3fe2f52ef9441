"""Stimuli: exact pixels, overlays that tell own from target, and painting that leaks nothing."""

from __future__ import annotations

import gc
import sys

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QWidget

from labapp.ui import theme
from labapp.ui.widgets import painting
from labapp.ui.widgets.dial import SeriesView
from labapp.ui.widgets.segments import LEAST_SIDE, ImageView, magnification, picture_side

BLACK, WHITE = 0xFF000000, 0xFFFFFFFF


def pixels(*rows: list[float]) -> np.ndarray:
    return np.array(rows, dtype=np.float32)


def test_two_hues_are_the_plain_grey_where_pictures_agree():
    own, target = pixels([0, 1, 1, 0.5]), pixels([0, 1, 0, 0.5])
    out = np.zeros((1, 4), dtype=np.uint32)
    painting.two_hues(own, target, out)
    assert out.tolist() == [[BLACK, WHITE, 0xFF0080FF, 0xFF808080]]
    painting.two_hues(target, own, out)
    assert out[0, 2] == 0xFFFF8000


def test_as_published_overlay_is_half_and_half():
    out = np.zeros((1, 3), dtype=np.uint32)
    painting.half_and_half(pixels([1, 0, 1]), pixels([0, 0, 1]), out)
    assert out.tolist() == [[0xFF808080, BLACK, WHITE]]


def test_binary_rounds_as_the_distance_does():
    from labapp.models.representations.distance import mnist

    x = pixels([0.49999, 0.5, 0.51, -0.2, 1.3])
    out = np.zeros((1, 5), dtype=np.uint32)
    painting.binary(x, out)
    assert out.tolist() == [[BLACK, WHITE, WHITE, BLACK, WHITE]]
    assert mnist(x, (out == WHITE).astype(np.float32)) == 0.0


def test_grey_clips():
    out = np.zeros((1, 3), dtype=np.uint32)
    painting.plain(pixels([-1, 0.5, 2]), out)
    assert out.tolist() == [[BLACK, 0xFF808080, WHITE]]


@pytest.mark.parametrize("ratio", [1.0, 1.25, 1.5, 1.75, 2.0, 3.0])
@pytest.mark.parametrize("size", [28, 64])
def test_magnification_is_whole_in_device_pixels(size, ratio):
    side = picture_side(size, 360, ratio)
    assert side <= 360
    assert (side * ratio / size) == pytest.approx(magnification(size, 360, ratio))
    assert (side + size / ratio) > 360  # the next whole magnification would not fit


@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("size", [28, 64])
def test_pictures_are_at_least_320_at_the_four_settings(size, ratio):
    assert picture_side(size, 340 if size == 28 else 358, ratio) >= LEAST_SIDE


@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0])
def test_each_picture_pixel_is_a_square_of_device_pixels(qapp, ratio):
    rng = np.random.default_rng(0)
    picture = (rng.random((28, 28)) > 0.5).astype(np.float32)
    holder = QWidget()
    view = ImageView((28, 28), theme.LIGHT, "own", binary=True, two_hues=True)
    view.setParent(holder)
    view.move(7, 3)  # at 150 % this is no whole device pixel
    view.set_side(picture_side(28, 340, ratio))
    view.show_picture(picture)
    image = QImage(round(600 * ratio), round(600 * ratio), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    view.devicePixelRatioF = lambda: ratio  # as on a screen of that scale
    painter = QPainter(image)
    painter.translate(7, 3)
    view.paint(painter)
    painter.end()
    array = np.ndarray((image.height(), image.width()), np.uint32, image.constBits())
    m = magnification(28, view.width() - 2, ratio)
    where = view.target_rect()
    left, top = (where.x() + 7) * ratio, (where.y() + 3) * ratio
    assert left == pytest.approx(round(left), abs=1e-6)
    assert top == pytest.approx(round(top), abs=1e-6)
    x, y = round(left), round(top)
    shown = array[y : y + 28 * m, x : x + 28 * m].reshape(28, m, 28, m)
    expected = np.where(picture > 0, WHITE, BLACK).astype(np.uint32)
    assert (shown == expected[:, None, :, None]).all()


def series_image(view: SeriesView) -> np.ndarray:
    image = view.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    return np.ndarray((image.height(), image.width()), np.uint32, image.constBits()).copy()


def series_view(**options: bool) -> SeriesView:
    view = SeriesView(theme.LIGHT, "own", two_styles=options.get("two_styles", True))
    view.set_side(340)
    return view


def has(image: np.ndarray, color: str) -> bool:
    return bool((image == (QColor(color).rgb() & 0xFFFFFFFF)).any())


def test_series_show_own_target_and_band(qapp):
    view = series_view()
    own = np.full(64, 5.0, dtype=np.float32)
    target = np.full(64, -5.0, dtype=np.float32)
    view.show_picture(own)
    alone = series_image(view)
    assert has(alone, theme.SERIES_OWN)
    assert not has(alone, theme.SERIES_BAND)
    view.show_overlay(own, target)
    both = series_image(view)
    assert has(both, theme.SERIES_OWN)
    assert has(both, theme.SERIES_TARGET)
    rows = np.flatnonzero((both == QColor(theme.SERIES_BAND).rgb()).any(axis=1))
    # y = -5 lies at three quarters of the height; the band is 1 of 20 units high.
    assert rows.mean() == pytest.approx(0.75 * view.height(), abs=2)
    assert np.ptp(rows) == pytest.approx(view.height() / 20, abs=3)


def test_series_lines_differ_in_style_not_only_in_colour(qapp):
    view = series_view()
    flat = np.full(64, 5.0, dtype=np.float32)
    view.show_overlay(flat, -flat)
    image = series_image(view)
    middle = lambda y: image[round(view.height() / 2 - y * (view.height() / 2 - 1) / 10)]  # noqa: E731
    own = middle(5.0) == QColor(theme.SERIES_OWN).rgb()
    target = middle(-5.0) == QColor(theme.SERIES_TARGET).rgb()
    assert own[5:-5].all()
    assert 0.3 < target.mean() < 0.8  # dashed


def test_as_published_series_are_half_transparent(qapp):
    view = series_view(two_styles=False)
    flat = np.full(64, 5.0, dtype=np.float32)
    view.show_overlay(flat, -flat)
    image = series_image(view)
    assert not has(image, theme.SERIES_OWN)
    assert not has(image, theme.SERIES_TARGET)


def test_series_far_outside_the_chart_stay_inside_it(qapp):
    view = series_view()
    view.show_picture(np.linspace(-1e9, 1e9, 64, dtype=np.float32))
    assert all(abs(point.y()) < 10 * view.height() for point in view.points(view._own))


def test_painting_does_not_eat_references_to_none(qapp):
    """PySide 6.12 on Python 3.10 and 3.11 drops one reference to None per void paint call, until
    the interpreter dies; the pin in pyproject.toml keeps it out."""
    image = QImage(32, 32, QImage.Format.Format_RGB32)
    gc.collect()
    painter = QPainter(image)
    before = sys.getrefcount(None)
    for _ in range(1000):
        painter.setPen(QPen(Qt.GlobalColor.black))
        painter.drawLine(0, 0, 5, 5)
        painter.drawEllipse(QPointF(5, 5), 2, 2)
        painter.fillRect(0, 0, 4, 4, Qt.GlobalColor.white)
        path = QPainterPath()
        path.moveTo(0, 0)
        path.lineTo(5, 5)
        path.addRect(QRectF(0, 0, 3, 3))
        painter.drawPath(path)
    lost = before - sys.getrefcount(None)
    painter.end()
    assert abs(lost) < 200, f"{lost} references to None were lost over 8000 paint calls"


@pytest.mark.parametrize("room", [-500.0, -14.0, 0.0, 20.0, 300.0])
def test_a_picture_has_a_size_where_a_window_has_no_room_for_it(room, qapp):
    view = SeriesView(theme.LIGHT, "own", two_styles=True)
    view.set_side(view.side_for(room))
    assert view.width() > 28
    view.deleteLater()
    assert picture_side(28, room, 1.0) >= 28


def test_colours_reach_the_screen_as_they_are():
    out = np.zeros((1, 4), dtype=np.uint32)
    colours = np.array([[[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 2, -1]]], dtype=np.float32)
    painting.plain(colours, out)
    assert out.tolist() == [[0xFFFF0000, 0xFF00FF00, 0xFF0000FF, 0xFF80FF00]]


def test_an_overlay_in_colour_is_that_of_grey_where_there_is_none():
    rng = np.random.default_rng(0)
    own, target = rng.random((2, 16, 16)).astype(np.float32)
    grey, coloured = np.zeros((2, 16, 16), dtype=np.uint32)
    painting.two_hues(own, target, grey)
    painting.two_hues(*(np.repeat(x[..., None], 3, axis=2) for x in (own, target)), coloured)
    channels = [pixels.view(np.uint8).astype(int) for pixels in (grey, coloured)]
    assert np.abs(channels[0] - channels[1]).max() <= 1  # rounded at another moment


def test_an_overlay_in_colour_keeps_the_colours_on_which_pictures_agree():
    x = np.array([[[0.2, 0.6, 1.0]]], dtype=np.float32)
    out = np.zeros((1, 1), dtype=np.uint32)
    painting.two_hues(x, x, out)
    assert out.tolist() == [[0xFF3399FF]]
    painting.two_hues(x, np.zeros_like(x), out)  # only the own picture is light there
    red, green, blue = ((int(out[0, 0]) >> shift) & 0xFF for shift in (16, 8, 0))
    assert blue > green > red


@pytest.mark.parametrize("size", [256, 512])
@pytest.mark.parametrize("ratio", [1.0, 1.5])
def test_a_picture_with_more_pixels_than_its_place_is_made_smaller_by_their_means(
    size, ratio, qapp
):
    """Left out instead, a fine pattern would become black or white."""
    pattern = np.indices((size, size)).sum(axis=0) % 2
    colours = np.repeat(pattern[..., None], 3, axis=2).astype(np.float32)
    view = ImageView((size, size), theme.LIGHT, "own", binary=False, two_hues=True)
    side = view.side_for(150)
    assert side == 150
    view.set_side(side)
    view.show_picture(colours)
    where = view.target_rect()
    assert max(where.width(), where.height()) <= 150
    image = QImage(view.size() * ratio, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    view.render(image)
    middle = QColor(image.pixel(image.width() // 2, image.height() // 2))
    assert abs(middle.red() - 128) < 16
    view.show_picture(np.zeros_like(colours))  # a picture that follows is drawn, too
    view.render(image)
    assert QColor(image.pixel(image.width() // 2, image.height() // 2)).red() == 0
