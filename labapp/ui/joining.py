"""Taking part in a session that runs at another computer: the window to join it, and its console.

`labapp moderate`, `labapp observe`, and *Join a session…* on the home.
"""

from __future__ import annotations

import getpass
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QMainWindow, QWidget

from labapp.base import leftovers
from labapp.base.errors import AudioError, DataFolderError, LabappError, UsageError
from labapp.session.remote import pairing, wire
from labapp.session.remote.client import Link, LinkState
from labapp.session.remote.following import FollowedSession
from labapp.session.remote.voice import VoicePlayer
from labapp.ui import remembered, theme, timers
from labapp.ui.fitting import Fitted
from labapp.ui.language import N_, N_all, tr, translate_message
from labapp.ui.moderator import bits
from labapp.ui.moderator.console import ConsoleWindow
from labapp.ui.moderator.others import LinkBar, PersonLine, where_of
from labapp.ui.participant.view import Bridge
from labapp.ui.qtapp import make_app
from labapp.ui.widgets.controls import Button

FILE = "joined.json"
WHY = {
    **N_all("join.over", "closed", "removed", "left"),
    **N_all(
        "join.refused",
        *("code", "locked", "version", "full", "unreachable", "wrong_server", "damaged"),
    ),
}
"""What is said of a link that is over, by its reason (`LinkState`)."""
LINK_MS = 500
"""Between two looks at what waits to be sent and at the clock."""


@dataclass(frozen=True)
class LastJoined:
    """What was given the last time."""

    host: str = ""
    name: str = ""


def split_address(text: str) -> tuple[str, int]:
    """Host and port of what somebody typed, such as 192.168.1.20:8731 or [fe80::1]:8731.

    Raises UsageError.
    """
    text = text.strip()
    host, _, port = text.rpartition(":")
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        port = rest.removeprefix(":")
    elif text.count(":") != 1:
        host, port = text, ""
    number = int(port) if port.isascii() and port.isdigit() else wire.PORT if not port else 0
    if not host or not 0 < number < 65536 or any(letter.isspace() for letter in host):
        raise UsageError(
            f"{text!r} is not the address of a computer.",
            safe="Nothing was sent.",
            todo="Give it as shown on the session's console, for example 192.168.1.20:8731.",
        )
    return host, number


class JoinWindow(Fitted, QMainWindow):
    """Asks where the session is and for the code. joined(host, port, name, role, code): all of it
    was given. closed: the person closed it."""

    joined = Signal(str, int, str, str, str)
    closed = Signal()

    def __init__(self, host: str = "", role: wire.Role = "moderator") -> None:
        super().__init__()
        self.setWindowTitle(tr("join.title"))
        self._last = LastJoined()
        with suppress(DataFolderError):
            self._last = remembered.read_choices(FILE, self._last, "join window")
        card = bits.Card(tr("join.title"), theme.SPACE_S)
        self.hint = bits.label(tr("join.hint"), "secondary", wrap=True)
        self.host = bits.line_edit(tr("join.host"), tr("join.host_hint"), 200)
        self.host.setText(host or self._last.host)
        self.name = bits.line_edit(tr("join.name"), tr("join.name_hint"), wire.LONGEST_NAME)
        self.name.setText(self._last.name or _own_name())
        self.code = bits.line_edit(tr("join.code"), tr("join.code_hint"), 16)
        self.roles = {
            "moderator": Button(tr("join.moderate"), "page-tab"),
            "observer": Button(tr("join.observe"), "page-tab"),
        }
        roles = bits.row(None, theme.SPACE_S)
        for button in self.roles.values():
            roles.addWidget(button)
        bits.turn_pages(list(self.roles.values()), lambda _: None)
        for kind, button in self.roles.items():
            button.setChecked(kind == role)
        roles.addStretch(1)
        self.says = bits.label(role="secondary", wrap=True)
        self.go = Button(tr("join.go"), "primary", pressed=self._join)
        bits.fill(card.body, self.hint)
        card.body.addLayout(roles)
        for field, title in (
            (self.host, N_("join.host")),
            (self.name, N_("join.name")),
            (self.code, N_("join.code")),
        ):
            bits.fill(card.body, bits.label(tr(title), "strong"), field)
            field.returnPressed.connect(self._join)
        foot = bits.fill(bits.row(None, theme.SPACE_M), (self.says, 1), self.go)
        card.body.addLayout(foot)
        ground = QWidget()
        ground.setProperty("role", "ground")
        ground.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        margin = theme.SPACE_XL
        bits.fill(bits.column(ground, 0, (margin, margin, margin, margin)), card, 1)
        self.setCentralWidget(bits.Scrolling(ground))
        ground.setStyleSheet(bits.stylesheet(theme.LIGHT))
        self.setMinimumSize(420, 360)
        self.resize(560, 520)
        (self.code if self.host.text() and self.name.text() else self.host).setFocus()

    @property
    def role(self) -> wire.Role:
        """What the person wants to do."""
        return "moderator" if self.roles["moderator"].isChecked() else "observer"

    def _join(self) -> None:
        try:
            host, port = split_address(self.host.text())
        except UsageError:
            self.say(tr("join.no_host"), "warn")
            self.host.setFocus()
            return
        name, code = " ".join(self.name.text().split()), pairing.as_typed(self.code.text())
        for given, field, lacking in (
            (name, self.name, N_("join.no_name")),
            (code, self.code, N_("join.no_code")),
        ):
            if not given:
                self.say(tr(lacking), "warn")
                field.setFocus()
                return
        with suppress(DataFolderError):
            remembered.write_choices(
                FILE, LastJoined(self.host.text().strip(), name), "join window"
            )
        self.set_busy(True)
        self.say(tr("join.joining"))
        self.joined.emit(host, port, name, self.role, code)

    def set_busy(self, busy: bool) -> None:
        """Nothing can be changed while a session is being joined."""
        for widget in (self.host, self.name, self.code, self.go, *self.roles.values()):
            widget.setEnabled(not busy)

    def say(self, text: str, tone: str = "") -> None:
        """What is going on, or what is wrong."""
        bits.set_text(self.says, text, tone)

    def ask_again(self, why: str) -> None:
        """It could not be joined: another code is wanted, or another address."""
        self.set_busy(False)
        self.say(why, "warn")
        self.code.selectAll()
        self.code.setFocus()

    def closeEvent(self, event: QCloseEvent) -> None:
        super().closeEvent(event)
        if event.isAccepted():
            self.closed.emit()


def _own_name() -> str:
    """The name of the account, which is often the person's."""
    with suppress(OSError, KeyError, ImportError):
        return getpass.getuser()
    return ""


class JoinController(QObject):
    """Joins a session and shows its console. ended: the windows are gone."""

    ended = Signal()
    _came = Signal(object)
    _posted = Signal(object)

    def __init__(self, host: str = "", role: wire.Role = "moderator") -> None:
        super().__init__()
        self.window = JoinWindow(host, role)
        self.console: ConsoleWindow | None = None
        self.session: FollowedSession | None = None
        self.link: Link | None = None
        self.bar = LinkBar()
        self._folder: TemporaryDirectory[str] | None = None
        self._rows: list[wire.Row] = []
        self._where = ""
        self._state = LinkState("joining")
        self._people = wire.People([], 0)
        self._voice: VoicePlayer | None = None
        self._gone = False
        self.window.joined.connect(self._join)
        self.window.closed.connect(self._close_unjoined)
        queued = Qt.ConnectionType.QueuedConnection
        self._came.connect(self._take, queued)
        self._posted.connect(self._call, queued)
        self.bar.handed_over.connect(self._hand_over)
        self.bar.heard.connect(self._hear)
        self._look = timers.make_repeating_timer(self, self._show_link, LINK_MS)

    def show(self) -> None:
        """Show the window that asks for the code."""
        self.window.show()

    def _join(self, host: str, port: int, name: str, role: wire.Role, code: str) -> None:
        self._forget()
        self._where = where_of(host, port)
        self._folder = TemporaryDirectory(
            prefix=leftovers.prefix("joined"), ignore_cleanup_errors=True
        )
        folder = Path(self._folder.name)
        self.link = Link(host, port, name, role, code, folder, self._came.emit)
        self.link.start()

    def _forget(self) -> None:
        """What an attempt before this one has left."""
        if self.link is not None:
            self.link.leave()
            self.link = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
        self._rows = []

    @Slot(object)
    def _call(self, function: Callable[[], None]) -> None:
        function()

    @Slot(object)
    def _take(self, message: Any) -> None:
        """What came over the link, in the thread of the windows."""
        if self._gone:
            return
        match message:
            case LinkState():
                self._take_state(message)
            case wire.Welcome():
                self._blind = message.blind
                self.window.say(tr("join.fetching"))
            case wire.Rows(rows) if self.session is None:
                self._rows += rows
            case wire.Rows() | wire.Now() | wire.Model() if self.session is not None:
                self._follow(message)
            case wire.Ready() if self.session is None:
                self._open()
            case wire.People():
                self._people = message
                self._show_controls()
            case wire.Done(_, refused) if refused:
                self.bar.say_refused(refused)
            case wire.Sound() if self._voice is not None:
                self._voice.put(message)

    def _take_state(self, state: LinkState) -> None:
        self._state = state
        if state.state == "over" and self.console is None:
            self.window.ask_again(self._why(state))
        self._show_controls()

    def _why(self, state: LinkState) -> str:
        key = WHY.get(state.reason, WHY["damaged"])
        detail = state.detail or "–"
        return tr(key, where=self._where, detail=detail, version=detail)

    def _open(self) -> None:
        """All that happened so far is here: show the console."""
        assert self.link is not None
        assert self._folder is not None
        try:
            folder = Path(self._folder.name)
            session = FollowedSession(self.link, folder, self._rows, self._posted.emit)
        except LabappError as error:
            self._forget()
            what = f"{translate_message(error.what)} {error.todo}".strip()
            self.window.ask_again(tr("join.over.unreadable", detail=what))
            return
        self._rows = []
        self.session = session
        console = ConsoleWindow(
            Bridge(session, self),
            session.loaded,
            session.planned.participant,
            session.level,
            past=session.past,
            blind=bool(session.state.blind),
            remote=True,
        )
        self.console = console
        if session.planned.pilot:
            console.mark_pilot()
        console.header.share.hide()
        console.header.done.setText(tr("join.leave"))
        console.add_others(self.bar)
        console.done_requested.connect(self.close)
        self._show_controls()
        console.show()
        self.window.hide()
        self._look.start()

    def _follow(self, message: Any) -> None:
        assert self.session is not None
        try:
            self.session.take(message)
        except LabappError as error:
            # Nothing after it can be folded: the console stays as it is, and says so.
            self._state = LinkState("over", "unreadable", translate_message(error.what))
            self.session.link.leave()
            self._show_controls()

    def _show_controls(self) -> None:
        if self.console is None or self.link is None:
            return
        moderates = self._people.moderator == self.link.member and self._state.state != "over"
        self.console.set_controls(moderates)
        self._show_link()

    def _show_link(self) -> None:
        if self.link is None:
            return
        people, error_ns = self._people, self.link.clock.error_ns
        lines = [
            PersonLine(p.member, p.name, p.role, p.linked, p.member == people.moderator)
            for p in people.people
        ]
        over = self._state.state == "over"
        self.bar.show_link(
            self._state.state,
            self.link.waiting,
            None if error_ns is None else error_ns / 1e6,
            lines,
            me=self.link.member,
            problem=self._why_over() if over else "",
        )

    def _why_over(self) -> str:
        if self._state.reason == "unreadable":
            return tr("join.over.unreadable", detail=self._state.detail)
        return self._why(self._state)

    def _hand_over(self, member: int) -> None:
        if self.link is not None:
            self.link.hand_over(member)

    def _hear(self, on: bool) -> None:
        if on and self._voice is None:
            self._voice = VoicePlayer(
                lambda error: self._posted.emit(lambda: self._show_silence(error))
            )
        if self.link is not None:
            self.link.hear(on)
        if not on and self._voice is not None:
            self._voice.close()
            self._voice = None

    def _show_silence(self, error: AudioError) -> None:
        self.bar.hear.setChecked(False)
        self.bar.hear.setToolTip(tr("join.no_speaker", detail=translate_message(error.what)))

    def _close_unjoined(self) -> None:
        if self.console is None:
            self.close()

    def close(self) -> None:
        """Leave the session, if one was joined, and take the windows down."""
        if self._gone:
            return
        console = self.console
        if console is not None:
            console.shut()
        self._gone = True
        self._look.stop()
        if self._voice is not None:
            self._voice.close()
            self._voice = None
        if self.session is not None:
            self.session.close()
        self._forget()
        self.window.close()
        if console is not None:
            console.deleteLater()
        self.window.deleteLater()
        QTimer.singleShot(0, self.ended.emit)


def join_session(host: str, role: wire.Role) -> int:
    """`labapp moderate` and `labapp observe`: returns when the windows are closed."""
    app = make_app()
    controller = JoinController(host, role)
    controller.ended.connect(app.quit)
    controller.show()
    return app.exec()
