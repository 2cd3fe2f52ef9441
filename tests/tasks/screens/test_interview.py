"""The interview on both screens: announced before and while it runs, led by the console's guide."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from labapp.base.clock import FakeClock
from labapp.record.events import Event, Source
from labapp.record.events.commands import Pause, Resume
from labapp.study.loading import load
from labapp.tasks.consent.screen import ConsentScreen
from labapp.tasks.interview.beside import InterviewPanel
from labapp.tasks.interview.events import AskQuestion
from labapp.tasks.interview.machine import InterviewPart, InterviewState
from labapp.tasks.interview.screen import InterviewScreen
from labapp.ui import theme
from labapp.ui.consent_pdf import text_of
from labapp.ui.moderator import bits
from labapp.ui.moderator.console import ConsoleWindow
from labapp.ui.participant.window import ParticipantWindow
from labapp.ui.strings import strings_of
from tests.helpers.rooms import Room, SilentRecorder
from tests.session.test_skipping import INTERVIEW_STUDY as STUDY
from tests.ui.desk import SILENT, Desk

LEFT = Qt.MouseButton.LeftButton
OpenRoom = Callable[..., Room]
OpenWindow = Callable[[Room], ParticipantWindow]


def write_study(folder: Path, language: str = "en", consent: str = "") -> Path:
    text = STUDY.replace("version: 1\n", f"version: 1\nlanguage: {language}\n")
    path = folder / "talked.yaml"
    path.write_text(text.replace("shipped:consent", consent) if consent else text)
    return path


def open_study(
    open_room: OpenRoom, tmp_path: Path, *, sound: bool, language: str = "en", consent: str = ""
) -> tuple[Room, FakeClock]:
    path = write_study(tmp_path, language, consent)
    clock = FakeClock()
    maker = SilentRecorder if sound else None
    return open_room(path, clock=clock, make_recorder=maker), clock


@pytest.fixture
def talked(open_room: OpenRoom, tmp_path: Path) -> Iterator[Desk]:
    room, clock = open_study(open_room, tmp_path, sound=True)
    made = Desk(room, clock)
    room.session.begin()
    yield made
    made.console.shut()
    made.console.deleteLater()


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("sound", [True, False])
def test_the_participant_is_told_before_and_during_it(
    open_room: OpenRoom, open_window: OpenWindow, tmp_path: Path, sound: bool, language: str
) -> None:
    room, _ = open_study(open_room, tmp_path, sound=sound, language=language)
    window = open_window(room)
    words = window.session.words
    room.session.begin()
    consent = window.screen_shown
    assert isinstance(consent, ConsentScreen)
    named = words("consent_interview" if sound else "consent_interview_unrecorded")
    assert named in consent.text.toPlainText()
    room.session.give_consent("A Name")
    screen = window.screen_shown
    assert isinstance(screen, InterviewScreen)
    told = words("interview_recorded" if sound else "interview_unrecorded")
    assert screen.announcement.text() == told
    assert "Esc" in screen.how.text()
    for button in (window.bottom.left, window.bottom.right):
        assert button.isHidden(), "nothing ends it by accident"


def test_who_is_asked_about_sound_is_told_that_it_depends(
    open_room: OpenRoom, open_window: OpenWindow, tmp_path: Path
) -> None:
    consent = "{text: 'shipped:consent', items: {audio: optional}}"
    room, _ = open_study(open_room, tmp_path, sound=True, consent=consent)
    window = open_window(room)
    room.session.begin()
    assert isinstance(window.screen_shown, ConsentScreen)
    words = window.session.words
    assert words("consent_interview_asked") in window.screen_shown.text.toPlainText()
    room.session.give_consent("A Name", uses={"audio": False})
    assert isinstance(window.screen_shown, InterviewScreen)
    assert window.screen_shown.announcement.text() == words("interview_unrecorded")


@pytest.mark.parametrize("sound", [True, False])
def test_the_printed_form_names_it_too(tmp_path: Path, qapp: QApplication, sound: bool) -> None:
    path = write_study(tmp_path)
    if not sound:
        path.write_text(path.read_text() + "recording: {audio: off}\n")
    loaded = load(path)
    words = strings_of(loaded)
    named = words("consent_interview" if sound else "consent_interview_unrecorded")
    printed = text_of(loaded, None, strings_of(loaded))
    assert printed.endswith(named)


def test_a_study_without_an_interview_announces_none(
    open_room: OpenRoom, open_window: OpenWindow
) -> None:
    room = open_room(make_recorder=SilentRecorder)
    window = open_window(room)
    room.session.begin()
    assert isinstance(window.screen_shown, ConsentScreen)
    said = window.screen_shown.text.toPlainText()
    assert window.session.words("consent_interview") not in said


def test_the_guide_is_led_from_the_console(talked: Desk, qtbot: QtBot) -> None:
    room, console = talked.room, talked.console
    assert not isinstance(console.mirror.stack.currentWidget(), InterviewPanel)
    room.session.give_consent("A Name")
    talked.wait(30)
    guide = console.mirror.stack.currentWidget()
    assert isinstance(guide, InterviewPanel)
    assert ("Interview", "current", "0 / 2") in talked.plan()
    qtbot.mouseClick(guide.questions[1], LEFT)
    talked.wait(12)
    qtbot.keyClick(console, Qt.Key.Key_1, Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ShiftModifier)  # fmt: skip # noqa: E501
    talked.wait(1)
    assert [question.asked.text() for question in guide.questions] == ["✓ 0:42", "✓ 0:30"]
    assert room.last("interview.question_asked")["question"] == 1
    assert ("Interview", "current", "2 / 2") in talked.plan()
    assert console.state.timeline.marks[-1].text == "Asked: What did you look for?"
    room.runner.send(Pause("a phone"), Source.MODERATOR)
    talked.wait(1)
    assert not isinstance(console.mirror.stack.currentWidget(), InterviewPanel)
    room.runner.send(Resume("on"), Source.MODERATOR)
    qtbot.mouseClick(guide.end, LEFT)
    talked.wait(1)
    assert room.last("part.ended") == {"index": 1, "outcome": "completed"}
    assert room.runner.part is not None
    assert room.runner.part.id == "debrief"


def test_no_question_of_a_guide_is_cut(qtbot: QtBot) -> None:
    words = "Was there a moment at which you changed your mind about what a dial does? " * 2
    questions = tuple(words[: 20 + 7 * n].strip() for n in range(12))
    mirror = InterviewPanel(theme.DARK, lambda command: None)
    mirror.setStyleSheet(bits.stylesheet(theme.DARK))
    qtbot.addWidget(mirror)
    mirror.show()
    for width in range(420, 1000, 116):
        mirror.resize(width, 600)
        part = InterviewPart(id="i", title="Interview", document="d", questions=questions)
        mirror.show_guide(part, InterviewState(), sound=True)
        for _ in range(3):
            QApplication.processEvents()
        for question in mirror.questions:
            label = question.words
            assert label.height() >= label.heightForWidth(label.width()), (width, label.text())


def test_silence_in_an_interview_is_no_alarm(talked: Desk) -> None:
    talked.room.session.give_consent("A Name")
    talked.level = SILENT
    talked.wait(60)
    assert talked.console.voice.prompt.isHidden()
    assert talked.alarms() == []


def test_the_guide_is_there_again_for_a_console_that_comes_later(talked: Desk) -> None:
    """As after a crash: everything the console shows is folded from the journal."""
    room = talked.room
    events: list[Event] = []
    room.runner.journal.subscribe(events.append)
    room.session.give_consent("A Name")
    talked.wait(5)
    room.runner.send(AskQuestion(2), Source.MODERATOR)
    later = ConsoleWindow(room.bridge, room.loaded, "P01", lambda: None, past=events)
    try:
        later.refresh()
        guide = later.mirror.stack.currentWidget()
        assert isinstance(guide, InterviewPanel)
        asked = [question.asked.text() for question in guide.questions]
        assert asked == ["", "✓ 0:05"]
    finally:
        later.shut()
        later.deleteLater()
