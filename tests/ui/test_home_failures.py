"""Whatever goes wrong while a session is opened or shown: the home tells it and can be used again,
the session is closed, and nobody holds its lock."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from labapp.base.errors import LabappError, ProgramError
from labapp.base.resources import log_root
from labapp.record.events import Source
from labapp.record.events.commands import Resume
from labapp.record.events.lifecycle import DecoderWarmed
from labapp.record.journal.sessions import SessionIndex, list_sessions
from labapp.session.folder import SessionFolder
from labapp.session.opening import OpenSession
from labapp.session.pictures import ReadDecoder, WarmDecoders
from labapp.tasks.reconstruction.plan import TutorialPart
from labapp.ui import controller, home, starting
from labapp.ui.home import HomeController
from labapp.ui.language import tr
from labapp.ui.moderator.console import ConsoleWindow
from labapp.ui.moderator.home import OpeningCard
from labapp.ui.participant import window as participant_window
from labapp.ui.starting import RunOptions
from tests.helpers.formulas import formula_decoder
from tests.helpers.skips import skip_stage


@pytest.fixture(autouse=True)
def machine(no_microphone: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """No microphone, and decoders that are there at once."""

    def warm(model: str, read: ReadDecoder) -> WarmDecoders:
        measured = DecoderWarmed(model, "cpu", 1, 1, 0.1, 0.1)
        return WarmDecoders({model: read.decoder}, [measured])

    monkeypatch.setattr(home, "read_decoder", lambda model: ReadDecoder(formula_decoder(model), ""))
    monkeypatch.setattr(home, "warm_decoder", warm)


@pytest.fixture
def window(home: HomeController, qtbot: QtBot) -> HomeController:
    qtbot.waitUntil(home.view.ready.start_button.isEnabled, timeout=30_000)
    return home


def start(shown: HomeController, qtbot: QtBot) -> None:
    qtbot.mouseClick(shown.view.ready.start_button, Qt.MouseButton.LeftButton)


def breaking(*_: Any, **__: Any) -> Any:
    raise ValueError("zip() argument 2 is shorter than argument 1")


Break = Callable[[pytest.MonkeyPatch], None]
PLACES: dict[str, Break] = {
    "before it is opened": lambda patch: patch.setattr(home, "open_new", breaking),
    "the participant's window": lambda patch: patch.setattr(
        controller, "ParticipantWindow", breaking
    ),
    "the console": lambda patch: patch.setattr(controller, "ConsoleWindow", breaking),
    "the watcher of screens": lambda patch: patch.setattr(controller, "ScreenWatcher", breaking),
    "its beginning": lambda patch: patch.setattr(OpenSession, "begin", breaking),
    "its first screen": lambda patch: patch.setattr(participant_window, "make_screen", breaking),
    "the console's first look": lambda patch: patch.setattr(
        ConsoleWindow, "_look_at_disk", breaking
    ),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_session_that_cannot_be_shown_is_closed_and_told(
    window: HomeController, qtbot: QtBot, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What a slot raises goes to the hook, and pytest-qt would fail the test for it.
    monkeypatch.setattr(sys, "excepthook", lambda *_: None)
    with monkeypatch.context() as patch:
        PLACES[place](patch)
        start(window, qtbot)
    assert window.session is None
    assert window.window.isVisible()
    said = f"{window.view.error.title.text()} {window.view.error.text.text()}"
    assert "The session could not be opened" in said
    assert "zip() argument 2 is shorter" in said
    assert "Nothing that was recorded has changed" in said
    named = re.search(r"mistake-\w+\.txt", said)
    assert named is not None
    details = log_root() / named[0]
    assert "ValueError: zip()" in details.read_text()
    assert details.stat().st_mode & 0o077 == 0
    details.unlink()
    for session in list_sessions(window.data):
        SessionFolder(session.path).lock().release()  # raises where somebody holds it
        assert session.state == "interrupted"
    qtbot.waitUntil(window.view.ready.start_button.isEnabled, timeout=30_000)
    start(window, qtbot)
    assert window.session is not None, "another session can be started"
    assert not window.window.isVisible()


def test_what_goes_wrong_while_a_session_is_closed_is_told_on_the_home(
    window: HomeController, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(window, qtbot)
    session = window.session
    assert session is not None
    monkeypatch.setattr(session.participant, "_pending_commands", breaking)
    session._down.callback(breaking)
    session._end()
    assert window.session is None
    assert window.window.isVisible()
    assert "could not be closed properly" in window.view.error.title.text()
    (interrupted,) = list_sessions(window.data)
    SessionFolder(interrupted.path).lock().release()
    window.view.resume_requested.emit(interrupted.path)
    assert window.session is not None


@pytest.mark.parametrize("place", ["the participant's window", "its beginning"])
def test_labapp_run_says_it_in_words(
    qapp: object, tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = RunOptions(data=tmp_path / "data", private=tmp_path / "private", audio="off")
    with monkeypatch.context() as patch:
        PLACES[place](patch)
        with pytest.raises(ProgramError, match="could not be opened") as said:
            starting.run_session("quickstart", "P01", "1", options)
    assert "untouched" in said.value.safe
    assert "labapp sessions resume" in said.value.todo
    assert isinstance(said.value, LabappError)
    assert list_sessions(tmp_path / "data") == [], "nothing had been stored"


def test_one_check_that_breaks_keeps_no_other_from_being_made(
    open_home: Callable[..., HomeController], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SessionIndex, "read", breaking)
    monkeypatch.setattr(sys, "excepthook", lambda *_: None)
    opened = open_home()
    rows = opened.view.ready.rows
    qtbot.waitUntil(lambda: rows["decoders"].icon.state == "ok", timeout=30_000)
    assert "list of sessions cannot be read" in opened.view.error.title.text()
    assert rows["disk"].icon.state == "ok"


def test_a_session_broken_off_in_the_tutorial_goes_on(window: HomeController, qtbot: QtBot) -> None:
    start(window, qtbot)
    session = window.session
    assert session is not None
    runner = session.opened.runner
    session.opened.give_consent("Somebody")
    while not isinstance(runner.part, TutorialPart):
        skip_stage(runner, Source.MODERATOR)
    session._end()  # as Ctrl+C does
    (interrupted,) = list_sessions(window.data)
    window.view.resume_requested.emit(interrupted.path)
    again = window.session
    assert again is not None
    again.opened.runner.send(Resume("here"), Source.MODERATOR)
    assert not again.participant.covered
    assert len(again.participant.screen_shown.boxes) == len(runner.part.boxes)


def test_what_takes_seconds_is_said_while_a_session_is_opened(
    window: HomeController, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    say = OpeningCard.say

    def watched(card: OpeningCard, step: str) -> None:
        say(card, step)
        assert card.isVisible()
        steps.append(step)

    monkeypatch.setattr(OpeningCard, "say", watched)
    start(window, qtbot)
    assert steps == list(map(tr, (starting.PAINTING, starting.LOADING, starting.SHOWING)))
    assert window.session is not None
    path = window.session.opened.folder.path
    window.session._on_signal(signal.SIGTERM, None)
    qtbot.waitUntil(lambda: window.session is None)
    assert not window.view.opening.isVisible()
    steps.clear()
    window.resume(path)
    assert steps == list(map(tr, (starting.READING, starting.LOADING, starting.SHOWING)))
