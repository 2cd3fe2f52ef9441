"""Every window works from a small size on: nothing is cut, and everything can be reached.

All shipped studies: `LABAPP_TESTS_ALL=1 pytest tests/ui/test_small_windows.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from labapp.base import resources
from labapp.session.simulation.simulation_job import Course
from labapp.study.loading import load
from labapp.tasks.judging.screen.warm_up import WarmUpScreen
from labapp.ui import fitting
from labapp.ui.language import ENGLISH
from labapp.ui.preview import opened_preview
from scripts import screens_moderator, screens_unmasking_console
from tests.helpers.reach import ill_made, out_of_reach
from tests.helpers.sample import sample
from tests.ui.test_moderator_judging import WARM

ALL = sorted(path.stem for path in (resources.assets() / "studies").glob("*.yaml"))
SAMPLE = (
    "bagnet-distinction-labels",
    "calibration",
    "prototree-agreement-tree",
    "quickstart",
    "unmasking-faces",
)
SMALL = fitting.PARTICIPANT


def settled(window: QWidget) -> QWidget:
    for _ in range(6):
        QApplication.processEvents()
    return window


@pytest.mark.parametrize("study", sample(ALL, SAMPLE))
def test_every_screen_of_a_study_can_be_reached(study: str, qtbot: QtBot) -> None:
    seen = set()
    with opened_preview(load(study), None, None) as preview:
        preview.course = Course(preview.runner.machine)  # nobody has to go through it first
        window = preview.window
        window.resize(*SMALL)
        window.show()
        for place in preview.places:
            shown = (type(window.screen_shown), place.part.documents, place.part.part, place.page)
            model = getattr(place.part, "model", "")
            if (*shown[2:], getattr(place.part, "instrument", ""), model) in seen:
                continue
            seen.add((*shown[2:], getattr(place.part, "instrument", ""), model))
            preview.show(place)
            assert settled(window).size().toTuple() == SMALL
            assert out_of_reach(window) == [], place.title


def test_what_has_room_does_not_scroll_whatever_size_the_window_had_before(qtbot: QtBot) -> None:
    """1280 x 720: a display of 1920 x 1080 at 150 %."""
    with opened_preview(load("protopnet-agreement"), None, None) as preview:
        preview.course = Course(preview.runner.machine)  # nobody has to go through it first
        window = preview.window
        window.show()
        for place in preview.places:
            preview.show(place)
            for size in (SMALL, (1280, 720), (1366, 768)):
                window.resize(*size)
                settled(window)
                bars = window.body.verticalScrollBar(), window.body.horizontalScrollBar()
                assert size == SMALL or not any(bar.maximum() for bar in bars), (place.title, size)


def test_the_pages_that_explain_the_warm_up_do_not_scroll_sideways(
    tmp_path: Path, qtbot: QtBot
) -> None:
    study = tmp_path / "warm.yaml"
    study.write_text(f"{WARM}presentation: as_published\n", "utf-8")
    with opened_preview(load(study), None, None) as preview:
        window = preview.window
        window.resize(*SMALL)
        window.show()
        preview.show(next(place for place in preview.places if place.part.part == "warm_up"))
        screen = window.screen_shown
        assert isinstance(screen, WarmUpScreen)
        for page, explanation in enumerate(screen.explanations):
            screen.turn_to(page)
            settled(window)
            assert screen.page is explanation
            assert explanation.text.verticalScrollBar().maximum() == 0
            assert window.body.horizontalScrollBar().maximum() == 0
            assert out_of_reach(window) == []


def unmasking(folder: Path) -> Iterator[screens_moderator.Shot]:
    path = screens_unmasking_console.small(folder / "study")
    yield from screens_unmasking_console.console(folder / "session", path)


MODERATOR: dict[str, Callable[[Path], Iterator[screens_moderator.Shot]]] = {
    "home": lambda folder: screens_moderator.home(),
    "study": lambda folder: screens_moderator.studies(),
    "console": screens_moderator.console,
    "unmasking": unmasking,
}


@pytest.mark.parametrize("language", sample((ENGLISH, "de"), ("de",)))
@pytest.mark.parametrize("windows", MODERATOR)
def test_every_window_of_the_moderator_is_well_made(
    windows: str, language: str, tmp_path: Path, speaks: Callable[[str], None], qtbot: QtBot
) -> None:
    """German words are the longest."""
    speaks(language)
    for name, shot in MODERATOR[windows](tmp_path):
        window = shot.window()
        before = window.size()
        window.showNormal()
        for size in (fitting.CONSOLE, (1366, 741)):
            window.resize(*size)
            assert settled(window).size().toTuple() == size
            assert out_of_reach(window) + ill_made(window) == [], (name, size)
        window.resize(before)


def test_what_cannot_be_reached_is_found(qtbot: QtBot) -> None:
    """So that a test that finds nothing has looked."""
    with opened_preview(load("quickstart"), None, None) as preview:
        preview.course = Course(preview.runner.machine)  # nobody has to go through it first
        window = preview.window
        window.resize(*SMALL)
        window.show()
        preview.show(next(place for place in preview.places if place.part.id == "stage-1"))
        assert out_of_reach(settled(window)) == []
        screen = window.screen_shown
        assert screen is not None
        screen.resize(screen.width() - 300, screen.height() - 200)
        assert any("outside" in line for line in out_of_reach(window))
        assert isinstance(window.body, QScrollArea)
