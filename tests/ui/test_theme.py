"""The tokens where the eye needs them: what is written can be read."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit
from pytestqt.qtbot import QtBot

from labapp.ui import theme


def luminance(color: QColor) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [channel / 255 for channel in (color.red(), color.green(), color.blue())]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: QColor, other: QColor) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("palette", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
@pytest.mark.parametrize("field", [QLineEdit, QPlainTextEdit])
def test_what_is_to_be_typed_can_be_read(
    qtbot: QtBot, palette: theme.Palette, field: type[QLineEdit] | type[QPlainTextEdit]
) -> None:
    """Contrast of the darkest (or lightest) pixel of the words; the fonts' edges are softer."""
    made = field()
    qtbot.addWidget(made)
    made.setStyleSheet(theme.stylesheet(palette))
    made.setPlaceholderText("Hhhh lllll")
    made.resize(300, 80)
    made.show()
    qtbot.wait(1)
    made.clearFocus()
    image: QImage = made.grab().toImage()
    ground = image.pixelColor(image.width() // 2, image.height() // 2)
    written = [
        image.pixelColor(x, y)
        for x in range(theme.SPACE_M, image.width() // 3)
        for y in range(theme.SPACE_XS, image.height() - theme.SPACE_XS)
    ]
    assert max(contrast(color, ground) for color in written) >= 4.5
