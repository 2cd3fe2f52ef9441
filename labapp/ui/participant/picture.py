"""The participant's window as a picture, of any size: what a mirror shows.

The window in the picture is on no display. So nothing in it can have the keyboard or the mouse, and
nothing of it is drawn before somebody asks for it.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QSize, Qt
from PySide6.QtGui import QPainter, QPixmap
from PySide6.QtWidgets import QLayout, QStackedWidget, QVBoxLayout, QWidget

from labapp.ui import theme
from labapp.ui.growing import GROWN
from labapp.ui.participant import panels
from labapp.ui.participant.body import LOOKS, Body
from labapp.ui.participant.looks import show_look
from labapp.ui.participant.read_only import ReadOnly
from labapp.ui.participant.screen import Screen
from labapp.ui.participant.screens import bring, clear, make_screen
from labapp.ui.participant.view import Cover, SessionView
from labapp.ui.widgets.bars import BottomBar, Foot, Head, TopBar

USUAL = QSize(1366, 768)
"""The size of a window that is nowhere to be seen."""


class WindowPicture:
    """A participant's window that is only read.

    Attributes
    ----------
    session
        What it shows, see `SessionView.only_read`.
    window
        The window itself, which is on no display.
    looks_left
        So many more times it is worth drawing though nothing changes: what has just come up may
        still take its place.
    """

    def __init__(self, session: SessionView) -> None:
        self.session = session
        self._screen: Screen | None = None
        self._index = -1
        self._settled: QWidget | None = None
        self.looks_left = 0
        palette = session.palette
        self.window = QWidget()
        self.window.setProperty("role", "ground")
        self.window.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.window.setStyleSheet(theme.stylesheet(palette))
        self.top, self.bottom = TopBar(palette), BottomBar(palette)
        self.cover = panels.Cover()
        self.stack = QStackedWidget()
        self.body = Body(self.stack)
        self.stack.addWidget(self.cover)
        column = QVBoxLayout(self.window)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        # It is as large as the participant's window, whatever its layout asks for.
        column.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        column.addWidget(self.top)
        column.addWidget(self.body, 1)
        column.addWidget(self.bottom)
        self.window.resize(USUAL)
        ReadOnly(self.window)
        # Laid out like a window that is shown, on no display, and drawn only on demand.
        self.window.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
        self.window.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.window.show()

    @property
    def screen(self) -> Screen | None:
        """The screen of the part that runs."""
        return self._screen

    def follow(self) -> None:
        """Bring it in step with the session."""
        session, look = self.session, self.session.look
        cover = session.cover()
        if look.window is not None:
            self.window.setProperty(GROWN, look.window.grown)
            self._resize(QSize(look.window.width, look.window.height))
        if session.part is not None and session.ready and session.index != self._index:
            self._replace()
        screen = self._screen
        self.top.show_recording(session.recorded, session.sound_words())
        if cover is not None or screen is None:
            self.show_cover(cover or Cover("", ""))
        else:
            screen.render_state()
            opened = screen.opened()
            bring(self.stack, opened or screen)
            show_look(opened or screen, look)
            foot = screen.foot() if opened is None else Foot(right=opened.close_words)
            self.top.show_head(screen.head())
            self.bottom.show_foot(foot)
        if self.stack.currentWidget() is not self._settled:
            self._settled = self.stack.currentWidget()
            self._settle()

    def follow_at_once(self) -> None:
        """Bring it in step with the session, and its layout to rest: nobody looks again later. What
        is scrolled can only be so far as what is laid out is long."""
        for _ in range(LOOKS):
            self.follow()
            self.lay_out()

    @staticmethod
    def lay_out() -> None:
        """Lay out what asks for it, now."""
        for _ in range(LOOKS):
            QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)

    def _resize(self, size: QSize) -> None:
        """Be as large as the window of the participant is."""
        if size != self.window.size():
            self.window.resize(size)
            self._settle()

    def _settle(self) -> None:
        """Lay out what has just come up. Pictures take the room that others leave them, which those
        know after a first look."""
        self.looks_left = LOOKS
        self.lay_out()

    def renew(self) -> None:
        """Make the screen anew when it is shown next: screens follow a session in the order of
        time, and what comes now was before."""
        self._index = -1

    def _replace(self) -> None:
        self._screen = make_screen(self.session)
        self._index = self.session.index
        clear(self.stack, self.cover)
        self.stack.addWidget(self._screen)

    def show_cover(self, cover: Cover) -> None:
        """Show a quiet page in place of the screen."""
        offered = self.session.takes_back and not self.session.stalled
        words = self.session.words
        self.cover.say(*cover, back=words("skipped_back") if offered else "")
        self.stack.setCurrentWidget(self.cover)
        self.bottom.show_foot(Foot())
        self.top.hide_help()
        if self.session.finished:
            self.top.show_head(Head())

    def draw(self, room: QSize, ratio: float) -> QPixmap:
        """The window in a room of so many logical pixels, on a display of so many pixels each."""
        whole = self.window.size()
        fitted = whole.scaled(room, Qt.AspectRatioMode.KeepAspectRatio)
        if fitted.width() > whole.width():
            fitted = whole
        self.looks_left = max(0, self.looks_left - 1)
        pixmap = QPixmap(fitted * ratio)
        pixmap.setDevicePixelRatio(ratio)
        # At 125 % its last column or row is one that the window fills in part.
        pixmap.fill(self.session.palette.color("ground"))
        painter = QPainter(pixmap)
        if fitted != whole:  # else its pictures would be smoother than in the window itself
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.scale(fitted.width() / whole.width(), fitted.height() / whole.height())
        self.window.render(painter, QPoint())
        painter.end()
        return pixmap

    def close(self) -> None:
        """Let the window go."""
        self.window.hide()
        self.window.deleteLater()
