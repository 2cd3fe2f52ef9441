"""The way to the lab's own survey on both screens, and in a preview."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from labapp.base.clock import FakeClock
from labapp.study.loading import load
from labapp.tasks.survey.beside import SurveyPanel
from labapp.tasks.survey.events import OpenSurvey
from labapp.tasks.survey.screen import QrCode, SurveyScreen
from labapp.ui import language
from labapp.ui.participant import window
from labapp.ui.participant.window import ParticipantWindow
from labapp.ui.preview import open_preview
from tests.helpers.rooms import Room
from tests.session.test_survey import FILLED, study
from tests.ui.desk import Desk

OpenRoom = Callable[..., Room]
OpenWindow = Callable[..., ParticipantWindow]


def survey(
    open_room: OpenRoom, open_window: OpenWindow, tmp_path: Path, way: str, *, opens: bool = True
) -> tuple[Room, ParticipantWindow, list[str]]:
    """A session at the survey, its window, and the links that a browser was asked to open."""
    room = open_room(study(tmp_path, "button", way), clock=FakeClock())
    window = open_window(room, "survey-1")
    links: list[str] = []
    hand = window.session.hand
    assert hand is not None
    taken = hand._replace(open_link=lambda link: links.append(link) or opens)
    object.__setattr__(window.session, "hand", taken)
    return room, window, links


def test_everything_works_by_keys(open_room, open_window, tmp_path: Path) -> None:
    room, window, links = survey(open_room, open_window, tmp_path, "button")
    screen = window.screen_shown
    assert isinstance(screen, SurveyScreen)
    assert window.focusWidget() is screen.open, "and not the way on"
    assert screen.code.isHidden()
    screen.right()
    assert room.runner.part.id == "survey-1"
    assert window.bottom.note.text() == window.session.words("survey_open_first")
    QTest.keyClick(screen.open, Qt.Key.Key_Return)
    assert links == [FILLED]
    assert screen.open.text() == window.session.words("survey_open_again")
    QTest.keyClick(screen.open, Qt.Key.Key_Tab)
    assert window.focusWidget() is window.bottom.right
    QTest.keyClick(window.bottom.right, Qt.Key.Key_Return)
    assert room.runner.part.id == "debrief"


def test_who_has_no_browser_gets_a_code(open_room, open_window, tmp_path: Path) -> None:
    room, window, links = survey(open_room, open_window, tmp_path, "button", opens=False)
    screen = window.screen_shown
    screen.open.click()
    assert links == [FILLED]
    assert not screen.code.isHidden()
    assert screen.note.text() == window.session.words("survey_failed")
    screen.right()
    assert room.runner.part.id == "debrief"


def test_the_code_says_the_link_exactly(open_room, open_window, tmp_path: Path, qapp) -> None:
    _, window, _ = survey(open_room, open_window, tmp_path, "qr-code")
    screen = window.screen_shown
    assert screen.open.isHidden()
    assert window.focusWidget() is screen.code, "and not the way on"
    qapp.processEvents()
    assert modules(screen.code) == expected(FILLED)


def expected(link: str) -> list[list[bool]]:
    import segno

    return [[bool(module) for module in row] for row in segno.make_qr(link, error="m").matrix]


def modules(code: QrCode) -> list[list[bool]]:
    """The modules as they are painted: the picture is divided where black begins and ends."""
    image = code.grab().toImage().convertToFormat(QImage.Format.Format_Grayscale8)
    dark = [
        (x, y)
        for y in range(8, image.height() - 8)
        for x in range(8, image.width() - 8)
        if image.pixelColor(x, y).value() < 64
    ]
    left, right = min(x for x, _ in dark), max(x for x, _ in dark)
    top = min(y for _, y in dark)
    size = len(expected(FILLED))
    module = (right - left + 1) // size
    assert (right - left + 1) == module * size, "every module has the same size"
    middles = [module // 2 + place * module for place in range(size)]
    return [[image.pixelColor(left + x, top + y).value() < 64 for x in middles] for y in middles]


@pytest.mark.parametrize("spoken", ["en", "de"])
def test_the_moderator_sees_it_and_continues(
    open_room, tmp_path: Path, spoken: str, request: pytest.FixtureRequest
) -> None:
    clock = FakeClock()
    room = open_room(study(tmp_path), clock=clock)
    language.speak(spoken)
    request.addfinalizer(lambda: language.speak(language.ENGLISH))
    desk = Desk(room, clock)
    room.session.begin()
    room.session.give_consent("A Name")
    desk.wait(75)
    panel = desk.console.mirror.stack.currentWidget()
    assert isinstance(panel, SurveyPanel)
    assert "1:15" in panel.since.text()
    assert not panel.opened.isHidden()
    # 1366 x 768 at 150 %, where the panel has 557 of 911 pixels.
    assert panel.minimumSizeHint().width() <= 540
    room.runner.send(OpenSurvey(opened=False))
    desk.wait(1)
    assert panel.opened.property("tone") == "alarm"
    panel.end.click()
    assert room.runner.part.id == "debrief"
    desk.console.shut()
    desk.console.deleteLater()


def test_a_preview_opens_no_browser(tmp_path: Path, qapp: QApplication) -> None:
    with open_preview(load(study(tmp_path)), None, None) as preview:
        (place,) = (place for place in preview.places if place.part.id == "survey-1")
        preview.show(place)
        screen = preview.window.screen_shown
        assert isinstance(screen, SurveyScreen)
        screen.open.click()
        qapp.processEvents()
        assert screen.note.text() == preview.window.session.words("survey_preview")


def test_a_link_is_opened_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    urls: list[str] = []
    opens = staticmethod(lambda url: urls.append(bytes(url.toEncoded()).decode()) or True)
    monkeypatch.setattr(window.QDesktopServices, "openUrl", opens)
    assert window.open_in_browser(FILLED)
    assert urls == [FILLED]
