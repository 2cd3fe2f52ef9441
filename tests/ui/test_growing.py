"""The participant's page grows with its screen, and is seen again as it was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QSize
from PySide6.QtGui import QGuiApplication, QScreen
from PySide6.QtWidgets import QApplication

from labapp.record.events.look import LAYOUT, WindowShown
from labapp.session.simulation.simulation_job import Course
from labapp.study.loading import load
from labapp.ui import fitting, theme
from labapp.ui.fitting import FROM, MOST, can_grow, factor_for, shrink
from labapp.ui.participant.window import WindowPicture
from labapp.ui.preview import opened_preview
from tests.helpers.emptiness import free_share

LARGE = (1920, 1080)
MAIN = {
    "quickstart": "stage-1",
    "calibration": "stage-1",
    "concept-repair": "stage-1",
    "gradcam-distinction": "stage-1",
}
"""Of each task whose pictures take what is left, its main screen. In unmasking the size of a
picture is the manipulation, and stays as it is."""
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


def settle() -> None:
    for _ in range(10):
        QApplication.processEvents()


@pytest.mark.parametrize("study", MAIN)
def test_a_page_uses_the_room_there_is(study: str, large: QScreen) -> None:
    with opened_preview(load(study), None, None) as preview:
        preview.course = Course(preview.runner.machine)
        window = preview.window
        window.open_on(large)
        preview.show(next(place for place in preview.places if place.part.id == MAIN[study]))
        settle()
        assert window.devicePixelRatioF() == pytest.approx(1.405, abs=0.01)
        assert free_share(window) < MOST_FREE
        assert theme.SECONDARY_PX >= 13, "no type is smaller than that times the factor"
        window.hide()
    shrink()
    settle()
    assert (large.size().toTuple(), large.devicePixelRatio()) == (LARGE, 1.0)


def test_a_mirror_shows_what_was_seen_on_the_grown_screen(large: QScreen) -> None:
    with opened_preview(load("quickstart"), None, None) as preview:
        preview.course = Course(preview.runner.machine)
        window = preview.window
        window.open_on(large)
        preview.show(next(place for place in preview.places if place.part.id == "stage-1"))
        settle()
        window.setFocus()
        window.looks.look()
        shown = preview.runner.state.look.window
        assert shown is not None
        assert (shown.layout, shown.grown) == (LAYOUT, fitting.grown_of(window))
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
    with opened_preview(load("quickstart"), None, None) as preview:
        preview.course = Course(preview.runner.machine)
        preview.show(next(place for place in preview.places if place.part.id == "stage-1"))
        settle()
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
