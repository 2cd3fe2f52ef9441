"""The timeline and the alignment curve as painted."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from labapp.base.clock import NS
from labapp.study.plan import PagesPart
from labapp.tasks.reconstruction.beside import Curve, CurveView
from labapp.ui import language, theme
from labapp.ui.moderator import bits
from labapp.ui.moderator.state.console import Hearing, TimelineBlock, TimelineMark, TimelineState
from labapp.ui.moderator.timeline_view import LEAST_SPAN_S, TICK_PX, TimelinePanel, TimelineView
from tests.helpers.hands import turn_wheel

MIN = 60 * NS
DARK = theme.DARK


@pytest.fixture
def view(qtbot: QtBot) -> TimelineView:
    line = TimelineState((PagesPart(part="text", id="t", title="Text", document="d"),))
    line.parts = [
        TimelineBlock(0, "Consent", 0, MIN, "completed"),
        TimelineBlock(MIN, "Stage 1", 0),
    ]
    line.trials = [TimelineBlock(2 * MIN, "Question 1 of 5", 0, 3 * MIN, "skipped")]
    line.marks = [TimelineMark(150 * NS, "flag", "Flag 1 insight")]
    line.hearing = [Hearing(MIN, "silent"), Hearing(2 * MIN, "heard")]
    made = TimelineView(DARK, line)
    made.resize(1000, 220)
    made.show()
    QApplication.processEvents()
    made.show_now(4 * MIN, None)
    QApplication.processEvents()
    qtbot.addWidget(made)
    return made


def x_of(view: TimelineView, t_ns: int) -> float:
    return view.box.mapViewToScene(QPointF(t_ns / NS, 0)).x()


def span(view: TimelineView) -> int:
    start, end = view.range_ns()
    return end - start


@pytest.mark.parametrize("span_s", [10.0, 59.0, 3600.0, 7 * 3600.0, 86_400.0, 325 * 86_400.0])
def test_times_have_room_for_their_words_however_long_it_is(
    view: TimelineView, span_s: float
) -> None:
    (step, _), *finer = view.axis.tickSpacing(0.0, span_s, 1000.0)
    assert not finer
    assert 1000.0 * step / span_s >= TICK_PX


def test_it_shows_the_whole_session_and_grows_in_steps(view: TimelineView) -> None:
    assert view.range_ns() == (0, 5 * MIN)
    view.show_now(round(4.95 * MIN), None)
    assert view.range_ns() == (0, 10 * MIN)
    view.show_now(500 * MIN, None)
    assert view.range_ns() == (0, 500 * MIN)


def test_the_wheel_zooms_at_the_pointer(view: TimelineView) -> None:
    x = x_of(view, 3 * MIN)
    turn_wheel(view.viewport(), QPointF(x, 80), 2)
    assert span(view) < 4.5 * MIN
    assert x_of(view, 3 * MIN) == pytest.approx(x, abs=1)
    for _ in range(50):
        turn_wheel(view.viewport(), QPointF(x, 80), 2)
    assert span(view) == pytest.approx(LEAST_SPAN_S * NS)
    for _ in range(60):
        turn_wheel(view.viewport(), QPointF(x, 80), -2)
    assert view.follows
    assert view.range_ns() == (0, 5 * MIN)


def test_panning_stays_inside(view: TimelineView) -> None:
    view.zoom(5.0)
    view.pan(-100)
    assert view.range_ns()[0] == 0
    view.pan(100)
    assert view.range_ns()[1] == 5 * MIN


def test_keys_zoom_move_and_return(view: TimelineView, qtbot: QtBot) -> None:
    qtbot.keyClick(view, Qt.Key.Key_Plus)
    assert not view.follows
    start, _ = view.range_ns()
    qtbot.keyClick(view, Qt.Key.Key_Left)
    assert view.range_ns()[0] < start
    qtbot.keyClick(view, Qt.Key.Key_Home)
    assert view.follows


def test_a_zoomed_view_goes_on_with_now_unless_it_shows_the_past(
    view: TimelineView, qtbot: QtBot
) -> None:
    view.zoom(10.0)
    assert view.range_ns()[0] < 4 * MIN < view.range_ns()[1]
    for second in range(241, 400):
        view.show_now(second * NS, None)
        start, end = view.range_ns()
        assert start < second * NS <= end
        assert end - start == pytest.approx(MIN / 2, abs=2)
    view.pan(-3.0)
    looked_at = view.range_ns()
    view.show_now(460 * NS, None)
    assert view.range_ns() == looked_at
    qtbot.keyClick(view, Qt.Key.Key_End)
    assert view.range_ns()[0] < 460 * NS < view.range_ns()[1]


def test_dragging_moves_and_a_double_click_shows_everything(
    view: TimelineView, qtbot: QtBot
) -> None:
    view.zoom(2.0)
    QApplication.processEvents()
    start, _ = view.range_ns()
    left = Qt.MouseButton.LeftButton
    surface = view.viewport()
    qtbot.mousePress(surface, left, pos=QPoint(600, 80))
    for x in range(610, 701, 10):
        qtbot.mouseMove(surface, QPoint(x, 80), delay=20)
    qtbot.mouseRelease(surface, left, pos=QPoint(700, 80))
    moved = (start - view.range_ns()[0]) / span(view) * view.box.width()
    assert moved == pytest.approx(100, abs=12)
    qtbot.mouseDClick(surface, left, pos=QPoint(600, 80))
    qtbot.mouseRelease(surface, left)
    assert view.follows


def test_hover_tells_the_mark_the_part_and_the_question(view: TimelineView) -> None:
    assert view.describe(x_of(view, 150 * NS) + 3, 10) == "2:30  Flag 1 insight"
    assert view.describe(x_of(view, 30 * NS) + 0.2, 10) == "0:30\nConsent: 1:00, done"
    at = x_of(view, 130 * NS) + 0.2
    assert view.describe(at, 190) == "2:10\nStage 1: 3:00\nQuestion 1 of 5: 1:00, skipped"
    assert view.describe(x_of(view, round(4.9 * MIN)), 10) == ""


def image_of(widget: QWidget) -> QImage:
    return widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)


def pixels(view: TimelineView, x: float, colour: str) -> int:
    """How many pixels of one colour (or nearly) stand in a column or right beside it."""
    image, wanted = image_of(view), QColor(colour)

    def near(found: QColor) -> bool:
        pairs = zip(found.getRgb()[:3], wanted.getRgb()[:3], strict=True)
        return all(abs(a - b) < 24 for a, b in pairs)

    columns = range(int(x) - 1, int(x) + 2)
    return max(sum(near(image.pixelColor(c, y)) for y in range(image.height())) for c in columns)


def test_marks_and_silence_are_painted_where_they_were(view: TimelineView) -> None:
    assert pixels(view, x_of(view, 150 * NS), DARK.warn) > 50
    silent, heard = x_of(view, 90 * NS), x_of(view, 200 * NS)
    assert 2 <= pixels(view, silent, DARK.warn) <= 5
    assert pixels(view, heard, DARK.warn) == 0


def test_a_new_mark_is_painted_and_so_is_its_pause(view: TimelineView) -> None:
    x = x_of(view, 200 * NS)
    assert pixels(view, x, DARK.accent) < 5
    view._timeline.marks.append(TimelineMark(200 * NS, "note", "aha"))
    view._timeline.version += 1
    view.show_now(4 * MIN + NS, None)
    assert pixels(view, x, DARK.accent) > 50


def heights(view: TimelineView, at_ns: Iterator[int]) -> list[int]:
    """How tall the envelope stands at some times."""
    image, voice = image_of(view), QColor(view.voice.newest.opts["pen"].color())
    out = []
    for t_ns in at_ns:
        column = range(int(x_of(view, t_ns)) - 3, int(x_of(view, t_ns)) + 4)
        rows = [y for y in range(image.height()) for x in column if image.pixelColor(x, y) == voice]
        out.append(max(rows) - min(rows) if rows else 0)
    return out


def feed(view: TimelineView, first_s: int, last_s: int, peak: Callable[[int], float]) -> None:
    for tenth in range(first_s * 10, last_s * 10):
        view.show_now(tenth * NS // 10, peak(tenth // 10))


def test_the_envelope_shows_how_loud_it_was_as_it_comes_and_drawn_anew(view: TimelineView) -> None:
    feed(view, 240, 340, lambda second: 0.9 if second % 40 < 20 else 0.05)
    loud = [t * NS for t in (250, 290, 330)]
    quiet = [t * NS for t in (270, 310)]
    live = heights(view, iter([*loud, *quiet]))
    assert min(live[:3]) > 4 * max(live[3:]) > 0
    view.zoom(3.0)
    view.show_all()
    assert heights(view, iter([*loud, *quiet])) == pytest.approx(live, abs=2)
    view.zoom(10.0)
    assert heights(view, iter([335 * NS]))[0] == pytest.approx(live[0], abs=4)


def test_the_voice_of_earlier_runs_can_be_shown(view: TimelineView) -> None:
    at = [20 * NS, 50 * NS]
    assert heights(view, iter(at)) == [0, 0]
    view.show_past([(t * NS // 10, 0.9) for t in range(100, 300)])
    loud, later = heights(view, iter(at))
    assert loud > 40
    assert later == 0


def test_an_hour_is_drawn_with_no_more_points_than_there_are_pixels(view: TimelineView) -> None:
    rng = np.random.default_rng(1)
    view.show_past([(t * NS // 20, float(p)) for t, p in enumerate(rng.random(72_000))])
    view.show_now(3600 * NS, 0.5)
    shown = len(view.voice.past.getData()[0]) + len(view.voice.newest.getData()[0])
    assert view.box.width() < shown < 8 * view.box.width()


def test_the_curve_grows_up_to_now_and_begins_anew(qtbot: QtBot) -> None:
    curve = Curve()
    view = CurveView(DARK, curve)
    view.resize(500, 100)
    view.show()
    QApplication.processEvents()
    view.show_curve(0.9, 0, changed=True)
    curve.points = [(0, 0.2)]
    for second in range(1, 14):
        curve.points.append((second * NS, 0.2 + second / 20))
        view.show_curve(0.9, second * NS, changed=True)
    assert view.box.viewRange()[0] == [0, 15]

    def columns() -> list[int]:
        image, accent = image_of(view), QColor(DARK.accent)
        return [
            x for x in range(500)
            if any(image.pixelColor(x, y) == accent for y in range(image.height()))
        ]  # fmt: skip

    end = view.box.mapViewToScene(QPointF(13, 0)).x()
    assert max(columns()) == pytest.approx(end, abs=5)
    assert min(columns()) == pytest.approx(view.box.mapViewToScene(QPointF(0, 0)).x(), abs=3)
    view.show_curve(0.9, 20 * NS, changed=False)
    assert view.box.viewRange()[0] == [0, 30]
    curve.clear()
    view.show_curve(0.9, 0, changed=True)
    assert columns() == []
    view.close()
    view.deleteLater()


def test_the_meaning_of_every_sign_is_shown_whole_in_the_longer_language(qtbot: QtBot) -> None:
    """On the narrowest screen, where the panel has 928 logical pixels, with a calibration."""
    line = TimelineState(())
    line.answers = True
    language.speak("de")
    panel = TimelinePanel(DARK, line)
    qtbot.addWidget(panel)
    panel.setStyleSheet(bits.stylesheet(DARK))
    panel.resize(928, 200)
    panel.show()
    QApplication.processEvents()
    assert panel.signs.width() >= panel.signs.sizeHint().width()
    assert panel.hint.full() == "Mausrad zoomt, Ziehen verschiebt"
