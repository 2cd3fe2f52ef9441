"""The video in the replay window: the picture of what is heard, wherever it is gone to."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from labapp.base.clock import NS
from labapp.coding.annotations.redacting import redact
from labapp.coding.annotations.video_files import list_file, videos_folder
from labapp.coding.videos import decoding
from labapp.coding.videos.session import add_video
from labapp.session.bids.export import export
from labapp.ui.replay import window as remembered
from labapp.ui.replay.controller import open_session
from labapp.ui.replay.window import ReplayWindow
from tests.helpers.made_videos import heard_by, number_in, speech_like, write_video
from tests.helpers.recorded_sounds import Take, sounding_session
from tests.helpers.sample import EVERYTHING

BEGINS_S, SECONDS, PER_SECOND = 5.0, 40.0, 20
WORLD = speech_like(60.0, seed=21)
TOGETHER_S = 0.04


@pytest.fixture(scope="module")
def filmed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session of a minute, and a video that begins 5 s into it."""
    folder = tmp_path_factory.mktemp("filmed")
    take = Take(heard_by(WORLD, 0.5, 58.0), 0.5)
    session = sounding_session(
        folder / "data", take, end_s=60.0, uses={"video": True}, with_study=True
    )
    film = write_video(
        folder / "film.mp4", heard_by(WORLD, BEGINS_S, SECONDS), SECONDS, per_second=PER_SECOND,
        every=40, size=(160, 120),
    )  # fmt: skip
    placed = add_video(session, film)
    assert placed.alignment.offset_s == pytest.approx(BEGINS_S, abs=0.005)
    return session


@pytest.fixture
def session(filmed: Path, tmp_path: Path) -> Path:
    """A copy of its own for each test."""
    study = Path(shutil.copytree(filmed.parent, tmp_path / filmed.parent.name))
    return study / filmed.name


Open = Callable[..., ReplayWindow]


@pytest.fixture
def opened(session: Path, qtbot: QtBot) -> Iterator[Open]:
    windows: list[ReplayWindow] = []
    before = threading.active_count()

    def open_one(at_s: float = 10.0, size: tuple[int, int] = (1366, 768)) -> ReplayWindow:
        window = ReplayWindow(open_session(session))
        window.resize(*size)
        window.open(round(at_s * NS))
        window.resize(*size)
        QApplication.processEvents()
        windows.append(window)
        return window

    yield open_one
    for window in windows:
        window.close()
        window.deleteLater()
    qtbot.waitUntil(lambda: threading.active_count() <= before, timeout=10_000)


def shown_s(window: ReplayWindow) -> float:
    """Session time at which the picture on the screen begins, by what is drawn on it and by where
    the video was placed, which is right to 5 ms; -1 for none."""
    assert window.video is not None
    shown = window.video.view.shown
    if shown is None or shown.picture is None:
        return -1.0
    number = number_in(shown.picture.pixels, 160)
    return window.video.view.placed.alignment.session_ns(number / PER_SECOND) / NS


def is_together(window: ReplayWindow) -> bool:
    t_s = window.controller.now_ns() / NS
    return shown_s(window) - 0.001 <= t_s < shown_s(window) + 1 / PER_SECOND + 0.001


def test_a_session_without_a_video_has_no_panel(tmp_path: Path, qtbot: QtBot) -> None:
    before = threading.active_count()
    session = sounding_session(tmp_path, end_s=20.0, with_study=True)
    window = ReplayWindow(open_session(session))
    window.open(0)
    assert window.video is None
    QTest.keyClick(window, Qt.Key.Key_V, Qt.KeyboardModifier.AltModifier)
    assert "no video" in window.transport.hint.text()
    window.close()
    window.deleteLater()
    qtbot.waitUntil(lambda: threading.active_count() <= before, timeout=10_000)


def test_the_picture_of_every_time_is_shown(opened: Open, qtbot: QtBot) -> None:
    window = opened()
    waits = []
    assert_there_is_room(window)
    for t_s in (10.0, 44.0, 5.01, 30.27, 30.32, 30.2, 10.3508, 6.6):
        begun = perf_counter()
        window.controller.seek(round(t_s * NS))
        qtbot.waitUntil(lambda: is_together(window), timeout=3000)
        waits.append(perf_counter() - begun)
    assert float(np.median(waits)) < 0.15
    assert window.video is not None
    window.controller.seek(50 * NS)
    assert window.video.view.text.startswith("No video at this time")


def test_outside_of_the_video_it_is_said_where_it_is(opened: Open, qtbot: QtBot) -> None:
    window = opened(2.0)
    assert window.video is not None
    assert window.video.view.text == "No video at this time: it goes from 0:05 to 0:45."
    window.controller.seek(20 * NS)
    qtbot.waitUntil(lambda: is_together(window), timeout=3000)
    assert window.video.view.text == ""
    window.controller.seek(50 * NS)
    assert window.video.view.text.startswith("No video at this time")
    assert shown_s(window) == -1.0


@pytest.mark.parametrize("speed", [0.25, 1.0, 3.0])
def test_it_plays_in_step_with_what_is_heard(opened: Open, qtbot: QtBot, speed: float) -> None:
    window = opened(10.0)
    qtbot.waitUntil(lambda: is_together(window), timeout=3000)
    window.controller.set_speed(speed)
    window.controller.play()
    apart = []
    for _ in range(30 if EVERYTHING else 12):
        qtbot.wait(20)
        now_s = window.controller.player.heard_ns() / NS
        # A picture is right for as long as it lasts.
        late = now_s - (shown_s(window) + 1 / PER_SECOND)
        apart.append(max(late, shown_s(window) - now_s, 0.0) / speed)
    qtbot.waitUntil(lambda: window.controller.now_ns() > (10 + 0.4 * speed) * NS)
    window.controller.pause()
    assert float(np.median(apart)) <= TOGETHER_S
    qtbot.waitUntil(lambda: is_together(window), timeout=3000)


@pytest.mark.parametrize("t_s", [10.3001, 10.3015, 10.325, 10.3508, 10.352])
def test_a_picture_lasts_from_where_the_video_was_placed(
    opened: Open, qtbot: QtBot, t_s: float
) -> None:
    """Near the ends of a picture, too, where its place is off by less than it may be."""
    window = opened(20.0)
    window.controller.seek(round(t_s * NS))
    qtbot.waitUntil(lambda: is_together(window), timeout=3000)


def test_scrubbing_ends_at_the_picture_of_the_pointer(opened: Open, qtbot: QtBot) -> None:
    window = opened(10.0)
    for t_s in np.linspace(12.0, 40.0, 40):
        window.controller.scrub(round(float(t_s) * NS))
        qtbot.wait(5)
    qtbot.waitUntil(lambda: is_together(window), timeout=3000)
    assert shown_s(window) == pytest.approx(40.0, abs=0.051)


def test_what_is_redacted_is_not_seen(session: Path, opened: Open, qtbot: QtBot) -> None:
    redact(session, 20 * NS, 22 * NS, "anna")
    window = opened(19.0)
    assert window.video is not None
    qtbot.waitUntil(lambda: is_together(window), timeout=3000)
    for t_s in (20.0, 21.0, 21.99):
        window.controller.seek(round(t_s * NS))
        qtbot.wait(60)
        assert window.video.view.text == "Redacted: the video is not shown here."
        assert shown_s(window) == -1.0
    window.controller.seek(round(22.1 * NS))
    qtbot.waitUntil(lambda: is_together(window), timeout=3000)


def test_it_is_hidden_and_shown_by_a_key_and_stays_so(opened: Open, qtbot: QtBot) -> None:
    window = opened(10.0)
    assert window.filmed.isVisible()
    QTest.keyClick(window, Qt.Key.Key_V, Qt.KeyboardModifier.AltModifier)
    assert not window.filmed.isVisible()
    window.close()
    assert not remembered.read()[0].video
    again = opened(10.0)
    assert not again.filmed.isVisible()
    QTest.keyClick(again, Qt.Key.Key_V, Qt.KeyboardModifier.AltModifier)
    qtbot.waitUntil(lambda: is_together(again), timeout=3000)


@pytest.mark.parametrize("size", [(1366, 768), (900, 560), (1920, 1080)])
def test_there_is_room_for_picture_and_video(
    opened: Open, qtbot: QtBot, size: tuple[int, int]
) -> None:
    window = opened(10.0, size)
    qtbot.waitUntil(lambda: is_together(window), timeout=3000)
    assert (window.width(), window.height()) == size
    assert_there_is_room(window)


def assert_there_is_room(window: ReplayWindow) -> None:
    assert window.picture.width() >= 0.25 * window.width()
    assert window.video is not None
    assert window.video.width() >= 120
    assert window.side.text.width() >= 260


def test_a_file_that_is_gone_is_told(session: Path, opened: Open, qtbot: QtBot) -> None:
    (videos_folder(session) / "video-1.mp4").unlink()
    window = opened(10.0)
    view = window.video.view  # type: ignore[union-attr]
    qtbot.waitUntil(lambda: "cannot be read" in view.text, timeout=3000)
    window.controller.seek(12 * NS)
    assert "cannot be read" in view.text


def test_without_the_extra_it_is_said_what_to_get(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoding, "find_spec", lambda name: None)
    window = opened(10.0)
    assert "labapp extras add video" in window.video.view.text  # type: ignore[union-attr]


def test_a_damaged_list_is_told_and_the_session_is_shown(session: Path, opened: Open) -> None:
    path = list_file(session)
    path.write_bytes(path.read_bytes().replace(b"video-1", b"video-7"))
    window = opened(10.0)
    assert window.video is None
    assert "damaged" in window.notices.text.text() or "changed" in window.notices.text.text()


def test_a_bundle_shows_its_video_and_an_archive_says_why_not(
    session: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    before = threading.active_count()
    window = ReplayWindow(open_session(export([session], tmp_path / "bundle")))
    window.resize(1366, 768)
    window.open(10 * NS)
    qtbot.waitUntil(lambda: is_together(window), timeout=3000)
    window.close()
    window.deleteLater()
    archived = open_session(export([session], tmp_path / "bundle.zip", zip=True))
    assert archived.videos == ()
    assert any("unpack the bundle" in notice for notice in archived.notices)
    archived.close()
    qtbot.waitUntil(lambda: threading.active_count() <= before, timeout=10_000)


def test_two_videos_are_turned_to(
    session: Path, opened: Open, qtbot: QtBot, tmp_path: Path
) -> None:
    second = write_video(
        tmp_path / "second.mkv", None, 10.0, per_second=PER_SECOND, size=(160, 120)
    )
    add_video(session, second, offset_s=12.0)
    window = opened(30.0)
    assert window.video is not None
    first, other = window.video.tabs
    qtbot.waitUntil(lambda: is_together(window), timeout=3000)
    other.click()
    assert window.video.view.text == "No video at this time: it goes from 0:12 to 0:22."
    window.controller.seek(13 * NS)
    qtbot.waitUntil(lambda: window.video.view.shown is not None, timeout=3000)  # type: ignore
    first.click()
    qtbot.waitUntil(lambda: is_together(window), timeout=3000)
