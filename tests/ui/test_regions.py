"""Wide windows show more regions next to each other: tables grow, and text does not stretch."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QLabel, QTableView, QWidget
from pytestqt.qtbot import QtBot

from labapp.ui import language, theme
from labapp.ui.moderator.console import LINES
from labapp.ui.moderator.home import CODING, NEW, RESULTS, SESSIONS, STUDY, HomeWindow
from labapp.ui.replay.coding_state import CodingRequest
from labapp.ui.replay.coding_window import open_coding_window
from labapp.ui.researcher.page import Line, Results
from labapp.ui.widgets.markdown import text_width
from scripts.screens_moderator import ready_home
from tests.helpers.reach import ill_made, out_of_reach
from tests.helpers.rooms import skip_to
from tests.ui.desk import Desk
from tests.ui.test_small_windows import settled

WIDTHS = [(1100, 700, 2), (1366, 741, 2), (1920, 1053, 3)]
"""Width and height of the window, and how many regions stand next to each other."""


def columns(window: QWidget, *regions: QWidget) -> int:
    """How many of the regions stand next to each other, without one over the other."""
    shown = [region for region in regions if region.isVisible()]
    edges = sorted(
        (left, left + region.width())
        for region in shown
        if (left := region.mapTo(window, QPoint()).x()) >= 0
    )
    return 1 + sum(a[1] <= b[0] for a, b in pairwise(edges))


def widest_text(window: QWidget) -> int:
    """Logical pixels of the widest label whose text may take several lines."""
    labels = [label for label in window.findChildren(QLabel) if label.isVisible()]
    return max((label.width() for label in labels if label.wordWrap()), default=0)


@pytest.fixture
def home(qtbot: QtBot, tmp_path: Path, request: pytest.FixtureRequest) -> HomeWindow:
    language.speak(getattr(request, "param", "en"))
    window = ready_home()
    figure = tmp_path / "figure.png"
    QPixmap(900, 240).save(str(figure))
    unit = "1 very easy – 7 very difficult"
    lines = [Line("s", "", f"Quantity {n}", unit, "model", 6, 0.5, 0.25, 0.5) for n in range(9)]
    results = Results(tmp_path, tmp_path / "report.html", {}, tuple(lines), (figure, figure))
    window.view.results.set_results(results, "s", "As of 12:00. " * 20)
    window.show()
    qtbot.addWidget(window)
    return window


@pytest.mark.parametrize(("width", "height", "regions"), WIDTHS)
def test_the_home_and_its_results_use_the_width(
    home: HomeWindow, width: int, height: int, regions: int
) -> None:
    view = home.view
    view.sessions_page.about.setText("What can be done with this session. " * 20)
    view.coding.about.setText("What is to be done next. " * 20)
    parts = {
        NEW: (view.session, view.so_far, view.ready),
        RESULTS: (view.results.sessions, view.results.results, view.results.figures),
    }
    for size in ((1920, 1053), (width, height)):  # whatever it was before
        home.resize(*size)
        settled(home)
    for page in (NEW, SESSIONS, STUDY, RESULTS, CODING):
        view.tabs[page].click()
        settled(home)
        assert home.size().toTuple() == (width, height)
        assert out_of_reach(home) + ill_made(home) == [], page
        most = theme.CONTENT_WIDTH if page == STUDY else text_width()
        assert widest_text(view.pages.currentWidget()) <= most, page
        if page in parts:
            assert columns(home, *parts[page]) == regions
        if page in (SESSIONS, CODING):
            tables = view.pages.currentWidget().findChildren(QTableView)
            widths = [table.width() for table in tables if table.isVisible()]
            assert (max(widths) > theme.CONTENT_WIDTH) == (regions == 3)


@pytest.mark.parametrize("width", [900, 960])
@pytest.mark.parametrize("home", ["en", "de"], indirect=True)
def test_no_number_is_cut_off_in_a_small_window(home: HomeWindow, width: int) -> None:
    """960: a display of 1920 x 1080 at 200 %."""
    home.view.tabs[RESULTS].click()
    home.resize(width, 531)
    assert out_of_reach(settled(home)) + ill_made(home) == []


def test_figures_that_only_just_fit_are_drawn_once(home: HomeWindow) -> None:
    """A scroll bar that took room from them used to come and go until the program crashed."""
    results = home.view.results
    home.view.tabs[RESULTS].click()
    results.tabs[1].click()
    for height in range(560, 460, -2):
        home.resize(1366, height)
        settled(home)
        assert results.figures.widget().width() == results.figures.viewport().width()


@pytest.mark.parametrize(("width", "height", "regions"), WIDTHS)
def test_the_coding_window_uses_the_width(
    recorded: Path, width: int, height: int, regions: int, qtbot: QtBot
) -> None:
    coding = open_coding_window(recorded, CodingRequest("anna"))
    window = coding.window
    window.open(0)
    window.resize(width, height)
    qtbot.waitUntil(lambda: window.filled)
    settled(window)
    assert out_of_reach(window) == []
    assert columns(window, window.seen, coding.desk.units, coding.desk.palette) == regions
    assert widest_text(window.side) <= text_width()
    window.close()
    window.deleteLater()


@pytest.mark.parametrize("size", [(1366, 768), (1920, 1080)])
def test_the_console_uses_its_room(desk: Desk, size: tuple[int, int]) -> None:
    skip_to(desk.room, "stage-1")
    console = desk.console
    console.resize(*size)
    console.refresh()
    settled(console)
    console.refresh()
    mirror = console.mirror
    assert console.size().toTuple() == size
    assert mirror.shown.picture is not None
    wide = min(mirror.shown.width(), mirror.shown.height() * mirror.shown.shape)
    assert wide >= 0.6 * mirror.width()
    assert console.notes.list.height() >= console.notes.list.height_of(LINES)
    assert out_of_reach(console) + ill_made(console) == []
