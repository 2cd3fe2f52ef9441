"""The pictures of a study's video on the screen."""

from __future__ import annotations

from contextlib import ExitStack

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from labapp.base.errors import VideoError
from labapp.coding.videos.decoding import OpenedVideo, Picture
from labapp.study import media
from labapp.ui.widgets.study_picture import SizedPicture

OF_WINDOW = 0.5
"""Of a window's height, what a video may take: what plays it is on the screen with it."""


class VideoPicture(SizedPicture, QWidget):
    """It shows the picture of one time of the video, all of it: never higher than the window has
    room for.

    Parameters
    ----------
    sound : the video's sound; its `video` is not empty.
    alt : its name, for people who cannot see it.
    width : in logical pixels, as the study states it; None for the video's own.
    most : the room that there is, in logical pixels.
    """

    def __init__(self, sound: media.DecodedSound, alt: str, width: int | None, most: int) -> None:
        super().__init__()
        self._content = sound.video
        own_width, own_height = sound.size
        wide = min(width or own_width, most)
        self._stated = QSize(wide, max(round(wide * own_height / own_width), 1))
        self.whole = self._stated
        self.take_room()
        self.setAccessibleName(alt)
        self._opened = ExitStack()
        self._video: OpenedVideo | None = None
        self._at_s = 0.0
        self._picture: Picture | None = None
        self._good = (0.0, 0.0)  # the times of the video at which the picture is the right one
        self._room = (0, 0)
        self._ends_s = sound.seconds
        self.failed = False
        """Whether the video could not be decoded on its way; it is not tried again."""

    def showEvent(self, event: QShowEvent) -> None:
        self.window().installEventFilter(self)
        self._limit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.window():
            self._limit()
        return super().eventFilter(watched, event)

    def _limit(self) -> None:
        room = QSize(self._stated.width(), round(self.window().height() * OF_WINDOW))
        whole = self._stated
        if whole.height() > room.height():
            whole = whole.scaled(room, Qt.AspectRatioMode.KeepAspectRatio)
        if whole != self.whole:
            self.whole = whole
            self.take_room()

    def show_at(self, at_s: float) -> None:
        """Show the picture of a time of the video, in s."""
        self._at_s = at_s
        if self._picture is None or not self._good[0] <= at_s < self._good[1]:
            self.update()

    def close_video(self) -> None:
        """Let the decoder go; it is opened again when a picture is next wanted."""
        self._opened.close()
        self._video = self._picture = None

    def _decode(self, room: tuple[int, int]) -> Picture | None:
        shown, at_s = self._picture, self._at_s
        if self.failed or (
            shown is not None and room == self._room and self._good[0] <= at_s < self._good[1]
        ):
            return shown
        try:
            if self._video is None:
                self._video = self._opened.enter_context(media.open_video(self._content))
            self._room = room
            self._picture = self._video.picture_at(at_s, room) or shown
        except VideoError:
            self.failed = True
            return shown
        if self._picture is not None:
            # The first may begin after the sound, and the last stays to the end.
            begins_s, ends_s = self._picture.begins_s, self._picture.ends_s
            self._good = min(begins_s, at_s), ends_s if at_s < ends_s else self._ends_s + 1
        return self._picture

    def paintEvent(self, event: QPaintEvent) -> None:
        box, ratio = self.picture_box(), self.devicePixelRatioF()
        picture = self._decode((round(box.width() * ratio), round(box.height() * ratio)))
        if picture is None:
            return
        height, width, _ = picture.pixels.shape
        pixels = picture.pixels.tobytes()
        painter = QPainter(self)
        form = QImage.Format.Format_RGB888
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(box, QImage(pixels, width, height, 3 * width, form))
        painter.end()
