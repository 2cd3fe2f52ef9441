"""Reads what a window shows besides the session's state, and shows it again in another window.

What is scrolled and enlarged is found among the widgets that are seen, in the order they were made:
it is the same in every window that shows the same screen. `labapp.events.look` says what is not
recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QAbstractScrollArea, QScrollArea, QScrollBar, QWidget

from labapp.events.commands import ShowLook
from labapp.events.look import LAYOUT, NOTHING, Look, ScreenEnlarged, WindowShown
from labapp.session.runner import Runner
from labapp.ui.growing import grown_of
from labapp.ui.participant.screen import Shown
from labapp.ui.widgets.enlarger import Enlarger
from labapp.ui.widgets.markdown import MarkdownView
from labapp.ui.widgets.zoom_view import ZoomView

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
        self._timer = QTimer(self)
        self._timer.setInterval(INTERVAL_MS)
        self._timer.timeout.connect(self.look)

    def start(self) -> None:
        """Begin to look."""
        self._timer.start()

    def stop(self) -> None:
        """Look no more."""
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
        if replace(look, scrolled=known.scrolled, enlarged=known.enlarged) != known:
            pass  # another page or size is told of at once
        elif moves and look.enlarged.picture == known.enlarged.picture:
            return
        runner.send(ShowLook(look))
