"""Comprehension checks: judged as one goes on, with feedback and attempts, and what follows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from labapp.analysis import load
from labapp.base.errors import StudyError
from labapp.record.events.commands import Next
from labapp.record.journal.opening import open_record
from labapp.session.replay.history import History
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study.instruments import Instrument
from labapp.tasks.questionnaire.machine import Answer
from labapp.ui.replay.picture import PastWindow
from tests.helpers.beside import put_beside
from tests.helpers.rooms import Room

CHECK = {
    "id": "same",
    "kind": "choice",
    "identifying": False,
    "text": "What does the last answer mean?",
    "options": [{"id": name, "text": name.capitalize()} for name in ("unknown", "stays", "wrong")],
}
READ = {"id": "read", "kind": "choice", "text": "I have read the text.", "identifying": False,
        "options": [{"id": "done", "text": "Done"}, {"id": "later", "text": "Later"}]}  # fmt: skip


def sheet(check: Any, **more: Any) -> str:
    items = [READ, CHECK | {"check": check}]
    head = {"id": "sheet", "version": 1, "title": "A sheet", "source": "Ours", "per_page": 1}
    return json.dumps(head | more | {"items": items})


@pytest.fixture
def study(tmp_path: Path) -> Any:
    def make(check: Any, more: str = "") -> Path:
        folder = tmp_path / "own"
        (folder / "instruments").mkdir(parents=True)
        (folder / "instruments/sheet.yaml").write_text(sheet(check))
        (folder / "words.md").write_text("# Words\n\nThat is all.\n")
        (folder / "own.yaml").write_text(
            f"id: own\ntitle: Own\nversion: 1\nunnamed_texts: shipped\n{more}flow:\n"
            "  - questionnaire: sheet\n  - text: words.md\n  - debrief: words.md\n"
        )
        put_beside(folder)
        return folder / "own.yaml"

    return make


@pytest.fixture
def begun(open_room: Any, open_window: Any) -> Any:
    """Opens a session of a study, with its window."""

    def begin(path: Path) -> Room:
        room: Room = open_room(study=path)
        open_window(room)
        return room

    return begin


def say(room: Room, *answers: str) -> None:
    """Read, and answer the check, going on after each answer."""
    room.runner.send(Answer("read", {"chosen": ["done"]}))
    room.runner.send(Next())
    for answer in answers:
        room.runner.send(Answer("same", {"chosen": [answer]}))
        room.runner.send(Next())


def judged(room: Room) -> list[tuple[int, bool]]:
    return [(e["attempt"], e["passed"]) for kind, e in room.events if kind == "check.answered"]


THREE = {"right": "stays", "attempts": 3, "feedback": "Read it again."}


def test_a_right_answer_goes_on_at_once(study: Any, begun: Any) -> None:
    room = begun(study(THREE))
    say(room, "stays")
    assert judged(room) == [(1, True)]
    assert room.count("questionnaire.submitted") == 1


def test_a_wrong_answer_must_be_changed_as_long_as_attempts_are_left(
    study: Any, begun: Any
) -> None:
    room = begun(study(THREE))
    say(room, "wrong")
    room.runner.send(Next())
    room.runner.send(Next())
    assert judged(room) == [(1, False)], "the same answer is not judged again"
    assert room.count("questionnaire.submitted") == 0
    room.runner.send(Answer("same", {"chosen": ["unknown"]}))
    room.runner.send(Next())
    room.runner.send(Answer("same", {"chosen": ["wrong"]}))
    room.runner.send(Next())
    assert judged(room) == [(1, False), (2, False), (3, False)]
    assert room.count("questionnaire.submitted") == 0, "the feedback is read first"
    room.runner.send(Answer("same", {"chosen": ["stays"]}))
    room.runner.send(Next())
    assert room.last("questionnaire.submitted")["answers"]["same"] == {"chosen": ("wrong",)}


def test_it_can_lead_back_to_the_text(study: Any, begun: Any) -> None:
    room = begun(study(THREE | {"repeat": True}))
    say(room, "wrong")
    assert room.runner.state.part_state.page == 0
    room.runner.send(Next())
    assert room.runner.state.part_state.page == 1
    room.runner.send(Next())
    assert room.runner.state.part_state.page == 1
    room.runner.send(Answer("same", {"chosen": ["stays"]}))
    room.runner.send(Next())
    assert room.count("questionnaire.submitted") == 1


def test_it_can_end_the_session(study: Any, begun: Any) -> None:
    room = begun(study({"right": "stays", "failed": "end"}))
    say(room, "wrong")
    assert not room.runner.finished
    room.runner.send(Next())
    assert room.last("part.ended")["outcome"] == "check_failed"
    assert room.last("session.ended")["reason"] == "comprehension check failed"
    assert room.runner.finished


def test_the_screen_shows_feedback_and_so_does_the_replay(
    study: Any, open_room: Any, open_window: Any, qapp: QApplication
) -> None:
    room = open_room(study=study(THREE))
    window = open_window(room)
    window.resize(1366, 768)
    say(room, "wrong")
    qapp.processEvents()
    screen = window.screen_shown
    label = screen.pages[1].feedback["same"]
    view = screen.items[1]
    assert label.text() == "Not correct. Please change your answer. Read it again."
    assert label.isVisible()
    for _ in range(4):
        qapp.processEvents()
        window.looks.look()
    window.setFocus()
    qapp.processEvents()
    at, live = room.clock.now_ns(), window.grab().toImage()
    QTest.mouseClick(view.group.options[0], Qt.MouseButton.LeftButton)
    assert not label.isVisible(), "of another answer nothing was said yet"
    screen.right()
    QTest.mouseClick(view.group.options[2], Qt.MouseButton.LeftButton)
    screen.right()
    assert label.text() == "Not correct. Read it again."
    assert not view.isEnabled()
    path = room.session.folder.path
    size = window.size()
    room.session.close("over")
    with History(open_record(path)) as history:
        past = PastWindow(history)
        past.show_time(at)
        again = past.draw(size, 1.0).toImage()
        assert again.convertToFormat(live.format()) == live
        past.close()


def test_tables_and_rules_know_it(study: Any, tmp_path: Path, begun: Any) -> None:
    path = study(THREE, "exclude: {understood: {failed_checks_above: 0}}\n")
    simulate_study(str(path), 3, "random", tmp_path / "data")
    tables = load(tmp_path / "data")
    rows = tables.answers[tables.answers["item"] == "same"]
    assert set(rows["check"]) <= {"passed", "failed"}
    assert (rows["check_attempts"] >= 1).all()
    assert (tables.participants["n_checks"] == 1).all()
    room = begun(path)
    say(room, "wrong", "unknown", "wrong")
    room.runner.send(Next())
    room.runner.send(Next())
    folder = room.session.folder.path
    room.session.close("over")
    table = load(folder)
    row = table.answers[table.answers["item"] == "same"].iloc[0]
    assert (row["check"], row["check_attempts"]) == ("failed", 3)
    assert table.participants["n_checks_failed"].iloc[0] == 1


@pytest.mark.parametrize(
    ("check", "why"),
    [
        ({"right": "gone"}, "'gone' is not an answer to it"),
        ({"right": "stays", "attempts": 30}, "attempts"),
        ({"attempts": 2}, "right"),
        ({"right": "stays", "otherwise": 1}, "otherwise"),
    ],
)
def test_what_cannot_be_meant_is_refused(check: Any, why: str) -> None:
    with pytest.raises(StudyError, match=why):
        Instrument.parse(Path("sheet.yaml"), sheet(check).encode())


@pytest.mark.parametrize(
    ("item", "right", "wrong"),
    [
        ({"kind": "number", "decimals": 2}, 2.5, 2.0),
        ({"kind": "date"}, "2020-02-29", "2020-03-01"),
        ({"kind": "scale", "points": 5, "low": "a", "high": "b"}, 4, 1),
        ({"kind": "slider"}, {"value": 7, "touched": True}, {"value": 8, "touched": True}),
    ],
)
def test_any_item_with_one_value_can_be_a_check(item: Any, right: Any, wrong: Any) -> None:
    value = right["value"] if isinstance(right, dict) else right
    asked = {"id": "a", "text": "Q", "required": True, **item, "check": {"right": value}}
    head = {"id": "sheet", "version": 1, "title": "A sheet", "source": "Ours"}
    content = json.dumps(head | {"items": [asked]}).encode()
    (made,) = Instrument.parse(Path("sheet.yaml"), content).items
    assert made.comprehension is not None
    assert made.is_right(made.check(right))
    assert not made.is_right(made.check(wrong))
