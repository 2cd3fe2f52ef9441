"""What every screen of the participant's window is given and gives.

A screen lies between the bars of a window: it is as large as there is room for, and scrolls if that
is less than it needs. Also what is said beside or over a screen, inline and never modal; what
screens share whose questions are handed in, and may then be told right or wrong; which screen a
part of the plan has; and a screen whose text has pages to turn.

Tab moves in reading order, regardless of the order in which widgets were created. The order is that
of the layouts, so that a field that is put into a row later, such as the editor of a dial's name,
has its place in that row. A screen can name what comes in another turn, since its task is done in
it. The way on comes behind the content, and what leaves a question, such as Skip, behind everything
else. What gets the focus is scrolled into view; what comes up begins at its top.

Keeps every hand from a screen that is only read: a mirror, a recorded session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import PurePosixPath
from time import monotonic
from types import FunctionType
from typing import Any, ClassVar, Literal, NamedTuple, cast

from PySide6.QtCore import QChildEvent, QCoreApplication, QEvent, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QGridLayout,
    QLabel,
    QLayout,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from labapp.base import discovery
from labapp.record.audio.player import Player
from labapp.record.events.commands import Back, Command, HandIn, Next, PlayTextSound
from labapp.record.events.look import ROOMY, SCALED
from labapp.record.events.trials import SoundAction, SoundState
from labapp.study.plugins import registry
from labapp.study.plugins.part import PlannedPart, TrialsPart
from labapp.ui import theme
from labapp.ui.participant.view import SessionView
from labapp.ui.widgets import controls
from labapp.ui.widgets.controls import Button, Measured, PlainLabel, announce
from labapp.ui.widgets.dial import Foot, Head
from labapp.ui.widgets.markdown import MarkdownView, picture_width, text_width
from labapp.ui.widgets.painting import restyle
from labapp.ui.widgets.row_view import RIGHT_MARK, WRONG_MARK
from labapp.ui.widgets.sound_bar import WIDEST_VIDEO, MakePlayer, SoundBar, Sounding


class DialControl(NamedTuple):
    """What a dial is moved with: a widget, and where its handle stands at a value, in the widget's
    logical pixels."""

    widget: QWidget
    handle_x: Callable[[float], float]


class Shown(QWidget):
    """What lies between the bars of the participant's window.

    What it shows besides the session's state stands here, and is recorded by what looks at the
    window (`labapp.ui.participant.window`).
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
        if it does not take the key."""
        if place is None or not (isValid(place) and place.isVisible() and place.isEnabled()):
            return False
        place.setFocus(Qt.FocusReason.OtherFocusReason)
        event.accept()
        place.keyPressEvent(event)
        return event.isAccepted()

    @property
    def page_shown(self) -> int:
        """Which of its own pages is seen, from 0; 0 if the state says all of it."""
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
        self._state: Any = None
        self._leading: dict[str, SoundBar] = {}
        self.wish: Literal["", "content", "right"] = "content"
        self._width = theme.CONTENT_WIDTH

    def column(self, width: int = theme.CONTENT_WIDTH) -> QVBoxLayout:
        """The screen's content column of at most `width`, centred."""
        self._width = width
        made = QVBoxLayout(self)
        made.setSpacing(0)
        return made

    def set_column_width(self, width: int) -> None:
        self._width = width
        layout = self.layout()
        if layout is not None:
            side = max(theme.SPACE_XL, (self.width() - width) // 2)
            layout.setContentsMargins(side, theme.SPACE_XL, side, theme.SPACE_XL)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.set_column_width(self._width)
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Give what is shown the room that the screen has now."""

    @property
    def state(self) -> Any:
        """The state of this part: the last one where another part runs by now, for a screen that
        will be taken down can still be laid out again."""
        part = self.session.part
        if self._state is None or part is self.planned or part == self.planned:
            self._state = self.session.part_state
        return self._state

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
        """The button at the top that shows `head().help` was pressed."""

    def opened(self) -> Opened | None:
        """What the state says is opened over the screen; None for nothing."""
        return None

    def close_opened(self) -> None:
        """The hand closes what is opened."""

    make_player: MakePlayer = staticmethod(Player)

    def text_view(self) -> MarkdownView:
        """A text of the study, with its pictures and sounds."""
        view = MarkdownView(self.session.study_picture, self.sound_of_text)
        view.left.connect(self._focus_content, Qt.ConnectionType.QueuedConnection)
        InView(view)
        return view

    def _focus_content(self) -> None:
        self.wish = "content"
        self.altered.emit()

    def sound_of_text(self, name: str, alt: str, width: int | None = None) -> SoundBar | None:
        """What plays a sound or video of a text; None for what is neither. width: of a video."""
        sound, session = self.session.study_sound(name), self.session
        if sound is None:
            return None

        def look() -> Sounding:
            state, machine = session.source.state, session.source.machine
            now, pauses = state.sounds.get(name, SoundState()), session.pauses
            held = pauses.leaving if self.planned.rests else pauses.held
            return Sounding.of(now, machine.hearing_ns(state, session.clock.now_ns()), held)

        def ask(action: SoundAction, audible: bool) -> None:
            if action == "play" and bar is not None:
                self._leading[name] = bar
            self.send(PlayTextSound(name, action, sound.seconds, audible))

        spoken = alt or PurePosixPath(name).stem
        bar = self.make_sound_bar(name, spoken, look, ask, width=width, most=picture_width())
        if bar is not None:  # a text may show a sound twice: it is heard once
            bar.leads = lambda: self._leading.setdefault(name, bar) is bar
        return bar

    def make_sound_bar(
        self,
        file: str,
        name: str,
        look: Callable[[], Sounding],
        ask: Callable[[SoundAction, bool], None],
        caption: str = "",
        width: int | None = None,
        most: int = WIDEST_VIDEO,
    ) -> SoundBar | None:
        """What plays a sound or video; on a screen that is only read it shows where it is. None for
        what is neither. width, most: of a video, see `SoundBar`."""
        session = self.session
        if (sound := session.study_sound(file)) is None:
            return None
        player = None if session.read_only else self.make_player
        bar = SoundBar(sound, name, session.words, look, player, caption, width, most)
        bar.asked.connect(ask)
        return bar

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


LOOKS = 4
"""So often layouts are looked at until all of them know their room."""
MOST_CHANGES, CALM_S = 8, 0.2
"""A screen that asks for more whenever it gets more is given no more than so often."""


class Body(QScrollArea):
    """inside: what scrolls; of a stack, what is on top counts. takes_key: asked before a key
    scrolls, which would take every arrow key from a page that announces it.

    A screen fits its pictures into the room that it gets. So it is first given the room that there
    is, and more only where it still asks for more.
    """

    def __init__(self, inside: QWidget) -> None:
        super().__init__()
        self.takes_key: Callable[[QKeyEvent], bool] = lambda event: False
        self._beginning = False
        self._room = QSize()
        self._since, self._changes = 0.0, 0
        self._inside = inside
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(inside)
        for widget in (inside, self.viewport()):
            widget.setAutoFillBackground(False)
        inside.installEventFilter(self)
        if isinstance(inside, QStackedWidget):
            inside.currentChanged.connect(self._begin)
        InView(self)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, 0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.takes_key(event):
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # Bars that come or go change the viewport, too.
        if self.maximumViewportSize() != self._room:
            self._begin()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._inside and event.type() == QEvent.Type.LayoutRequest:
            self._settle()
        return super().eventFilter(watched, event)

    @property
    def _top(self) -> QWidget | None:
        inside = self._inside
        return inside.currentWidget() if isinstance(inside, QStackedWidget) else inside

    def _begin(self) -> None:
        """Give what is on top the room that there is, and once its pictures have taken what others
        leave them, more where it needs more."""
        if self._beginning:
            return
        self._beginning = True
        try:
            room = self._room = self.maximumViewportSize()
            self._changes = 0
            # Where it scrolls down all the same, the bar takes some of its width.
            for bar in (0, self.verticalScrollBar().sizeHint().width()):
                self._inside.resize(room.width() - bar, room.height())
                for _ in range(LOOKS):
                    QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
                if least(self._top, room.width()).height() <= room.height():
                    break
        finally:
            self._beginning = False
        self._settle()

    def _settle(self) -> None:
        """What is on top needs more than it did, or less: it keeps the pictures that it has."""
        if self._beginning:
            return
        room = self.maximumViewportSize()
        needed = least(self._top, room.width())
        if needed.height() > room.height():
            room.setWidth(room.width() - self.verticalScrollBar().sizeHint().width())
        if needed.width() > room.width():
            room.setHeight(room.height() - self.horizontalScrollBar().sizeHint().height())
        size, now = room.expandedTo(needed), monotonic()
        if now - self._since > CALM_S:
            self._since, self._changes = now, 0
        if size != self._inside.size() and self._changes < MOST_CHANGES:
            self._changes += 1
            self._inside.resize(size)


class PageStack(QStackedWidget):
    """Pages of a screen. It asks for the room of the page that is seen: one that was seen before
    keeps the size of its pictures, for which there may be no room any more."""

    def __init__(self) -> None:
        super().__init__()
        self.currentChanged.connect(self.updateGeometry)

    def minimumSizeHint(self) -> QSize:
        page = self.currentWidget()
        return QSize() if page is None else page.minimumSizeHint()


def least(widget: QWidget | None, width: int) -> QSize:
    """The least size that a widget's layout asks for, at a width if it can have that."""
    if widget is None or (layout := widget.layout()) is None:
        return QSize()
    layout.activate()
    size = widget.minimumSizeHint()
    pages = widget.findChild(QStackedWidget)
    if pages is not None:
        # Qt says what the highest page would like, not what the one that is seen needs.
        more = least(pages.currentWidget(), width).height() - pages.minimumSizeHint().height()
        size.setHeight(size.height() + max(0, more))
    elif layout.hasHeightForWidth() and not isinstance(type(widget).minimumSizeHint, FunctionType):
        # A page that says itself how little it can do with does not ask for the pictures it has.
        high = layout.minimumHeightForWidth(max(width, size.width()))
        size.setHeight(max(size.height(), high))
    return size


class QuestionCard(QFrame):
    """A gentle question in a card: stay, or go (where `go` is given). Hidden until asked."""

    stayed = Signal()
    went = Signal()

    def __init__(self, title: str, text: str, *, stay: str, go: str = "") -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.setAccessibleName(title)
        heading = controls.make_label(title, "title")
        label = controls.make_label(text, wrap=True)
        self.stay = Button(stay, "primary", pressed=self.stayed)
        buttons = controls.fill(controls.row(None, theme.SPACE_M), self.stay)
        if go:
            self.go = Button(go, pressed=self.went)
            buttons.addWidget(self.go)
        buttons.addStretch(1)
        card = controls.column(self, theme.SPACE_M, theme.SPACE_L)
        controls.fill(card, heading, label, buttons)
        self.hide()

    def ask(self) -> None:
        self.show()
        self.raise_()
        self.stay.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.stayed.emit()
        else:
            super().keyPressEvent(event)


class Cover(QWidget):
    """A calm page over the session: a pause, a wait, the end. Nothing of the task shows.

    back: takes back what the page stands for, where that is possible.
    """

    def __init__(self, pictures: Callable[[str], bytes | None]) -> None:
        super().__init__()
        self.back = Button()
        self.back.hide()
        self._title, self._text = PlainLabel(), PlainLabel()
        self.more = MarkdownView(pictures)
        self.more.setFixedWidth(text_width())
        self.more.hide()
        self._title.setProperty("role", "title")
        self._text.setWordWrap(True)
        for label in (self._title, self._text):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._text.setFixedWidth(text_width() * 3 // 4)
        column = QVBoxLayout(self)
        column.setSpacing(theme.SPACE_M)
        column.addStretch(2)
        column.addWidget(self._title)
        column.addWidget(self._text, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self.back, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self.more, 100, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)

    def say(self, title: str, text: str, more: str = "", back: str = "") -> None:
        """more: a text below, as Markdown; back: the words of the button, none for no button."""
        self.more.setVisible(bool(more))
        if more:
            self.more.show_text(more)
        if back:
            self.back.setText(back)
        self.back.setVisible(bool(back))
        if self._title.text() != title or self._text.text() != text:
            self._title.setText(title)
            self._text.setText(text)
            # Aligned labels are not asked how high their wrapped text is.
            self._text.setFixedHeight(self._text.heightForWidth(self._text.width()))
            self.setAccessibleName(f"{title}. {text}")
            announce(self, self.accessibleName())


class QuestionScreen(Screen):
    """One stage of questions, which come and go in it without anything being made anew.

    Its questions have `number`, `attempt`, `right` (None before they are handed in) and `missing`,
    the names of what is still to be given. A task lays out its widgets, gives `feedback` a place,
    and begins `render_state` with `follow_question`.
    """

    missing_words: ClassVar[Mapping[str, str]]
    """By name of what can be missing the key of its words."""

    def __init__(self, session: SessionView, part: TrialsPart, *, tells: bool = True) -> None:
        super().__init__(session, part)
        self.tells = tells
        """Whether the participant is told if an answer was right."""
        self.feedback = controls.make_label(wrap=True)
        Measured(self.feedback, self._fit_feedback)
        self._trials: int = part.trials
        self._chosen = part.chooses
        self._stage = stage_words(session, part)
        self._question: tuple[int, int] | None = None
        self._heard = False

    @property
    def question(self) -> Any:
        """The question on the screen; None before the first."""
        return getattr(self.state, "trial", None)

    @property
    def told(self) -> bool:
        """Whether it is said on the screen if the answer was right."""
        question = self.question
        return self.tells and question is not None and question.right is not None

    def field(self, name: str) -> QWidget:
        """What takes the focus where something is missing."""
        raise NotImplementedError

    def follow_question(self) -> None:
        """Begin anew where another question came."""
        question = self.question
        key = (question.number, question.attempt)
        if key != self._question:
            self._question = key
            self.reminded = self._heard = False
            self.wish = "content"

    def _fit_feedback(self) -> None:
        """Room for two lines from the start: nothing shifts when feedback appears."""
        self.feedback.setFixedHeight(2 * self.feedback.fontMetrics().lineSpacing())

    def show_feedback(self, answer: str) -> None:
        """Say whether the answer was right, once it is told. answer: the right one, in words."""
        if not self.told:
            say(self.feedback, "")
            return
        right = self.question.right
        text = self.session.words("feedback_right" if right else "feedback_wrong", answer=answer)
        mark = RIGHT_MARK if right else WRONG_MARK
        say(self.feedback, f"{mark} {text}", "good" if right else "alarm")
        if not self._heard:
            self._heard = True
            self.tell(self.feedback.text())
            self.wish = "right"

    def head(self) -> Head:
        question, of, words = self.question, self._trials, self.session.words
        number = question.number if question else 1
        if self._chosen:  # nobody knows how many there will be
            return Head(self._stage, words("question_number", number=number))
        return Head(self._stage, words("question_of", number=number, of=of), number, of)

    def foot(self) -> Foot:
        words, question = self.session.words, self.question
        hand_in = words("hand_in" if self.tells else "hand_in_untold")
        if question is None or question.right is not None:
            if not self.tells:
                return Foot(right=hand_in, enabled=False)
            return Foot(right=words("next_question"), enabled=question is not None)
        missing = ", ".join(words(self.missing_words[name]) for name in question.missing)
        return Foot(
            right=hand_in,
            ready=not missing,
            note=words("answer_missing", items=missing) if missing else "",
            warn=bool(missing) and self.reminded,
        )

    def right(self) -> None:
        question = self.question
        if question is None:
            return
        if question.right is not None:
            self.send(Next())
        elif not question.missing:
            self.send(HandIn())
        else:
            self.reminded = True
            self.render_state()
            self.altered.emit()
            self.field(question.missing[0]).setFocus(Qt.FocusReason.OtherFocusReason)


def say(label: QLabel, text: str, tone: str = "") -> None:
    """Words and tone, where they are others than before."""
    if label.text() != text:
        label.setText(text)
    restyle(label, "tone", tone)


ABOVE = 45
"""Percent of the free height of a page that lies above its content."""


def make_screen(session: SessionView) -> Screen:
    """The screen of the part that runs, for which everything is ready."""
    part = session.part
    assert part is not None, "a screen is made of a part that runs"
    screen = screen_class(registry.task_type_of(part).screen(part))(session, part)
    if session.layout >= SCALED:
        centre(screen, roomy=session.layout >= ROOMY)
    if session.read_only:
        ReadOnly(screen)
    return screen


def centre(screen: QWidget, *, roomy: bool = True) -> None:
    """Let content stand a little above the middle, where it stood in the upper third. roomy: what
    takes the height that it needs still gets it before the room above and below."""
    for column in screen.findChildren(QVBoxLayout):
        last = column.count() - 1
        ends = [column.itemAt(place) for place in (0, last)] if last > 0 else []
        spacers = [end is not None and end.spacerItem() is not None for end in ends]
        free = bool(ends) and all(spacers)
        if free and (column.stretch(0), column.stretch(last)) == (1, 2):
            for place in range(1, last if roomy else 0):
                column.setStretch(place, column.stretch(place) * 100 // 3)
            column.setStretch(0, ABOVE)
            column.setStretch(last, 100 - ABOVE)


def bring(stack: QStackedWidget, widget: QWidget) -> None:
    """Bring a widget to the top of a stack."""
    if stack.indexOf(widget) < 0:
        stack.addWidget(widget)
    stack.setCurrentWidget(widget)


def clear(stack: QStackedWidget, remaining: QWidget) -> None:
    """Let everything in a stack go but one widget: a screen, and what it opened over itself."""
    for widget in [stack.widget(place) for place in range(stack.count())]:
        if widget is not None and widget is not remaining:
            stack.removeWidget(widget)
            widget.hide()
            widget.deleteLater()


@cache
def screen_class(where: str) -> type[Screen]:
    """The class of a screen by `module:Class`. Raises TypeError if that is no screen."""
    screen = discovery.load(where)
    if not (isinstance(screen, type) and issubclass(screen, Screen)):
        raise TypeError(f"{where} is no screen of the participant's window")
    return screen


class PagedScreen(Screen):
    """A screen whose text has pages to turn.

    pages: their Markdown; stage: words of the top bar; last_words: key of the words of the button
    that leaves the last page.
    """

    def __init__(
        self,
        session: SessionView,
        part: PlannedPart,
        pages: Sequence[str],
        *,
        stage: str = "",
        last_words: str = "continue",
    ) -> None:
        super().__init__(session, part)
        self._pages = pages
        self._stage = stage
        self._last_words = last_words
        self._page = -1
        self.text = self.text_view()

    def render_state(self) -> None:
        if self.state.page == self._page:
            return
        self._page = self.state.page
        self.text.show_text(self._pages[self._page])
        self.page_turned()
        self.wish = "content"

    def page_turned(self) -> None:
        """Another page's text is shown."""

    @property
    def on_last_page(self) -> bool:
        return self._page + 1 == len(self._pages)

    def head(self) -> Head:
        of = len(self._pages)
        if of == 1:
            return Head(self._stage)
        number = self._page + 1
        return Head(self._stage, self.session.words("page_of", number=number, of=of), number, of)

    def foot(self) -> Foot:
        words = self.session.words
        return Foot(
            left=words("back") if self._page > 0 else "",
            right=words(self._last_words if self.on_last_page else "continue"),
        )

    def left(self) -> None:
        self.send(Back())

    def right(self) -> None:
        self.send(Next())


LAST = 1_000_000
"""The row of what is in no layout."""


def stops(root: QWidget, current: QWidget | None = None) -> Iterator[QWidget]:
    """What Tab stops at within a widget, in reading order; and what has the focus, `current`,
    though Tab would not stop there."""
    if not root.isVisible() or not root.isEnabled():
        return
    if root is current or (
        root.focusPolicy() & Qt.FocusPolicy.TabFocus and root.focusProxy() is None
    ):
        yield root
    layouts = root.findChildren(QLayout, options=Qt.FindChildOption.FindDirectChildrenOnly)
    layouts = [inner for layout in layouts for inner in (layout, *layout.findChildren(QLayout))]
    children = [
        child for child in root.children() if isinstance(child, QWidget) and not child.isWindow()
    ]
    children.sort(key=lambda child: (_place(child, layouts), child.y(), child.x()))
    for child in children:
        yield from stops(child, current)


def _place(widget: QWidget, layouts: Iterable[QLayout]) -> tuple[tuple[int, int], ...]:
    """Row and column in each layout, from the outermost to the one that holds a widget; behind all
    others where none does.

    The items of layouts are not looked at: Python's objects of them outlive them (PySide), and are
    then taken for whatever comes to lie at their place.
    """
    for layout in layouts:
        if (index := layout.indexOf(widget)) >= 0:
            path = [_cell(layout, index)]
            while isinstance(outer := layout.parent(), QLayout):
                path.insert(0, _cell(outer, outer.indexOf(layout)))
                layout = outer
            return tuple(path)
    return ((LAST, 0),)


def _cell(layout: QLayout, index: int) -> tuple[int, int]:
    if isinstance(layout, QGridLayout):
        row, column, *_ = cast("tuple[int, int, int, int]", layout.getItemPosition(index))
        return row, column
    return index, 0


def in_turn(order: Sequence[QWidget], turn: Sequence[QWidget]) -> list[QWidget]:
    """The order in which some follow one another as a task wants it, wherever they stand; they come
    where the first of them does. A choice stands for the option that Tab comes to."""
    wanted = (widget.focusProxy() or widget for widget in turn)
    chain = [widget for widget in wanted if widget in order]
    first = min((order.index(widget) for widget in chain), default=0)
    others = [widget for widget in order if widget not in chain]
    at = sum(widget not in chain for widget in order[:first])
    return [*others[:at], *chain, *others[at:]]


def after(order: Sequence[QWidget], current: QWidget | None, *, forward: bool) -> QWidget | None:
    """The stop that follows, or comes before; round at the ends. None if there is none."""
    others = [widget for widget in order if widget is not current]
    if not others:
        return None
    if current not in order:
        return others[0 if forward else -1]
    place = order.index(current) + (1 if forward else -1)
    return order[place % len(order)]


class InView(QObject):
    """Scrolls an area to whatever in it gets the focus, by whichever way: Qt does so only for Tab
    from one widget of it to the next."""

    def __init__(self, area: QScrollArea | MarkdownView) -> None:
        super().__init__(area)
        self._area = area
        self._still: QWidget | None = None
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._follow)

    def begin(self, focused: QWidget) -> None:
        """What is to be looked at begins at its top, whatever of it has the focus: nothing follows
        that widget before another one has had the focus."""
        self._still = focused
        for bar in (self._area.verticalScrollBar(), self._area.horizontalScrollBar()):
            bar.setValue(0)

    def _follow(self, before: QWidget | None, now: QWidget | None) -> None:
        if now is self._still:
            return
        self._still = None if now is not None else self._still
        # Nothing moves under the mouse while a button of it is down.
        if QApplication.mouseButtons() or now is None or not self._area.isAncestorOf(now):
            return
        # What has just come up has its place only when the layout was looked at.
        QTimer.singleShot(0, self, lambda: self._show(now))

    def _show(self, widget: QWidget) -> None:
        if isValid(widget) and widget.hasFocus() and widget is not self._still:
            self._area.ensureWidgetVisible(widget)


_KIND = QEvent.Type
INPUT = frozenset(
    {
        *(_KIND.MouseButtonPress, _KIND.MouseButtonRelease, _KIND.MouseButtonDblClick),
        *(_KIND.MouseMove, _KIND.Wheel, _KIND.ContextMenu, _KIND.ToolTip, _KIND.WhatsThis),
        *(_KIND.Enter, _KIND.Leave, _KIND.HoverEnter, _KIND.HoverMove, _KIND.HoverLeave),
        *(_KIND.KeyPress, _KIND.KeyRelease, _KIND.Shortcut, _KIND.ShortcutOverride),
        *(_KIND.InputMethod, _KIND.InputMethodQuery, _KIND.RequestSoftwareInputPanel),
        *(_KIND.TouchBegin, _KIND.TouchUpdate, _KIND.TouchEnd, _KIND.TouchCancel),
        *(_KIND.TabletPress, _KIND.TabletMove, _KIND.TabletRelease),
        *(_KIND.Gesture, _KIND.GestureOverride, _KIND.NativeGesture),
        *(_KIND.DragEnter, _KIND.DragMove, _KIND.DragLeave, _KIND.Drop),
    }
)
"""What a hand does, whichever device it uses, and what is only shown where a hand is."""


class ReadOnly(QObject):
    """Takes all input away from a widget and all in it, also from what comes later, and gives the
    focus back that any of it gets. Nothing looks otherwise, as it would if it were switched off."""

    def __init__(self, root: QWidget) -> None:
        super().__init__(root)
        for widget in (root, *root.findChildren(QWidget)):
            self._take(widget)

    def _take(self, widget: QWidget) -> None:
        widget.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        # Installed twice, it would be asked twice.
        widget.removeEventFilter(self)
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind in INPUT:
            return True
        if kind == _KIND.FocusIn and isinstance(watched, QWidget):
            watched.clearFocus()
            return True
        if kind == _KIND.ChildPolished and isinstance(event, QChildEvent):
            # Not when it is added: it may be half made then.
            child = event.child()
            if isinstance(child, QWidget):
                for widget in (child, *child.findChildren(QWidget)):
                    self._take(widget)
        return False
