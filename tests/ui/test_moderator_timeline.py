"""The timeline and the alignment curve as painted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from labapp.clock import NS
from labapp.study.plan import PagesPart
from labapp.ui import theme
from labapp.ui.moderator.curve_view import CurveView
from labapp.ui.moderator.state.curve import Curve
from labapp.ui.moderator.state.timeline import Block, Hearing, Mark, Timeline
from labapp.ui.moderator.state.timescale import LEAST_SPAN_NS
from labapp.ui.moderator.timeline_view import TimelineView

MIN = 60 * NS


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[TimelineView]:
    line = Timeline((PagesPart(part="text", id="t", title="Text", document="d"),))
    line.parts = [Block(0, "Consent", 0, MIN, "completed"), Block(MIN, "Stage 1", 0)]
    line.trials = [Block(2 * MIN, "Question 1 of 5", 0, 3 * MIN, "skipped")]
    line.marks = [Mark(150 * NS, "flag", "Flag 1 insight")]
    line.hearing = [Hearing(MIN, "silent"), Hearing(2 * MIN, "heard")]
    made = TimelineView(theme.DARK, line)
    made.resize(1000, 220)
    made.show()
    made.show_now(4 * MIN, None)
    yield made
    made.close()
    made.deleteLater()


def x_of(view: TimelineView, t_ns: int) -> float:
    start, end = view.scale.range()
    return (t_ns - start) / (end - start) * view.width()


def test_it_shows_the_whole_session_and_grows_in_steps(view: TimelineView) -> None:
    assert view.scale.range() == (0, 5 * MIN)
    view.show_now(round(4.95 * MIN), None)
    assert view.scale.range() == (0, 10 * MIN)
    view.show_now(500 * MIN, None)
    assert view.scale.range()[1] >= 500 * MIN


def test_the_wheel_zooms_at_the_pointer(view: TimelineView) -> None:
    x = x_of(view, 3 * MIN)
    view.scale.zoom(2.0, x)
    start, end = view.scale.range()
    assert end - start == pytest.approx(2.5 * MIN)
    assert x_of(view, 3 * MIN) == pytest.approx(x, abs=1)
    for _ in range(50):
        view.scale.zoom(1.25, x)
    assert view.scale.range()[1] - view.scale.range()[0] == LEAST_SPAN_NS
    for _ in range(50):
        view.scale.zoom(0.8, x)
    assert view.scale.follows


def test_panning_stays_inside(view: TimelineView) -> None:
    view.scale.zoom(5.0, 500)
    view.scale.pan(-100 * MIN)
    assert view.scale.range()[0] == 0
    view.scale.pan(100 * MIN)
    assert view.scale.range()[1] == 5 * MIN


def test_keys_zoom_and_return(view: TimelineView, qtbot: QtBot) -> None:
    qtbot.keyClick(view, Qt.Key.Key_Plus)
    assert not view.scale.follows
    start, _ = view.scale.range()
    qtbot.keyClick(view, Qt.Key.Key_Right)
    assert view.scale.range()[0] > start
    qtbot.keyClick(view, Qt.Key.Key_Home)
    assert view.scale.follows


def test_hover_tells_the_mark_the_part_and_the_question(view: TimelineView) -> None:
    assert view.describe(x_of(view, 150 * NS) + 3, 10) == "2:30  Flag 1 insight"
    assert view.describe(x_of(view, 30 * NS), 10) == "0:30\nConsent: 1:00, done"
    at = x_of(view, 130 * NS)
    assert view.describe(at, 200) == "2:10\nStage 1: 3:00\nQuestion 1 of 5: 1:00, skipped"
    assert view.describe(x_of(view, round(4.9 * MIN)), 10) == ""


def pixels(view: TimelineView, x: float, colour: str) -> int:
    """How many pixels of one colour (or nearly) stand in a column."""
    image = view.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    wanted = QColor(colour)

    def near(found: QColor) -> bool:
        pairs = zip(found.getRgb()[:3], wanted.getRgb()[:3], strict=True)
        return all(abs(a - b) < 24 for a, b in pairs)

    return sum(near(image.pixelColor(int(x), y)) for y in range(image.height()))


def test_marks_and_silence_are_painted_where_they_were(view: TimelineView) -> None:
    assert pixels(view, x_of(view, 150 * NS), theme.DARK.warn) > 50
    silent, heard = x_of(view, 90 * NS), x_of(view, 200 * NS)
    assert pixels(view, silent, theme.DARK.warn) == 3
    assert pixels(view, heard, theme.DARK.warn) == 0


def test_the_envelope_is_drawn_as_it_comes_and_equal_when_drawn_anew(view: TimelineView) -> None:
    grown: list[int] = []
    for tenth in range(2400, 2900, 5):
        view.show_now(tenth * NS // 10, 0.5 if tenth % 50 else 0.0)
        if tenth % 100 == 0:
            grown.append(0 if view.grab().isNull() else view._drawn_bins)
    assert grown == sorted(grown)
    assert grown[-1] > grown[0]
    column = x_of(view, 250 * NS)
    live = view.grab().toImage()
    view._pixmap = None
    again = view.grab().toImage()
    assert live.pixelColor(round(column), 80) == again.pixelColor(round(column), 80)
    assert live == again


def test_a_new_mark_draws_it_anew(view: TimelineView) -> None:
    assert pixels(view, x_of(view, 200 * NS), theme.DARK.accent) < 5
    view._timeline.marks.append(Mark(200 * NS, "note", "aha"))
    view._timeline.version += 1
    view.show_now(4 * MIN + NS, None)
    assert pixels(view, x_of(view, 200 * NS), theme.DARK.accent) > 50


def test_the_voice_of_earlier_runs_can_be_shown(view: TimelineView) -> None:
    x = x_of(view, 20 * NS)
    middle = QPointF(x, 70)
    before = view.grab().toImage().pixelColor(middle.toPoint())
    view.show_past([(t * NS // 10, 0.9) for t in range(100, 300)])
    assert view.grab().toImage().pixelColor(middle.toPoint()) != before


def test_the_wheel_zooms_and_dragging_moves(view: TimelineView, qtbot: QtBot) -> None:
    where = QPointF(600, 80)
    nothing, one = QPoint(), QPoint(0, 120)
    wheel = QWheelEvent(
        where, view.mapToGlobal(where), nothing, one, Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(view, wheel)
    start, end = view.scale.range()
    assert end - start == pytest.approx(4 * MIN)
    qtbot.mousePress(view, Qt.MouseButton.LeftButton, pos=QPoint(600, 80))
    qtbot.mouseMove(view, QPoint(700, 80))
    qtbot.mouseRelease(view, Qt.MouseButton.LeftButton, pos=QPoint(700, 80))
    assert view.scale.range()[0] == pytest.approx(start - 0.4 * MIN, abs=NS)
    qtbot.mouseDClick(view, Qt.MouseButton.LeftButton, pos=QPoint(600, 80))
    assert view.scale.follows


def test_the_curve_grows_and_is_the_same_when_drawn_anew(qtbot: QtBot) -> None:
    curve = Curve()
    view = CurveView(theme.DARK, curve)
    view.resize(500, 100)
    view.show()
    curve.points = [(0, 0.2)]
    for second in range(1, 14):
        curve.points.append((second * NS, 0.2 + second / 20))
        view.show_curve(0.9, second * NS, changed=True)
        live = view.grab().toImage()
    view._pixmap = None
    again = view.grab().toImage()
    differing = sum(
        live.pixelColor(x, y) != again.pixelColor(x, y)
        for x in range(live.width())
        for y in range(live.height())
    )
    # Only the joints between two stretches are smoothed a little differently.
    assert differing < 60
    accent = QColor(theme.DARK.accent)
    ends = [live.pixelColor(x, y) == accent for x in range(420, 445) for y in range(100)]
    assert sum(ends) > 10
    curve.clear()
    view.show_curve(0.9, 0, changed=True)
    empty = view.grab().toImage()
    assert accent not in [empty.pixelColor(x, y) for x in range(500) for y in range(0, 100, 2)]
    view.close()
    view.deleteLater()
