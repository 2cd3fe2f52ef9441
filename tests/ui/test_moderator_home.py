"""The home: what it shows, what it asks for, and when it lets a session start."""

from __future__ import annotations

from concurrent.futures import Future
from itertools import combinations
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget
from pytestqt.qtbot import QtBot

from labapp.base.errors import DataFolderError
from labapp.record.audio.devices import Device
from labapp.record.audio.recorder import Level
from labapp.record.journal.sessions import SessionSummary
from labapp.study.loading import load
from labapp.study.planner import realise
from labapp.ui import fitting, language
from labapp.ui.moderator import checklist
from labapp.ui.moderator.checklist import (
    ORDER,
    ChecklistRow,
    Interrupted,
    Microphone,
    ScreenChoice,
    StartRequest,
    StudyChoice,
    Warm,
)
from labapp.ui.moderator.home import CODING, NEW, READER, RESULTS, SESSIONS, HomeView, HomeWindow
from labapp.ui.moderator.sessions_page import SessionView
from labapp.ui.researcher.controller import Researcher
from labapp.ui.session_lists import Listing, SessionLists
from tests.helpers.rooms import decoder_of
from tests.ui.quiet import restless_widgets

MIC = Device(0, "Jabra", "ALSA", 1, 48_000, True)
SCREENS = [ScreenChoice(1, "A", 1366, 768), ScreenChoice(2, "B", 1920, 1080)]


def fill(view: HomeView) -> None:
    """Everything as the controller tells it when all is right."""
    loaded = load("quickstart")
    space = decoder_of("sinelines/gt").space
    plan = realise(loaded, "P04", space_of=lambda model: space, prior_of=lambda model: False)
    view.session.set_studies([StudyChoice("quickstart", loaded.study.title)], "quickstart")
    view.set_participants(loaded.study.participants, {f"P0{i}": ["1"] for i in (1, 2, 3)})
    view.set_plan(plan.parts)
    view.ready.set_audio("optional", [MIC], MIC.spec)
    view.ready.set_screens(SCREENS, "B")
    view.set_checklist(
        [
            checklist.microphone_row("optional", Microphone("Jabra", heard=True, state="heard")),
            checklist.screen_row(SCREENS, "B"),
            checklist.decoder_row(["m/x"], [Warm("m/x", "cpu", 1.0)]),
            checklist.disk_row(10**12),
            checklist.consent_row("All of it."),
        ]
    )
    view.set_consent("Consent", "# Before we start\n\nText.")


@pytest.fixture
def window(qtbot: QtBot) -> HomeWindow:
    made = HomeWindow()
    made.show()
    qtbot.addWidget(made)
    return made


def test_before_anything_is_known_start_waits(window: HomeWindow) -> None:
    assert not window.view.ready.start_button.isEnabled()
    assert "To start, you still need" in window.view.ready.why.text()


@pytest.mark.parametrize("tab", [SESSIONS, RESULTS, CODING])
def test_below_a_banner_a_page_scrolls_before_its_parts_overlap(qtbot: QtBot, tab: int) -> None:
    """On a laptop at 150 %, in German."""
    language.speak("de")
    try:
        window = HomeWindow()
        qtbot.addWidget(window)
        window.show()
        window.resize(911, 512)
        line = Interrupted(Path("/one"), "quickstart", "P05", "2026-01-02T03:04:05Z")
        window.view.interrupted.set_lines([line])
        window.view.tabs[tab].click()
        view = window.view
        page = {SESSIONS: view.sessions_page, RESULTS: view.results, CODING: view.coding}[tab]
        table = page.sessions if tab == RESULTS else page.table

        def all_has_room() -> None:
            heading = table.horizontalHeader().height()
            assert table.height() >= heading + 2 * table.verticalHeader().defaultSectionSize()
            buttons = [each for each in page.findChildren(QAbstractButton) if each.isVisible()]
            places = [each.rect().translated(each.mapTo(page, QPoint(0, 0))) for each in buttons]
            assert all(page.rect().contains(place) for place in places)
            assert not any(a.intersects(b) for a, b in combinations(places, 2))

        qtbot.waitUntil(all_has_room, timeout=60_000)
    finally:
        language.speak("en")


def test_start_asks_for_what_is_chosen(window: HomeWindow, qtbot: QtBot) -> None:
    view = window.view
    fill(view)
    assert view.ready.why.text() == "Everything is ready."
    assert view.participant() == ("P04", "1")
    view.session.blind.setChecked(True)
    with qtbot.waitSignal(view.start_requested) as caught:
        qtbot.mouseClick(view.ready.start_button, Qt.MouseButton.LeftButton)
    assert caught.args == [StartRequest("quickstart", "P04", "1", "Jabra@ALSA", "B", True)]


def test_start_says_why_not(window: HomeWindow) -> None:
    view = window.view
    fill(view)
    view.set_checklist([checklist.consent_row("[your institution]"), checklist.disk_row(5)])
    assert not view.ready.start_button.isEnabled()
    assert view.ready.why.text() == "To start, you still need disk space and the consent text."
    assert view.ready.rows["consent"].icon.state == "missing"
    assert "Fill in [your institution]" in view.ready.rows["consent"].text.text()


def test_a_taken_participant_is_refused_while_typing(window: HomeWindow, qtbot: QtBot) -> None:
    view = window.view
    fill(view)
    field = view.session.participant
    field.selectAll()
    seen: list[tuple[str, str]] = []
    view.session.participant_changed.connect(lambda *who: seen.append(who))
    qtbot.keyClicks(field, "P02")
    assert seen[-1] == ("P02", "1")
    assert view.session.verdict.text() == "P02 is taken. The next free id is P04."
    assert not view.ready.start_button.isEnabled()
    assert view.ready.why.text() == "To start, you still need a participant."
    view.session.session.selectAll()
    qtbot.keyClicks(view.session.session, "2")
    assert view.ready.start_button.isEnabled()


def test_a_typed_participant_is_not_overwritten_by_a_new_proposal(
    window: HomeWindow, qtbot: QtBot
) -> None:
    view = window.view
    fill(view)
    participants = load("quickstart").study.participants
    view.set_participants(participants, {f"P0{i}": ["1"] for i in (1, 2, 3, 4)})
    assert view.participant()[0] == "P05"
    view.session.participant.selectAll()
    qtbot.keyClicks(view.session.participant, "P09")
    view.set_participants(participants, {"P01": ["1"]})
    assert view.participant()[0] == "P09"


def test_blind_hides_the_order(window: HomeWindow) -> None:
    view = window.view
    fill(view)
    assert "sinelines/vae" in view.session.order.text()
    view.session.blind.setChecked(True)
    assert "sinelines" not in view.session.order.text()
    assert "3 stages" in view.session.order.text()


def test_a_study_that_cannot_be_planned_blocks_start(window: HomeWindow) -> None:
    view = window.view
    fill(view)
    view.set_plan((), "There is no model 'sinelines/vae'.")
    assert view.session.order.text() == "There is no model 'sinelines/vae'."
    assert "To start, you still need a study that can be run" in view.ready.why.text()


def test_sound_off_is_offered_only_where_the_study_allows_it(window: HomeWindow) -> None:
    view = window.view

    def offered() -> list[str | None]:
        return [view.ready.device.itemData(i) for i in range(view.ready.device.count())]

    view.ready.set_audio("optional", [MIC], MIC.spec)
    assert offered() == ["Jabra@ALSA", None]
    assert view.ready.device.itemText(0) == "Jabra · ALSA"
    view.ready.set_audio("required", [MIC], MIC.spec)
    assert offered() == ["Jabra@ALSA"]
    view.ready.set_audio("off", [MIC], None)
    assert offered() == [None]
    assert view.ready.device.isHidden()


def test_choosing_tells_and_setting_does_not(window: HomeWindow, qtbot: QtBot) -> None:
    view = window.view
    told: list[object] = []
    view.ready.audio_device_changed.connect(told.append)
    view.ready.screen_changed.connect(told.append)
    view.session.study_changed.connect(told.append)
    fill(view)
    view.ready.set_screens(SCREENS, "A")
    assert told == []
    qtbot.keyClick(view.ready.device, Qt.Key.Key_Down)
    qtbot.keyClick(view.ready.screen_choice, Qt.Key.Key_Down)
    assert told == [None, "B"]


def test_a_file_that_was_opened_is_what_start_asks_for(window: HomeWindow, qtbot: QtBot) -> None:
    view = window.view
    fill(view)
    with qtbot.waitSignal(view.session.study_changed) as caught:
        view.session.choose_file(Path("/studies/mine.yaml"))
    assert caught.args == ["/studies/mine.yaml"]
    mine = StudyChoice("/studies/mine.yaml", "My study (mine.yaml)")
    view.session.set_studies([mine, StudyChoice("quickstart", "Quick start")], mine.study)
    assert view.session.study.currentText() == "My study (mine.yaml)"
    with qtbot.waitSignal(view.start_requested) as caught:
        qtbot.mouseClick(view.ready.start_button, Qt.MouseButton.LeftButton)
    assert caught.args[0].study == "/studies/mine.yaml"


def test_the_meter_follows_the_level(window: HomeWindow) -> None:
    view = window.view
    fill(view)
    view.ready.set_level(Level("heard", envelope=tuple(i / 100 for i in range(100))))
    assert view.ready.bars.peaks[-1] == 0.99
    view.ready.set_level(None)
    assert view.ready.bars.peaks == ()


def test_while_a_session_opens_start_waits(window: HomeWindow) -> None:
    view = window.view
    fill(view)
    view.set_starting(True)
    assert not view.ready.start_button.isEnabled()
    view.set_starting(False)
    assert view.ready.start_button.isEnabled()


def test_the_consent_text_is_read_in_the_window(window: HomeWindow, qtbot: QtBot) -> None:
    view = window.view
    fill(view)
    qtbot.mouseClick(view.ready.read, Qt.MouseButton.LeftButton)
    assert view.pages.currentIndex() == READER
    assert "Before we start" in view.reader.toPlainText()
    qtbot.mouseClick(view.reader_back, Qt.MouseButton.LeftButton)
    assert view.pages.currentIndex() == NEW


def test_the_home_works_by_keyboard(window: HomeWindow, qtbot: QtBot) -> None:
    view = window.view
    fill(view)
    qtbot.keyClick(view.ready.read, Qt.Key.Key_Return)
    assert view.pages.currentIndex() == READER
    qtbot.keyClick(view.reader_back, Qt.Key.Key_Escape)
    assert view.pages.currentIndex() == NEW
    with qtbot.waitSignal(view.start_requested):
        qtbot.keyClick(view.ready.start_button, Qt.Key.Key_Enter)


def summary(participant: str, state: str, **more: object) -> SessionSummary:
    path = Path("/data/quickstart") / participant
    values = {"length_s": 3492.0, "sound": True, **more}
    return SessionSummary(
        participant, path, "quickstart", participant, "1", "2026-01-02T03:04:05Z", state, **values
    )  # type: ignore[arg-type]


def test_sessions_are_listed_with_state_length_and_voice(window: HomeWindow) -> None:
    view = window.view
    lines = [
        summary("P03", "complete", exported=("bundle",), lost_s=1.24),
        summary("P02", "interrupted", sound=False),
    ]
    view.set_sessions(lines)
    table = view.so_far
    assert cells(table) == [
        ["P03", "✓  complete, exported", "58:12", "1.2 s lost"],
        ["P02", "!  interrupted", "58:12", "no sound"],
    ]
    assert view.none_yet.isHidden()
    view.set_sessions([])
    assert table.isHidden()


def test_how_many_people_took_part_stands_above_the_sessions(window: HomeWindow) -> None:
    view = window.view
    view.set_sessions([])
    assert view.people.isHidden()
    view.set_sessions([summary("P03", "complete")], people={"included": 2, "withdrawn": 1})
    assert not view.people.isHidden()
    assert view.people.text() == "3 participants: 2 included, 1 withdrawn"
    view.set_sessions([summary("P03", "complete")], people={"excluded": 1})
    assert view.people.text() == "1 participant: 1 excluded"


def test_nothing_is_told_of_sessions_and_microphones_before_they_were_looked_for(
    window: HomeWindow,
) -> None:
    view = window.view
    pages = view.none_yet, view.sessions_page.about, view.results.count
    nowhere = Path("/nowhere")
    reading = SessionLists(nowhere, nowhere, view, view)
    reading.feed(Researcher(view.results, view))
    reading.show_study(load("quickstart").study)
    assert {label.text() for label in pages} == {"Checking …"}
    view.ready.set_audio("optional", None, None)
    assert view.ready.device.currentText() == "Checking …"
    view.ready.set_audio("optional", [], None)
    assert view.ready.device.currentText() == "Off: record without sound"
    reading._read(_done(Listing()))
    hint = "No sessions yet. Start one on the “New session” page."
    assert [label.text() for label in pages] == ["No sessions yet.", hint, "No sessions yet."]


def _done(listing: Listing) -> Future[Listing]:
    future: Future[Listing] = Future()
    future.set_result(listing)
    return future


def cells(table: SessionView) -> list[list[str]]:
    """The texts of a table, row by row."""
    model = table.sessions
    return [
        [str(model.data(model.index(row, column))) for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


def test_an_interrupted_session_can_be_resumed_from_the_list(
    window: HomeWindow, qtbot: QtBot
) -> None:
    view = window.view
    view.sessions_page.set_lines([summary("P03", "complete"), summary("P02", "interrupted")])
    qtbot.mouseClick(view.tabs[1], Qt.MouseButton.LeftButton)
    page = view.sessions_page
    row_of = [line.participant for line in page.table.sessions.rows].index
    page.table.selectRow(row_of("P03"))
    assert not page.resume.isEnabled()
    page.table.selectRow(row_of("P02"))
    with qtbot.waitSignal(view.resume_requested) as caught:
        qtbot.mouseClick(page.resume, Qt.MouseButton.LeftButton)
    assert caught.args == [Path("/data/quickstart/P02")]
    view.sessions_page.set_lines(page.table.lines, {Path("/data/quickstart/P02")})
    assert not page.resume.isEnabled()
    assert "does not allow sessions to be resumed" in page.about.text()


def test_the_banner_asks_about_each_interrupted_session(window: HomeWindow, qtbot: QtBot) -> None:
    view = window.view
    assert view.interrupted.isHidden()
    one = Interrupted(Path("/one"), "quickstart", "P05", "2026-01-02T03:04:05Z")
    two = Interrupted(Path("/two"), "quickstart", "P06", "2026-01-02T03:04:05Z")
    view.interrupted.set_lines([one, two])
    assert "Session P05 was interrupted, 2026-01-0" in view.interrupted.title.text()
    with qtbot.waitSignal(view.interrupted.leave_requested) as left:
        qtbot.mouseClick(view.interrupted.leave, Qt.MouseButton.LeftButton)
    assert left.args == [Path("/one")]
    assert "P06" in view.interrupted.title.text()
    with qtbot.waitSignal(view.resume_requested) as resumed:
        qtbot.mouseClick(view.interrupted.resume, Qt.MouseButton.LeftButton)
    assert resumed.args == [Path("/two")]


def test_the_banner_offers_no_resume_where_the_study_forbids_it(
    window: HomeWindow, qtbot: QtBot
) -> None:
    view = window.view
    one = Interrupted(Path("/one"), "s", "P05", "2026-01-02T03:04:05Z", forbidden=True)
    two = Interrupted(Path("/two"), "s", "P06", "2026-01-02T03:04:05Z")
    view.interrupted.set_lines([one, two])
    assert "does not allow" in view.interrupted.text.text()
    assert not view.interrupted.resume.isVisible()
    qtbot.mouseClick(view.interrupted.leave, Qt.MouseButton.LeftButton)
    assert "now or later" in view.interrupted.text.text()
    assert view.interrupted.resume.isVisible()


def test_an_error_is_told_in_three_parts_and_can_be_dismissed(
    window: HomeWindow, qtbot: QtBot
) -> None:
    view = window.view
    view.show_error(DataFolderError("The disk is full.", safe="All is kept.", todo="Make room."))
    assert view.error.isVisible()
    assert view.error.title.text() == "The disk is full."
    assert view.error.text.text() == "All is kept. Make room."
    qtbot.mouseClick(view.error.dismiss, Qt.MouseButton.LeftButton)
    assert view.error.isHidden()


@pytest.mark.parametrize("size", [(1366, 768), (1280, 720)])
def test_nothing_is_cut_off(window: HomeWindow, size: tuple[int, int]) -> None:
    fill(window.view)
    window.view.interrupted.set_lines([Interrupted(Path("/o"), "q", "P05", "2026-01-02T03:04:05Z")])
    window.resize(*size)
    hint = window.view.minimumSizeHint()
    assert hint.width() <= size[0]
    assert hint.height() <= size[1]


def test_every_finding_is_read_in_full_below_the_banner(window: HomeWindow, qtbot: QtBot) -> None:
    """At the size of a small screen, with texts as long as the German ones."""
    view = window.view
    fill(view)
    view.interrupted.set_lines(
        [Interrupted(Path(name), "quickstart", "P05", "2026-01-02T03:04:05Z") for name in "ab"]
    )
    long = "Two lines that say what is the matter, and what to do about it."
    view.set_checklist([ChecklistRow(key, "warn", long) for key in ORDER])
    window.resize(1280, 720)
    texts = [row.text for row in view.ready.rows.values()]
    # Layouts within each other settle one after the other.
    qtbot.waitUntil(
        lambda: all(text.heightForWidth(text.width()) <= text.height() for text in texts)
    )


def test_closing_tells(window: HomeWindow, qtbot: QtBot) -> None:
    with qtbot.waitSignal(window.closed):
        window.close()


@pytest.mark.parametrize("width", [900, 1366])
def test_no_page_is_laid_out_while_nothing_happens(window: HomeWindow, width: int) -> None:
    fill(window.view)
    window.resize(width, 768)
    for page in range(window.view.pages.count()):
        window.view.pages.setCurrentIndex(page)
        assert not restless_widgets(), page


@pytest.mark.parametrize("language_", ["en", "de"])
@pytest.mark.parametrize("stretch", [100, 115])
def test_nothing_is_cut_off_at_the_side_of_the_smallest_window(
    qtbot: QtBot, language_: str, stretch: int
) -> None:
    """In a system's font, which may be wider than that of another one."""
    usual = QApplication.font()
    wide = QFont(usual)
    wide.setStretch(stretch)
    QApplication.setFont(wide)
    language.speak(language_)
    try:
        window = HomeWindow()
        qtbot.addWidget(window)
        window.show()
        fill(window.view)
        warning = (
            "There is no signal at all from the microphone: it is muted, "
            "or the system is blocking it."
        )
        window.view.set_checklist([ChecklistRow(key, "missing", warning) for key in ORDER])
        window.resize(*fitting.HOME)
        for page in range(window.view.pages.count()):
            window.view.pages.setCurrentIndex(page)
            qtbot.waitUntil(lambda: not restless_widgets())
            assert not cut_off(window), page
    finally:
        QApplication.setFont(usual)


def cut_off(window: QWidget) -> list[str]:
    """The widgets of a window that are not seen in their full width, or have less than their text
    needs."""
    return [
        f"{type(widget).__name__} {widget.text() if isinstance(widget, QAbstractButton) else ''}: "
        f"{seen} of {widget.width()}, wants {widget.sizeHint().width()}"
        for widget in window.findChildren(QWidget)
        if widget.isVisible() and not widget.visibleRegion().isEmpty()
        if (seen := widget.visibleRegion().boundingRect().width()) < widget.width()
        or (isinstance(widget, QAbstractButton) and widget.width() < widget.sizeHint().width())
    ]
