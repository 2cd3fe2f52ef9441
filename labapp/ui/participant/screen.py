"""What every screen of the participant's window is given and gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget
from shiboken6 import isValid

from labapp.events.commands import Command
from labapp.plugins.part import PlannedPart
from labapp.ui import theme
from labapp.ui.participant.view import SessionView
from labapp.ui.widgets.bars import Foot, Head
from labapp.ui.widgets.heard import announce

Wish = Literal["", "content", "right"]


class DialControl(NamedTuple):
    """What a dial is moved with: a widget, and where its handle stands at a value, in the widget's
    logical pixels."""

    widget: QWidget
    handle_x: Callable[[float], float]


class Shown(QWidget):
    """What lies between the bars of the participant's window.

    What it shows besides the session's state stands here, and is recorded by what looks at the
    window (`labapp.ui.participant.looks`).
    """

    reminded: bool = False
    """Whether what is missing is marked, since the participant wanted to go on without it."""
    key_places: tuple[type[QWidget], ...] = ()
    """The kinds of widgets on it in which keys work that the page announces."""
    key_place: QWidget | None = None
    """Which of these had the focus last; the window keeps it."""

    def announces(self, event: QKeyEvent) -> bool:
        """Whether the page says of a key that it works, wherever the focus is. `key_place` gets it
        then."""
        return False

    def take_key(self, event: QKeyEvent) -> bool:
        """Take a key of the page that nothing on it took where the focus is, such as a button;
        False for any other key. Not asked while the focus is in a text field, whose keys are its
        own."""
        if self.announces(event) and self.give_key(event, self.key_place):
            return True
        inner = (shown for shown in self.findChildren(Shown) if shown.isVisible())
        return any(shown.take_key(event) for shown in inner)

    @staticmethod
    def give_key(event: QKeyEvent, place: QWidget | None) -> bool:
        """Let something on the page have the focus and a key that came to it elsewhere; False
        where it does not take the key."""
        if place is None or not (isValid(place) and place.isVisible() and place.isEnabled()):
            return False
        place.setFocus(Qt.FocusReason.OtherFocusReason)
        event.accept()
        place.keyPressEvent(event)
        return event.isAccepted()

    @property
    def page_shown(self) -> int:
        """Which of its own pages is seen, from 0; 0 where the state says all of it."""
        return 0

    def turn_to(self, page: int) -> None:
        """Show one of its own pages; called where it is only read."""

    def render_state(self) -> None:
        """Bring it in step with the state; called on every change, so it must be quick."""


class Opened(Shown):
    """What a screen has opened over itself, such as a description. It covers the screen, which
    stays as it is, and closes by the right button and by Escape."""

    what: str = ""
    """What of it is shown; where that changes, its entrance takes the focus."""
    close_words: str = ""
    """What the button says that closes it."""

    def entrance(self) -> QWidget | None:
        """What takes the focus when it comes up; None: the right button."""
        return None


class Screen(Shown):
    """One part of the plan: it draws what its view of the session says and asks for what the hand
    wants, nothing else.

    altered: head or foot changed by itself (something was typed). wish: where the focus should go
    after the next rendering; the window fulfils it once.
    """

    altered = Signal()

    def __init__(self, session: SessionView, part: PlannedPart) -> None:
        super().__init__()
        self.session = session
        self.planned = part
        self.wish: Wish = "content"
        self._width = theme.CONTENT_WIDTH

    def column(self, width: int = theme.CONTENT_WIDTH) -> QVBoxLayout:
        """The screen's content column of at most `width`, centred."""
        self._width = width
        made = QVBoxLayout(self)
        made.setSpacing(0)
        return made

    def set_column_width(self, width: int) -> None:
        """Make the column narrower or wider."""
        self._width = width
        layout = self.layout()
        if layout is not None:
            side = max(theme.SPACE_XL, (self.width() - width) // 2)
            layout.setContentsMargins(side, theme.SPACE_XL, side, theme.SPACE_XL)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.set_column_width(self._width)
        super().resizeEvent(event)

    @property
    def state(self) -> Any:
        """The state of this part."""
        return self.session.part_state

    def send(self, command: Command) -> None:
        """Ask the session for something, while this part is the one that runs.

        A screen that is taken down loses the focus, and what a field gives then must not be taken
        for an answer to the part that comes next.
        """
        if self.session.part is self.planned:
            self.session.send(command)

    def pending_commands(self) -> Sequence[Command]:
        """What the hand did and did not send yet, such as a text that is still being written."""
        return ()

    def head(self) -> Head:
        return Head()

    def foot(self) -> Foot:
        return Foot()

    def left(self) -> None:
        """The left button was pressed."""

    def right(self) -> None:
        """The right button was pressed."""

    def help(self) -> None:
        """The button on top was pressed that `head().help` names."""

    def opened(self) -> Opened | None:
        """What the state says is opened over the screen; None for nothing."""
        return None

    def close_opened(self) -> None:
        """The hand closes what is opened."""

    def tell(self, text: str) -> None:
        """Have a screen reader say something that the focus does not come to."""
        if not self.session.read_only:
            announce(self, text)

    def left_alone(self, away: bool) -> None:
        """The participant asks to leave or another window is in front, or is back; called after
        every change, also where nothing is new."""

    def dial_controls(self) -> Mapping[int, DialControl]:
        """What dials are moved with, by the number of the dial, from 0, as `Payload.moved_dial` of
        the task's events numbers them: a replay draws the movements of the last seconds there."""
        return {}

    def turn(self) -> Sequence[QWidget]:
        """What Tab visits in this order although it stands otherwise: the task is done so."""
        return ()

    def entrance(self) -> QWidget | None:
        """What takes the focus when the screen comes up; None: the right button."""
        return None


def stage_words(session: SessionView, part: PlannedPart) -> str:
    """The top bar's words for the stage that a part is, asks about or leads to; else empty."""
    parts = session.parts
    if (about := part.belongs_to()) is not None:
        stage = next((other for other in parts if other.id == about), None)
    elif part.introduces:
        after = parts.index(part) + 1
        stage = parts[after] if after < len(parts) else None
    else:
        stage = part
    place = None if stage is None else stage.stage_place()
    if stage is None or place is None:
        return ""
    if not stage.measures:
        return session.words("practice")
    number, of = place
    return session.words("stage_of", number=number, of=of)
