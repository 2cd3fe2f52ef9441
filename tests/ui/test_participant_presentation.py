"""As published or improved: what a study shows and takes, on the real window.

Published are pictures in plain grey, an overlay at 50 % transparency, no tick at the start, and
dials with what a slider on a web page gives: a step for an arrow key and a tenth of the range for a
Page key. Improved adds an overlay in two hues, start ticks, fine dragging, fine Page keys, and the
wheel.
"""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from labapp.tasks.reconstruction.events import MoveDial, ToggleOverlay
from labapp.tasks.reconstruction.screen.matching import ReconstructionScreen
from labapp.ui.widgets.dial import DialSlider
from tests.helpers.hands import turn_wheel
from tests.helpers.rooms import Room, skip_to
from tests.helpers.studies import ring_decoder, write_study

LEFT, SHIFT = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier
STEP, RANGE = 0.01, 6.0


@pytest.fixture(params=["as_published", "improved"])
def presentation(request) -> str:
    return request.param


@pytest.fixture(params=["dsprites/ae", "mnist8k/ss5"])
def shown(request, presentation, open_room, open_window, qapp, tmp_path):
    """A room and the screen of a question, with grey or binary pictures."""
    model = request.param
    study = write_study(tmp_path, model, presentation=presentation)
    room = open_room(study, decoders={model: ring_decoder(model, 5)})
    window = open_window(room)
    skip_to(room, "stage-1")
    qapp.processEvents()
    screen = window.screen_shown
    assert isinstance(screen, ReconstructionScreen)
    return room, screen


def is_grey(pixels: np.ndarray) -> bool:
    red, green, blue = (pixels >> shift & 0xFF for shift in (16, 8, 0))
    return bool(((red == green) & (green == blue)).all())


def dial_of(room: Room, screen: ReconstructionScreen) -> DialSlider:
    """The second dial, at its middle, with the focus."""
    control = screen.dials.rows[1].control
    assert isinstance(control, DialSlider)
    assert control.dimension.high - control.dimension.low == RANGE
    control.setFocus()
    room.runner.send(MoveDial(1, 0.0, "mouse"))
    assert control.shown == 0.0
    return control


def test_pictures_are_grey_and_only_the_overlay_differs(shown, presentation):
    room, screen = shown
    room.runner.send(ToggleOverlay(False))
    panel = screen.pictures
    assert is_grey(panel.own.pixels)
    assert is_grey(panel.target.pixels)
    own, target = panel.own.pixels & 0xFF, panel.target.pixels & 0xFF
    assert (own != target).any()
    room.runner.send(ToggleOverlay(True))
    both = panel.both.pixels
    if presentation == "as_published":
        assert is_grey(both)
        np.testing.assert_allclose(both & 0xFF, (own + target) / 2, atol=1)
    else:
        assert not is_grey(both)
        agree = own == target
        np.testing.assert_array_equal(both[agree] & 0xFF, own[agree])
        np.testing.assert_array_equal(both & 0xFF, own)
        np.testing.assert_array_equal(both >> 16 & 0xFF, target)


def test_keys_are_those_of_a_slider_on_the_web_and_finer_ones_when_improved(shown, presentation):
    room, screen = shown
    dial = dial_of(room, screen)
    QTest.keyClick(dial, Qt.Key.Key_Right)
    assert dial.shown == pytest.approx(STEP)
    QTest.keyClick(dial, Qt.Key.Key_Left)
    QTest.keyClick(dial, Qt.Key.Key_PageUp)
    assert dial.shown == pytest.approx(RANGE / 10 if presentation == "as_published" else 10 * STEP)
    QTest.keyClick(dial, Qt.Key.Key_End)
    assert dial.shown == dial.dimension.high
    QTest.keyClick(dial, Qt.Key.Key_Home)
    assert dial.shown == dial.dimension.low


def test_only_improved_dials_are_dragged_finely_and_turned_by_the_wheel(shown, presentation):
    room, screen = shown
    dial = dial_of(room, screen)
    middle = QPoint(round(dial.handle_x(0.0)), dial.height() // 2)
    QTest.mousePress(dial, LEFT, SHIFT, middle)
    for x in (10, 20):
        drag(dial, middle + QPoint(x, 0))
    QTest.mouseRelease(dial, LEFT, SHIFT, middle + QPoint(20, 0))
    coarse = 20 * RANGE / (dial.width() - 28)
    if presentation == "as_published":
        assert dial.shown == pytest.approx(coarse, abs=0.02)
    else:
        assert 0 < dial.shown <= 10 * STEP
    before = dial.shown
    turn_wheel(dial, middle)
    assert dial.shown == pytest.approx(before + (0 if presentation == "as_published" else STEP))


def drag(dial: DialSlider, where: QPoint) -> None:
    at = QPointF(where)
    move = QMouseEvent(
        QEvent.Type.MouseMove, at, dial.mapToGlobal(at), Qt.MouseButton.NoButton, LEFT, SHIFT
    )
    QApplication.sendEvent(dial, move)


def test_the_start_is_marked_and_keys_are_told_only_when_improved(shown, presentation):
    room, screen = shown
    improved = presentation == "improved"
    dial = dial_of(room, screen)
    dial.clearFocus()
    plain = dial.grab().toImage()
    dial.set_start(None)
    assert (dial.grab().toImage() != plain) == improved
    said = " ".join(label.text() for label in screen.findChildren(QLabel))
    assert ("Shift" in said) == improved
    assert ("Page Up" in said) == improved


def test_the_tutorial_has_the_dials_of_the_study(presentation, open_room, open_window, tmp_path):
    study = write_study(tmp_path, "dsprites/ae", presentation=presentation)
    text = study.read_text().replace("flow:\n", "flow:\n  - tutorial: reconstruction\n")
    study.write_text(text)
    room = open_room(study, decoders={"dsprites/ae": ring_decoder("dsprites/ae", 5)})
    window = open_window(room)
    skip_to(room, "tutorial")
    controls = [row.control for box in window.screen_shown.boxes for row in box.dials.rows]
    sliders = [control for control in controls if isinstance(control, DialSlider)]
    assert sliders
    slider = sliders[0]
    d = slider.dimension
    slider.show_value(d.low)
    QTest.keyClick(slider, Qt.Key.Key_PageUp)
    page = (d.high - d.low) / 10 if presentation == "as_published" else 10 * d.step
    assert slider.shown == pytest.approx(d.snap(d.low + page))
