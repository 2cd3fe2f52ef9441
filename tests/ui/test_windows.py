"""Windows from small to wide sizes: nothing is cut, and everything can be reached."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QMargins, QPoint, QRect, QSize
from PySide6.QtGui import QGuiApplication, QPixmap, QScreen
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QScrollArea, QTableView, QWidget
from pytestqt.qtbot import QtBot

import labapp.ui
from labapp.base import resources
from labapp.record.events.look import LAYOUT, WindowShown
from labapp.session.simulation.simulation_job import Course, simulate_study
from labapp.study.loading import load
from labapp.tasks.judging.screen.warm_up import WarmUpScreen
from labapp.ui import fitting, language, theme
from labapp.ui.documentation import DocumentationWindow
from labapp.ui.fitting import FROM, MOST, Fitted, can_grow, clamp_rect, factor_for, shrink
from labapp.ui.joining import JoinWindow
from labapp.ui.language import ENGLISH
from labapp.ui.moderator.console import LINES, ConsoleWindow
from labapp.ui.moderator.home import CODING, NEW, RESULTS, SESSIONS, STUDY, HomeWindow
from labapp.ui.participant.window import ParticipantWindow, WindowPicture
from labapp.ui.preview import PreviewWindow, open_preview
from labapp.ui.replay.coding_state import CodingRequest
from labapp.ui.replay.coding_window import open_coding_window
from labapp.ui.replay.controller import open_session
from labapp.ui.replay.window import ReplayWindow
from labapp.ui.researcher.page import MeanLine, Results
from labapp.ui.widgets.markdown import text_width
from scripts import screens_moderator, screens_unmasking_console
from scripts.screens_moderator import ready_home
from tests.helpers.emptiness import free_share
from tests.helpers.reach import ill_made, out_of_reach
from tests.helpers.rooms import skip_to
from tests.helpers.sample import sample
from tests.ui.desk import Desk
from tests.ui.test_moderator_concepts import WARM

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
    with open_preview(load("quickstart"), None, None) as preview:
        yield preview.window


@contextmanager
def preview(_: Path) -> Iterator[QWidget]:
    with open_preview(load("quickstart"), None, None) as preview:
        window = PreviewWindow(preview)
        yield window
        window.close()


@contextmanager
def replay(folder: Path) -> Iterator[QWidget]:
    made = simulate_study("calibration", 1, "understanding", folder / "data", 1, lambda label: None)
    window = ReplayWindow(open_session(made[0]))
    yield window
    window.close()


@contextmanager
def documentation(folder: Path) -> Iterator[QWidget]:
    first = folder / "index.md"
    first.write_text("# Documentation\n\nA page.\n", encoding="utf-8")
    (folder / "keywords.yaml").write_text("{}", encoding="utf-8")
    window = DocumentationWindow(first)
    yield window
    window.close()


@contextmanager
def joining(_: Path) -> Iterator[QWidget]:
    window = JoinWindow("192.168.1.20:8731")
    yield window
    window.close()
    window.deleteLater()


WINDOWS: dict[type[QWidget], Callable[[Path], object]] = {
    HomeWindow: home,
    ConsoleWindow: console,
    DocumentationWindow: documentation,
    ParticipantWindow: participant,
    JoinWindow: joining,
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


def test_a_frame_that_comes_late_is_on_the_screen(
    monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    """As on a busy computer. Taken for a window without a frame, its title would be above."""
    room, drawn = QRect(0, 0, 1366, 768), [QMargins()]
    monkeypatch.setattr(fitting, "SETTLED_MS", 20)
    monkeypatch.setattr(fitting, "room_of", lambda window: room)

    class Plain(Fitted, QWidget):
        def windowHandle(self) -> Any:
            screen = super().windowHandle().screenChanged
            return SimpleNamespace(frameMargins=lambda: drawn[0], screenChanged=screen)

    window = Plain()
    qtbot.addWidget(window)
    window.resize(1100, 760)
    window.show()
    qtbot.waitUntil(lambda: window.height() == room.marginsRemoved(fitting.TITLE).height())
    drawn[0] = QMargins(1, 20, 1, 5)
    qtbot.waitUntil(lambda: window.height() == 768 - 25)
    assert room.contains(window.geometry().marginsAdded(drawn[0]))


def settle() -> None:
    for _ in range(8):
        QApplication.processEvents()


places, lengths = st.integers(-3000, 6000), st.integers(1, 4000)

rectangles = st.builds(QRect, places, places, lengths, lengths)


@given(rectangles, rectangles)
def test_a_rectangle_is_moved_inside_and_no_further_than_needed(shown: QRect, free: QRect) -> None:
    made = clamp_rect(shown, free)
    assert free.contains(made)
    assert made.size() == shown.size().boundedTo(free.size())
    if free.contains(shown):
        assert made == shown


def test_the_frame_counts(qtbot: QtBot) -> None:
    free = QRect(0, 0, 1366, 768).marginsRemoved(fitting.TITLE)
    assert clamp_rect(QRect(0, 0, 1366, 768), free).marginsAdded(fitting.TITLE) == QRect(
        0, 0, 1366, 768
    )
    assert not QMargins(fitting.TITLE).isNull()


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
    with open_preview(load(study), None, None) as preview:
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
    with open_preview(load("protopnet-agreement"), None, None) as preview:
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
    with open_preview(load(study), None, None) as preview:
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
    with open_preview(load("quickstart"), None, None) as preview:
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


LARGE = (1920, 1080)

MAIN = {
    "quickstart": "stage-1",
    "calibration": "stage-1",
    "concept-repair": "stage-1",
    "gradcam-distinction": "stage-1",
}

"""Of each task whose pictures take what is left, its main screen. In unmasking the size of a
picture is the manipulation, and cannot be changed."""

MOST_FREE = 0.35


@pytest.fixture
def large(qapp: QApplication) -> Iterator[QScreen]:
    """The screen of 1920 x 1080 in screens.json."""
    yield next(s for s in QGuiApplication.screens() if s.size().toTuple() == LARGE)
    shrink()


@pytest.mark.parametrize(
    ("size", "factor"),
    [
        ((1366, 768), 1.0),
        ((911, 512), 1.0),
        ((1366, 2000), 1.0),
        ((4000, 768), 1.0),
        ((1920, 1080), 1.405),
        ((3840, 2160), 1.8),
        ((2560, 1440), 1.8),
    ],
)
def test_one_factor_from_1366_by_768_on(size: tuple[int, int], factor: float) -> None:
    assert factor_for(QSize(*size)) == pytest.approx(factor, abs=0.02)


@given(st.integers(400, 4000), st.integers(300, 3000))
def test_what_has_grown_fills_the_screen_and_is_never_cramped(wide: int, high: int) -> None:
    made = factor_for(QSize(wide, high))
    assert 1.0 <= made <= MOST
    logical = round(wide / made), round(high / made)
    assert (round(logical[0] * made), round(logical[1] * made)) == (wide, high)
    if made > 1.0:
        assert logical[0] >= FROM.width()
        assert logical[1] >= FROM.height()


def test_this_installation_of_qt_can_do_it() -> None:
    """A new version of Qt that lost the function would leave pages small without a word."""
    assert can_grow()


def settle_growing() -> None:
    for _ in range(10):
        QApplication.processEvents()


@pytest.mark.parametrize("study", MAIN)
def test_a_page_uses_the_room_there_is(study: str, large: QScreen) -> None:
    with open_preview(load(study), None, None) as preview:
        preview.course = Course(preview.runner.machine)
        window = preview.window
        window.open_on(large)
        preview.show(next(place for place in preview.places if place.part.id == MAIN[study]))
        settle_growing()
        assert window.devicePixelRatioF() == pytest.approx(1.405, abs=0.01)
        assert free_share(window) < MOST_FREE
        assert theme.SECONDARY_PX >= 13, "no type is smaller than that times the factor"
        window.hide()
    shrink()
    settle_growing()
    assert (large.size().toTuple(), large.devicePixelRatio()) == (LARGE, 1.0)


def test_a_mirror_shows_what_was_seen_on_the_grown_screen(large: QScreen) -> None:
    with open_preview(load("quickstart"), None, None) as preview:
        preview.course = Course(preview.runner.machine)
        window = preview.window
        window.open_on(large)
        preview.show(next(place for place in preview.places if place.part.id == "stage-1"))
        settle_growing()
        window.setFocus()
        window.looks.look()
        shown = preview.runner.state.look.window
        assert shown is not None
        assert (shown.layout, shown.grown) == (LAYOUT, fitting.get_growth(window))
        assert shown.ratio == pytest.approx(shown.grown)
        picture = WindowPicture(window.session.only_read())
        picture.follow_at_once()
        assert picture.window.size() == window.size()
        screen, mirrored = window.screen_shown, picture.screen
        assert screen is not None
        assert mirrored is not None
        places = [w.geometry() for w in screen.findChildren(type(screen)) or [screen]]
        assert [w.geometry() for w in mirrored.findChildren(type(mirrored)) or [mirrored]] == places
        picture.close()
        window.hide()


def test_a_session_recorded_before_is_laid_out_as_it_was(large: QScreen) -> None:
    """What window.shown lacks there is what tells."""
    old = WindowShown(1920, 1080, 1.0, "second", 1920, 1080)
    assert (old.layout, old.grown) == (1, 1.0)
    with open_preview(load("quickstart"), None, None) as preview:
        preview.course = Course(preview.runner.machine)
        preview.show(next(place for place in preview.places if place.part.id == "stage-1"))
        settle_growing()
        seen = []
        for window in (old, replace(old, layout=LAYOUT)):
            session = preview.window.session.only_read()
            state = session.source.state
            past = replace(state, look=replace(state.look, window=window))
            source = _Past(session.source, past)
            picture = WindowPicture(replace(session, source=source))  # type: ignore[arg-type]
            picture.follow_at_once()
            assert picture.session.layout == window.layout
            assert picture.screen is not None
            layout = picture.screen.layout()
            seen.append((layout.stretch(0), layout.stretch(layout.count() - 1)))
            picture.close()
        assert seen == [(1, 2), (45, 55)]
        preview.window.hide()


class _Past:
    """A source of views whose state is another one."""

    def __init__(self, source: object, state: object) -> None:
        self._source, self.state = source, state

    def __getattr__(self, name: str) -> object:
        return getattr(self._source, name)


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
def home_regions(qtbot: QtBot, tmp_path: Path, request: pytest.FixtureRequest) -> HomeWindow:
    language.speak(getattr(request, "param", "en"))
    window = ready_home()
    figure = tmp_path / "figure.png"
    QPixmap(900, 240).save(str(figure))
    unit = "1 very easy – 7 very difficult"
    lines = [MeanLine("s", "", f"Quantity {n}", unit, "model", 6, 0.5, 0.25, 0.5) for n in range(9)]
    results = Results(tmp_path, tmp_path / "report.html", {}, tuple(lines), (figure, figure))
    window.view.results.set_results(results, "s", "As of 12:00. " * 20)
    window.show()
    qtbot.addWidget(window)
    return window


@pytest.mark.parametrize(("width", "height", "regions"), WIDTHS)
def test_the_home_and_its_results_use_the_width(
    home_regions: HomeWindow, width: int, height: int, regions: int
) -> None:
    view = home_regions.view
    view.sessions_page.about.setText("What can be done with this session. " * 20)
    view.coding.about.setText("What is to be done next. " * 20)
    parts = {
        NEW: (view.session, view.so_far, view.ready),
        RESULTS: (view.results.sessions, view.results.results, view.results.figures),
    }
    for size in ((1920, 1053), (width, height)):  # whatever it was before
        home_regions.resize(*size)
        settled(home_regions)
    for page in (NEW, SESSIONS, STUDY, RESULTS, CODING):
        view.tabs[page].click()
        settled(home_regions)
        assert home_regions.size().toTuple() == (width, height)
        assert out_of_reach(home_regions) + ill_made(home_regions) == [], page
        most = theme.CONTENT_WIDTH if page == STUDY else text_width()
        assert widest_text(view.pages.currentWidget()) <= most, page
        if page in parts:
            assert columns(home_regions, *parts[page]) == regions
        if page in (SESSIONS, CODING):
            tables = view.pages.currentWidget().findChildren(QTableView)
            widths = [table.width() for table in tables if table.isVisible()]
            assert (max(widths) > theme.CONTENT_WIDTH) == (regions == 3)


@pytest.mark.parametrize("width", [900, 960])
@pytest.mark.parametrize("home_regions", ["en", "de"], indirect=True)
def test_no_number_is_cut_off_in_a_small_window(home_regions: HomeWindow, width: int) -> None:
    """960: a display of 1920 x 1080 at 200 %."""
    home_regions.view.tabs[RESULTS].click()
    home_regions.resize(width, 531)
    assert out_of_reach(settled(home_regions)) + ill_made(home_regions) == []


def test_figures_that_only_just_fit_are_drawn_once(home_regions: HomeWindow) -> None:
    """A scroll bar that took room from them used to come and go until the program crashed."""
    results = home_regions.view.results
    home_regions.view.tabs[RESULTS].click()
    results.tabs[1].click()
    for height in range(560, 460, -2):
        home_regions.resize(1366, height)
        settled(home_regions)
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
