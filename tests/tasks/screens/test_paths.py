"""The tasks with the path of a tree: answered by mouse and keys, branches cleared, scrolled."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from labapp.tasks.judging.plan import (
    AFTER_ABSENT,
    AFTER_PRESENT,
    AGREEMENT,
    DISTINCTION_CONFIDENCE,
    FIRST,
    FIRST_STEP,
    SIMILARITY,
)
from tests.helpers.judging_studies import write_judging_study
from tests.ui.hearing import names, taken
from tests.ui.keys import click, focus, press

LEFT = Qt.MouseButton.LeftButton
KEY = Qt.Key


@pytest.fixture
def opened(open_room, open_window, tmp_path, qapp):
    """The window on the first photo of a task, at 1366 x 768."""

    def open_one(task: str, **more: object):
        name = "path-distinction" if task == "path-distinction" else "path-agreement"
        room = open_room(study=write_judging_study(tmp_path / "study", name, task=task, **more))
        window = open_window(room, "stage-1")
        window.showNormal()
        window.resize(1366, 768)
        qapp.processEvents()
        return room, window

    return open_one


def answers(room) -> dict[str, int]:
    return dict(room.runner.state.part_state.trial.answers)


def in_sight(screen, widget: QWidget) -> bool:
    area = screen.rows.area.viewport()
    top = widget.mapTo(area, QPoint(0, 0)).y()
    return top >= 0 and top + widget.height() <= area.height()


def test_the_path_has_its_steps_in_order_with_their_decisions(opened):
    room, window = opened("path-agreement")
    screen = window.screen_shown
    rows = room.runner.part.photos[0].rows
    shown = [(view.step.text(), view.decision.text()) for view in screen.rows.shown]
    assert shown == [
        (f"Step {n}", "Present" if row.present else "Absent") for n, row in enumerate(rows, 1)
    ]
    assert "Species 1" in screen.above.text()
    assert screen.rows.shown[2].views[0].accessibleName() == "Photo, Step 3"


def test_only_the_path_scrolls(opened):
    _, window = opened("path-agreement")
    screen = window.screen_shown
    assert screen.rows.area.verticalScrollBar().maximum() > 0
    last = screen.asked[AGREEMENT]
    bottom = last.mapTo(screen, QPoint(0, last.height())).y()
    assert bottom <= screen.height()
    assert last.choice.width() <= screen.rows.mapTo(screen, QPoint(0, 0)).x()


def test_steps_are_rated_by_keys_alone_and_come_into_sight(opened):
    room, window = opened("path-agreement")
    screen = window.screen_shown
    steps = len(screen.rows.shown)
    assert focus() is screen.rows.shown[0].rating
    for place in range(1, steps + 1):
        assert in_sight(screen, screen.rows.shown[place - 1])
        press((KEY.Key_1, KEY.Key_2, KEY.Key_3, KEY.Key_4)[place % 4])
    assert focus() is screen.asked[AGREEMENT].choice
    press(KEY.Key_1)  # the first option is the answer 4
    expected = {SIMILARITY.format(n): n % 4 + 1 for n in range(1, steps + 1)}
    assert answers(room) == expected | {AGREEMENT: 4}
    QTest.mouseClick(window.bottom.right, LEFT)
    assert room.last("photo.judged")["answers"] == expected | {AGREEMENT: 4}
    assert screen.rows.area.verticalScrollBar().value() == 0, "the next path begins at its top"


def test_the_first_step_to_disagree_with_is_marked_and_brought_into_sight(opened):
    room, window = opened("path-first-step")
    screen = window.screen_shown
    steps = len(screen.rows.shown)
    assert focus() is screen.rows.area, "the path is looked at first"
    assert "0.9" in screen.rows.shown[0].decision.text(), "the similarity is told"
    choice = screen.first.choice
    assert names(choice)[-2:] == [f"{steps}", "Agree with All"]
    assert not in_sight(screen, screen.rows.shown[-1])
    click(choice, steps)
    assert answers(room) == {FIRST_STEP: steps}
    assert in_sight(screen, screen.rows.shown[-1])
    tones = [view.step.property("tone") for view in screen.rows.shown]
    assert tones.count("warn") == 1
    assert tones[-1] == "warn"
    click(choice, steps + 1)
    assert answers(room) == {FIRST_STEP: steps + 1}
    assert not any(view.step.property("tone") for view in screen.rows.shown)


def test_next_names_what_the_first_step_task_lacks(opened):
    room, window = opened("path-first-step")
    assert "the first step you disagree with" in window.bottom.note.text()
    QTest.mouseClick(window.bottom.right, LEFT)
    assert room.count("photo.judged") == 0
    assert focus() is window.screen_shown.first.choice
    press(KEY.Key_2)
    QTest.mouseClick(window.bottom.right, LEFT)
    assert focus() is window.screen_shown.asked[AGREEMENT].choice


def test_the_path_is_scrolled_and_answered_by_keys_alone(opened):
    room, window = opened("path-first-step")
    screen = window.screen_shown
    press(KEY.Key_PageDown)
    assert screen.rows.area.verticalScrollBar().value() > 0
    press(KEY.Key_Tab, KEY.Key_3, KEY.Key_Tab, KEY.Key_4, KEY.Key_Tab)
    assert answers(room) == {FIRST_STEP: 3, AGREEMENT: 1}
    assert focus() is window.bottom.right


def test_only_the_branch_that_was_taken_can_be_answered(opened):
    room, window = opened("path-distinction")
    screen = window.screen_shown
    first, absent, present = (screen.steps[name].choice for name in screen.steps)
    assert [one.isEnabled() for one in (first, absent, present)] == [True, False, False]
    click(absent, 1)
    assert answers(room) == {}
    click(first, 2)
    assert [one.isEnabled() for one in (first, absent, present)] == [True, False, True]
    click(present, 1)
    assert answers(room) == {FIRST: 2, AFTER_PRESENT: 1}


def test_changing_the_first_decision_clears_the_branch_that_is_left(opened):
    room, window = opened("path-distinction")
    screen = window.screen_shown
    first, absent, present = (screen.steps[name].choice for name in screen.steps)
    click(first, 2)
    click(present, 2)
    assert taken(present) == ["Present"]
    click(first, 1)
    assert answers(room) == {FIRST: 1}
    assert taken(present) == []
    assert [one.isEnabled() for one in (absent, present)] == [True, False]
    assert room.last("judgement.made") == {
        "question": AFTER_PRESENT,
        "value": None,
        "device": "mouse",
    }
    click(absent, 2)
    assert answers(room) == {FIRST: 1, AFTER_ABSENT: 2}


def test_the_second_question_is_in_sight_once_the_first_is_answered(opened, qapp):
    _, window = opened("path-distinction")
    window.showNormal()
    window.resize(1366, 768)
    for _ in range(4):
        qapp.processEvents()
    screen = window.screen_shown
    first, absent, present = (screen.steps[name].choice for name in screen.steps)

    def in_sight(choice) -> bool:
        return choice.visibleRegion().boundingRect() == choice.rect()

    assert not in_sight(present)
    for place, choice in ((2, present), (1, absent)):
        click(first, place)
        assert in_sight(choice)


def test_the_key_says_which_species_the_decisions_lead_to(opened):
    _, window = opened("path-distinction")
    screen = window.screen_shown
    lines = screen.key_of_species.lines
    assert [line.text() for line in lines] == [
        "Absent in Q1, Absent in Q2: Species 1",
        "Absent in Q1, Present in Q2: Species 2",
        "Present in Q1, Absent in Q2: Species 3",
        "Present in Q1, Present in Q2: Species 4",
    ]
    assert not any(line.property("role") for line in lines)
    heights = [line.height() for line in lines]
    click(screen.steps[FIRST].choice, 2)
    click(screen.steps[AFTER_PRESENT].choice, 1)
    assert [bool(line.property("role")) for line in lines] == [False, False, True, False]
    assert [line.height() for line in lines] == heights, "nothing shifts"
    click(screen.steps[FIRST].choice, 1)
    assert not any(line.property("role") for line in lines)


def test_the_last_steps_by_keyboard_alone(opened):
    room, window = opened("path-distinction")
    screen = window.screen_shown
    assert focus() is screen.rows.area
    press(KEY.Key_Tab)
    assert focus() is screen.steps[FIRST].choice
    assert in_sight(screen, screen.steps[FIRST])
    press(KEY.Key_1, KEY.Key_Tab)
    assert focus() is screen.steps[AFTER_ABSENT].choice
    assert in_sight(screen, screen.steps[AFTER_ABSENT])
    press(KEY.Key_2, KEY.Key_Tab)
    assert focus() is screen.asked[DISTINCTION_CONFIDENCE].choice
    press(KEY.Key_5)
    assert answers(room) == {FIRST: 1, AFTER_ABSENT: 2, DISTINCTION_CONFIDENCE: 5}
    press(KEY.Key_Tab)
    assert focus() is window.bottom.right


def test_next_leads_to_the_decision_that_is_missing(opened):
    room, window = opened("path-distinction")
    screen = window.screen_shown
    click(screen.steps[FIRST].choice, 2)
    QTest.mouseClick(window.bottom.right, LEFT)
    assert room.count("photo.judged") == 0
    assert focus() is screen.steps[AFTER_PRESENT].choice
    assert in_sight(screen, screen.steps[AFTER_PRESENT])
    assert screen.steps[AFTER_PRESENT].mark.text()
    assert not screen.steps[AFTER_ABSENT].mark.text()


def test_a_session_goes_on_with_what_was_answered(opened, open_window):
    room, window = opened("path-distinction")
    screen = window.screen_shown
    click(screen.steps[FIRST].choice, 2)
    click(screen.steps[AFTER_PRESENT].choice, 2)
    window.close_for_good()
    again = open_window(room).screen_shown
    assert taken(again.steps[FIRST].choice) == ["Present"]
    assert taken(again.steps[AFTER_PRESENT].choice) == ["Present"]
    assert not again.steps[AFTER_ABSENT].choice.isEnabled()


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("task", ["path-distinction", "path-agreement", "path-first-step"])
def test_everything_but_the_path_fits_the_smallest_screen(task, language, opened, qapp):
    """1280 x 720 is 1920 x 1080 at 150 %."""
    _, window = opened(task, language=language)
    window.resize(1280, 720)
    qapp.processEvents()
    screen = window.screen_shown
    for row in screen.asked.values():
        assert row.mapTo(screen, QPoint(0, row.height())).y() <= screen.height()
        assert row.choice.mapTo(screen, QPoint(row.choice.width(), 0)).x() <= screen.width()
        assert row.label.height() >= row.label.heightForWidth(row.label.width())
    for view in screen.rows.shown:
        assert view.mapTo(screen, QPoint(view.width(), 0)).x() <= screen.width()
        assert view.minimumSizeHint().width() <= screen.rows.area.viewport().width()


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_way_taken_is_told_to_its_end(language, opened, qapp):
    """A strong line is wider than the others."""
    _, window = opened("path-distinction", language=language)
    window.resize(1280, 720)
    screen = window.screen_shown
    click(screen.steps[FIRST].choice, 1)
    click(screen.steps[AFTER_ABSENT].choice, 1)
    line = screen.key_of_species.lines[0]
    assert line.property("role") == "chosen"
    assert line.text().endswith(" 1")
    assert line.width() >= line.fontMetrics().horizontalAdvance(line.text())


def test_the_key_for_enlarging_goes_through_the_step_that_has_the_keyboard(opened):
    _, window = opened("path-distinction")
    screen = window.screen_shown
    assert "Keys 1 and 2" in screen.keys.text()
    assert list(screen.near()) == screen.rows.shown[0].views
    press(KEY.Key_Tab, KEY.Key_Z)
    first = screen.steps[FIRST].row
    assert screen.enlarger.enlarging is first.views[0]
    press(KEY.Key_Z)
    assert screen.enlarger.enlarging is first.views[1]
