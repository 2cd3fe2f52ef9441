"""How much of a participant's page is neither content nor margin, measured in its picture."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QImage

from labapp.ui import theme
from labapp.ui.participant.window import ParticipantWindow


def content_of(window: ParticipantWindow) -> QRect:
    """The rectangle around all that is drawn between the bars, in device pixels of the page."""
    ratio = window.devicePixelRatioF()
    whole = window.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    top = round(window.body.y() * ratio)
    image = whole.copy(0, top, whole.width(), round(window.body.height() * ratio))
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1, 4)
    ground = QColor(theme.LIGHT.ground)
    colours = np.array([ground.blue(), ground.green(), ground.red()])
    drawn = (pixels[:, : image.width(), :3] != colours).any(axis=2)
    rows, columns = np.flatnonzero(drawn.any(axis=1)), np.flatnonzero(drawn.any(axis=0))
    if not rows.size:
        return QRect()
    return QRect(
        int(columns[0]),
        int(rows[0]),
        int(columns[-1] - columns[0] + 1),
        int(rows[-1] - rows[0] + 1),
    )


def free_share(window: ParticipantWindow) -> float:
    """Of the page between the bars, what is neither within its content nor within a margin round
    it, from 0 to 1."""
    ratio = window.devicePixelRatioF()
    page = QRect(0, 0, round(window.body.width() * ratio), round(window.body.height() * ratio))
    margin = round(theme.SPACE_XL * ratio)
    used = content_of(window).adjusted(-margin, -margin, margin, margin) & page
    return 1 - used.width() * used.height() / (page.width() * page.height())
