"""One keyboard, two people: it is the participant's, and the console borrows it to write and while
it asks something.

A key goes to one person, the one whose window says so, and is never passed on from one window to
the other. The console gets the keyboard when the moderator begins to write (a click into a field,
Ctrl+N) and gives it back at Enter, at Escape and when nothing was typed for a while. It also gets
it with every question that it asks (`ConsoleWindow.asking`), and gives it back when the question is
closed. A click on anything else of the console moves no key. Every change is an event, from which
the analysis knows the trials that it fell into (`labapp.analysis.rows.trials_away`).

On a single screen F9 pauses while the participant's window is in front. That window stays in front
and says that the session is paused. No key does anything in it until the pause is over, or the
console comes to the front with the question why.

That a window takes no keyboard by itself while the other person has it is asked of the window
system (`WindowDoesNotAcceptFocus`). Not every one obeys (Wayland has no such wish): what the
console got unasked is given back at once. Nor does every one move the keyboard when asked: then
both windows say that a click into the participant's window does it.

Screens: numbered cards, where the windows are put, and what happens when one is unplugged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QKeyEvent, QMouseEvent, QScreen, QWindow
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QTextEdit, QVBoxLayout, QWidget

from labapp.base.errors import JournalError
from labapp.record.events import Payload
from labapp.record.events.lifecycle import KeyboardGiven, ScreenChanged
from labapp.ui import theme, timers
from labapp.ui.fitting import grow, shrink
from labapp.ui.moderator import bits
from labapp.ui.moderator.checklist import ScreenChoice
from labapp.ui.qtapp import the_app

if TYPE_CHECKING:
    from labapp.ui.moderator.console import ConsoleWindow
    from labapp.ui.participant.window import ParticipantWindow


IDLE_MS = 20_000
"""After so long without a key the participant gets the keyboard back."""
QUESTION_MS = 60_000
"""A question that nobody answers or touches for so long is closed, unless the participant waits
anyway, as in a pause."""
REFUSED_MS = 700
"""A window system that has not moved the keyboard by then does not do it."""
FIRST_MS = 3_000
"""The same while the windows are coming up."""
HELD_MS = 3_000
"""A key that neither repeats nor is let go for so long is taken for let go: another window may have
got its release."""
PURPOSE = "purpose"
"""Property of a text field: what is typed there, see
`labapp.record.events.lifecycle.KeyboardGiven`."""

QUESTION = "question"
"""The purpose of the keyboard while a question is open and nothing is typed for it."""
FIELD_ENDS = ("enter", "escape", "left")
"""Why the keyboard is given back when a field is left."""
FIELDS = (QLineEdit, QPlainTextEdit, QTextEdit)
Holder = Literal["participant", "moderator", ""]
Where = Literal[
    "participant", "waiting", "writing", "asking", "front", "console", "refused", "elsewhere"
]


@dataclass(frozen=True, slots=True)
class Standing:
    """where: the participant has the keyboard; waiting, will have it once all keys are up; writing,
    the moderator writes; asking, the moderator is asked something; front, the console is in front
    on the only screen; console, it got there unasked; refused, the window system does not move it;
    elsewhere, another program has it."""

    where: Where

    @property
    def away(self) -> bool:
        return self.where != "participant"


def is_field(widget: QWidget | None) -> bool:
    """Whether something can be typed there."""
    return isinstance(widget, FIELDS) and widget.isEnabled() and not widget.isReadOnly()


def leave_focus_to_fields(window: QWidget) -> None:
    """Let no click on a part of a window take the keyboard, but for one into a text field."""
    for widget in window.findChildren(QWidget):
        policy = widget.focusPolicy()
        if policy & Qt.FocusPolicy.ClickFocus and not isinstance(widget, FIELDS):
            tab = policy & Qt.FocusPolicy.TabFocus
            widget.setFocusPolicy(Qt.FocusPolicy.TabFocus if tab else Qt.FocusPolicy.NoFocus)


def _key_of(event: QKeyEvent) -> int:
    """The same for press and release of a key, whatever is held with it."""
    return event.nativeScanCode() or event.key()


class Keyboard(QObject):
    """Who of the two has the keyboard; made with both windows, begun once they are on the screen.

    emit : takes the events (Runner.emit).
    alone : whether both windows share a screen.
    """

    def __init__(
        self,
        participant: ParticipantWindow,
        console: ConsoleWindow,
        emit: Callable[[Payload], None],
        alone: Callable[[], bool],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._participant, self._console = participant, console
        self._emit, self._alone = emit, alone
        self._on = self._over = False
        self._written: Holder = "participant"  # what the events say
        self._had: Holder = ""
        self._purpose = ""
        self._asking = False  # a question of the console is open
        self._asked_twice = False  # the window system was asked again for the console
        self._lent = False  # and the participant's window is in front of it, on the only screen
        self._front = False  # the console was brought in front, on the only screen
        self._why = "window"
        self._refused = False
        self._ever = False
        self._field_before: QWidget | None = None
        self._pressed_there: set[int] = set()
        self._typed = ""
        self.keys = KeysHeld()
        self._windows: list[QWindow] = []
        self._idle = timers.once(self, self._look_idle, IDLE_MS)
        self._unanswered = timers.once(self, self._look_unanswered, QUESTION_MS)
        self._asked = timers.once(self, self._look_refused, REFUSED_MS)
        self._first = timers.once(self, self._look_refused, FIRST_MS)
        self._held = timers.once(self, self._let_go, HELD_MS)
        self._soon = timers.once(self, self._look_at_field)
        participant.moderator_requested.connect(self.toggle_front)
        console.toggle_requested.connect(self.toggle_front)
        console.write_requested.connect(self.write)
        console.asking_changed.connect(self._follow_question)

    # --- beginning and end ------------------------------------------------------------------------

    def prepare(self) -> None:
        """Let the console come up without the keyboard; call before it is shown."""
        self._console.setWindowFlag(Qt.WindowType.WindowDoesNotAcceptFocus, on=True)

    def begin(self, *, behind: bool = False) -> None:
        """Give the participant the keyboard and watch from here on.

        behind: the only screen still shows the console, which stays in front until it is put back.
        """
        if self._on:
            return
        self._on = True
        # Where the end was taken back, nothing of what was before it holds any more.
        self._had = self._purpose = ""
        self._front = self._refused = self._asking = self._lent = False
        self.keys.forget()
        self._watch_windows()
        self._console.field_left.connect(self._look_soon_whether_left)
        self._console.keyboard_back.connect(self._back_by_button)
        the_app().focusWindowChanged.connect(self._moved)
        if behind:
            self._front = True
            self._give("moderator", "console")
            self._ask_for(self._console)
        else:
            self._ask_for(self._participant)
        self._moved()

    def end(self) -> None:
        """The console is a window like any other."""
        if not self._on:
            return
        self._on = False
        self._asking = self._lent = False
        for timer in self.findChildren(QTimer):
            timer.stop()
        the_app().focusWindowChanged.disconnect(self._moved)
        self._console.field_left.disconnect(self._look_soon_whether_left)
        self._console.keyboard_back.disconnect(self._back_by_button)
        for window in self._windows:
            window.removeEventFilter(self)
        self._windows.clear()
        self._accepts(console=True, participant=True)
        self._show_standing(Standing("participant"))

    def follow(self, *, finished: bool) -> None:
        """End with the session, and begin again where its end is taken back."""
        if finished and self._on:
            self._over = True
            self.end()
            if not self._alone():
                # The participant needs no key any more, and the moderator takes notes.
                self._console.activateWindow()
                self._participant.show_keyboard(away=True, refused=False)
        elif self._over and not finished:
            self._over = False
            # The moderator has just taken the end back there, and says next when it goes on.
            self.begin(behind=self._alone() and self._console.isActiveWindow())

    def _watch_windows(self) -> None:
        for widget in (self._participant, self._console):
            window = widget.windowHandle()
            if window not in self._windows:
                window.installEventFilter(self)
                self._windows.append(window)

    # --- what the moderator does ------------------------------------------------------------------

    def write(self) -> None:
        """Ctrl+N: something is begun in the field that is in front, from whichever window."""
        if self._over:
            # Notes are taken after the end too, and the participant needs no key any more.
            to_front(self._console)
        else:
            self._take(self._console.note_field)

    def _take(self, field: QWidget) -> None:
        if self._on:
            self._restart_idle()
            self._borrow(str(field.property(PURPOSE) or "text"))

    def _borrow(self, purpose: str) -> None:
        self._purpose, self._lent = purpose, False
        if not self._console.isActiveWindow():
            # From here on: on its way a key can get lost between the windows.
            self._give("moderator", purpose)
            self._ask_for(self._console)
        else:
            self._show_standing()

    def _follow_question(self) -> None:
        """The console asks something, or has its answer: the keyboard goes along."""
        asking = self._console.asking is not None
        before, self._asking = self._asking, asking and self._on
        if not self._asking:
            if before:
                self.give_back("answered")
            return
        self._unanswered.start()
        if not (self._console.isActiveWindow() and is_field(self._console.focusWidget())):
            self._console.leave_field()
        waits = self._alone() and self._had == "participant" and self._participant.covered
        if not before and waits:
            # Both see there that the session is paused; why is said when the console is in front.
            self._lent, self._purpose = True, QUESTION
            self._give("moderator", QUESTION)
            self._show_standing()
        elif not self._lent and (not before or not self._purpose):
            self._borrow(QUESTION)

    def _look_unanswered(self) -> None:
        if self._participant.covered:
            self._unanswered.start()
        else:
            self.give_back("idle")

    def toggle_front(self) -> None:
        """Ctrl+Shift+M. On the only screen: the console in front, with the keyboard, and back. On
        two the console is only raised."""
        if not self._alone():
            to_top(self._console)
            return
        in_front = self._console.isActiveWindow()
        if not self._on:
            to_front(self._participant if in_front else self._console)
        elif in_front:
            self.give_back("console")
        else:
            self._front, self._lent = True, False
            self._give("moderator", "console")
            self._ask_for(self._console)

    def _back_by_button(self) -> None:
        self.give_back("button")

    def give_back(self, why: str) -> None:
        """The participant gets the keyboard back."""
        if not self._on:
            return
        if self._asking and why in FIELD_ENDS:
            # A field was left; the question that is open still has the keyboard.
            self._purpose = QUESTION
            self._console.leave_field()
            return
        self._asking = False
        self._console.leave_question()
        self._purpose = ""
        self._idle.stop()
        self._unanswered.stop()
        self._console.leave_field()
        if self._lent:
            self._lent, self._why = False, why
            self.keys.hand_over()
            self._count_soon()
            return
        if self._front and why not in ("console", "button"):
            # The console was brought in front to be looked at: only the field is left.
            self._show_standing()
            return
        self._front, self._why = False, why
        self._ask_for(self._participant)

    # --- the window system ------------------------------------------------------------------------

    def _ask_for(self, window: QWidget) -> None:
        """Ask for the keyboard for a window, and see later whether it came."""
        to_console = window is self._console
        self._asked_twice = False
        self._accepts(console=to_console, participant=not to_console)
        if self._alone():
            to_top(window)
        (self._asked if self._ever else self._first).start()
        window.activateWindow()
        self._show_standing()

    def _accepts(self, *, console: bool, participant: bool) -> None:
        """Whether a click into a window may bring it the keyboard."""
        for widget, accepts in ((self._console, console), (self._participant, participant)):
            widget.windowHandle().setFlag(Qt.WindowType.WindowDoesNotAcceptFocus, not accepts)

    def _moved(self) -> None:
        if not self._on:
            return
        self._watch_windows()
        has: Holder = "moderator" if self._console.isActiveWindow() else ""
        if self._participant.isActiveWindow():
            has = "participant"
        before, self._had = self._had, has
        self._ever |= bool(has)
        if has == "moderator" and before != has:
            if self._purpose or self._front:
                self._asked.stop()  # it came
            self._pressed_there.clear()
            self._give("moderator", self._purpose or ("console" if self._front else "window"))
            if not self._purpose and not self._front:
                self._why = "window"
                QTimer.singleShot(0, self, self._give_back_unasked)
        elif has == "participant" and before != has:
            self._first.stop()
            self._refused = False
            # An earlier wish of ours may come true only now that the console is asked for.
            overtaken = bool(self._purpose) and self._asked.isActive()
            if not (self._lent or overtaken):
                self._take_from_moderator()
        elif not has:
            self.keys.forget()
        self._show_standing()

    def _take_from_moderator(self) -> None:
        """The participant's window has got the keyboard, whether it was asked to or not."""
        self._purpose, self._front = "", False
        self._idle.stop()
        self._unanswered.stop()
        self._accepts(console=False, participant=True)
        if self._asking:
            # A window system that gives the keyboard to whatever is clicked.
            self._asking = False
            self._console.leave_question()
        if self._written != "participant":
            self.keys.hand_over()
        self._count_soon()

    def _count_soon(self) -> None:
        if self.keys.waiting:
            self._held.start()
            self._show_standing()
        else:
            self._counts_again()

    def _give_back_unasked(self) -> None:
        if self._on and self._had == "moderator" and not (self._purpose or self._front):
            self.give_back("window")

    def _counts_again(self) -> None:
        self._held.stop()
        self._give("participant", self._why)
        self._why = "window"
        self._show_standing()

    def _let_go(self) -> None:
        self.keys.forget()
        if self._had == "participant":
            self._counts_again()

    def _look_refused(self) -> None:
        wanted = self._console if self._purpose or self._front else self._participant
        if not self._on or wanted.isActiveWindow():
            return
        if wanted is self._participant:
            # Another program that came in front in the meantime is no refusal.
            self._refused = self._had == "moderator" or not self._ever
            if self._refused:
                self._give("moderator", "refused")
        elif self._asking and not self._asked_twice:
            # Two wishes shortly after each other can overtake one another.
            self._asked_twice = True
            self._console.activateWindow()
            self._asked.start()
        else:
            # The moderator clicks into the field; until then nothing is written.
            self._purpose, self._front = "", False
            self._idle.stop()
            self._accepts(console=True, participant=True)
            if self._had == "participant":
                self._give("participant", "window")
        self._show_standing()

    def _give(self, to: Holder, why: str) -> None:
        if to != self._written:
            self._written = to
            with suppress(JournalError):  # the session is being closed
                self._emit(KeyboardGiven(to, why))

    # --- keys and clicks --------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        on_console = watched is self._console.windowHandle()
        if kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            assert isinstance(event, QKeyEvent)
            counts = self._key(event)
            if on_console:
                return self._track_console_key(event)
            if not counts or self._written == "moderator":
                return True  # on its way to the console, or held back
        elif on_console and kind == QEvent.Type.MouseButtonPress:
            assert isinstance(event, QMouseEvent)
            if self._asking:
                self._unanswered.start()
            self._field_before = self._console.focusWidget()
            if is_field(self._console.childAt(event.position().toPoint())):
                self._field_before = None
            self._soon.start()
        elif on_console and kind == QEvent.Type.MouseButtonRelease:
            self._soon.start()
        return super().eventFilter(watched, event)

    def _key(self, event: QKeyEvent) -> bool:
        waited = self.keys.waiting
        key = _key_of(event)
        press = event.type() == QEvent.Type.KeyPress
        counts = self.keys.take(key, "press" if press else "release", repeated=event.isAutoRepeat())
        if waited and self._had == "participant":
            if self.keys.waiting:
                self._held.start()
            else:
                self._counts_again()
        return counts

    def _track_console_key(self, event: QKeyEvent) -> bool:
        """Look at a key that the console gets; True for one that is no key of the moderator: it is
        held since before and repeats."""
        key = _key_of(event)
        if event.isAutoRepeat() and key not in self._pressed_there:
            return True
        if event.type() != QEvent.Type.KeyPress:
            return False
        self._pressed_there.add(key)
        if not self._purpose:
            return False
        if self._asking:
            self._unanswered.start()
        if self._purpose == QUESTION:
            return False
        self._restart_idle()
        plain = event.modifiers() in (
            Qt.KeyboardModifier.NoModifier,
            Qt.KeyboardModifier.KeypadModifier,
        )
        if plain and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            QTimer.singleShot(0, self, lambda: self._end_field("enter"))
        elif event.key() == Qt.Key.Key_Escape:
            QTimer.singleShot(0, self, lambda: self._end_field("escape"))
        elif event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
            QTimer.singleShot(0, self, self._look_whether_left)
        return False

    def _end_field(self, why: str) -> None:
        if self._purpose:  # the same key may have answered a question
            self.give_back(why)

    def _look_soon_whether_left(self) -> None:
        # A key that ended the field says so first, by `_typed_there`.
        QTimer.singleShot(0, self, self._look_whether_left)

    def _look_whether_left(self) -> None:
        if self._purpose not in ("", QUESTION) and not is_field(self._console.focusWidget()):
            self.give_back("left")

    def _look_at_field(self) -> None:
        """After a click: has the moderator begun to write?"""
        field = self._console.focusWidget()
        if is_field(field) and field is not self._field_before:
            self._field_before = field
            self._take(field)

    def _restart_idle(self) -> None:
        # Once the key that is looked at has arrived.
        QTimer.singleShot(0, self, self._remember)
        self._idle.start()

    def _remember(self) -> None:
        self._typed = self._text()

    def _text(self) -> str:
        """What stands in the field: an input method composes without keys that a window sees."""
        field = self._console.focusWidget()
        if not is_field(field):
            return ""
        around = field.inputMethodQuery(Qt.InputMethodQuery.ImSurroundingText)
        cursor = field.inputMethodQuery(Qt.InputMethodQuery.ImCursorPosition)
        return f"{around} {cursor}"

    def _look_idle(self) -> None:
        if self._text() != self._typed:
            self._restart_idle()
        elif self._asking:
            self.give_back("left")
        elif self._purpose:
            self.give_back("idle")

    # --- what both windows say --------------------------------------------------------------------

    @property
    def standing(self) -> Standing:
        """Where the keyboard is now."""
        if self._lent:
            return Standing("asking")
        if self._had == "participant":
            return Standing("waiting" if self.keys.waiting else "participant")
        if self._refused:
            return Standing("refused")
        if self._had == "moderator":
            if self._purpose:
                return Standing("asking" if self._purpose == QUESTION else "writing")
            return Standing("front" if self._front else "console")
        return Standing("elsewhere")

    def _show_standing(self, standing: Standing | None = None) -> None:
        standing = standing or self.standing
        self._participant.show_keyboard(away=standing.away, refused=standing.where == "refused")
        self._console.show_keyboard(standing.where)


class KeysHeld:
    """A fold over key events of both windows; keys are named by their scan codes.

    After `hand_over` nothing counts until every key was let go: what is down then is the tail of
    what somebody else typed. The window system can swallow a release, when another program comes in
    between; so a key that goes down anew was up, and `forget` is for when nothing came for long.
    """

    def __init__(self) -> None:
        self._down: set[int] = set()
        self.waiting = False  # for keys to be let go

    def hand_over(self) -> None:
        """The keyboard goes to somebody else now."""
        self.waiting = bool(self._down)

    def forget(self) -> None:
        """Take all keys for let go."""
        self._down.clear()
        self.waiting = False

    def take(self, key: int, kind: Literal["press", "release"], *, repeated: bool) -> bool:
        """Take in an event; True if it counts. repeated: the keyboard's own repetition of a key
        that is held."""
        waited = self.waiting
        if not repeated:
            self._down.discard(key)
            self.waiting = waited and bool(self._down)
        if kind == "release":
            return not waited
        self._down.add(key)
        return not self.waiting


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


def choose_screen(screens: Sequence[QScreen], primary: QScreen | None) -> str | None:
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
        self, emit: Callable[[Payload], None], source: Any = None, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._emit = emit
        self._source: Any = source or the_app()
        self._participant: QWidget | None = None
        self._console: QWidget | None = None
        self._fullscreen = True
        self._on: dict[QWidget, QScreen] = {}
        self._detached = False
        self._source.screenRemoved.connect(self._on_screen_removed)
        self._source.screenAdded.connect(self._on_screen_added)

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
            self._source.screenRemoved.disconnect(self._on_screen_removed)
            self._source.screenAdded.disconnect(self._on_screen_added)
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
            wanted = choose_screen(screens, QGuiApplication.primaryScreen())
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

    def _on_screen_removed(self, screen: QScreen) -> None:
        left = [other for other in self._screens() if other is not screen]
        hit = [window for window, on in self._on.items() if on is screen]
        self._tell(ScreenChanged("removed", name_of(screen), len(left)))
        for window in hit:
            del self._on[window]
        self._place(left, None)

    def _on_screen_added(self, screen: QScreen) -> None:
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
