"""The timeline of a recorded session: what it draws where, and what mouse, wheel and keys do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from labapp.base.clock import NS
from labapp.coding.annotations.model import Unit
from labapp.session.replay.lanes import Lane, LaneItem
from labapp.ui import language, theme
from labapp.ui.replay import timeline_rows as drawing
from labapp.ui.replay.picture import item_label
from labapp.ui.replay.timeline import VOICE_PX, Timeline
from labapp.ui.replay.timeline_rows import LEAST_SPAN_NS, CodeItem, CodeLane, make_rows
from tests.helpers.concepts import small_parts
from tests.helpers.hands import turn_wheel
from tests.helpers.timelines import (
    MIN,
    MemoryPeaks,
    made_codes,
    made_lanes,
    made_parts,
    made_units,
)

END = 20 * MIN
UNITS = made_units(END)


@pytest.fixture
def line(qtbot: QtBot) -> Timeline:
    made = Timeline(theme.LIGHT)
    fill(made)
    made.resize(1200, 320)
    made.show()
    QApplication.processEvents()
    qtbot.addWidget(made)
    return made


def fill(line: Timeline) -> None:
    line.set_session(0, END, made_parts())
    line.set_peaks(MemoryPeaks(END, UNITS))
    line.set_lanes(made_lanes(END, moves=2000))
    line.set_units(UNITS, editable=True)
    line.set_marks(made_codes(UNITS, 500))


def painted(line: Timeline) -> QImage:
    QApplication.processEvents()
    return line.grab().toImage()


def colours(image: QImage, x0: float, x1: float, y0: float, y1: float) -> set[str]:
    return {
        image.pixelColor(x, y).name().upper()
        for x in range(round(x0), round(x1))
        for y in range(round(y0), round(y1))
    }


def middle(line: Timeline, t_ns: int) -> QPoint:
    """A point of the voice at a time."""
    return QPointF(line.scale.x(t_ns), line.voice_rect().center().y()).toPoint()


# Where it looks


def test_the_wheel_zooms_at_the_pointer_and_never_leaves_the_session(line: Timeline) -> None:
    where = middle(line, 5 * MIN)
    before = line.scale.t(where.x())
    turn_wheel(line, where, 5)
    assert line.scale.span_ns == pytest.approx(END / 1.25**5)
    assert line.scale.t(where.x()) == pytest.approx(before, abs=line.scale.ns_per_px)
    turn_wheel(line, where, -50)
    assert (line.scale.left_ns, line.scale.right_ns) == (0, END)
    turn_wheel(line, where, 200)
    assert line.scale.span_ns == LEAST_SPAN_NS


def test_dragging_moves_the_view_with_the_pointer(qtbot: QtBot, line: Timeline) -> None:
    line.show_stretch(5 * MIN, 6 * MIN)
    heard: list[int] = []
    line.seeked.connect(heard.append)
    start = middle(line, 5 * MIN + 30 * NS)
    qtbot.mousePress(line, Qt.MouseButton.LeftButton, pos=start)
    for dx in (10, 50, 100):
        qtbot.mouseMove(line, start + QPoint(dx, 0))
    assert line.cursor().shape() == Qt.CursorShape.ClosedHandCursor
    qtbot.mouseRelease(line, Qt.MouseButton.LeftButton, pos=start + QPoint(100, 0))
    assert line.scale.x(5 * MIN + 30 * NS) == pytest.approx(start.x() + 100, abs=1)
    assert not heard  # it was no click


def test_sideways_and_with_shift_the_wheel_moves(line: Timeline) -> None:
    line.show_stretch(5 * MIN, 6 * MIN)
    turn_wheel(line, middle(line, 5 * MIN + NS), -1, held=Qt.KeyboardModifier.ShiftModifier)
    assert line.scale.left_ns > 5 * MIN
    left = line.scale.left_ns
    turn_wheel(line, middle(line, 6 * MIN), 0, sideways=1)
    assert line.scale.left_ns < left
    assert line.scale.span_ns == MIN


def test_keys_move_and_zoom_and_leave_letters_and_arrows_to_the_window(
    qtbot: QtBot, line: Timeline
) -> None:
    control = Qt.KeyboardModifier.ControlModifier
    line.setFocus()
    qtbot.keyClick(line, Qt.Key.Key_Plus, control)
    assert line.scale.span_ns == pytest.approx(END / 1.25)
    qtbot.keyClick(line, Qt.Key.Key_End)
    assert line.scale.right_ns == pytest.approx(END)
    qtbot.keyClick(line, Qt.Key.Key_PageUp)
    qtbot.keyClick(line, Qt.Key.Key_Home)
    assert line.scale.left_ns == 0
    qtbot.keyClick(line, Qt.Key.Key_0, control)
    assert line.scale.whole
    heard: list[int] = []
    host_keys = (Qt.Key.Key_A, Qt.Key.Key_Left, Qt.Key.Key_Space, Qt.Key.Key_Minus)
    line.seeked.connect(heard.append)
    for key in host_keys:
        qtbot.keyClick(line, key)
    assert line.scale.whole
    assert not heard


def test_the_view_goes_on_with_the_playhead_unless_a_button_is_held(
    qtbot: QtBot, line: Timeline
) -> None:
    line.show_stretch(5 * MIN, 6 * MIN)
    line.set_playhead(6 * MIN - NS)
    line.set_playhead(6 * MIN + NS)
    assert line.scale.left_ns <= 6 * MIN + NS <= line.scale.right_ns
    left = line.scale.left_ns
    line.set_playhead(15 * MIN, follow=False)
    assert line.scale.left_ns == left
    line.reveal(15 * MIN)
    assert line.scale.left_ns < 15 * MIN < line.scale.right_ns


# What clicks and drags say


def test_a_click_plays_from_there(qtbot: QtBot, line: Timeline) -> None:
    line.show_stretch(5 * MIN, 6 * MIN)
    with qtbot.waitSignal(line.seeked) as heard:
        qtbot.mouseClick(line, Qt.MouseButton.LeftButton, pos=middle(line, 5 * MIN + 20 * NS))
    assert heard.args[0] == pytest.approx(5 * MIN + 20 * NS, abs=line.scale.ns_per_px)


def test_times_beyond_32_bits_arrive_whole(qtbot: QtBot, line: Timeline) -> None:
    line.show_stretch(18 * MIN, 19 * MIN)
    with qtbot.waitSignal(line.seeked) as heard:
        qtbot.mouseClick(line, Qt.MouseButton.LeftButton, pos=middle(line, 18 * MIN + 30 * NS))
    assert heard.args[0] > 2**40


def test_the_axis_scrubs(qtbot: QtBot, line: Timeline) -> None:
    heard: list[int] = []
    line.scrubbed.connect(heard.append)
    y = round(line.axis_rect().center().y())
    qtbot.mousePress(line, Qt.MouseButton.LeftButton, pos=QPoint(400, y))
    for x in (420, 440, 460):
        qtbot.mouseMove(line, QPoint(x, y))
    with qtbot.waitSignal(line.seeked) as released:
        qtbot.mouseRelease(line, Qt.MouseButton.LeftButton, pos=QPoint(460, y))
    assert heard == [line.scale.t(x) for x in (400, 420, 440, 460)]
    assert released.args[0] == line.scale.t(460)


def test_the_strip_takes_the_view_elsewhere(qtbot: QtBot, line: Timeline) -> None:
    line.show_stretch(0, MIN)
    strip = line.strip_rect()
    where = strip.center().toPoint()
    qtbot.mousePress(line, Qt.MouseButton.LeftButton, pos=where)
    assert line.scale.left_ns < END / 2 < line.scale.right_ns
    qtbot.mouseMove(line, QPoint(round(strip.right()) - 1, where.y()))
    qtbot.mouseRelease(line, Qt.MouseButton.LeftButton, pos=where)
    assert line.scale.span_ns == MIN
    assert line.scale.right_ns == END


def test_shift_and_dragging_on_the_voice_selects(qtbot: QtBot, line: Timeline) -> None:
    line.show_stretch(5 * MIN, 6 * MIN)
    start, end = middle(line, 5 * MIN + 20 * NS), middle(line, 5 * MIN + 10 * NS)
    shift = Qt.KeyboardModifier.ShiftModifier
    with qtbot.waitSignal(line.selected) as heard:
        qtbot.mousePress(line, Qt.MouseButton.LeftButton, shift, start)
        qtbot.mouseMove(line, end)
        qtbot.mouseRelease(line, Qt.MouseButton.LeftButton, shift, end)
    assert heard.args == [line.scale.t(end.x()), line.scale.t(start.x())]
    assert line.selection == tuple(heard.args)
    assert "selected" in line.accessibleDescription()
    line.setFocus()
    qtbot.keyClick(line, Qt.Key.Key_Escape)
    assert line.selection is None


def test_an_edge_of_a_unit_can_be_drawn_but_not_past_the_other(
    qtbot: QtBot, line: Timeline
) -> None:
    unit = UNITS[20]
    line.show_stretch(unit.t0_ns - 10 * NS, unit.t1_ns + 10 * NS)
    start = middle(line, unit.t1_ns)
    qtbot.mouseMove(line, start)
    assert line.cursor().shape() == Qt.CursorShape.SizeHorCursor
    with qtbot.waitSignal(line.boundary_moved) as heard:
        qtbot.mousePress(line, Qt.MouseButton.LeftButton, pos=start)
        qtbot.mouseMove(line, start + QPoint(30, 0))
        qtbot.mouseRelease(line, Qt.MouseButton.LeftButton, pos=start + QPoint(30, 0))
    assert heard.args[:2] == [unit.id, "end"]
    assert heard.args[2] == line.scale.t(start.x() + 30)
    far = middle(line, unit.t0_ns - 5 * NS)
    with qtbot.waitSignal(line.boundary_moved) as heard:
        qtbot.mousePress(line, Qt.MouseButton.LeftButton, pos=start)
        qtbot.mouseMove(line, far)
        qtbot.mouseRelease(line, Qt.MouseButton.LeftButton, pos=far)
    assert heard.args[2] > unit.t0_ns


def test_edges_of_a_frozen_segmentation_stay(qtbot: QtBot, line: Timeline) -> None:
    line.set_units(UNITS, editable=False)
    unit = UNITS[20]
    line.show_stretch(unit.t0_ns - 10 * NS, unit.t1_ns + 10 * NS)
    moved: list[object] = []
    line.boundary_moved.connect(lambda *what: moved.append(what))
    start = middle(line, unit.t1_ns)
    qtbot.mousePress(line, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(line, start + QPoint(30, 0))
    qtbot.mouseRelease(line, Qt.MouseButton.LeftButton, pos=start + QPoint(30, 0))
    assert not moved


def test_where_two_units_meet_the_edge_of_the_current_one_is_taken(line: Timeline) -> None:
    line.set_units([Unit("a", 0, MIN), Unit("b", MIN, 2 * MIN)], editable=True)
    x = line.scale.x(MIN)
    edges = [line.voice.edge_at(line.scale, x, unit) for unit in ("a", "b")]
    assert [(edge.unit, edge.which) for edge in edges if edge] == [("a", "end"), ("b", "begin")]


# What it draws


def test_sound_is_drawn_where_it_is_and_lost_sound_is_hatched(line: Timeline) -> None:
    voice = line.voice_rect()
    assert voice.height() >= VOICE_PX
    unit = UNITS[20]
    line.set_units([])
    line.show_stretch(unit.t0_ns - 5 * NS, unit.t1_ns + 5 * NS)
    image = painted(line)
    upper = voice.top() + voice.height() * 0.3, voice.top() + voice.height() * 0.4
    ink = drawing.mix_colours(theme.LIGHT.good, theme.LIGHT.card, 0.8).name().upper()
    inside = colours(image, line.scale.x(unit.t0_ns) + 3, line.scale.x(unit.t1_ns) - 3, *upper)
    rest = colours(image, line.scale.x(unit.t1_ns) + 2, line.scale.x(unit.t1_ns) + 8, *upper)
    assert ink in inside
    assert ink not in rest
    lost = next(
        item for lane in made_lanes(END, moves=9) for item in lane.items if item.kind == "lost"
    )
    line.show_stretch(lost.t0_ns - 5 * NS, lost.t1_ns + 5 * NS)
    image = painted(line)
    hatched = colours(image, line.scale.x(lost.t0_ns) + 2, line.scale.x(lost.t1_ns) - 2, *upper)
    assert len(hatched) > 2


@pytest.mark.parametrize("palette", [theme.LIGHT, theme.DARK])
def test_codes_have_their_colours_and_their_names(qtbot: QtBot, palette: theme.Palette) -> None:
    line = Timeline(palette)
    qtbot.addWidget(line)
    line.set_session(0, MIN)
    line.set_marks([CodeLane("Strategy", [CodeItem(10 * NS, 40 * NS, "explore", "#3366CC")])])
    line.resize(900, 200)
    line.show()
    image = painted(line)
    (row, top) = line.placed()[0]
    y = top + row.height / 2
    assert row.total == "1"
    inside = colours(image, line.scale.x(11 * NS), line.scale.x(39 * NS), y - 3, y + 3)
    assert "#3366CC" in inside
    assert len(inside) > 1  # the name, too
    assert colours(image, line.scale.x(45 * NS), line.scale.x(50 * NS), y - 1, y + 1) <= {
        palette.card.upper(), palette.hairline.upper()
    }  # fmt: skip
    line.close()


def test_marks_thinner_than_a_pixel_are_still_seen(line: Timeline) -> None:
    many = [CodeItem(n * NS // 50, n * NS // 50 + NS // 100, "x", "#AA1F63") for n in range(10_000)]
    line.set_marks([CodeLane("Affect", many)])
    line.show_all()
    image = painted(line)
    row, top = next((r, t) for r, t in line.placed() if r.title == "Affect")
    y = top + row.height / 2
    edge = line.scale.x(200 * NS)
    assert "#AA1F63" in colours(image, line.scale.x0, edge, y - 1, y + 1)
    assert "#AA1F63" not in colours(image, edge + 2, edge + 60, y - 1, y + 1)


def test_codes_that_overlap_lie_below_each_other(line: Timeline) -> None:
    items = [
        CodeItem(0, 10 * MIN, "uncertain", "#B35900"),
        CodeItem(5 * MIN, 12 * MIN, "insight", "#AA1F63", memo="twice"),
        CodeItem(11 * MIN, 15 * MIN, "goal", "#1B7F5C"),
    ]
    line.set_marks([CodeLane("Affect", items)])
    row, top = next((r, t) for r, t in line.placed() if r.title == "Affect")
    assert row.height > 16
    x = line.scale.x(6 * MIN)
    assert "uncertain" in line.describe(x, top + 4)
    assert "insight\ntwice" in line.describe(x, top + row.height - 4)
    assert "goal" in line.describe(line.scale.x(13 * MIN), top + 4)


def test_a_blind_rater_sees_no_row_beyond_the_playhead_nor_how_a_trial_ended(
    line: Timeline,
) -> None:
    trial = next(
        item for lane in made_lanes(END, moves=9) for item in lane.items if item.kind == "trial"
    )
    now = (trial.t0_ns + trial.t1_ns) // 2
    line.show_stretch(trial.t0_ns - 10 * NS, trial.t1_ns + 30 * NS)
    row, top = line.placed()[0]
    assert "solved" in line.describe(line.scale.x(now), top + 4)
    line.set_future_hidden(True)
    line.set_playhead(now)
    assert "solved" not in line.describe(line.scale.x(now), top + 4)
    assert "Question" in line.describe(line.scale.x(now) - 1, top + 4)
    assert "Question" not in line.describe(line.scale.x(now) + 5, top + 4)
    image = painted(line)
    shown = {theme.LIGHT.accent_soft.upper(), theme.LIGHT.track.upper()}
    x, right = line.scale.x(now), line.scale.x0 + line.scale.width
    for row, top in line.placed():
        if row.recorded:
            seen = colours(image, x + 8, right, top, top + row.height)
            assert not seen & shown
            assert theme.LIGHT.accent.upper() not in seen


def test_tips_name_dials_and_marks(line: Timeline) -> None:
    lanes = made_lanes(END, moves=2000)
    flag = next(item for lane in lanes if lane.id == "flags" for item in lane.items)
    dials = next(lane for lane in lanes if lane.id == "dials")
    line.show_stretch(flag.t0_ns - 20 * NS, flag.t0_ns + 20 * NS)
    rows = {row.title: top for row, top in line.placed()}
    assert "Flag 1 insight" in line.describe(line.scale.x(flag.t0_ns), rows["Notes"] + 8)
    moved = int(dials.times[np.searchsorted(dials.times, flag.t0_ns)])
    said = line.describe(line.scale.x(moved), rows["Slider moves"] + 8)
    assert "Slider " in said
    assert "move" in said


def test_moves_are_called_as_their_task_calls_them() -> None:
    """Concepts that were set have names; what nobody names is a dial."""
    stage, _ = small_parts(4)
    times = np.array([NS, 2 * NS, 9 * NS], dtype=np.int64)
    lanes = (
        Lane("screen", "spans", (LaneItem("part", 0, 5 * NS, "", stage.id),)),
        Lane("dials", "moves", (), times, np.array([2, 0, 1], dtype=np.float32)),
    )
    _, moves = make_rows(lanes, {stage.id: stage}, outcomes=False)
    assert moves.tip(2 * NS, 0, NS) == "size, height · 2 moves"
    assert moves.tip(9 * NS, 0, NS) == "Slider 2 · 1 move"
    setting = {"concept": 2, "to": 1}
    item = LaneItem("concept.set", NS, NS, "", stage.id, 1, payload=setting)
    assert item_label(item, {stage.id: stage}) == "height → low"


def test_rows_without_room_are_scrolled_to_by_whole_rows(qtbot: QtBot, line: Timeline) -> None:
    line.resize(900, 155)
    QApplication.processEvents()
    shown = [row.title for row, _ in line.placed()]
    assert shown == ["Screen", "Slider moves"]
    over_titles = QPoint(10, round(line.rows_rect().center().y()))
    turn_wheel(line, over_titles, -30)
    assert [row.title for row, _ in line.placed()][-1] == "ben · Strategy"
    bottom = line.rows_rect().bottom()
    assert all(top + row.height <= bottom for row, top in line.placed())
    assert line.scale.whole


def test_a_session_without_anything_can_be_shown(qtbot: QtBot) -> None:
    line = Timeline(theme.DARK)
    qtbot.addWidget(line)
    line.resize(400, 150)
    line.show()
    painted(line)
    line.set_session(0, 1)
    line.set_peaks(None)
    line.set_lanes([Lane("dials", "moves"), Lane("alignment", "curve"), Lane("screen", "spans")])
    line.set_units([])
    line.set_marks([CodeLane("Strategy")])
    painted(line)
    turn_wheel(line, QPoint(200, 60), 3)
    painted(line)
    line.close()


@pytest.mark.parametrize("spoken", ["en", "de"])
def test_it_says_what_it_shows_in_both_languages(qtbot: QtBot, spoken: str) -> None:
    language.speak(spoken)
    line = Timeline(theme.LIGHT)
    qtbot.addWidget(line)
    fill(line)
    line.resize(900, 300)
    line.set_playhead(5 * MIN)
    assert line.accessibleName() == {"en": "Timeline", "de": "Zeitleiste"}[spoken]
    assert ("playhead" in line.accessibleDescription()) == (spoken == "en")
    titles = {row.title for row, _ in line.placed()}
    assert ("Reglerbewegungen" if spoken == "de" else "Slider moves") in titles


def test_every_kind_of_item_has_words(line: Timeline) -> None:
    kinds = ("pause", "break", "gap", "skip", "leave", "end")
    lanes = [
        Lane(
            "pauses",
            "spans",
            tuple(LaneItem(k, i * MIN, (i + 1) * MIN) for i, k in enumerate(kinds)),
        ),
        *(lane for lane in made_lanes(END, moves=50) if lane.id != "pauses"),
    ]
    line.set_lanes(lanes)
    line.show_all()
    painted(line)
    for place, _ in enumerate(kinds):
        x = line.scale.x(place * MIN + MIN // 2)
        assert len(line.describe(x, line.voice_rect().center().y()).splitlines()) >= 2


def test_units_of_the_moderator_look_otherwise(line: Timeline) -> None:
    units = [Unit("a", 0, 5 * MIN), replace(Unit("b", 6 * MIN, 9 * MIN), speaker="moderator")]
    line.set_peaks(None)
    line.set_units(units)
    image = painted(line)
    y = line.voice_rect().top() + 10
    mine = colours(image, line.scale.x(MIN), line.scale.x(2 * MIN), y, y + 2)
    theirs = colours(image, line.scale.x(7 * MIN), line.scale.x(8 * MIN), y, y + 2)
    assert mine.isdisjoint(theirs)


def test_a_trial_without_room_for_its_name_has_its_number(qapp: QApplication) -> None:
    room, ink = QRectF(0, 0, 20, 16), theme.LIGHT.color("ink")
    image = QImage(40, 16, QImage.Format.Format_RGB32)
    words = {}
    for text, shorter in (("Question 2 of 5 · solved", ("Question 2 of 5", "2")), ("2", ())):
        image.fill(Qt.GlobalColor.white)
        painter = QPainter(image)
        drawing.draw_label(painter, room, text, ink, shorter)
        painter.end()
        words[text] = image.copy()
    first, second = words.values()
    assert first == second


@pytest.mark.parametrize("ratio", [1.0, 1.25, 1.5, 2.0])
def test_bars_and_sound_lie_alike_at_every_scale(line: Timeline, ratio: float) -> None:
    chips = [CodeItem(5 * MIN, 5 * MIN + 12 * NS, "x", "#AA1F63")]
    line.set_marks([CodeLane("Affect", chips)])
    line.show_stretch(5 * MIN - 30 * NS, 6 * MIN)
    image = line.painted(ratio).toImage()
    assert image.width() == round(line.width() * ratio)
    row, top = next((r, t) for r, t in line.placed() if r.title == "Affect")
    y = round((top + row.height / 2) * ratio)
    left, right = (line.scale.x(t_ns) * ratio for t_ns in (5 * MIN, 5 * MIN + 12 * NS))
    drawn = [x for x in range(image.width()) if image.pixelColor(x, y).name() == "#aa1f63"]
    assert drawn[0] == pytest.approx(left, abs=2 * ratio)
    assert drawn[-1] == pytest.approx(right, abs=3 * ratio)
