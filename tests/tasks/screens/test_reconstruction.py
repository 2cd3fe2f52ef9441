"""The reconstruction screen on a real session."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from labapp.base.clock import FakeClock
from labapp.record.events.commands import ConfirmSkip, Pause, Resume
from labapp.tasks.reconstruction.events import MoveDial
from labapp.tasks.reconstruction.screen.matching import ReconstructionScreen
from labapp.ui.widgets.segments import LEAST_SIDE
from tests.helpers.rooms import skip_to, solve
from tests.helpers.studies import ring_decoder, write_study
from tests.ui.hearing import announcements

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def stage(open_room, open_window, qapp):
    """A room and its window on the first Sinelines question."""
    room = open_room()
    window = open_window(room, "stage-1")
    return room, window


@pytest.fixture
def named(open_room, open_window, qapp, tmp_path):
    """A room and its window on a stage with 11 dials, one discrete, that can be renamed."""
    study = write_study(tmp_path, "mnist8k/ss10", labels="editable", skip="after", skip_after_s=5)
    decoders = {"mnist8k/ss10": ring_decoder("mnist8k/ss10", 10, 10)}
    room = open_room(study, decoders=decoders, clock=FakeClock())
    window = open_window(room, "stage-1")
    return room, window


def screen_of(window) -> ReconstructionScreen:
    screen = window.screen_shown
    assert isinstance(screen, ReconstructionScreen)
    return screen


def trial_of(room):
    return room.runner.state.part_state.trial


def move(dial, x: float) -> None:
    where = QPointF(x, dial.height() / 2)
    event = QMouseEvent(
        QEvent.Type.MouseMove,
        where,
        dial.mapToGlobal(where),
        Qt.MouseButton.NoButton,
        LEFT,
        Qt.KeyboardModifier.NoModifier,
    )
    QCoreApplication.sendEvent(dial, event)


def test_a_drag_is_merged_per_frame_and_its_last_value_arrives(stage, qapp):
    room, window = stage
    dial = screen_of(window).dials.rows[0].control
    x = dial.handle_x(dial.shown)
    to = 40.0 if x > dial.width() / 2 else dial.width() - 40.0
    before = room.count("dial.moved")
    QTest.mousePress(dial, LEFT, pos=QPoint(round(x), dial.height() // 2))
    for i in range(1, 41):
        move(dial, x + (to - x) * i / 40)
    assert room.count("dial.moved") == before + 1  # no frame was painted in between
    last = dial.shown
    qapp.processEvents()
    qapp.processEvents()
    QTest.mouseRelease(dial, LEFT, pos=QPoint(round(to), dial.height() // 2))
    assert room.count("dial.moved") == before + 2
    assert room.last("dial.moved") == {
        "z_seq": 2,
        "dimension": 0,
        "value": last,
        "device": "mouse",
    }
    assert trial_of(room).z[0] == last
    assert trial_of(room).decoded_seq == 2


def test_keys_add_up_though_no_frame_is_painted(stage, qapp):
    room, window = stage
    dial = screen_of(window).dials.rows[1].control
    dial.setFocus()
    start = trial_of(room).z[1]
    sign = -1 if start > 0 else 1
    for _ in range(5):
        QTest.keyClick(dial, Qt.Key.Key_Right if sign > 0 else Qt.Key.Key_Left)
    qapp.processEvents()
    qapp.processEvents()
    assert trial_of(room).z[1] == round(start + 0.05 * sign, 2)
    assert room.last("dial.moved")["device"] == "keyboard"


def test_skipping_in_the_middle_of_a_frame_keeps_the_last_movement(stage, qapp):
    room, window = stage
    dial = screen_of(window).dials.rows[1].control
    sign = -1 if dial.shown > 0 else 1
    for _ in range(3):
        QTest.keyClick(dial, Qt.Key.Key_PageUp if sign > 0 else Qt.Key.Key_PageDown)
    wanted = dial.shown
    QTest.mouseClick(window.bottom.left, LEFT)
    assert room.last("dial.moved")["value"] == wanted
    asked = [kind for kind in room.kinds() if kind in ("dial.moved", "skip.requested")]
    assert asked[-2:] == ["dial.moved", "skip.requested"]
    room.runner.send(ConfirmSkip())
    assert room.last("trial.ended") == {"outcome": "skipped"}
    assert trial_of(room).number == 2


def geometry(window) -> dict[str, QRect]:
    """Where everything is on the screen."""
    shown = {}
    for index, widget in enumerate(window.findChildren(QWidget)):
        if not widget.isWindow() and widget.objectName() != "qt_scrollarea_viewport":
            corner = widget.mapTo(window, QPoint(0, 0))
            shown[f"{index} {type(widget).__name__}"] = QRect(corner, widget.size())
    return shown


def test_nothing_shifts_when_it_is_solved(stage, qapp):
    room, window = stage
    before = geometry(window)
    solve(room)
    qapp.processEvents()
    assert trial_of(room).solved
    assert geometry(window) == before
    assert window.bottom.right.isEnabled()
    assert not window.bottom.left.isVisible()


def test_nothing_shifts_when_skip_appears_or_the_view_changes(named, qapp, monkeypatch):
    room, window = named
    screen = screen_of(window)
    said = announcements(monkeypatch)
    before = geometry(window)
    assert not window.bottom.left.isVisible()
    value = trial_of(room).z[1]
    for i in range(8):
        room.clock.advance(1.0)
        room.runner.send(MoveDial(1, 0.5 + 0.01 * i + (value > 0), "mouse"))
    qapp.processEvents()
    assert room.count("skip.offered") == 1
    assert window.bottom.left.isVisible()
    assert said == ["Skip this question"]
    assert geometry(window) == before
    bar, toggle = screen.bar.geometry(), screen.pictures.toggle.geometry()
    QTest.mouseClick(screen.pictures.toggle.options[1], LEFT)
    qapp.processEvents()
    assert screen.pictures.overlay
    assert (screen.bar.geometry(), screen.pictures.toggle.geometry()) == (bar, toggle)


def test_solved_locks_the_dials_and_next_has_the_focus(stage, qapp):
    room, window = stage
    screen = screen_of(window)
    assert not window.bottom.right.isEnabled()
    solve(room)
    qapp.processEvents()
    assert all(row.control.locked for row in screen.dials.rows)
    assert QApplication.focusWidget() is window.bottom.right
    assert screen.bar.solved
    moves, z = room.count("dial.moved"), trial_of(room).z
    for row in screen.dials.rows:
        QTest.mouseClick(row.control, LEFT, pos=QPoint(30, 16))
        QTest.keyClick(row.control, Qt.Key.Key_Right)
    assert room.count("dial.moved") == moves
    assert trial_of(room).z == z
    QTest.keyClick(window.bottom.right, Qt.Key.Key_Return)
    qapp.processEvents()
    assert trial_of(room).number == 2
    assert not window.bottom.right.isEnabled()
    assert not screen.dials.rows[0].control.locked
    assert QApplication.focusWidget() is screen.dials.rows[0].control
    assert room.count("dial.selected") == 0  # a focus given by the program selects nothing


def test_a_double_click_on_next_counts_once(stage, qapp):
    room, window = stage
    solve(room)
    qapp.processEvents()
    QTest.mouseClick(window.bottom.right, LEFT)
    QTest.mouseDClick(window.bottom.left, LEFT)
    QTest.mouseRelease(window.bottom.left, LEFT)
    qapp.processEvents()
    assert trial_of(room).number == 2
    assert trial_of(room).outcome is None


def test_the_bar_shows_the_alignment_and_its_target(stage, qapp):
    room, window = stage
    screen = screen_of(window)
    room.runner.send(MoveDial(0, 0.3 if trial_of(room).z[0] < 0 else -0.3, "mouse"))
    assert screen.bar.percent == f"{trial_of(room).alignment * 100:.1f} %"
    words = window.session.words
    assert "target 90 %" in screen.bar.accessibleDescription()
    solve(room)
    assert words("aligned") in screen.bar.accessibleDescription()


def test_overlay_starts_as_the_part_says_and_toggles_by_keyboard(stage, named, qapp):
    room, window = stage
    screen = screen_of(window)
    assert screen.pictures.overlay  # Sinelines: on at the start
    assert screen.pictures.front is screen.pictures.both
    screen.pictures.toggle.setFocus()
    QTest.keyClick(screen.pictures.toggle, Qt.Key.Key_Left)
    assert room.last("overlay.toggled") == {"on": False}
    assert screen.pictures.front is screen.pictures.own
    _, other = named
    assert not screen_of(other).pictures.overlay  # MNIST: off


def test_pictures_follow_the_session(named, qapp):
    room, window = named
    pictures = screen_of(window).pictures
    own, target = pictures.own.pixels.copy(), pictures.target.pixels.copy()
    room.runner.send(MoveDial(2, -trial_of(room).z[2] or 1.0, "mouse"))
    assert (pictures.own.pixels != own).any()
    assert (pictures.target.pixels == target).all()
    white = pictures.own.pixels == 0xFFFFFFFF
    assert (white == (room.runner.pictures.own >= 0.5)).all()


def test_all_fits_without_scrolling_at_1366_x_768(named, qapp):
    _, window = named
    screen = screen_of(window)
    assert (window.width(), window.height()) == (1366, 768)
    inside = QRect(QPoint(0, 0), screen.size())
    rows = [row.mapTo(screen, QPoint(0, 0)).y() for row in screen.dials.rows]
    assert len(rows) == 11
    assert min(b - a for a, b in pairwise(rows)) >= 32
    for widget in screen.findChildren(QWidget):
        if widget.isVisible():
            place = QRect(widget.mapTo(screen, QPoint(0, 0)), widget.size())
            assert inside.contains(place), widget
    assert screen.pictures.own.target_rect().width() >= LEAST_SIDE


def test_discrete_dials_are_choices(named, qapp):
    room, window = named
    row = screen_of(window).dials.rows[0].control
    wanted = 7 if row.index != 7 else 2
    QTest.mouseClick(row.options[wanted], LEFT)
    assert trial_of(room).z[0] == wanted
    assert room.last("dial.moved")["device"] == "mouse"


def test_renaming_in_place(named, qapp):
    room, window = named
    row = screen_of(window).dials.rows[3]
    row.control.setFocus()
    QTest.keyClick(row.control, Qt.Key.Key_F2)
    assert QApplication.focusWidget() is row.name.editor
    QTest.keyClicks(row.name.editor, "leaning")
    QTest.keyClick(row.name.editor, Qt.Key.Key_Return)
    qapp.processEvents()
    assert room.last("label.edited") == {"dimension": 3, "text": "leaning"}
    assert row.name.text == "leaning"
    assert row.control.accessibleName() == "leaning"
    assert QApplication.focusWidget() is row.control
    QTest.mouseClick(row.name, LEFT, pos=QPoint(5, 10))
    QTest.keyClicks(row.name.editor, "nonsense")
    QTest.keyClick(row.name.editor, Qt.Key.Key_Escape)
    assert row.name.editor is None
    assert row.name.text == "leaning"
    assert room.count("label.edited") == 1
    assert room.count("close.requested") == 0
    assert room.count("dial.selected") == 0


def test_names_stay_for_the_next_question(named, qapp):
    room, window = named
    row = screen_of(window).dials.rows[1]
    row.name.edit()
    QTest.keyClicks(row.name.editor, "size")
    QTest.keyClick(row.name.editor, Qt.Key.Key_Return)
    solve(room)
    QTest.mouseClick(window.bottom.right, LEFT)
    assert trial_of(room).number == 2
    assert row.name.text == "size"


def test_names_are_fixed_where_the_study_says_so(stage):
    _, window = stage
    row = screen_of(window).dials.rows[0]
    QTest.mouseClick(row.name, LEFT, pos=QPoint(5, 10))
    QTest.keyClick(row.control, Qt.Key.Key_F2)
    assert row.name.editor is None


@pytest.mark.parametrize("presentation", ["improved", "as_published"])
def test_start_ticks_only_in_the_improved_presentation(
    presentation, open_room, open_window, tmp_path
):
    study = write_study(tmp_path, "dsprites/ae", presentation=presentation)
    room = open_room(study, decoders={"dsprites/ae": ring_decoder("dsprites/ae", 5)})
    window = open_window(room)
    skip_to(room, "stage-1")
    dial = screen_of(window).dials.rows[1].control
    room.runner.send(MoveDial(1, -dial.shown, "mouse"))
    plain = dial.grab().toImage()
    dial.set_start(None)
    assert (dial.grab().toImage() == plain) == (presentation == "as_published")


def test_a_pause_hides_the_task_and_gives_it_back(stage, qapp):
    room, window = stage
    screen = screen_of(window)
    dial = screen.dials.rows[2].control
    dial.setFocus()
    room.runner.send(Pause("a break"))
    qapp.processEvents()
    words = window.session.words
    assert window.covered
    assert not screen.isVisible()
    assert window.cover.isVisible()
    assert words("paused_title") in window.cover.accessibleName()
    assert not window.bottom.left.isVisible()
    assert not window.bottom.right.isVisible()
    moves = room.count("dial.moved")
    QTest.keyClick(window, Qt.Key.Key_Right)
    assert room.count("dial.moved") == moves
    room.runner.send(Resume("goes on"))
    qapp.processEvents()
    assert screen.isVisible()
    assert QApplication.focusWidget() is dial
    assert room.count("dial.selected") == 0


def test_a_stalled_disk_covers_the_task(stage, qapp, monkeypatch):
    room, window = stage
    monkeypatch.setattr(room.runner, "stalled", True)
    room.bridge.changed.emit()
    assert window.covered
    assert window.session.words("problem_title") in window.cover.accessibleName()
    monkeypatch.setattr(room.runner, "stalled", False)
    room.bridge.changed.emit()
    assert not window.covered


@pytest.mark.parametrize("how", ["another window", "a pause"])
def test_a_name_that_is_being_written_comes_back_with_the_keyboard(named, qapp, qtbot, how: str):
    room, window = named
    row = screen_of(window).dials.rows[4]
    row.control.setFocus()
    QTest.keyClick(row.control, Qt.Key.Key_F2)
    editor = row.name.editor
    QTest.keyClicks(editor, "slan")
    QTest.keyClick(editor, Qt.Key.Key_Left)
    before = room.count("label.edited")
    if how == "a pause":
        room.runner.send(Pause("moderator"))
        qapp.processEvents()
        room.runner.send(Resume("moderator"))
    else:
        other = QWidget()
        qtbot.addWidget(other)
        other.show()
        other.activateWindow()
        qtbot.waitUntil(lambda: not window.isActiveWindow())
        assert room.count("label.edited") == before
        other.close()
        window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow)
    qapp.processEvents()
    assert row.name.editor is editor
    assert QApplication.focusWidget() is editor
    assert (editor.text(), editor.cursorPosition()) == ("slan", 3)
    QTest.keyClick(editor, Qt.Key.Key_End)
    QTest.keyClicks(editor, "t")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert room.last("label.edited")["text"] == "slant"


def test_a_click_on_a_view_leaves_the_arrow_keys_with_the_dial(stage, qapp):
    room, window = stage
    screen = screen_of(window)
    dial = screen.dials.rows[1].control
    dial.setFocus()
    QTest.mouseClick(screen.pictures.toggle.options[1], LEFT)
    assert room.runner.state.part_state.trial.overlay
    assert QApplication.focusWidget() is dial
    way = Qt.Key.Key_Left if dial.shown > 0 else Qt.Key.Key_Right
    QTest.keyClick(window.windowHandle(), way)
    qapp.processEvents()
    qapp.processEvents()
    assert room.runner.state.part_state.trial.overlay
    assert room.last("dial.moved")["dimension"] == 1
