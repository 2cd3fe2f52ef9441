"""A picture of a study on the screen, at the size that the study states, sharp on every screen."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext, suppress
from functools import lru_cache
from typing import Any

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from labapp.base.errors import VideoError
from labapp.study import media

LEAST_WIDTH = 80
"""Logical pixels to which a picture may become smaller."""
LARGEST = (2000, 4000)
"""Pixels across and down that are kept of a picture: more than any screen shows of it."""


@lru_cache(maxsize=64)
def image_of(content: bytes) -> QImage:
    """A picture of a study, decoded; a larger one at most `LARGEST`."""
    picture = media.decode(content)
    picture.thumbnail(LARGEST)
    picture = picture.convert("RGBA")
    pixels = picture.tobytes()
    image = QImage(
        pixels, picture.width, picture.height, 4 * picture.width, QImage.Format.Format_RGBA8888
    )
    return image.copy()  # of its own: the bytes go


def preload(files: Mapping[str, bytes], *, read_only: bool = False) -> None:
    """Decode the pictures, sounds and videos of a study before the first of them is shown.

    files: of the study; read_only: nothing is played, so that videos may be unreadable here.
    """
    for name, content in files.items():
        if media.is_file(name):
            image_of(content)
        elif media.is_sound(name):
            with suppress(VideoError) if read_only else nullcontext():
                media.decode_sound(content)


@lru_cache(maxsize=128)
def scaled(content: bytes, width: int, ratio: float) -> QImage:
    """A picture so wide, in logical pixels, on a screen with so many pixels for each of them."""
    image = image_of(content)
    wide = max(round(width * ratio), 1)
    if wide != image.width():
        image = image.scaledToWidth(wide, Qt.TransformationMode.SmoothTransformation)
    else:
        image = image.copy()
    image.setDevicePixelRatio(ratio)
    return image


def size_of(content: bytes, width: int | None, most: int) -> QSize:
    """Logical pixels of a picture. width: as stated; most: for how wide a one there is room."""
    image = image_of(content)
    wide = min(width or image.width(), most)
    return QSize(wide, max(round(wide * image.height() / image.width()), 1))


class SizedPicture:
    """A picture at the size that the study states, and smaller where there is less room. A base of
    widgets, before the class of Qt's; they draw it with `draw_picture`."""

    content: bytes | None = None
    whole = QSize(320, 180)
    """Logical pixels of the picture where there is room; these where there is none."""

    def hold_picture(self: Any, content: bytes | None, width: int | None, most: int) -> None:
        """Take a picture, or room for one. width: as stated; most: for how wide a one there is
        room."""
        if content is not None:
            self.content, self.whole = content, size_of(content, width, most)
        self.take_room()

    def take_room(self: Any) -> None:
        """Ask the layout for room of the picture's shape."""
        self.setMaximumWidth(self.whole.width())
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        return self.whole

    def minimumSizeHint(self) -> QSize:
        width = min(LEAST_WIDTH, self.whole.width())
        return QSize(width, self.heightForWidth(width))

    def heightForWidth(self, width: int) -> int:
        wide = min(width, self.whole.width())
        return max(round(wide * self.whole.height() / self.whole.width()), 1)

    def picture_box(self: Any) -> QRectF:
        """Where the picture is, in the widget's pixels."""
        width = min(self.width(), self.whole.width())
        return QRectF(0, 0, width, self.heightForWidth(width))

    def draw_picture(self: Any, painter: QPainter) -> None:
        if self.content is not None:
            box = self.picture_box()
            picture = scaled(self.content, round(box.width()), self.devicePixelRatioF())
            painter.drawImage(box, picture)


class StudyPicture(SizedPicture, QWidget):
    """A picture with its words for people who cannot see it."""

    def __init__(self, content: bytes, alt: str, width: int | None, most: int) -> None:
        super().__init__()
        self.hold_picture(content, width, most)
        self.setAccessibleName(alt)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self.draw_picture(painter)
        painter.end()
