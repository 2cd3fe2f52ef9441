"""The participant's window: one screen a part of the plan, between two bars.

It draws the session's state and sends commands. It closes only when the controller says so:
a participant who leaves it is asked gently, and an event informs the moderator.

Movements of the dials are sent to the session as at most one command for each dial and painted
frame. The first movement goes at once. What follows before its frame is painted is merged per dial,
and goes when it is; the last value of every dial always arrives.

Reads what a window shows besides the session's state, and shows it again in another window.

What is scrolled and enlarged is found among the widgets that are seen, in the order they were made:
it is the same in every window that shows the same screen. `labapp.record.events.look` says what is
not recorded.

The participant's window as a picture, of any size: what a mirror shows.

The window in the picture is on no display. So nothing in it can have the keyboard or the mouse, and
nothing of it is drawn before somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QSize, Qt, QUrl, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDesktopServices,
    QHideEvent,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPixmap,
    QResizeEvent,
    QScreen,
    QShortcut,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QApplication,
    QLayout,
    QLineEdit,
    QPlainTextEdit,
    QScrollArea,
    QScrollBar,
    QStackedWidget,
    QWidget,
)
from shiboken6 import isValid

from labapp.record.events.commands import AskToLeave, Command, ShowLook, StayHere, TakeBackSkip
from labapp.record.events.lifecycle import WindowFocus
from labapp.record.events.look import LAYOUT, NOTHING, Look, ScreenEnlarged, WindowShown
from labapp.session.runner import Runner
from labapp.study.loading import LoadedStudy
from labapp.study.schema import Presentation
from labapp.ui import fitting, theme, timers
from labapp.ui.fitting import GROWN, Fitted, get_growth, grow
from labapp.ui.participant import screen
from labapp.ui.participant.screen import (
    LOOKS,
    Body,
    InView,
    Opened,
    ReadOnly,
    Screen,
    Shown,
    after,
    bring,
    clear,
    in_turn,
    make_screen,
    stops,
)
from labapp.ui.participant.view import Bridge, CoverText, OnConsent, ParticipantActions, SessionView
from labapp.ui.strings import Strings
from labapp.ui.widgets import controls
from labapp.ui.widgets.controls import column, fill
from labapp.ui.widgets.dial import BottomBar, Foot, Head, TopBar
from labapp.ui.widgets.markdown import MarkdownView
from labapp.ui.widgets.photo_view import Enlarger, ZoomView
from labapp.ui.widgets.sound_bar import SoundBar
from labapp.ui.widgets.study_picture import preload

WINDOWED = (1366, 768)
MODERATOR_KEYS = "Ctrl+Shift+M"
COUNT_MS = 200


def open_in_browser(link: str) -> bool:
    """Open a link in the browser of this computer; False if it has none."""
    return QDesktopServices.openUrl(QUrl(link, QUrl.ParsingMode.StrictMode))


class ParticipantWindow(Fitted, QWidget):
    """moderator_requested: the moderator's shortcut was pressed in this window.

    on_consent: takes the consent when it is given (OpenSession.give_consent); open_link: opens a
    link in a browser, and says whether one was started.
    """

    moderator_requested = Signal()

    def __init__(
        self,
        bridge: Bridge,
        loaded: LoadedStudy,
        words: Strings,
        presentation: Presentation,
        on_consent: OnConsent,
        open_link: Callable[[str], bool] = open_in_browser,
    ) -> None:
        super().__init__()
        self._bridge = bridge
        self._runner = bridge.runner
        hand = ParticipantActions(bridge.runner.send, on_consent, open_link)
        self.session = SessionView(
            bridge.runner, loaded, words, theme.LIGHT, presentation, bridge.images, hand
        )
        self.screen_shown: Screen | None = None
        """The screen of the present part, also while it is covered."""
        self._shown_part: int | None = None
        self.covered = False
        """Whether a pause, a wait or the end hides the session."""
        self._what_opened = ""
        self._focus_before: QWidget | None = None
        self._focus_under: QWidget | None = None
        self._focus_before_leave: QWidget | None = None
        self._rendering = False
        self._again = False
        self._may_close = False
        self._focused = False
        self._elsewhere = False
        self._without_keys = False
        self.setWindowTitle(loaded.study.title)
        preload(loaded.files, read_only=self.session.read_only)
        self.setProperty("role", "ground")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setStyleSheet(theme.stylesheet(theme.LIGHT))
        self.setMinimumSize(*fitting.PARTICIPANT)
        self.top = TopBar(theme.LIGHT)
        self.bottom = BottomBar(theme.LIGHT)
        self.cover = screen.Cover(self.session.study_picture)
        self.stack = QStackedWidget()
        self.body = Body(self.stack)
        self.body.takes_key = self._page_takes
        self.stack.addWidget(self.cover)
        self.pilot = controls.make_label(role="pilot")
        self.pilot.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.pilot.hide()
        fill(column(self, 0), self.pilot, self.top, (self.body, 1), self.bottom)
        self.leave = screen.QuestionCard(
            words("leave_title"), words("leave_text"), stay=words("leave_stay")
        )
        self.leave.setParent(self)
        self.leave.setFixedWidth(460)
        self.leave.stayed.connect(lambda: self.session.send(StayHere()))
        self.cover.back.clicked.connect(self._take_back)
        self._counting = timers.make_repeating_timer(self, self._count_down, COUNT_MS)
        self.top.help_pressed.connect(self._help)
        self.bottom.left_pressed.connect(self._left)
        self.bottom.right_pressed.connect(self._right)
        shortcut = QShortcut(QKeySequence(MODERATOR_KEYS), self)
        shortcut.activated.connect(self.moderator_requested)
        self.looks = LookWatcher(self, bridge.runner, self._on_top)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._remember_place)
        bridge.changed.connect(self.refresh)
        bridge.runner.ask_before_leaving(self._pending_commands)
        self.refresh()

    def mark_pilot(self) -> None:
        """Say above everything that the session is a trial run."""
        words = self.session.words("pilot")
        self.pilot.setText(words)
        self.pilot.show()
        self.setWindowTitle(f"{words} · {self.windowTitle()}")

    def show_keyboard(self, *, away: bool, refused: bool) -> None:
        """Say quietly that the keyboard is elsewhere. refused: the window system needs a click into
        this window to bring it back."""
        words = self.session.words
        text = words("keyboard_click" if refused else "keyboard_away") if away else ""
        self.top.show_keyboard(text)
        self._without_keys = away
        self._tell_alone()

    def open_on(self, screen: QScreen | None = None, *, windowed: bool = False) -> None:
        """Show the window on a screen, full-screen unless windowed."""
        screen = screen or QApplication.primaryScreen()
        if windowed:
            self.resize(*WINDOWED)
            self.move(screen.availableGeometry().topLeft())
            self.show()
        else:
            self.fill(screen)
        self._fulfil()

    def fill(self, screen: QScreen) -> None:
        """Take all of a screen, and be as large on it as it has room for."""
        self.setProperty(GROWN, grow(screen))
        self.setGeometry(screen.geometry())
        self.showFullScreen()

    def _on_top(self) -> Shown | None:
        """What is seen of the session; None if something covers it."""
        return None if self.covered else self.opened or self.screen_shown

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.looks.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.looks.stop()

    def _pending_commands(self) -> Sequence[Command]:
        screen = self.screen_shown
        if screen is None or self.covered or screen.planned is not self.session.part:
            return ()
        return screen.pending_commands()

    def close_for_good(self) -> None:
        """Close; only the controller calls this, before it closes the runner."""
        try:
            for command in self._pending_commands():
                self.session.send(command)
        finally:
            self._runner.ask_before_leaving(None)
            self._may_close = True
            self.close()

    def refresh(self) -> None:
        """Bring the window in step with the session; what changes meanwhile is rendered after it,
        not inside it. A screen that cannot be shown is covered, and its exception is passed on."""
        if self._rendering:
            self._again = True
            return
        self._rendering = True
        try:
            self._again = True
            while self._again:
                self._again = False
                self._render()
        except Exception:
            words = self.session.words
            self._show_cover(CoverText(words("problem_title"), words("problem_text")))
            raise
        finally:
            self._rendering = False

    def _render(self) -> None:
        session = self.session
        self.top.show_recording(session.recorded, session.sound_words())
        self._follow_focus()
        self._follow_leave()
        cover = session.cover()
        if session.part is not None and session.ready and session.index != self._shown_part:
            self._replace()
            self._shown_part = session.index
        screen = self.screen_shown
        if cover is not None or screen is None:
            self._show_cover(cover or CoverText("", ""))
            return
        screen.render_state()
        opened = screen.opened()
        if opened is not None:
            self._open(opened)
        elif self.covered or self.stack.currentWidget() is not screen:
            self._uncover(screen)
        self._render_bars(screen)
        self._fulfil()
        self._tell_alone()

    def _replace(self) -> None:
        """Build the screen of the part that runs and let the last one go."""
        self._release_focus()
        self.screen_shown = make_screen(self.session)
        self._what_opened = ""
        clear(self.stack, self.cover)
        self.stack.addWidget(self.screen_shown)
        self.screen_shown.altered.connect(self._altered)

    def _take_back(self) -> None:
        self.session.send(TakeBackSkip("trial"))

    def _count_down(self) -> None:
        """Show how many seconds are left to take the skip back."""
        if words := self.session.take_back_words():
            self.cover.back.setText(words)
        else:
            self._counting.stop()

    def _show_cover(self, cover: CoverText) -> None:
        offered = self.session.take_back_words()
        if self.cover.back.hasFocus() and not offered:
            self._release_focus()
        self.cover.say(*cover, back=offered)
        if offered:
            self._counting.start()
        if not self.covered:
            self.covered = True
            self._focus_before = self._release_focus()
            self.stack.setCurrentWidget(self.cover)
            self.bottom.show_foot(Foot())
        if offered:
            if self.screen_shown is not None:
                self.screen_shown.wish = "content"  # the focus never comes back to Skip
            if self.leave.isHidden():
                self._focus(self.cover.back)
        show_head_under_cover(self.top, self.session, self.screen_shown, self._shown_part)

    def _release_focus(self) -> QWidget | None:
        """Take the focus from what is about to be hidden: Qt would hand it on, to some dial."""
        widget = self.focusWidget()
        # An editor that is covered stays open, as it does when another window has the keyboard.
        self._focus(self, Qt.FocusReason.ActiveWindowFocusReason)
        return None if widget is self else widget

    def _rest_focus(self) -> None:
        """Let the focus rest on the window itself, where Enter does nothing. Left nowhere, Qt would
        give it to whatever comes first as soon as the window has the keyboard again."""
        self._focus(self)

    def _focus(
        self, widget: QWidget, reason: Qt.FocusReason = Qt.FocusReason.OtherFocusReason
    ) -> None:
        """Give the focus to something in this window, unless what has it stands beside the window,
        as the list of a preview does."""
        current: QWidget | None = self.window().focusWidget()
        if current is None or current is self or self.isAncestorOf(current):
            widget.setFocus(reason)

    def _return_focus(self, before: QWidget | None) -> bool:
        """Give the focus back to what had it; False if that is gone, or leaves something."""
        if before is None or not isValid(before) or before in self._leaving:
            return False
        if not (before.isVisible() and before.isEnabled()):
            return False
        self._focus(before)
        return True

    @property
    def _leaving(self) -> tuple[QWidget, ...]:
        """What leaves a question, a page or the study: it gets the focus by Tab or the mouse, and
        never by itself."""
        return (self.bottom.left,) if self.bottom.foot.leaves else ()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab, in reading order. Qt asks for the next one also where what had the focus was hidden
        or switched off: then it goes to nobody, and the screen puts it where it wants it."""
        current: QWidget | None = self.focusWidget()
        if current is not None and not (current.isVisible() and current.isEnabled()):
            self._rest_focus()
            return True
        bars = [self.bottom.left, self.bottom.right, self.top]
        bars.sort(key=lambda bar: bar in self._leaving)
        content = list(stops(self.stack, current))
        if self.screen_shown is not None:
            content = in_turn(content, self.screen_shown.turn())
        around = [stop for bar in bars for stop in stops(bar, current)]
        order = [*stops(self.leave, current), *content, *around]
        if (following := after(order, current, forward=forward)) is None:
            return False
        reason = Qt.FocusReason.TabFocusReason
        following.setFocus(reason if forward else Qt.FocusReason.BacktabFocusReason)
        return True

    def _uncover(self, screen: Screen) -> None:
        self.covered = False
        self.stack.setCurrentWidget(screen)
        before = self._focus_under or self._focus_before
        self._focus_under = self._focus_before = None
        if not screen.wish and not self._return_focus(before):
            screen.wish = "content"

    @property
    def opened(self) -> Opened | None:
        """The widget that is open on top of the screen, if any."""
        shown = self.stack.currentWidget()
        return shown if isinstance(shown, Opened) else None

    def _open(self, opened: Opened) -> None:
        if self.opened is opened and self._what_opened == opened.what:
            return
        before = self._release_focus()
        if self.opened is None and not self.covered:
            self._focus_under = before
        self.covered = False
        self._what_opened = opened.what
        bring(self.stack, opened)
        self._focus(opened.entrance() or self.bottom.right)

    def _close_opened(self) -> None:
        if self.screen_shown is not None:
            self.screen_shown.close_opened()

    def _altered(self) -> None:
        if self.screen_shown is not None and not self.covered:
            self._render_bars(self.screen_shown)
            self._fulfil()

    def _render_bars(self, screen: Screen) -> None:
        self.top.show_head(screen.head())
        foot = screen.foot()
        if (opened := self.opened) is not None:
            foot = Foot(right=opened.close_words)
        self.bottom.show_foot(foot)

    def _fulfil(self) -> None:
        """Put the focus where the screen wishes it, once, when the window is there."""
        screen = self.screen_shown
        if screen is None or self.covered or not screen.wish or not self.isVisible():
            return
        if self.opened is not None:
            return
        wish, screen.wish = screen.wish, ""
        widget = (screen.entrance() if wish == "content" else None) or self.bottom.right
        if not self.leave.isVisible():
            self._focus(widget)
        if wish == "content":
            for in_view in self.body.findChildren(InView):  # a screen's own areas, too
                in_view.begin(widget.focusProxy() or widget)

    def _left(self) -> None:
        if self.screen_shown is not None and not self.covered:
            self.screen_shown.left()
            if self.bottom.left.hasFocus():
                # Enter once more would leave the next one, too.
                self._rest_focus()
                self.screen_shown.wish = "content"
                self._fulfil()

    def _right(self) -> None:
        if self.opened is not None:
            self._close_opened()
        elif self.screen_shown is not None and not self.covered:
            self.screen_shown.right()

    def _help(self) -> None:
        if self.screen_shown is not None and not self.covered:
            self.screen_shown.help()

    def _ask_to_leave(self, how: str) -> None:
        """Say that everything is safe and tell the moderator; the task stands still meanwhile."""
        self.session.send(AskToLeave(how))
        if not self.leave.isHidden():
            self.leave.ask()

    def _follow_leave(self) -> None:
        """Ask whether to leave, as long as the session says that the participant is asked; then go
        back to what had the focus."""
        leaving = self.session.pauses.leaving and not self.session.finished
        if leaving == (not self.leave.isHidden()):
            return
        before = self._release_focus()
        for under in (self.top, self.stack, self.bottom):
            under.setEnabled(not leaving)
        if leaving:
            self._focus_before_leave = before
            self._place_leave()
            self.leave.ask()
            return
        self.leave.hide()
        before, self._focus_before_leave = self._focus_before_leave, None
        if not self._return_focus(before) and self.screen_shown is not None and not self.covered:
            self.screen_shown.wish = "content"

    def _place_leave(self) -> None:
        self.leave.adjustSize()
        x = (self.width() - self.leave.width()) // 2
        y = self.height() - self.bottom.height() - self.leave.height() - theme.SPACE_L
        self.leave.move(x, y)

    def _tell_alone(self) -> None:
        """Tell the screen whether the participant is with it."""
        if self.screen_shown is not None and not self.covered:
            planned = self.screen_shown.planned
            without_keys = self._without_keys and planned.without_keyboard
            self.screen_shown.left_alone(self.leave.isVisible() or self._elsewhere or without_keys)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and not event.isAutoRepeat():
            if self.session.takes_back and self.leave.isHidden():
                self._take_back()
            elif self.opened is not None and self.leave.isHidden():
                self._close_opened()
            else:
                self._ask_to_leave("escape")
            return
        if not self._page_takes(event):
            super().keyPressEvent(event)

    def _page_takes(self, event: QKeyEvent) -> bool:
        """Let the page take a key that it announces, wherever on it the focus is."""
        shown = self._on_top()
        writing = isinstance(self.focusWidget(), QLineEdit | QPlainTextEdit)
        if shown is None or writing or not self.leave.isHidden():
            return False
        return shown.take_key(event)

    def _remember_place(self, _: QWidget | None, now: QWidget | None) -> None:
        """Keep where on each page the keys were that it announces."""
        passed: list[QWidget] = []
        while now is not None and now is not self:
            if isinstance(now, Shown):
                place = next((each for each in passed if isinstance(each, now.key_places)), None)
                now.key_place = place or now.key_place
            passed.append(now)
            now = now.parentWidget()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_leave()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._may_close:
            event.accept()
            return
        event.ignore()
        self._ask_to_leave("close")

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() != QEvent.Type.ActivationChange or self._may_close:
            return
        focused = self.isActiveWindow()
        if focused and (self.focusWidget() is None or self.focusWidget() in self._leaving):
            self._rest_focus()
        self._follow_focus()

    def _follow_focus(self) -> None:
        """Record that the window got or lost the keyboard; what happened behind an end is made up
        for when that is taken back."""
        focused = self.isActiveWindow()
        if focused == self._focused or self._may_close or self.session.finished:
            return
        self._focused = focused
        self._runner.emit(WindowFocus(focused))
        # The console on another screen covers nothing: the moderator takes a note there.
        other = QApplication.activeWindow()
        beside = other is not None and other.screen() is not self.screen()
        self._elsewhere = not focused and not beside
        self._tell_alone()


LONGEST_MS = 100
"""A frame that never comes (a hidden window) holds movement back no longer than this."""


class MoveGate(QObject):
    """send(dial, value, device): the way to the session; request_frame: asks the view for a frame,
    at whose end it calls `frame_painted`."""

    _later = Signal()

    def __init__(
        self,
        send: Callable[[int, float, str], None],
        request_frame: Callable[[], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._send = send
        self._request_frame = request_frame
        self._open = True
        self._pending: dict[int, tuple[float, str]] = {}
        self._limit = timers.once(self, self.flush, LONGEST_MS)
        # Never from inside a paintEvent: a command repaints.
        self._later.connect(self.flush, Qt.ConnectionType.QueuedConnection)

    def ask(self, dial: int, value: float, device: str) -> None:
        """The hand moved a dial."""
        if self._open:
            self._pass(dial, value, device)
            return
        self._pending[dial] = (value, device)
        if not self._limit.isActive():
            self._limit.start()

    def waits(self, dial: int) -> bool:
        """Whether a movement of this dial has not been sent yet."""
        return dial in self._pending

    def waiting(self) -> list[tuple[int, float, str]]:
        """The movements that have not been sent yet: dial, value, device."""
        return [(dial, value, device) for dial, (value, device) in self._pending.items()]

    def frame_painted(self) -> None:
        """The frame of the last command is on the screen."""
        if self._pending:
            self._later.emit()
        else:
            self._open = True

    def flush(self) -> None:
        """Send what waits now."""
        self._limit.stop()
        pending, self._pending = self._pending, {}
        for dial, (value, device) in pending.items():
            self._pass(dial, value, device)
        if not pending:
            self._open = True

    def clear(self) -> None:
        """Forget what waits: its question is over."""
        self._limit.stop()
        self._pending = {}
        self._open = True

    def _pass(self, dial: int, value: float, device: str) -> None:
        self._open = False
        self._send(dial, value, device)
        self._request_frame()


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
        get_growth(window),
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
    for sound in shown.findChildren(SoundBar):
        sound.follow()
    enlarging = enlarging_of(shown)
    if enlarging is not None:
        payload = look.enlarged
        enlarging.show_look(payload.picture, payload.x, payload.y, payload.scale)


def show_head_under_cover(
    top: TopBar, session: SessionView, shown: Screen | None, made_for: int | None
) -> None:
    """Let the top bar name the place in the study while a page covers the screen, and nothing that
    can be opened; once the session is over, nothing at all. made_for: the index of the part that
    the screen was made for."""
    if session.finished:
        top.show_head(Head())
    elif shown is not None and session.ready and session.index == made_for:
        top.show_head(replace(shown.head(), help=""))
    else:
        top.hide_help()


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
        self._timer = timers.make_repeating_timer(self, self.look, INTERVAL_MS)

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
        self.cover = screen.Cover(session.study_picture)
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
            self.show_cover(cover or CoverText("", ""))
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

    def show_cover(self, cover: CoverText) -> None:
        """Show a quiet page in place of the screen."""
        self.cover.say(*cover, back=self.session.take_back_words())
        self.stack.setCurrentWidget(self.cover)
        self.bottom.show_foot(Foot())
        session = self.session
        if self.screen is not None and session.ready and session.index == self._index:
            self.screen.render_state()
        show_head_under_cover(self.top, session, self.screen, self._index)

    def draw(self, room: QSize, ratio: float) -> QPixmap:
        """Draw the window in an area given in logical pixels, on a display with the given number of
        pixels per logical pixel."""
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
