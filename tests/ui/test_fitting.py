"""Every window opens within its screen, and stays within it when the screen becomes smaller."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QMargins, QRect
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

import labapp.ui
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study.loading import load
from labapp.ui import fitting
from labapp.ui.fitting import Fitted, clamped
from labapp.ui.moderator.console import ConsoleWindow
from labapp.ui.moderator.home import HomeWindow
from labapp.ui.participant.window import ParticipantWindow
from labapp.ui.preview import PreviewWindow, opened_preview
from labapp.ui.replay.controller import open_session
from labapp.ui.replay.window import ReplayWindow
from scripts import screens_moderator
from tests.helpers.reach import out_of_reach

SCREENS = {"1366x768": (1366, 768), "1366x768 at 150 %": (911, 512), "1920x1080": (1920, 1080)}
PANEL = 28
"""Logical pixels of the screen that a bar of the desktop takes."""


@contextmanager
def home(_: Path) -> Iterator[QWidget]:
    window = screens_moderator.ready_home()
    yield window
    window.close()


@contextmanager
def console(folder: Path) -> Iterator[QWidget]:
    with screens_moderator.desk_of(folder / "a", "quickstart") as desk:
        desk.go_to("stage-2")
        yield desk.console


@contextmanager
def participant(_: Path) -> Iterator[QWidget]:
    with opened_preview(load("quickstart"), None, None) as preview:
        yield preview.window


@contextmanager
def preview(_: Path) -> Iterator[QWidget]:
    with opened_preview(load("quickstart"), None, None) as preview:
        window = PreviewWindow(preview)
        yield window
        window.close()


@contextmanager
def replay(folder: Path) -> Iterator[QWidget]:
    made = simulate_study("calibration", 1, "understanding", folder / "data", 1, lambda label: None)
    window = ReplayWindow(open_session(made[0]))
    yield window
    window.close()


WINDOWS: dict[type[QWidget], Callable[[Path], object]] = {
    HomeWindow: home,
    ConsoleWindow: console,
    ParticipantWindow: participant,
    PreviewWindow: preview,
    ReplayWindow: replay,
}


def test_every_class_of_windows_is_tried() -> None:
    named = set()
    for module in pkgutil.walk_packages(labapp.ui.__path__, "labapp.ui."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if name.endswith("Window") and isinstance(value, type) and issubclass(value, QWidget):
                named |= {value} if value.__module__.startswith("labapp") else set()
    assert named == set(WINDOWS)


@pytest.mark.parametrize("kind", WINDOWS, ids=lambda kind: kind.__name__)
def test_a_window_stays_within_every_screen(
    kind: type[QWidget], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    """Maximising is left to the window system; without it there is the room alone."""
    size = [1920, 1080]
    monkeypatch.setattr(fitting, "maximise", lambda window: None)
    monkeypatch.setattr(fitting, "SETTLED_MS", 0)
    monkeypatch.setattr(fitting, "room_of", lambda window: QRect(0, 0, size[0], size[1] - PANEL))
    with WINDOWS[kind](tmp_path) as window:  # type: ignore[attr-defined]
        for screen, (wide, high) in SCREENS.items():
            size[:] = wide, high
            window.resize(1600, 1000)
            window.move(400, 300)
            window.showNormal()
            settle()
            free = QRect(0, 0, wide, high - PANEL)
            assert free.contains(window.geometry()), screen
            assert out_of_reach(window) == [], screen
            for other in SCREENS.values():  # the screen becomes another one under the window
                size[:] = other
                window.screen().availableGeometryChanged.emit(QRect())
                settle()
                assert QRect(0, 0, other[0], other[1] - PANEL).contains(window.geometry())
            window.hide()


def test_a_session_can_be_started_from_the_home_on_a_small_screen(
    monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    """1366 x 768 at 150 % with a bar of the desktop and a title bar."""
    monkeypatch.setattr(fitting, "SETTLED_MS", 0)
    monkeypatch.setattr(fitting, "room_of", lambda window: QRect(0, 0, 911, 512 - PANEL))
    monkeypatch.setattr(fitting, "maximise", lambda window: None)
    window = screens_moderator.ready_home()
    window.show()
    settle()
    assert window.height() <= 512 - PANEL
    assert out_of_reach(window) == []
    start = next(b for b in window.findChildren(QPushButton) if b.text() == "Start session")
    place = QRect(start.mapTo(window, start.rect().topLeft()), start.size())
    assert window.rect().contains(place)
    window.close()


def test_what_fits_is_left_alone(monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> None:
    monkeypatch.setattr(fitting, "SETTLED_MS", 0)
    monkeypatch.setattr(fitting, "room_of", lambda window: QRect(0, 0, 1920, 1080))

    class Plain(Fitted, QWidget):
        pass

    window = Plain()
    qtbot.addWidget(window)
    window.setGeometry(300, 200, 640, 480)
    window.show()
    settle()
    assert window.geometry() == QRect(300, 200, 640, 480)
    window.setGeometry(1700, 1000, 640, 480)  # by the user's own hand: nobody snaps it back
    settle()
    assert window.geometry() == QRect(1700, 1000, 640, 480)


def settle() -> None:
    for _ in range(8):
        QApplication.processEvents()


places, lengths = st.integers(-3000, 6000), st.integers(1, 4000)
rectangles = st.builds(QRect, places, places, lengths, lengths)


@given(rectangles, rectangles)
def test_a_rectangle_is_moved_inside_and_no_further_than_needed(shown: QRect, free: QRect) -> None:
    made = clamped(shown, free)
    assert free.contains(made)
    assert made.size() == shown.size().boundedTo(free.size())
    if free.contains(shown):
        assert made == shown


def test_the_frame_counts(qtbot: QtBot) -> None:
    free = QRect(0, 0, 1366, 768).marginsRemoved(fitting.TITLE)
    assert clamped(QRect(0, 0, 1366, 768), free).marginsAdded(fitting.TITLE) == QRect(
        0, 0, 1366, 768
    )
    assert not QMargins(fitting.TITLE).isNull()
