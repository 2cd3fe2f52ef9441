"""Screens: numbered cards, where the windows are put, and what happens when one is unplugged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol, runtime_checkable

from PySide6.QtCore import QObject, QSize, Qt
from PySide6.QtGui import QGuiApplication, QScreen
from PySide6.QtWidgets import QVBoxLayout, QWidget

from labapp.base.errors import JournalError
from labapp.record.events import Payload
from labapp.record.events.lifecycle import ScreenChanged
from labapp.ui import theme, timers
from labapp.ui.growing import grow, shrink
from labapp.ui.moderator import bits
from labapp.ui.moderator.checklist import ScreenChoice
from labapp.ui.qtapp import the_app

CARD_SIZE = QSize(420, 320)
CARD_SECONDS = 4.0


def choices(screens: Sequence[QScreen]) -> list[ScreenChoice]:
    """The screens as the home lists them, numbered from 1 in the system's order."""
    out = []
    for number, screen in enumerate(screens, start=1):
        size, ratio = screen.size(), screen.devicePixelRatio()
        width, height = round(size.width() * ratio), round(size.height() * ratio)
        out.append(ScreenChoice(number, name_of(screen), width, height, ratio))
    return out


def name_of(screen: QScreen) -> str:
    """A name that tells screens apart: the connector's, with the model where it is known."""
    model = screen.model().strip()
    return f"{screen.name()} ({model})" if model else screen.name()


def preferred(screens: Sequence[QScreen], primary: QScreen | None) -> str | None:
    """The participant's screen, unless somebody chooses: one that is not the primary, if any."""
    others = [screen for screen in screens if screen is not primary]
    chosen = others[0] if others else (screens[0] if screens else None)
    return None if chosen is None else name_of(chosen)


@runtime_checkable
class FillsScreen(Protocol):
    """A window that knows how to take all of a screen."""

    def fill(self, screen: QScreen) -> None: ...


class NumberCards(QObject):
    """A big number on each screen for a few seconds."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.cards: list[QWidget] = []
        self._timer = timers.once(self, self.hide)

    def show(self, screens: Sequence[QScreen], seconds: float = CARD_SECONDS) -> None:
        """Show the cards, anew if they are on the screens already."""
        self.hide()
        for choice, screen in zip(choices(screens), screens, strict=True):
            card = _card(choice)
            card.setScreen(screen)
            where = screen.availableGeometry()
            card.move(where.center() - card.rect().center())
            card.show()
            self.cards.append(card)
        self._timer.start(round(seconds * 1000))

    def hide(self) -> None:
        """Take them away."""
        self._timer.stop()
        for card in self.cards:
            card.close()
            card.deleteLater()
        self.cards = []


def _card(choice: ScreenChoice) -> QWidget:
    flags = (
        Qt.WindowType.FramelessWindowHint
        | Qt.WindowType.WindowStaysOnTopHint
        | Qt.WindowType.Tool
        | Qt.WindowType.WindowDoesNotAcceptFocus
    )
    window = QWidget(None, flags)
    window.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
    window.setProperty("role", "ground")
    window.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    window.setStyleSheet(bits.stylesheet(theme.DARK))
    window.setFixedSize(CARD_SIZE)
    number = bits.label(str(choice.number), "card-number")
    name = bits.label(f"{choice.name}\n{choice.width} × {choice.height}", "secondary")
    for label in (number, name):
        label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    layout = QVBoxLayout(window)
    layout.setContentsMargins(*[theme.SPACE_XL] * 4)
    bits.fill(layout, number, name)
    return window


def to_top(window: QWidget) -> None:
    """Raise a window above the others."""
    # Offscreen there is no stack of windows, and Qt says so on standard error.
    if QGuiApplication.platformName() != "offscreen":
        window.raise_()


def to_front(window: QWidget) -> None:
    """Raise a window and ask for the keyboard for it."""
    to_top(window)
    window.activateWindow()


class ScreenWatcher(QObject):
    """Puts the two windows on screens and keeps them on ones that are there.

    emit : takes the ScreenChanged events (Runner.emit), which the console's alarms are made of.
    source : has signals and list of the screens; the application by default.
    """

    def __init__(
        self,
        emit: Callable[[Payload], None],
        source: Any = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._emit = emit
        self._source: Any = source or the_app()
        self._participant: QWidget | None = None
        self._console: QWidget | None = None
        self._fullscreen = True
        self._on: dict[QWidget, QScreen] = {}
        self._detached = False
        self._source.screenRemoved.connect(self._removed)
        self._source.screenAdded.connect(self._added)

    def attach(
        self,
        participant: QWidget,
        console: QWidget | None,
        screen: str | None = None,
        *,
        fullscreen: bool = True,
    ) -> None:
        """Show both windows: the participant's on the screen of this name (full-screen), without
        a name on one that is not the primary; the console on another one, or behind it where there
        is no other."""
        self._participant, self._console, self._fullscreen = participant, console, fullscreen
        self._place(self._screens(), screen)

    def detach(self) -> None:
        """Watch no more; the windows stay where they are."""
        if not self._detached:
            self._source.screenRemoved.disconnect(self._removed)
            self._source.screenAdded.disconnect(self._added)
        if self._fullscreen:
            shrink()
        self._detached = True
        self._participant = self._console = None
        self._on.clear()

    def screen_of(self, window: QWidget) -> QScreen | None:
        """The screen a window was put on."""
        return self._on.get(window)

    @property
    def alone(self) -> bool:
        """Whether both windows share a screen."""
        return len({id(screen) for screen in self._on.values()}) < len(self._on)

    @property
    def where(self) -> str:
        """On which screens the windows are, in a sentence for the terminal."""
        mine = self._on.get(self._participant) if self._participant else None
        other = self._on.get(self._console) if self._console else None
        if mine is None or other is None:
            return "No screen is there."
        if self.alone:
            return f"Screen {name_of(mine)}: participant; the console is behind it (Ctrl+Shift+M)."
        return f"Screens: participant on {name_of(mine)}, console on {name_of(other)}."

    def _screens(self) -> list[QScreen]:
        return list(self._source.screens())

    def _place(self, screens: Sequence[QScreen], name: str | None) -> None:
        if self._participant is None or not screens:
            return
        mine = next((s for s in screens if name in (s.name(), name_of(s))), None)
        if mine is None:
            mine = self._on.get(self._participant)
        if mine is None or mine not in screens:
            wanted = preferred(screens, QGuiApplication.primaryScreen())
            mine = next(s for s in screens if name_of(s) == wanted)
        if self._fullscreen and isinstance(self._participant, FillsScreen):
            shrink(mine)
            grow(mine)  # before a console is put on the same one
        if self._console is not None:
            other = self._on.get(self._console)
            if other not in screens or other is mine:
                other = next((s for s in screens if s is not mine), mine)
            assert other is not None
            if self._on.get(self._console) is not other:
                self._put(self._console, other, fullscreen=False)
        if self._on.get(self._participant) is not mine:
            self._put(self._participant, mine, fullscreen=self._fullscreen)
        if self.alone:
            to_front(self._participant)

    def _put(self, window: QWidget, screen: QScreen, *, fullscreen: bool) -> None:
        self._on[window] = screen
        where = screen.availableGeometry()
        window.setWindowState(Qt.WindowState.WindowNoState)
        window.setScreen(screen)
        if fullscreen:
            if isinstance(window, FillsScreen):
                window.fill(screen)
            else:
                window.setGeometry(screen.geometry())
                window.showFullScreen()
            return
        window.resize(window.size().boundedTo(where.size()))
        window.move(where.center() - window.rect().center())
        if window is self._console and not self.alone:
            window.showMaximized()
        else:
            window.show()

    def _removed(self, screen: QScreen) -> None:
        left = [other for other in self._screens() if other is not screen]
        hit = [window for window, on in self._on.items() if on is screen]
        self._tell(ScreenChanged("removed", name_of(screen), len(left)))
        for window in hit:
            del self._on[window]
        self._place(left, None)

    def _added(self, screen: QScreen) -> None:
        screens = self._screens()
        self._tell(ScreenChanged("added", name_of(screen), len(screens)))
        if self._participant not in self._on:
            self._place(screens, None)  # there was no screen at all
        elif self._console is not None and self.alone:
            # Only the console moves: the participant is not disturbed a second time.
            del self._on[self._console]
            self._place(screens, None)

    def _tell(self, payload: ScreenChanged) -> None:
        # Of a session that is being closed, a screen that goes with it is no event.
        with suppress(JournalError):
            self._emit(payload)
