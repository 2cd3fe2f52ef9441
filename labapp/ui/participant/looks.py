"""Reads what a window shows besides the session's state, and shows it again in another window.

What is scrolled and enlarged is found among the widgets that are seen, in the order they were made:
it is the same in every window that shows the same screen. `labapp.record.events.look` says what is
not recorded.

The participant's window as a picture, of any size: what a mirror shows.

The window in the picture is on no display. So nothing in it can have the keyboard or the mouse, and
nothing of it is drawn before somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QSize, Qt
from PySide6.QtGui import QPainter, QPixmap
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QLayout,
    QScrollArea,
    QScrollBar,
    QStackedWidget,
    QWidget,
)

from labapp.record.events.commands import ShowLook
from labapp.record.events.look import LAYOUT, NOTHING, Look, ScreenEnlarged, WindowShown
from labapp.session.runner import Runner
from labapp.ui import theme, timers
from labapp.ui.growing import GROWN, grown_of
from labapp.ui.participant import screen
from labapp.ui.participant.read_only import ReadOnly
from labapp.ui.participant.screen import LOOKS, Body, Screen, Shown, bring, clear, make_screen
from labapp.ui.participant.view import Cover, SessionView
from labapp.ui.widgets.controls import column, fill
from labapp.ui.widgets.dial import BottomBar, Foot, Head, TopBar
from labapp.ui.widgets.enlarger import Enlarger
from labapp.ui.widgets.markdown import MarkdownView
from labapp.ui.widgets.photo_view import ZoomView

INTERVAL_MS = 100


def bars_of(shown: QWidget) -> list[QScrollBar]:
    """What says how far something is scrolled: the areas that are seen, but for fields to type in;
    behind them, downwards and sideways, what all of the screen lies in."""
    areas = [
        area
        for area in shown.findChildren(QAbstractScrollArea)
        if isinstance(area, QScrollArea | MarkdownView) and area.isVisibleTo(shown)
    ]
    around = shown.parentWidget()
    while around is not None and not isinstance(around, QScrollArea):
        around = around.parentWidget()
    whole = [] if around is None else [around.verticalScrollBar(), around.horizontalScrollBar()]
    return [*(area.verticalScrollBar() for area in areas), *whole]


def enlarging_of(shown: QWidget) -> Enlarger | ZoomView | None:
    """What shows a picture larger, where something that is seen can."""
    able: list[Enlarger | ZoomView] = [*shown.findChildren(Enlarger), *shown.findChildren(ZoomView)]
    return next((widget for widget in able if widget.isVisibleTo(shown)), None)


def window_of(window: QWidget) -> WindowShown:
    """A window's size, and where it is."""
    screen, size = window.screen(), window.size()
    whole = screen.size()
    return WindowShown(
        size.width(),
        size.height(),
        window.devicePixelRatioF(),
        screen.name(),
        whole.width(),
        whole.height(),
        LAYOUT,
        grown_of(window),
    )


def look_of(window: QWidget, shown: Shown) -> Look:
    """What a window shows now."""
    enlarging = enlarging_of(shown)
    return Look(
        window_of(window),
        shown.page_shown,
        shown.reminded,
        tuple(bar.value() for bar in bars_of(shown)),
        NOTHING if enlarging is None else ScreenEnlarged(*enlarging.look),
    )


def show_look(shown: Shown, look: Look) -> None:
    """Let what is only read look like this."""
    if shown.page_shown != look.page:
        shown.turn_to(look.page)
    if shown.reminded != look.reminded:
        shown.reminded = look.reminded
        shown.render_state()
    for number, bar in enumerate(bars_of(shown)):
        bar.setValue(look.at(number))
    enlarging = enlarging_of(shown)
    if enlarging is not None:
        payload = look.enlarged
        enlarging.show_look(payload.picture, payload.x, payload.y, payload.scale)


class LookWatcher(QObject):
    """Tells the session how its window looks, where that is otherwise than it knows: one event at a
    time, at most ten a second. How far something is moved is told once it rests.

    It asks rather than listens, so that nothing on the way of a dial to its picture knows of it.
    shown: what is on top of the window; None while something covers it.
    """

    def __init__(self, window: QWidget, runner: Runner, shown: Callable[[], Shown | None]) -> None:
        super().__init__(window)
        self._window, self._runner, self._shown = window, runner, shown
        self._before: Look | None = None
        self._timer = timers.repeated(self, self.look, INTERVAL_MS)

    def start(self) -> None:
        self._timer.start()

    def stop(self) -> None:
        self._timer.stop()

    def look(self) -> None:
        """Look once. Where reaction times are measured, only the window's size is of interest."""
        runner, shown = self._runner, self._shown()
        part, known = runner.part, runner.state.look
        if part is None or runner.stalled or not runner.state.running:
            return
        if shown is None or part.timed:
            look = replace(known, window=window_of(self._window))
        else:
            look = look_of(self._window, shown)
        before, self._before = self._before, look
        if look == known:
            return
        places = (look.scrolled, look.enlarged)
        moves = before is None or (before.scrolled, before.enlarged) != places
        # Another page or size is told of at once.
        same = replace(look, scrolled=known.scrolled, enlarged=known.enlarged) == known
        if same and moves and look.enlarged.picture == known.enlarged.picture:
            return
        runner.send(ShowLook(look))


USUAL = QSize(1366, 768)
"""The size of a window that is nowhere to be seen."""


class WindowPicture:
    """A participant's window that is only read.

    Attributes
    ----------
    session : what it shows, see `SessionView.only_read`.
    window : the window itself, which is on no display.
    looks_left : so many more times it is worth drawing though nothing changes: what has just come
        up may still take its place.
    """

    def __init__(self, session: SessionView) -> None:
        self.session = session
        self.screen: Screen | None = None
        """The screen of the part that runs."""
        self._index = -1
        self._settled: QWidget | None = None
        self.looks_left = 0
        palette = session.palette
        self.window = QWidget()
        self.window.setProperty("role", "ground")
        self.window.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.window.setStyleSheet(theme.stylesheet(palette))
        self.top, self.bottom = TopBar(palette), BottomBar(palette)
        self.cover = screen.Cover()
        self.stack = QStackedWidget()
        self.body = Body(self.stack)
        self.stack.addWidget(self.cover)
        made = fill(column(self.window, 0), self.top, (self.body, 1), self.bottom)
        # It is as large as the participant's window, whatever its layout asks for.
        made.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        self.window.resize(USUAL)
        ReadOnly(self.window)
        # Laid out like a window that is shown, on no display, and drawn only on demand.
        self.window.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
        self.window.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.window.show()

    def follow(self) -> None:
        """Bring it in step with the session."""
        session, look = self.session, self.session.look
        cover = session.cover()
        if look.window is not None:
            self.window.setProperty(GROWN, look.window.grown)
            size = QSize(look.window.width, look.window.height)
            if size != self.window.size():
                self.window.resize(size)
                self._settle()
        if session.part is not None and session.ready and session.index != self._index:
            self._replace()
        screen = self.screen
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
        self.screen = make_screen(self.session)
        self._index = self.session.index
        clear(self.stack, self.cover)
        self.stack.addWidget(self.screen)

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
        self.window.hide()
        self.window.deleteLater()
