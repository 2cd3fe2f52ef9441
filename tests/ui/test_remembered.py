"""What the home remembers from one start to the next, and a study file that changes meanwhile."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from labapp.base.errors import AudioError, DataFolderError
from labapp.record.audio import check as microphone_module
from labapp.record.audio import devices
from labapp.record.audio.devices import Device
from labapp.record.audio.recorder import Level
from labapp.ui import remembered, theme
from labapp.ui.home import HomeController
from labapp.ui.moderator.bits import TEXT_MARGIN
from labapp.ui.moderator.checklist import StartRequest
from labapp.ui.remembered import MOST_STUDIES, Remembered
from labapp.ui.session_lists import StudyShelf
from labapp.ui.widgets.painting import metrics
from tests.helpers.studies import write_study

MICROPHONES = [
    Device(0, "hw0", "ALSA", 1, 48_000, True),
    Device(1, "hw1", "ALSA", 1, 44_100, False),
]


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LABAPP_SETTINGS", str(tmp_path / "settings"))
    return tmp_path / "settings" / remembered.FILE


OpenHome = Callable[[], HomeController]


@pytest.fixture
def open_home(open_home: OpenHome, settings: Path, monkeypatch: pytest.MonkeyPatch) -> OpenHome:
    def no_probe(device: Device) -> None:
        raise AudioError("It cannot be listened to here.")

    monkeypatch.setattr(devices, "list_devices", lambda **_: MICROPHONES)
    monkeypatch.setattr(microphone_module, "MicrophoneProbe", no_probe)

    def open_one() -> HomeController:
        home = open_home()
        home.microphone.find()
        return home

    return open_one


def own_study(folder: Path, title: str = "A study for tests") -> Path:
    path = write_study(folder / "own", "sinelines/gt")
    path.write_text(path.read_text().replace("A study for tests", title))
    return path


def offered(home: HomeController) -> list[str]:
    combo = home.view.session.study
    return [combo.itemText(i) for i in range(combo.count())]


def test_the_next_start_begins_with_the_last_choices(
    open_home: OpenHome, tmp_path: Path, qtbot: QtBot
) -> None:
    first = open_home()
    assert first.view.session.study.currentData() == "quickstart"
    path = own_study(tmp_path, "Wavy lines in Potsdam")
    first.view.session.choose_file(path)
    first.view.ready.audio_device_changed.emit("hw1@ALSA")
    first.view.session.blind.click()
    again = open_home()
    assert again.view.session.study.currentData() == str(path)
    assert offered(again)[0] == f"Wavy lines in Potsdam ({path.name})"
    assert again.microphone.device is not None
    assert again.microphone.device.name == "hw1"
    assert again.view.session.blind.isChecked()


def test_a_path_that_is_no_text_is_remembered_whatever_the_locale(settings: Path) -> None:
    path = "/studies/\udce9tude.yaml"  # a name in Latin-1
    choices = Remembered(study=path, own={path: "Étude"})
    remembered.write(choices)
    assert remembered.read() == choices
    assert settings.read_bytes().isascii()


def test_no_microphone_is_a_choice_too(open_home: OpenHome) -> None:
    open_home().view.ready.audio_device_changed.emit(None)
    assert open_home().microphone.device is None


def test_no_microphone_is_no_choice_where_a_study_needs_sound(
    open_home: OpenHome, tmp_path: Path
) -> None:
    open_home().view.ready.audio_device_changed.emit(None)
    home = open_home()
    path = own_study(tmp_path)
    path.write_text(path.read_text() + "recording: {audio: required}\n")
    home.microphone.begin()
    home.view.session.choose_file(path)
    assert home.microphone.device is not None
    assert home.microphone.device.is_default
    home.choose_study("quickstart")
    assert home.microphone.device is None, "the last choice, where it is one"


def test_the_microphone_is_listened_to_once_a_study_wants_sound(
    open_home: OpenHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []

    class Probe:
        def __init__(self, device: Device) -> None:
            heard.append(f"opened {device.name}")

        def level(self) -> Level:
            return Level("starting")

        def close(self) -> None:
            heard.append("closed")

    home = open_home()
    home.microphone.begin()
    path = own_study(tmp_path)
    path.write_text(path.read_text() + "recording: {audio: off}\n")
    monkeypatch.setattr(microphone_module, "MicrophoneProbe", Probe)
    home.view.session.choose_file(path)
    assert home.microphone.policy == "off"
    assert heard == []
    home.choose_study("quickstart")
    assert heard == ["opened hw0"]
    home.view.session.choose_file(path)
    assert heard == ["opened hw0", "closed"]


def test_why_there_is_no_microphone_is_said(
    open_home: OpenHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = open_home()

    def broken(**_: object) -> list[Device]:
        raise AudioError("The sound system could not be started: no server.")

    monkeypatch.setattr(devices, "list_devices", broken)
    home.microphone.find()
    row = home.view.ready.rows["microphone"].text.text()
    assert row.startswith("The sound system could not be started: no server. ")


def test_what_is_gone_gives_way_to_the_usual(open_home: OpenHome, tmp_path: Path) -> None:
    first = open_home()
    path = own_study(tmp_path)
    first.view.session.choose_file(path)
    first.view.ready.audio_device_changed.emit("unplugged@ALSA")
    first.view.ready.screen_changed.emit("another room")
    path.unlink()
    again = open_home()
    assert again.view.session.study.currentData() == "quickstart"
    assert "the file is missing" in offered(again)[0]
    assert again.microphone.device is not None
    assert again.microphone.device.is_default
    assert again._screen is not None
    assert again._screen != "another room"


def test_how_many_sessions_fit_does_not_hang_on_whether_a_microphone_is_found_yet(
    open_home: OpenHome,
) -> None:
    home = open_home()

    def room() -> list[str]:
        home._slow_checks()
        labels = home.view.findChildren(QLabel)
        return [text for label in labels if "room for" in (text := label.text())]

    with_device = room()
    assert with_device
    home.microphone.device = None
    assert room() == with_device


def test_a_changed_study_is_read_again(open_home: OpenHome, tmp_path: Path) -> None:
    home = open_home()
    path = own_study(tmp_path)
    home.view.session.choose_file(path)
    note = home.view.session.study_note
    home._slow_checks()
    assert note.isHidden()
    path.write_text(path.read_text().replace("trials: 3", "trials: 4"))
    home._slow_checks()
    assert "read again" in note.text()
    assert home._loaded is not None
    assert home._loaded.study.flow[0].stages.trials == 4
    path.write_text("id: broken\n")
    home._slow_checks()
    assert home._loaded is None
    assert not home.view.error.isHidden()
    home._slow_checks()
    own_study(tmp_path, "Mended")
    home._slow_checks()
    assert home._loaded is not None
    assert home.view.error.isHidden()
    assert offered(home)[0] == f"Mended ({path.name})"


def test_a_changed_text_is_noticed_too(open_home: OpenHome, tmp_path: Path) -> None:
    home = open_home()
    path = own_study(tmp_path)
    words = path.parent / "texts" / "en" / "stage-first.md"
    words.write_text("# One\n")
    home.view.session.choose_file(path)
    os.utime(words, ns=(1, 1))
    home._slow_checks()
    assert "read again" in home.view.session.study_note.text()


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{", b'{"own": []}', b'{"own": {"a": 1}}', b'{"blind": "yes"}', b"\xff\xfe"],
)
def test_a_damaged_file_is_told_and_nothing_of_it_is_used(
    open_home: OpenHome, settings: Path, content: bytes
) -> None:
    settings.parent.mkdir(parents=True)
    settings.write_bytes(content)
    with pytest.raises(DataFolderError, match="last choices"):
        remembered.read()
    home = open_home()
    assert not home.view.error.isHidden()
    assert home.view.session.study.currentData() == "quickstart"
    home.view.session.blind.click()
    assert json.loads(settings.read_text())["blind"] is True


def test_a_place_that_cannot_be_written_holds_nothing_up(
    open_home: OpenHome, settings: Path, tmp_path: Path
) -> None:
    home = open_home()
    settings.parent.rename(tmp_path / "moved") if settings.parent.exists() else None
    settings.parent.write_text("a file in the way")
    home.view.session.blind.click()
    assert "could not be saved" in home.view.error.title.text()
    assert home.shelf.choices.blind


def test_the_oldest_of_many_studies_gives_way() -> None:
    choices = Remembered()
    for number in range(MOST_STUDIES + 5):
        choices = choices.with_study(f"/{number}.yaml", str(number), own=True)
    assert len(choices.own) == MOST_STUDIES
    assert next(iter(choices.own)) == f"/{MOST_STUDIES + 4}.yaml"


def test_shipped_studies_are_offered_by_their_titles() -> None:
    titles = [choice.title for choice in StudyShelf().offered() if choice.study]
    assert len(titles) > 10
    assert titles == sorted(titles, key=str.casefold)


def test_the_home_promises_what_runs_also_of_a_pilot(
    open_home: OpenHome, tmp_path: Path, qtbot: QtBot
) -> None:
    """The participant and the order on the page are those of the session that starts; the tick is
    of one session and one study."""
    home = open_home()
    card = home.view.session
    assert card.participant.text() == "P01"
    card.participant.setText("P07")
    card.pilot.click()
    assert card.participant.text() == "pilotP01"
    assert card.participant_row().state == "ok"
    asked: list[StartRequest] = []
    home.view.start_requested.disconnect()
    home.view.start_requested.connect(asked.append)
    home.view._start()
    assert (asked[0].participant, asked[0].pilot) == ("pilotP01", True)
    card.participant.setText("P01")
    card.participant.textEdited.emit("P01")
    home.choose_study("dsprites-demo")
    assert not card.pilot.isChecked()
    assert card.participant.text() == "P01"
    card.participant.setText("pilotP01")
    assert card.participant_row().state == "missing", "no participant of the study has such a label"
    card.pilot.click()
    home.view.forget_pilot()
    home._show_study()
    assert card.participant.text() == "P01"


def test_the_list_of_studies_is_grouped_described_and_searched(
    open_home: OpenHome, tmp_path: Path, qtbot: QtBot
) -> None:
    home = open_home()
    path = write_study(tmp_path / "mine", "sinelines/gt")
    home.choose_study(str(path))
    combo = home.view.session.study
    combo.showPopup()
    finder = combo.finder
    rows = [finder.list.item(row) for row in range(finder.list.count())]
    headings = [row.text() for row in rows if row not in finder.shown]
    assert headings == ["Your studies", "Shipped studies", "Published studies (replications)"]
    assert len(finder.shown) == combo.count()
    for row in finder.shown[1:]:
        title, line, end = row.toolTip().split("\n")
        assert title
        assert line, title
        assert re.fullmatch(r"about \d+ min", end), title
    for row in finder.shown:
        room = finder.list.viewport().width() - 2 * theme.SPACE_M
        said = row.toolTip().split("\n")
        assert metrics(theme.BODY_PX).horizontalAdvance(said[0]) < room
        assert metrics(theme.SECONDARY_PX).horizontalAdvance(said[1]) < room if said[1:] else True
    qtbot.keyClicks(finder.search, "heatmaps bagnet labels")
    assert [row.text() for row in finder.shown] == ["HIVE: BagNet with labels, distinction"]
    finder.search.clear()
    qtbot.keyClicks(finder.search, "wavy lines, quick")
    finder.search.clear()
    qtbot.keyClicks(finder.search, "quick wavy")
    qtbot.keyClick(finder.search, Qt.Key.Key_Return)
    assert not finder.isVisible()
    assert combo.currentData() == "quickstart"
    assert home.shelf.chosen == "quickstart"
    assert "15 min" in home.view.session.about.text()
    combo.showPopup()
    qtbot.keyClick(finder.search, Qt.Key.Key_Escape)
    finder.hide()


def test_no_title_of_a_study_is_cut(open_home: OpenHome) -> None:
    home = open_home()
    combo = home.view.session.study
    for wide in (911, 1366):
        home.window.resize(wide, 512)
        for choice in home.shelf.offered():
            home.view.session.set_studies(home.shelf.offered(), choice.study)
            QApplication.processEvents()
            room = combo.width() - TEXT_MARGIN
            flags = int(Qt.TextFlag.TextWordWrap)
            needed = combo.fontMetrics().boundingRect(
                QRect(0, 0, room, 1000), flags, combo.currentText()
            )
            assert needed.width() <= room
            assert needed.height() <= combo.height(), choice.title
