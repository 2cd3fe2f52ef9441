"""A picture of a study on the screen, at the size that the study states, sharp on every screen."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from labapp.study import media

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


def preload(files: Mapping[str, bytes]) -> None:
    """Decode the pictures of a study before the first of them is shown. files: of the study."""
    for name, content in files.items():
        if media.is_file(name):
            image_of(content)


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


class StudyPicture(QWidget):
    """A picture with its words for people who cannot see it. It becomes smaller where there is less
    room than its width."""

    def __init__(self, content: bytes, alt: str, width: int | None, most: int) -> None:
        super().__init__()
        self._content, self._size = content, size_of(content, width, most)
        self.setMaximumWidth(self._size.width())
        self.setAccessibleName(alt)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def sizeHint(self) -> QSize:
        return self._size

    def minimumSizeHint(self) -> QSize:
        return QSize(min(80, self._size.width()), self.heightForWidth(min(80, self._size.width())))

    def heightForWidth(self, width: int) -> int:
        wide = min(width, self._size.width())
        return max(round(wide * self._size.height() / self._size.width()), 1)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        width = min(self.width(), self._size.width())
        box = QRectF(0, 0, width, self.heightForWidth(width))
        painter.drawImage(box, scaled(self._content, width, self.devicePixelRatioF()))
        painter.end()
