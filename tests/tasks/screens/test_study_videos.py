"""Videos of a study's items, options and texts: checked, played with their sound, and in the
replay the picture of the time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from labapp.analysis import load as load_tables
from labapp.analysis.checking import check_study
from labapp.base.errors import VideoError
from labapp.coding.videos import decoding
from labapp.record.audio.player import Player
from labapp.record.events.commands import Next
from labapp.record.journal.opening import open_record
from labapp.session import opening
from labapp.session.replay.history import History
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study import media
from labapp.study.loading import load
from labapp.tasks.questionnaire.machine import Answer
from labapp.ui.participant.screen import Screen
from labapp.ui.replay.picture import PastWindow
from labapp.ui.widgets.markdown import picture_width
from labapp.ui.widgets.video_picture import VideoPicture
from tests.helpers.made_videos import heard_by, number_in, speech_like, write_video
from tests.helpers.reach import ill_made, out_of_reach
from tests.tasks.screens.test_study_sounds import _wait, add_text, sound, with_options, write_study
from tests.ui.hearing import Text as Told
from tests.ui.hearing import interface_of

SECONDS = 2.0
FILE = "videos/robot.mp4"
MEDIA = {"file": FILE, "alt": "A robot", "plays": 2, "heard": True, "width": 320}


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    samples = heard_by(speech_like(SECONDS), 0.0, SECONDS)
    return write_video(
        tmp_path_factory.mktemp("film") / "film.mp4",
        samples,
        SECONDS,
        per_second=25,
        size=(640, 360),
    ).read_bytes()


@pytest.fixture(autouse=True)
def without_loudspeaker(monkeypatch: pytest.MonkeyPatch) -> None:
    """The player's own clock, as on a computer without a loudspeaker."""
    monkeypatch.setattr(Screen, "make_player", staticmethod(lambda heard: Player(heard, None)))


@pytest.fixture
def no_pyav(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Take PyAV away, as from a computer without the extra."""

    def take() -> None:
        media.decode_sound.cache_clear()
        monkeypatch.setattr(decoding, "is_installed", lambda: False)

    yield take
    media.decode_sound.cache_clear()


def number_on(pictures: VideoPicture) -> int:
    """The number of the video's picture that a widget shows."""
    image = pictures.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1)
    return number_in(rows[:, : 3 * image.width()].reshape(image.height(), image.width(), 3), 640)


def faults_of(path: Path) -> list[Any]:
    return [fault for error in check_study(path).errors for fault in error.faults]


def test_a_video_is_as_long_as_its_pictures_and_has_its_sound(film: bytes) -> None:
    decoded = media.decode_sound(film)
    assert decoded.seconds == pytest.approx(SECONDS, abs=0.05)
    assert decoded.size == (640, 360)
    assert np.abs(decoded.samples).max() > 1000
    assert decoded.video is film


def test_a_silent_video_plays_as_long_as_it_lasts(tmp_path: Path) -> None:
    silent = write_video(tmp_path / "film.mp4", None, 1.0).read_bytes()
    decoded = media.decode_sound(silent)
    assert decoded.seconds == pytest.approx(1.0, abs=0.05)
    assert not decoded.samples.any()


@pytest.mark.parametrize(
    ("named", "files", "told"),
    [
        (FILE, {}, "the video 'videos/robot.mp4' does not exist"),
        (FILE, {FILE: b"no video"}, "is not an MP4, MOV, Matroska, WebM, AVI, MPEG or Ogg video"),
        (FILE, {FILE: sound()}, "the video 'videos/robot.mp4' is a sound"),
        ({"file": {"en": FILE, "de": "robot.png"}}, {}, "pictures in all languages, or sounds"),
        ({**MEDIA, "width": 3}, {}, "greater than or equal to 16"),
        ({**MEDIA, "play": 2}, {}, "did you mean 'plays'"),
    ],
)
def test_a_mistake_is_told_with_its_line(
    named: Any, files: dict[str, bytes], told: str, tmp_path: Path
) -> None:
    faults = faults_of(write_study(tmp_path / "own", named, **files))
    assert any(told in fault.what for fault in faults), faults
    assert all(fault.line for fault in faults)
    assert not any(" at 0x" in fault.what for fault in faults)


def test_a_video_with_the_ending_of_a_sound_is_refused_and_a_recorded_one_read(
    tmp_path: Path, film: bytes
) -> None:
    path = write_study(tmp_path / "own", {"file": "sounds/robot.wav"}, **{"sounds/robot.wav": film})
    (fault,) = faults_of(path)
    assert fault.what == "the sound 'sounds/robot.wav' is a video"
    assert media.find_fault("sounds/robot.wav", film, shown=False) is None


def test_a_file_that_one_language_lacks_is_the_only_mistake_that_is_told(tmp_path: Path) -> None:
    path = write_study(tmp_path / "own", {"file": {"en": FILE}, "heard": True, "width": 100})
    path.write_text(path.read_text("utf-8").replace("version: 1\n", "version: 1\nlanguage: de\n"))
    told = [fault.what for fault in faults_of(path) if "media" in fault.key]
    assert told == ["allowed: a text in the study's language 'de'; there is: en"]


def test_a_video_that_is_too_large_for_playing_is_refused(
    tmp_path: Path, film: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    media.decode_sound.cache_clear()
    monkeypatch.setattr(media, "MOST_PIXELS", 640 * 360 - 1)
    (fault,) = faults_of(write_study(tmp_path / "own", MEDIA, **{FILE: film}))
    assert fault.what == "the video 'videos/robot.mp4' has 640 × 360 pixels"
    assert "1920 × 1080" in fault.todo


def test_without_the_extra_the_study_is_refused_with_what_to_install(
    tmp_path: Path, film: bytes, no_pyav: Any
) -> None:
    path = write_study(tmp_path / "own", MEDIA, **{FILE: film})
    no_pyav()
    (fault,) = faults_of(path)
    assert "PyAV is not installed" in fault.what
    assert "extras add video" in fault.todo


def test_it_plays_is_heard_and_its_picture_is_replayed(
    tmp_path: Path, film: bytes, open_room: Any, open_window: Any, qapp: QApplication, no_pyav: Any
) -> None:
    path = write_study(tmp_path / "own", MEDIA, **{FILE: film})
    room = open_room(study=path)
    window = open_window(room)
    window.resize(1366, 768)
    screen = window.screen_shown
    (bar,), view = screen.pages[0].sounds.values(), screen.items[0]
    assert bar.pictures.isVisible()
    assert (bar.pictures.width(), bar.pictures.height()) == (320, 180)
    assert bar.pictures.accessibleName() == "A robot"
    assert number_on(bar.pictures) == 0, "the first picture is there before it is played"
    assert interface_of(bar.button).text(Told.Name) == "Play: A robot"
    assert not view.isEnabled()
    assert "to the end" in bar.note.text()
    assert ill_made(window) == []
    assert out_of_reach(window) == []
    bar.button.setFocus()
    QTest.keyClick(bar.button, Qt.Key.Key_Space)
    _wait(lambda: bar.bar.value() > 600, qapp)
    QTest.mouseClick(bar.button, Qt.MouseButton.LeftButton)
    paused = screen.state.sounds["loud", ""]
    assert number_on(bar.pictures) == int(paused.at_s * 25)
    t_paused = room.clock.now_ns()
    QTest.mouseClick(bar.button, Qt.MouseButton.LeftButton)
    _wait(lambda: screen.state.sounds["loud", ""].heard, qapp)
    _wait(lambda: view.isEnabled(), qapp)
    room.runner.send(Answer("loud", 3))
    room.runner.send(Next())
    session = room.session.folder.path
    room.session.close("over")

    with History(open_record(session)) as history:
        past = PastWindow(history)
        past.show_time(t_paused)
        (shown,) = past.picture.screen.pages[0].sounds.values()
        assert shown._player is None
        assert number_on(shown.pictures) == int(paused.at_s * 25)
        past.close()
    (row, *_) = load_tables(session.parent).answers.to_dict("records")
    assert (row["plays"], row["heard"]) == (1, True)

    no_pyav()
    with History(open_record(session)) as history:  # elsewhere, what was answered can be read
        past = PastWindow(history)
        past.show_time(t_paused)
        (shown,) = past.picture.screen.pages[0].sounds.values()
        assert shown.pictures is None
        assert "PyAV" in shown.note.text()
        past.close()
    with pytest.raises(VideoError, match="PyAV"):
        opening.resume(session, lambda loaded, models: pytest.fail("it is refused before"))


def test_options_and_texts_play_videos(
    tmp_path: Path, film: bytes, open_room: Any, open_window: Any, qapp: QApplication
) -> None:
    path = with_options(tmp_path / "own", file=FILE, width=160)
    (path.parent / "videos").mkdir()
    (path.parent / FILE).write_bytes(film)
    text = f'# Robots\n\n![A robot]({FILE} "200")\n\nAnd at its own size:\n\n![A robot]({FILE})\n'
    add_text(path, text)
    assert load(path).files[FILE] == film, "it goes with each session"
    room = open_room(study=path)
    window = open_window(room)
    window.resize(1366, 768)
    screen = window.screen_shown
    (_, bar), (_, own) = screen.text.sound_bars
    assert bar.pictures.width() == 200
    assert own.pictures.width() == picture_width(), "as wide as the text, and no wider"
    for each in (bar, own):
        assert each.geometry().right() <= screen.text.viewport().width()
    assert ill_made(window) == []
    QTest.mouseClick(bar.button, Qt.MouseButton.LeftButton)
    _wait(lambda: number_on(bar.pictures) > 5, qapp)
    room.runner.send(Next())
    QTest.qWait(50)
    bars = window.screen_shown.pages[0].sounds
    assert bars["higher", "second"].pictures.width() == 160
    assert ill_made(window) == []
    room.session.close("over")


def test_a_high_video_is_seen_whole_with_what_plays_it(
    tmp_path: Path, open_room: Any, open_window: Any
) -> None:
    """On a laptop at 150 %; where there is room it has its own size."""
    high = write_video(tmp_path / "high.mp4", None, 0.5, size=(360, 480)).read_bytes()
    path = write_study(tmp_path / "own", {**MEDIA, "width": 360}, **{FILE: high})
    add_text(path, f"# Robots\n\nBefore it.\n\n![A robot]({FILE})\n\nAfter it.\n")
    room = open_room(study=path)
    window = open_window(room)
    for place in ("text", "item"):
        screen = window.screen_shown
        bar = (
            screen.text.sound_bars[0][1] if place == "text" else screen.pages[0].sounds["loud", ""]
        )
        for size, most in (((1366, 1068), 480), ((911, 512), 256), ((1366, 1068), 480)):
            window.resize(*size)
            QTest.qWait(50)
            pictures = bar.pictures
            assert pictures.height() == most, (place, size)
            assert pictures.width() == pytest.approx(0.75 * most, abs=1)
            seen = screen.text.viewport() if place == "text" else window.body.viewport()
            assert bar.height() <= seen.height(), (place, size)
            assert ill_made(window) == []
        room.runner.send(Next())
        QTest.qWait(50)
    room.session.close("over")


def test_a_page_that_scrolls_begins_at_its_question_where_videos_are_above_the_options(
    tmp_path: Path, film: bytes, open_room: Any, open_window: Any
) -> None:
    path = with_options(tmp_path / "own", file=FILE)
    (path.parent / "videos").mkdir()
    (path.parent / FILE).write_bytes(film)
    sheet = path.parent / "instruments/sheet.yaml"
    sheet.write_text(sheet.read_text("utf-8").replace('"heard": true', '"heard": false'), "utf-8")
    add_text(path, "# Robots\n")
    room = open_room(study=path)
    window = open_window(room)
    window.resize(911, 512)
    room.runner.send(Next())
    QTest.qWait(50)
    screen = window.screen_shown
    focused, bar = QApplication.focusWidget(), screen.pages[0].verticalScrollBar()
    assert screen.items[0].isAncestorOf(focused)
    assert bar.value() == 0
    window.bottom.right.setFocus()
    focused.setFocus()
    QTest.qWait(50)
    assert bar.value() > 0, "it follows the focus from then on"
    room.session.close("over")


def test_simulated_participants_watch_it(tmp_path: Path, film: bytes) -> None:
    path = write_study(tmp_path / "own", MEDIA, **{FILE: film})
    sessions = simulate_study(str(path), 2, "random", tmp_path / "sessions")
    rows = load_tables(sessions[0].parent).answers.query("item == 'loud'")
    assert list(rows["heard"]) == [True, True]
    assert (rows["first_s"] > SECONDS).all()


def bar_of(path: Path, open_room: Any, open_window: Any) -> Any:
    room = open_room(study=path)
    window = open_window(room)
    window.resize(1366, 768)
    (bar,) = window.screen_shown.pages[0].sounds.values()
    return room, bar


def test_a_video_that_cannot_be_decoded_on_its_way_is_said_once(
    tmp_path: Path, film: bytes, open_room: Any, open_window: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[float] = []

    def refuse(video: Any, t_s: float, *_: Any) -> None:
        tried.append(t_s)
        raise VideoError("damaged")

    monkeypatch.setattr(decoding.OpenedVideo, "picture_at", refuse)
    room, bar = bar_of(write_study(tmp_path / "own", MEDIA, **{FILE: film}), open_room, open_window)
    bar.pictures.grab()
    QTest.qWait(100)
    bar.pictures.grab()
    assert len(tried) == 1
    assert "cannot be played" in bar.note.text()
    room.session.close("over")


def test_the_first_and_the_last_picture_are_decoded_once(
    tmp_path: Path, film: bytes, open_room: Any, open_window: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pictures may begin after the sound, and the last one stays until the video is over."""
    asked: list[float] = []

    def give(video: Any, t_s: float, *_: Any) -> decoding.Picture:
        asked.append(t_s)
        return decoding.Picture(0.2, 0.3, np.zeros((180, 320, 3), np.uint8))

    monkeypatch.setattr(decoding.OpenedVideo, "picture_at", give)
    room, bar = bar_of(write_study(tmp_path / "own", MEDIA, **{FILE: film}), open_room, open_window)
    for at_s, calls in ((0.0, 1), (0.1, 1), (0.25, 1), (1.0, 2), (1.5, 2), (SECONDS, 2)):
        for _ in range(3):
            bar.pictures.show_at(at_s)
            bar.pictures.grab()
        assert len(asked) == calls, at_s
    room.session.close("over")
