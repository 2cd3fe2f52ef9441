"""The video of the participant beside the replayed screen: the picture of the time that is heard.

Where a stretch is redacted nothing of it is shown, no face either. Nothing of its sound is played:
what is heard is the session's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QImage, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from labapp.annotations.model import Redaction
from labapp.annotations.redaction import is_redacted
from labapp.annotations.video_files import PlacedVideo
from labapp.ui import theme
from labapp.ui.language import tr, translate_message, veiled
from labapp.ui.moderator import bits
from labapp.ui.replay.controller import shown_time
from labapp.ui.widgets.buttons import Button
from labapp.videos import decoding
from labapp.videos.decoding import OpenVideo
from labapp.videos.feed import ShownPicture, VideoFeed

LEAST = (120, 68)
"""Of the picture, in logical pixels."""
TENTH = 8
"""Digits of nanoseconds below a tenth of a second."""
ROOM_STEP = 32
"""A picture is decoded for a room of whole steps of so many pixels, so that pulling a border does
not decode each anew."""


class VideoPanel(QWidget):
    """The videos of a session, one of them at a time.

    Parameters
    ----------
    videos : sequence of (PlacedVideo, callable)
        Each with what opens its file.
    redactions : of the session.

    Attributes
    ----------
    view : VideoScreen
        Where it is shown.
    tabs : list of Button
        One a video, where there are several.
    """

    def __init__(
        self,
        videos: Sequence[tuple[PlacedVideo, OpenVideo]],
        redactions: Sequence[Redaction] = (),
    ) -> None:
        super().__init__()
        self.view = VideoScreen(videos, redactions)
        layout = bits.column(self, theme.SPACE_XS)
        self.tabs = [Button(veiled(placed.video.id), "page-tab") for placed, _ in videos]
        if len(videos) > 1:
            row = bits.row(None, theme.SPACE_S)
            for tab in self.tabs:
                tab.setFocusPolicy(Qt.FocusPolicy.TabFocus)
                row.addWidget(tab)
            row.addStretch(1)
            layout.addLayout(row)
            bits.turn_pages(self.tabs, self.view.choose)
        layout.addWidget(self.view, 1)

    def show_time(self, t_ns: int) -> None:
        """Show a session time."""
        self.view.show_time(t_ns)

    def close_videos(self) -> None:
        """Let the files go."""
        self.view.close_videos()


class VideoScreen(QWidget):
    """The picture of a video at a session time, or why there is none.

    Attributes
    ----------
    text : str
        What stands in its place; empty while there is a picture.
    shown : what is on the screen.
    """

    _came = Signal(int, object)

    def __init__(
        self,
        videos: Sequence[tuple[PlacedVideo, OpenVideo]],
        redactions: Sequence[Redaction] = (),
    ) -> None:
        super().__init__()
        self._redactions = redactions
        self._feeds = [
            VideoFeed(placed, open_video, partial(self._came.emit, number))
            for number, (placed, open_video) in enumerate(videos)
        ]
        self._chosen = 0
        self._t_ns = 0
        self._image = QImage()
        self.shown: ShownPicture | None = None
        self.text = ""
        self._failure = ""
        self._came.connect(self._take, Qt.ConnectionType.QueuedConnection)
        self.setMinimumSize(*LEAST)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(tr("Video of the participant"))

    def sizeHint(self) -> QSize:
        return QSize(320, 180)

    def withhold(self, redaction: Redaction) -> None:
        """Show nothing of a stretch from now on."""
        self._redactions = (*self._redactions, redaction)
        self._drop()
        self.show_time(self._t_ns)

    @property
    def placed(self) -> PlacedVideo:
        """The video that is shown."""
        return self._feeds[self._chosen].placed

    def choose(self, number: int) -> None:
        """Show another video; number: its place among them."""
        self._chosen = number
        self._failure = ""
        self._drop()
        self.show_time(self._t_ns)

    def show_time(self, t_ns: int) -> None:
        """Show a session time: the picture comes as soon as it is decoded."""
        self._t_ns = t_ns
        if not self.isVisible():
            return
        if why := self._why_not(t_ns):
            self._drop()
            self._say(why)
            return
        if self.shown is None:
            self._say(self._failure or tr("Loading the video …"))
        self._feeds[self._chosen].want(t_ns, self._room())

    def _why_not(self, t_ns: int) -> str:
        """Why nothing is shown at a time; empty where the video is."""
        if not decoding.installed():
            return " ".join(
                (
                    tr("Videos cannot be shown: PyAV is not installed."),
                    tr("Get it by: {command}", command=decoding.INSTALL),
                )
            )
        if is_redacted(t_ns, t_ns, self._redactions):
            return tr("Redacted: the video is not shown here.")
        if not self.placed.covers(t_ns):
            begins, ends = self.placed.stretch_ns
            return tr(
                "No video at this time: it goes from {begin} to {end}.",
                begin=shown_time(round(begins, -TENTH), 0),
                end=shown_time(round(ends, -TENTH), 0),
            )
        return ""

    def _take(self, number: int, shown: ShownPicture) -> None:
        """A picture came, by the thread's own time: it is shown where it is still right to."""
        if number != self._chosen or self._why_not(self._t_ns):
            return
        if shown.picture is None:
            assert shown.problem is not None
            self._failure = " ".join(
                translate_message(part) for part in (shown.problem.what, shown.problem.todo) if part
            )
            self._drop()
            self._say(self._failure)
            return
        self._failure = ""
        if is_redacted(shown.begins_ns, shown.begins_ns, self._redactions):
            self._drop()
            self._say(tr("Redacted: the video is not shown here."))
            return
        pixels = shown.picture.pixels
        height, width, _ = pixels.shape
        # The image does not own its bytes: `shown` does, as long as it is on the screen.
        self._image = QImage(
            pixels.data, width, height, pixels.strides[0], QImage.Format.Format_RGB888
        )
        self.shown = shown
        self._say("")
        self.update()

    def _drop(self) -> None:
        self._image = QImage()
        self.shown = None

    def _say(self, text: str) -> None:
        if text != self.text:
            self.text = text
            self.setAccessibleDescription(text)
            self.update()

    def _room(self) -> tuple[int, int]:
        ratio = self.devicePixelRatioF()
        width, height = (
            max(ROOM_STEP, -(-round(side * ratio) // ROOM_STEP) * ROOM_STEP)
            for side in (self.width(), self.height())
        )
        return width, height

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self._image.isNull():
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(self.rect(), flags, self.text)
        else:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            size = self._image.size().scaled(self.size(), Qt.AspectRatioMode.KeepAspectRatio)
            left = (self.width() - size.width()) / 2
            painter.drawImage(QRectF(left, 0, size.width(), size.height()), self._image)
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.show_time(self._t_ns)

    def showEvent(self, event: object) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self.show_time(self._t_ns)

    def close_videos(self) -> None:
        """Let the files go."""
        for feed in self._feeds:
            feed.close()
