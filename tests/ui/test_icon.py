"""Windows have labapp's icon."""

from __future__ import annotations

from PySide6.QtGui import QIcon
from pytestqt.qtbot import QtBot

from labapp.ui.qtapp import icon_file


def test_windows_have_an_icon_in_every_size(qtbot: QtBot) -> None:
    icon = QIcon(str(icon_file()))
    for px in (16, 32, 256):
        picture = icon.pixmap(px, px).toImage()
        assert picture.width() == px
        colours = {picture.pixelColor(x, y).name() for x in range(px) for y in range(px)}
        assert "#1f4e79" in colours
