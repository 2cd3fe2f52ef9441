"""A page is laid out as it was when its session was recorded."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtWidgets import QApplication

from labapp.events.look import LAYOUT, WindowShown
from labapp.simulation.course import Course
from labapp.study.loading import load
from labapp.ui.participant.picture import WindowPicture
from labapp.ui.preview import opened_preview


def settle() -> None:
    for _ in range(10):
        QApplication.processEvents()


def test_a_session_recorded_before_is_laid_out_as_it_was(qapp: QApplication) -> None:
    """What window.shown lacks there is what tells."""
    old = WindowShown(1920, 1080, 1.0, "second", 1920, 1080)
    assert old.layout == 1
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
