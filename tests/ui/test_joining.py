"""A session that is moderated and observed from other computers, through the windows of each.

The computers are one here, the link between them is real: a process that serves, TLS, codes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from labapp.base.errors import UsageError
from labapp.record.events import Event, Source
from labapp.record.events.commands import ConfirmSkip, Pause, SkipStage
from labapp.session.replay.history import RecordedDecoders
from labapp.session.resuming import read_verified_events
from labapp.ui.controller import SessionController
from labapp.ui.home import HomeController
from labapp.ui.joining import JoinController, split_address
from labapp.ui.moderator.console import ConsoleWindow
from labapp.ui.moderator.others import LinkBar
from labapp.ui.starting import RunOptions, open_new

LEFT = Qt.MouseButton.LeftButton


class Lab:
    """A session with its windows, and the people who join it."""

    def __init__(
        self, folder: Path, qtbot: QtBot, study: str = "quickstart", **how: object
    ) -> None:
        self.qtbot, self.people = qtbot, list[JoinController]()
        options = RunOptions(
            data=folder / "data",
            private=folder / "private",
            audio="off",
            windowed=True,
            listen="127.0.0.1",
            **how,
        )
        self.opened = open_new(study, "P01", None, options)
        self.session = SessionController(self.opened, options)
        self.session.start()
        self.wait(lambda: bool(self.host.listening.codes))

    @property
    def host(self):  # type: ignore[no-untyped-def]
        assert self.session.others.host is not None
        return self.session.others.host

    @property
    def runner(self):  # type: ignore[no-untyped-def]
        return self.opened.runner

    def wait(self, come: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(come)

    def join(self, name: str, role: str, code: str = "") -> JoinController:
        """Somebody types address, name and code."""
        person = JoinController("", role)
        self.people.append(person)
        person.show()
        window = person.window
        for field, text in (
            (window.host, f"127.0.0.1:{self.host.listening.port}"),
            (window.name, name),
            (window.code, code or self.host.listening.codes[role]),
        ):
            field.clear()
            self.qtbot.keyClicks(field, text)
        self.qtbot.mouseClick(window.go, LEFT)
        return person

    def joined(self, name: str, role: str) -> JoinController:
        person = self.join(name, role)
        self.wait(lambda: person.console is not None)
        members = self.host.members
        self.wait(lambda: any(member.name == name for member in members.values()))
        if role == "moderator":
            self.wait(lambda: console_of(person).controls)
        return person

    def skip_to(self, part: str) -> None:
        """Go on to a part of the plan, as the moderator's *Continue at…* does. Between two parts,
        while the disk is slow, that would lead to nothing."""
        self.wait(lambda: self.runner.part is not None and not self.runner._waiting)
        places = [place.id for place in self.runner.machine.parts]
        self.runner.send(SkipStage(None, places.index(part)), Source.MODERATOR)
        self.runner.send(ConfirmSkip(), Source.MODERATOR)
        self.wait(lambda: self.runner.part is not None and self.runner.part.id == part)

    def events(self) -> list[Event]:
        journal = self.runner.journal
        self.wait(lambda: journal.committed_seq == journal._seq)
        return read_verified_events(self.opened.folder.path)

    def kinds(self, begin: str) -> list[str]:
        return [event.kind for event in self.events() if event.kind.startswith(begin)]

    def close(self) -> None:
        for person in self.people:
            person.close()
        self.session._end()  # as the console's button does once the session is over
        QApplication.processEvents()


def console_of(person: JoinController) -> ConsoleWindow:
    assert person.console is not None
    return person.console


@pytest.fixture
def open_lab(tmp_path: Path, qtbot: QtBot) -> Iterator[Callable[..., Lab]]:
    labs: list[Lab] = []

    def open_one(*what: str, **how: object) -> Lab:
        labs.append(Lab(tmp_path / str(len(labs)), qtbot, *what, **how))
        return labs[-1]

    yield open_one
    for lab in labs:
        lab.close()


@pytest.fixture
def lab(open_lab: Callable[..., Lab]) -> Lab:
    return open_lab()


def write(qtbot: QtBot, console: ConsoleWindow, text: str) -> None:
    qtbot.keyClicks(console.notes.input, text)
    qtbot.keyClick(console.notes.input, Qt.Key.Key_Return)


def test_a_person_with_the_code_moderates_and_the_sessions_console_steps_aside(
    lab: Lab, qtbot: QtBot
) -> None:
    own = lab.session.console
    assert own.controls
    anna = lab.joined("Anna", "moderator")
    lab.wait(lambda: not own.controls)
    assert not own.header.pause.isEnabled()
    assert lab.session.others.bar.text.text() == "Anna is moderating from another computer."
    qtbot.mouseClick(own.header.pause, LEFT)
    own.header.press_pause()
    own.set_flag(1)
    QApplication.processEvents()
    assert not lab.runner.state.pauses.paused

    header = console_of(anna).header
    qtbot.mouseClick(header.pause, LEFT)
    lab.wait(lambda: lab.runner.state.pauses.paused)
    lab.wait(lambda: not header.reasons.isHidden())
    qtbot.mouseClick(header.reasons.buttons[0], LEFT)
    lab.wait(lambda: bool(lab.kinds("pause.explained")))
    lab.wait(lambda: header.pause.text() == "Continue")
    qtbot.mouseClick(header.pause, LEFT)
    lab.wait(lambda: not lab.runner.state.pauses.paused)


def test_an_observer_watches_and_what_an_observer_notes_reaches_the_moderator(
    lab: Lab, qtbot: QtBot
) -> None:
    anna, ben = lab.joined("Anna", "moderator"), lab.joined("Ben", "observer")
    watching = console_of(ben)
    assert not watching.controls
    for button in (watching.header.pause, watching.header.end, watching.notes.buttons[1]):
        assert not button.isEnabled()
    watching.header.press_pause()
    watching.give_prompt()
    write(qtbot, watching, "does she see it?")
    shown = console_of(anna).state.notes
    lab.wait(lambda: bool(shown))
    assert [(note.text, note.by) for note in shown] == [("does she see it?", "Ben")]
    lab.wait(lambda: [note.by for note in lab.session.console.state.notes] == ["Ben"])
    assert not lab.runner.state.pauses.paused
    asked = [event for event in lab.events() if event.kind == "remote.asked"]
    assert [event.payload["number"] for event in asked] == [1]


def test_control_is_handed_over_and_taken_back(lab: Lab, qtbot: QtBot) -> None:
    anna = lab.joined("Anna", "moderator")
    carl = lab.join("Carl", "moderator")
    lab.wait(lambda: carl.console is not None and len(anna._people.people) == 2)
    assert not console_of(carl).controls
    anna.bar.handed_over.emit(2)
    lab.wait(lambda: console_of(carl).controls and not console_of(anna).controls)
    qtbot.mouseClick(lab.session.others.bar.take_back, LEFT)
    lab.wait(lambda: lab.session.console.controls and not console_of(carl).controls)
    qtbot.mouseClick(lab.session.console.header.share, LEFT)
    assert lab.session.others.bar.renew.isVisible()
    whys = [e.payload["why"] for e in lab.events() if e.kind == "moderator.changed"]
    assert whys == ["joined", "handed_over", "taken_back"]


def test_a_moderator_who_leaves_gives_the_session_back(lab: Lab) -> None:
    anna = lab.joined("Anna", "moderator")
    console_of(anna).close()
    lab.wait(lambda: lab.session.console.controls)
    assert not lab.runner.finished
    assert lab.kinds("remote.")[-1] == "remote.left"


def test_where_the_link_is_lost_one_chord_takes_over_and_the_notes_come_later(
    lab: Lab, qtbot: QtBot
) -> None:
    anna = lab.joined("Anna", "moderator")
    assert anna.link is not None
    where = anna.link._address
    anna.link._address = ("127.0.0.1", 9)  # where nobody listens
    lab.host._process.send_signal(19)  # SIGSTOP: nothing answers, as on a broken link
    lab.wait(lambda: anna._state.state == "broken")
    write(qtbot, console_of(anna), "noted without a link")
    assert anna.link.waiting == 1
    lab.wait(lambda: "1 note" in anna.bar.hint.text())
    noted_ns = anna.link.clock.now_ns()
    lab.host._process.send_signal(18)
    lab.wait(lambda: any(not member.linked for member in lab.host.members.values()))
    assert not lab.session.console.controls
    assert lab.session.others.bar.text.text().startswith("The link to Anna’s computer is broken.")
    lab.session.participant.moderator_requested.emit()  # its chord, Ctrl+Shift+M
    lab.wait(lambda: lab.session.console.controls)
    anna.link._address = where
    lab.wait(lambda: anna._state.state == "linked" and anna.link.waiting == 0)
    lab.wait(lambda: bool(lab.session.console.state.notes))
    note = lab.session.console.state.notes[-1]
    assert note.text == "noted without a link"
    assert note.t_ns <= noted_ns + 1_000_000
    assert not console_of(anna).controls, "the session's own computer has taken over"


def test_a_wrong_code_is_refused_shown_and_stored(lab: Lab) -> None:
    right = lab.host.listening.codes["moderator"]
    wrong = f"{(int(right) + 1) % 10**6:06}"
    eve = lab.join("Eve", "moderator", wrong)
    lab.wait(lambda: eve.window.go.isEnabled())
    assert eve.window.says.text().startswith("The code is wrong.")
    assert eve.console is None
    lab.wait(lambda: lab.host.listening.attempts == 1)
    lab.session.others.bar.want(True)
    lab.session.others._show()
    assert "1 wrong code" in lab.session.others.bar.hint.text()
    assert lab.kinds("remote.refused") == ["remote.refused"]
    assert not any("Eve" in event.payload.values() for event in lab.events())


def test_somebody_who_is_removed_is_told(lab: Lab) -> None:
    ben = lab.joined("Ben", "observer")
    lab.session.others.bar.removed.emit(1)
    lab.wait(lambda: ben._state.state == "over")
    assert ben.bar.text.text() == "The moderator has removed you from the session."
    assert not lab.host.members


def test_when_sharing_stops_the_session_goes_on(lab: Lab) -> None:
    anna = lab.joined("Anna", "moderator")
    lab.session.others.bar.closed.emit()
    lab.wait(lambda: anna._state.state == "over")
    assert lab.session.others.host is None
    assert lab.session.console.controls
    assert not console_of(anna).controls
    assert lab.kinds("remote.")[-1] == "remote.closed"


def test_the_other_computer_shows_the_participants_screen_to_the_pixel(lab: Lab) -> None:
    ben = lab.joined("Ben", "observer")
    lab.opened.give_consent()
    lab.skip_to("stage-1")
    window, mirror = lab.session.participant, console_of(ben).mirror

    def same() -> bool:
        if ben.session is None or ben.session.state.index != lab.runner.state.index:
            return False
        mirror.show_session()
        picture = mirror.shown.picture
        window.show_keyboard(away=False, refused=False)  # said there alone
        live = window.grab().toImage()
        return picture is not None and picture.window.grab().toImage() == live

    lab.wait(same)


def test_models_that_the_other_computer_lacks_are_sent(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RecordedDecoders, "misses", lambda self, model: True)
    ben = lab.joined("Ben", "observer")
    assert ben.session is not None
    decoders = ben.session.decoders
    lab.wait(lambda: set(decoders.places) == set(decoders))
    lab.opened.give_consent()
    lab.skip_to("stage-1")
    lab.wait(lambda: ben.session.part.id == "stage-1" and ben.session.pictures is not None)
    assert ben.session.error is None
    model = ben.session.part.model
    assert decoders.places[model].parent.parent == Path(ben._folder.name)
    assert sorted(path.name for path in decoders.places[model].iterdir()) == [
        "decoder.safetensors",
        "latents.npz",
        "model.yaml",
    ]


def test_a_blind_session_stays_blind_at_other_computers(open_lab: Callable[..., Lab]) -> None:
    lab = open_lab(blind=True)
    anna = lab.joined("Anna", "moderator")
    console = console_of(anna)
    models = {part.model for part in lab.runner.machine.parts if getattr(part, "model", "")}
    shown = " ".join(view.row.detail for view in console.plan.list.views)
    assert models
    assert not any(model in shown for model in models)
    assert console.header.blind.isVisible()


def test_the_home_opens_the_window_to_join_once(home: HomeController, qtbot: QtBot) -> None:
    qtbot.mouseClick(home.view.join, LEFT)
    first = home._joining
    assert first is not None
    qtbot.mouseClick(home.view.join, LEFT)
    assert home._joining is first
    first.window.close()
    qtbot.waitUntil(lambda: home._joining is None)


@pytest.mark.parametrize(
    ("typed", "where"),
    [
        ("192.168.1.20", ("192.168.1.20", 8731)),
        ("192.168.1.20:9000", ("192.168.1.20", 9000)),
        (" lab-laptop:8731 ", ("lab-laptop", 8731)),
        ("fe80::1", ("fe80::1", 8731)),
        ("[fe80::1]:9000", ("fe80::1", 9000)),
        ("[fe80::1]", ("fe80::1", 8731)),
    ],
)
def test_an_address_is_read_as_it_is_typed(typed: str, where: tuple[str, int]) -> None:
    assert split_address(typed) == where


@pytest.mark.parametrize("typed", ["", "  ", ":8731", "lab:port", "lab:0", "lab:70000", "a b"])
def test_what_is_no_address_is_refused(typed: str) -> None:
    with pytest.raises(UsageError):
        split_address(typed)


def test_a_request_that_is_refused_is_said(lab: Lab) -> None:
    anna = lab.joined("Anna", "moderator")
    assert anna.link is not None
    lab.host.take_back()
    anna.link.ask(Pause("moderator"))  # before the news came
    lab.wait(lambda: not anna.bar.refused.isHidden())
    assert anna.bar.refused.text() == "Not done: somebody else is moderating now"
    assert not lab.runner.state.pauses.paused


@pytest.mark.parametrize("words", ["Short.", "A link that is broken is told in a long line. " * 2])
@pytest.mark.parametrize("width", [900, 1366, 1920])
def test_a_line_about_others_never_squeezes_its_second_sentence(
    words: str, width: int, qtbot: QtBot
) -> None:
    line = LinkBar()
    qtbot.addWidget(line)
    line.text.setText(words)
    line.hint.setText("Ben: observing, clocks agree within 12.0 ms")
    line.resize(width, 80)
    line.show()
    QApplication.processEvents()
    assert line.hint.width() >= min(line.hint.sizeHint().width(), width / 3)
    line.text.setText("The link is broken. The session goes on, and joining is tried again. " * 2)
    qtbot.waitUntil(lambda: line.hint.width() >= width / 3)
    assert line.text.width() <= width
