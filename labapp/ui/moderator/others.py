"""Other computers in the console: who takes part, who moderates, and how to join or leave.

A line below the header, shown while it is wanted or while the session is moderated elsewhere. At
the session's own computer it lets others join; at another one it says how the link is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from labapp.ui import theme, timers
from labapp.ui.language import N_, counted, number, tr
from labapp.ui.moderator import bits
from labapp.ui.moderator.bits import Combo
from labapp.ui.theme import Palette
from labapp.ui.widgets.controls import Button


def where_of(address: str, port: int) -> str:
    """An address with its port as one types it."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


@dataclass(frozen=True)
class PersonLine:
    """Somebody at another computer. error_ms: by how much the clock there can be wrong, None while
    that is not known."""

    member: int
    name: str
    role: str
    linked: bool
    moderates: bool
    error_ms: float | None = None

    def words(self) -> str:
        """The person, what they do, and how the link is."""
        does = N_("others.moderates") if self.moderates else ROLES[self.role]
        link = tr("others.linked")
        if not self.linked:
            link = tr("others.broken")
        elif self.error_ms is not None:
            link = tr("others.clock", ms=number(f"{self.error_ms:.1f}"))
        return f"{self.name}: {tr(does)}, {link}"


ADDRESS_LETTERS = 20
ACROSS = 1000
"""Logical pixels of a line with its two sentences next to each other; else one is below. It is
below, too, where the first one needs more than half the line."""
ROLES = {"moderator": N_("others.can_moderate"), "observer": N_("others.observes")}
REFUSED = {
    "not_moderator": N_("others.refused.not_moderator"),
    "too_late": N_("others.refused.too_late"),
}
REFUSED_MS = 8000
PROBLEMS = {"ended": N_("others.ended")}


class _Line(QFrame):
    """Words on the left, buttons on the right, and lines of people below."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "band")
        self.text = bits.label(role="strong", wrap=True)
        self.hint = bits.label(role="secondary", wrap=True)
        around = (theme.SPACE_L, theme.SPACE_XS, theme.SPACE_M, theme.SPACE_XS)
        self._column: QVBoxLayout = bits.column(self, theme.SPACE_XS, around)
        self.row = bits.row(None, theme.SPACE_S)
        self.words = bits.row(None, theme.SPACE_M)
        bits.fill(self.words, (self.text, 1))
        bits.fill(self.row, (self.words, 1))
        bits.fill(self._column, self.row, self.hint)
        self._people = QWidget()
        self._lines = bits.column(self._people, theme.SPACE_XS)
        self._column.addWidget(self._people)
        self._shown: tuple[PersonLine, ...] = ()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def event(self, event: QEvent) -> bool:
        """A sentence that changes may no longer leave room for the other one."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._arrange()
        return super().event(event)

    def _arrange(self) -> None:
        needs = self.text.fontMetrics().horizontalAdvance(self.text.text())
        across = self.width() >= max(ACROSS, 2 * needs)
        if across == self.text.wordWrap():
            self.words.removeWidget(self.hint)
            self._column.removeWidget(self.hint)
            if across:
                self.words.addWidget(self.hint, 1)
            else:
                self._column.insertWidget(1, self.hint)
            self.text.setWordWrap(not across)

    def _button(self, text: str, role: str = "compact") -> Button:
        button = Button(text, role)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        return button

    def show_people(self, people: Sequence[PersonLine]) -> None:
        """A line for each; made again only when something on it changed."""
        shown = tuple(people)
        if shown == self._shown:
            return
        self._shown = shown
        while (item := self._lines.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for person in shown:
            line = QWidget()
            row = bits.row(line, theme.SPACE_S)
            bits.fill(row, (bits.label(person.words(), "secondary", wrap=True), 1))
            for button in self.buttons_for(person):
                button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
                row.addWidget(button)
            self._lines.addWidget(line)
        self._people.setVisible(bool(shown))

    def buttons_for(self, person: PersonLine) -> Sequence[Button]:
        """What can be done about somebody."""
        return ()


class OthersBar(_Line):
    """At the session's own computer.

    Signals
    -------
    opened(address) : let others join at this address.
    closed() : nobody is to take part any more.
    taken_back() : moderate here again.
    handed_over(member), removed(member) : about a person.
    renewed() : other codes are wanted.
    """

    opened = Signal(str)
    closed = Signal()
    taken_back = Signal()
    handed_over = Signal(int)
    removed = Signal(int)
    renewed = Signal()

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self.wanted = False
        self.address = Combo(palette, tr("others.address"))
        self.address.setMinimumContentsLength(ADDRESS_LETTERS)
        self.row.addWidget(self.address, 0, Qt.AlignmentFlag.AlignTop)
        self.take_back = self._button(tr("others.take_back"), "primary")
        self.take_back.setToolTip(tr("others.take_back_tip"))
        self.open = self._button(tr("others.open"))
        self.renew = self._button(tr("others.renew"))
        self.close_all = self._button(tr("others.close"))
        self.open.clicked.connect(lambda: self.opened.emit(self.address.currentData()))
        self.take_back.clicked.connect(self.taken_back)
        self.renew.clicked.connect(self.renewed)
        self.close_all.clicked.connect(self.closed)
        self._open = False
        self.show_closed(())
        self.hide()

    def want(self, wanted: bool) -> None:
        """Whether the line is to be seen also while nothing has to be said."""
        self.wanted = wanted
        self.setVisible(wanted or not self.take_back.isHidden())

    def show_closed(self, addresses: Sequence[tuple[str, str]], problem: str = "") -> None:
        """Nobody can join. addresses: of this computer, with what is said of each."""
        self._open = False
        if addresses:
            self.address.set_choices(addresses, self.address.currentData() or addresses[0][1])
        text = tr(PROBLEMS[problem]) if problem in PROBLEMS else problem
        bits.set_text(self.text, text or tr("others.offer"), "warn" if problem else "")
        bits.set_text(self.hint, tr("others.offer_hint"))
        for widget in (self.address, self.open):
            widget.show()
        for widget in (self.take_back, self.renew, self.close_all):
            widget.hide()
        self.show_people(())
        self.setVisible(self.wanted)

    def show_open(
        self, where: str, codes: tuple[str, str], attempts: int, people: Sequence[PersonLine]
    ) -> None:
        """Others can join at an address with a port; codes: to moderate and to observe, empty for
        one that wrong attempts have locked."""
        self._open = True
        moderates = next((person for person in people if person.moderates), None)
        # A code is read aloud: it is not broken at the end of a line.
        shown = [code.replace(" ", "\xa0") or tr("others.locked") for code in codes]
        join = tr("others.join", where=where, moderate=shown[0], observe=shown[1])
        hint = counted(attempts, "others.attempts") if attempts else tr("others.join_hint")
        if moderates is not None:
            away = N_("others.elsewhere") if moderates.linked else N_("others.lost")
            bits.set_text(
                self.text, tr(away, name=moderates.name), "" if moderates.linked else "warn"
            )
        else:
            bits.set_text(self.text, join, "")
        if self.wanted:
            hint = f"{join}\n{hint}" if moderates is not None else hint
        else:
            hint = tr("others.chord") if moderates is not None and moderates.linked else ""
        bits.set_text(self.hint, hint, "warn" if attempts and not moderates else "")
        self.take_back.setVisible(moderates is not None)
        for widget in (self.address, self.open):
            widget.hide()
        for widget in (self.renew, self.close_all):
            widget.setVisible(self.wanted)
        self.show_people(people if self.wanted else ())
        self.setVisible(self.wanted or moderates is not None)

    def buttons_for(self, person: PersonLine) -> Sequence[Button]:
        member = person.member
        remove = Button(tr("others.remove"), "compact", pressed=lambda: self.removed.emit(member))
        if person.role != "moderator" or person.moderates:
            return (remove,)
        hand = Button(tr("others.hand_over"), "compact")
        hand.clicked.connect(lambda: self.handed_over.emit(member))
        return (hand, remove)


class LinkBar(_Line):
    """At another computer.

    Signals
    -------
    handed_over(member) : somebody else is to moderate; 0: the session's own computer.
    heard(bool) : whether the participant is to be heard.
    """

    handed_over = Signal(int)
    heard = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.back = self._button(tr("others.hand_back"))
        self.hear = self._button(tr("others.hear"))
        self.hear.setCheckable(True)
        self.back.clicked.connect(lambda: self.handed_over.emit(0))
        self.hear.toggled.connect(self.heard)
        self.refused = bits.label(role="secondary", wrap=True)
        self.refused.hide()
        self._column.insertWidget(self._column.indexOf(self._people), self.refused)
        self._over = timers.once(self, self.refused.hide, REFUSED_MS)
        self._moderates = False

    def show_link(
        self,
        state: str,
        waiting: int,
        error_ms: float | None,
        people: Sequence[PersonLine],
        *,
        me: int,
        problem: str = "",
    ) -> None:
        """state: see `labapp.session.remote.client.LinkState`; waiting: how many requests are not
        confirmed; me: the number of the person here."""
        mine = next((person for person in people if person.member == me), None)
        moderator = next((person for person in people if person.moderates), None)
        self._moderates = mine is not None and mine.moderates
        if state == "over":
            bits.set_text(self.text, problem, "warn")
        elif state != "linked":
            bits.set_text(self.text, tr("others.link_broken"), "warn")
        elif self._moderates:
            bits.set_text(self.text, tr("others.you_moderate"), "")
        elif moderator is not None:
            bits.set_text(self.text, tr("others.other_moderates", name=moderator.name), "")
        else:
            bits.set_text(self.text, tr("others.laptop_moderates"), "")
        others = [person for person in people if person.member != me]
        lines = [person for person in others if self.buttons_for(person)]
        words = [person.words() for person in others if person not in lines]
        if waiting and state != "linked":
            words.append(counted(waiting, "others.waiting"))
        elif error_ms is not None:
            words.append(tr("others.my_clock", ms=number(f"{error_ms:.1f}")))
        bits.set_text(self.hint, " · ".join(words))
        self.back.setVisible(self._moderates and state == "linked")
        self.hear.setVisible(state != "over")
        self.show_people(lines)

    def say_refused(self, why: str) -> None:
        """A request was not done at the session's computer; it is said for some seconds."""
        text = tr(REFUSED[why]) if why in REFUSED else why
        bits.set_text(self.refused, tr("others.refused", why=text), "warn")
        self.refused.show()
        self._over.start(REFUSED_MS)

    def buttons_for(self, person: PersonLine) -> Sequence[Button]:
        if person.role != "moderator" or not self._moderates:
            return ()
        hand = Button(tr("others.hand_over"), "compact")
        hand.clicked.connect(lambda: self.handed_over.emit(person.member))
        return (hand,)
