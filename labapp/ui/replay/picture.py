"""The participant's screen at any time of a recorded session.

It is the participant's own window over the state that the session had, only read. What is not
recorded, and so not seen, `labapp.events.look` lists. Over it lie, where they are asked for, the
movements of the dials in the last seconds.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, QSize, Qt, QTimer
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent, QPen, QPixmap, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from labapp.clock import NS, Clock, FakeClock
from labapp.errors import LabappError
from labapp.events.look import WindowShown
from labapp.events.voice import SoundNow
from labapp.replay.history import History
from labapp.session.machine import SessionMachine, SessionState
from labapp.session.pictures import PictureRenderer
from labapp.ui import theme
from labapp.ui.images import Images
from labapp.ui.language import tr, translate_message
from labapp.ui.participant.picture import USUAL, WindowPicture
from labapp.ui.participant.view import Cover, SessionView
from labapp.ui.strings import strings_of

TRAIL_NS = 5 * NS
"""How long a movement of a dial stays to be seen."""
SOON_MS = 30
"""Until it is looked again whether a network is there."""
AHEAD_MS = 15
"""Between two blocks of events that are folded before they are asked for, 10 ms each."""
TRAIL_BELOW = 15.0
"""Logical pixels from the middle of a dial to its trail."""


class PastSession:
    """A recorded session as it was at a time that can be moved: a source of views.

    Attributes
    ----------
    t_ns : int
        Session time.
    machine, state, clock, pictures, ready, stalled, sound
        See `labapp.ui.participant.view.Source`.
    error : Exception or None
        Why the pictures of the part cannot be shown.
    """

    machine: SessionMachine
    state: SessionState
    clock: Clock
    sound: SoundNow

    def __init__(self, history: History, size: QSize | None = None) -> None:
        assert history.machine is not None, "whoever shows a session looks at `problem` first"
        self.history = history
        self.machine = history.machine
        self._size = size
        self.go_to(history.begin_ns)

    def go_to(self, t_ns: int) -> None:
        """Be as the session was at a session time."""
        history = self.history
        self.t_ns = t_ns
        self.state = history.state_at(t_ns)
        if self._size is not None:
            self.state = replace(self.state, look=self._resized())
        self.clock = FakeClock(t_ns)
        self.stalled = history.stalled_at(t_ns)
        self.sound = history.sound_at(t_ns)
        self.error: Exception | None = None
        # Made anew: what pictures come to depends on the state alone, not on how it was reached.
        self._renderer = PictureRenderer(
            history.decoders, frozenset(), lambda function: function(), lambda command: None
        )
        try:
            self._renderer.sync(self.machine.part(self.state), self.state)
        except Exception as error:  # noqa: BLE001 (a model that is another one by now)
            self.error = error

    def _resized(self) -> Any:
        """What the window showed, in a window of the size that is asked for."""
        assert self._size is not None
        look = self.state.look
        width, height = self._size.width(), self._size.height()
        window = look.window or WindowShown(width, height, 1.0, "", width, height)
        return replace(look, window=replace(window, width=width, height=height, grown=1.0))

    @property
    def pictures(self) -> Any:
        return self._renderer.pictures

    @property
    def ready(self) -> bool:
        return self._renderer.ready


class PastWindow:
    """The participant's window at a time of a recorded session.

    Parameters
    ----------
    history : of the session; its `machine` is there.
    size : of the window in logical pixels, whatever it was in the session; None for what it was.
    withholds : whether answers that can tell who somebody is are not shown.
    """

    def __init__(
        self, history: History, size: QSize | None = None, *, withholds: bool = False
    ) -> None:
        assert history.loaded is not None, "whoever shows a session looks at `problem` first"
        self.history = history
        self._past = PastSession(history, size)
        view = SessionView(
            self._past,
            history.loaded,
            strings_of(history.loaded, begun=True),
            theme.LIGHT,
            history.loaded.study.presentation,
            None if history.gallery is None else Images(history.gallery),
            withholds=withholds,
        )
        self.picture = WindowPicture(view)
        if size is not None:
            self.picture.window.resize(size)
        self._shown_ns: int | None = None
        self.problem = ""

    @property
    def session(self) -> SessionView:
        """What is shown."""
        return self.picture.session

    def show_time(self, t_ns: int) -> None:
        """Show a session time; where that cannot be, the window says why, see `problem`."""
        self._past.go_to(t_ns)
        if self._shown_ns is not None and t_ns < self._shown_ns:
            self.picture.renew()
        self._shown_ns = t_ns
        self.problem = ""
        try:
            if self._past.error is not None:
                raise self._past.error
            self.picture.follow_at_once()
        except LabappError as error:
            self._give_up(translate_message(error.what))
        except Exception as error:  # noqa: BLE001 (the same, or a task's screen with a fault)
            why = f"{type(error).__name__}: {error}"
            self._give_up(tr("The model, the task or the record does not fit: {why}", why=why))

    def _give_up(self, why: str) -> None:
        """Say in the place of the screen why it cannot be shown."""
        self.problem = why
        self.picture.renew()
        self.picture.show_cover(Cover(tr("This screen cannot be shown"), why))

    def draw(self, room: QSize, ratio: float, *, trails: bool = False) -> QPixmap:
        """The window in a room of so many logical pixels, on a display of so many pixels each.

        trails: with the movements of the dials in the last seconds.
        """
        while True:
            pixmap = self.picture.draw(room, ratio)
            if not self.picture.looks_left:
                break
            # What is drawn first may find out what room it needs.
            self.picture.lay_out()
        if trails:
            self._draw_trails(pixmap, ratio)
        return pixmap

    def _draw_trails(self, pixmap: QPixmap, ratio: float) -> None:
        """Beneath each dial where it has been, the paler the longer ago."""
        screen = self.picture.screen
        if screen is None or self.picture.stack.currentWidget() is not screen:
            return
        controls = screen.dial_controls()
        window, now_ns = self.picture.window, self._past.t_ns
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        scale = pixmap.width() / ratio / window.width()
        painter.scale(scale, scale)
        for dimension, stops in self.history.trails(now_ns - TRAIL_NS, now_ns).items():
            control = controls.get(dimension)
            if control is None or not control.widget.isVisibleTo(window):
                continue
            middle = control.widget.mapTo(window, QPoint(0, control.widget.height() // 2))
            for (_, before), (t_ns, after) in pairwise(stops):
                colour = QColor(self.session.palette.accent)
                colour.setAlphaF(0.15 + 0.75 * max(0.0, 1 - (now_ns - t_ns) / TRAIL_NS))
                painter.setPen(QPen(colour, 3.0))
                y = middle.y() + TRAIL_BELOW
                begin, end = (control.handle_x(value) for value in (before, after))
                painter.drawLine(QPointF(middle.x() + begin, y), QPointF(middle.x() + end, y))
        painter.end()

    def close(self) -> None:
        """Let the window go."""
        self.picture.close()


class ReplayPicture(QWidget):
    """The participant's screen at a time, as large as there is room for.

    Parameters
    ----------
    history : of the session.
    withholds : see `PastWindow`.
    """

    def __init__(self, history: History, *, withholds: bool = False) -> None:
        super().__init__()
        self._history, self._withholds = history, withholds
        self._past: PastWindow | None = None
        self._pixmap: QPixmap | None = None
        self._t_ns = history.begin_ns
        self.trails = True
        self.hidden_because = ""
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(SOON_MS)
        self._soon.timeout.connect(self._draw)
        self._begun = False
        self._ahead = QTimer(self)
        self._ahead.setInterval(AHEAD_MS)
        self._ahead.timeout.connect(self._fold_ahead)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(160, 90)
        self.setAccessibleName(tr("The participant’s screen"))

    def begin(self) -> None:
        """Load networks and fold ahead: once the window is there, which needs the processor for
        itself until then. Nor is a screen drawn before that takes long."""
        self._begun = True
        self._history.decoders.begin()
        self._ahead.start()
        self._draw()

    def _fold_ahead(self) -> None:
        try:
            more = self._history.fold_ahead()
        except Exception:  # noqa: BLE001 (told where that time is shown)
            more = False
        if not more:
            self._ahead.stop()

    @property
    def problem(self) -> str:
        """Why the screen at this time cannot be shown; empty where it can."""
        if self._history.machine is None:
            return self._history.problem
        return "" if self._past is None else self._past.problem

    def show_time(self, t_ns: int) -> None:
        """Show a session time."""
        self._t_ns = t_ns
        self._draw()

    def hide_screen(self, why: str) -> None:
        """Show nothing of the screen but why not, as to raters who are not to see it."""
        self.hidden_because = why
        self._draw()

    def _draw(self) -> None:
        if not self.isVisible():
            return
        if not self._begun and self._history.is_far(self._t_ns):
            return
        if self._awaits_model():
            self._soon.start()
            self.update()
            return
        self._pixmap = None
        if self._history.machine is not None and not self.hidden_because:
            if self._past is None:
                self._past = PastWindow(self._history, withholds=self._withholds)
            self._past.show_time(self._t_ns)
            ratio = self.devicePixelRatioF()
            self._pixmap = self._past.draw(self.size(), ratio, trails=self.trails)
        self.update()

    def _awaits_model(self) -> bool:
        """Whether what is shown needs a network that is still being loaded."""
        machine = self._history.machine
        if machine is None or self.hidden_because:
            return False
        part = machine.part(self._history.state_at(self._t_ns))
        return part is not None and self._history.decoders.awaited(part.models())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._draw()

    def showEvent(self, event: Any) -> None:
        super().showEvent(event)
        self._draw()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self._pixmap is None:
            loading = tr("Loading the models …") if self._history.decoders else ""
            problem = translate_message(self._history.problem)
            why = self.hidden_because or problem or loading
            painter.drawText(
                self.rect(), Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, why
            )
        else:
            wide = self._pixmap.deviceIndependentSize().width()
            painter.drawPixmap(QPointF(round((self.width() - wide) / 2), 0), self._pixmap)
        painter.end()

    def close_picture(self) -> None:
        """Let the window in the picture go."""
        self._soon.stop()
        self._ahead.stop()
        if self._past is not None:
            self._past.close()
            self._past = None


def still(
    history: History,
    t_ns: int,
    size: QSize = USUAL,
    *,
    trails: bool = False,
    withholds: bool = False,
) -> QImage:
    """The participant's screen at a session time, the same picture every time.

    Parameters
    ----------
    history : of the session.
    t_ns : session time.
    size : of the window in logical pixels, which are those of the picture.
    trails : with the movements of the dials in the last seconds.
    withholds : see `PastWindow`.

    Raises
    ------
    RecordError : no screen of the session can be shown.
    LabappError
        The one at that time cannot be shown, for example since its model is not installed.
    """
    history.state_at(t_ns)  # raises, before there is a window
    past = PastWindow(history, size, withholds=withholds)
    try:
        past.show_time(t_ns)
        if past.problem:
            raise LabappError(
                past.problem,
                safe="No picture was written.",
                todo="`labapp replay` shows the rest of the session.",
            )
        return past.draw(size, 1.0, trails=trails).toImage()
    finally:
        past.close()
        # Nobody goes back to the event loop between two pictures.
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
